// The annotator's page. All text of the study goes in as text, never as HTML.
import { Clock } from "./clock.js";
import { Outbox, freshId } from "./outbox.js";
import { PAIR_ANSWERS, VERDICT_ANSWERS, languageName, make, passage, remembered, sentence } from "./parts.js";

const base = location.pathname.replace(/\/$/, "");
const at = (id) => document.getElementById(id);
const SECTIONS = ["loading", "welcome", "question", "thanks", "trouble"];
const SHOWN_CHOSEN = matchMedia("(prefers-reduced-motion: reduce)").matches ? 60 : 180; // milliseconds

const QUESTIONS = {
  pairs: "Which pronoun fits better?",
  gaps: "Which words fit the gap?",
  verdicts: "Is the pronoun translated correctly?",
};
const UNDO = "undo-"; // how the request of an answer begins that brings back the one before
const shortcuts = remembered("anaphora-study:shortcuts", true);
const clock = new Clock();

let state, outbox;
const answers = new Map(); // item → {choice, seconds, elapsed_seconds}
let taken = []; // for undo, the last one first: the answer before, which may be none
let index = 0, chosen = [], moving = false;
let came = null; // where one was before going back: a question, or behind the last one

function show(name) {
  for (const section of SECTIONS) at(section).hidden = section !== name;
  const asking = name === "question";
  at("answers").hidden = !asking;
  at("bar").hidden = !(asking || name === "thanks");
  scrollTo(0, 0);
}

// --------------------------------------------------------------------------------------------------------- the question
function ask(focus = true) {
  const item = state.items[index];
  const target = state.target_language;
  chosen = [...(answers.get(item.id)?.choice ?? [])];
  holdForDialog();
  clock.start();
  at("asked").replaceChildren(make("span", "", QUESTIONS[state.mode]), " ");
  const where = make("span", "count", `Question ${index + 1} of ${state.items.length}`);
  at("asked").append(where);
  passage(at("source"), languageName(state.source_language), item.source, state.source_language, true, item.source_parts);
  passage(at("context"), item.source.length ? languageName(target) : "What comes before", item.context, target, false);
  const place = at("candidates");
  place.classList.toggle("one", state.mode !== "pairs");
  place.replaceChildren(...item.candidates.map((candidate, k) => card(candidate, k)));
  show("question");
  press();
  progress();
  fit();
  if (focus) at("asked").focus({ preventScroll: true });
}

// The bars stay in place while everything fits between them. Where it does not they go with the text, so that nobody
// can answer without having seen the candidates: on a phone held sideways, in large type, with long sentences.
function fit() {
  if (at("question").hidden) return;
  const end = Math.max(...[...at("candidates").children].map((card) => card.getBoundingClientRect().bottom)) + scrollY;
  document.body.classList.toggle("flow", end > innerHeight - at("answers").offsetHeight);
}

function card(candidate, k) {
  const before = candidate.context.map((text) => sentence([[text, false]], "before", state.target_language));
  const body = make("div", "", ...before, sentence(candidate.parts, "now", state.target_language));
  if (state.mode !== "pairs") return make("div", "candidate", body);
  const button = make("button", "candidate", make("span", "letter", "AB"[k]), body);
  button.type = "button";
  button.dataset.choice = "ab"[k];
  button.addEventListener("click", () => choose("ab"[k]));
  return button;
}

function answerButtons() {
  const place = at("answers");
  place.replaceChildren();
  for (const one of choices()) {
    const button = make("button", one.word ? "answer word" : "answer", one.label);
    button.type = "button";
    button.dataset.choice = one.choice;
    button.title = one.help;
    if (one.keys.length) {
      if (shortcuts.on) button.setAttribute("aria-keyshortcuts", one.keys.join(" "));
      const hint = make("kbd", "", one.keys[0].toUpperCase());
      hint.setAttribute("aria-hidden", "true");
      button.append(hint);
    }
    if (one.word) button.lang = state.target_language;
    button.addEventListener("click", () => choose(one.choice));
    place.append(button);
  }
  if (state.mode === "gaps") {
    const next = make("button", "answer next", "Next", make("kbd", "", "↵"));
    next.type = "button";
    next.id = "next";
    next.addEventListener("click", () => submit());
    place.append(next);
  }
}

function choices() {
  if (state.mode === "pairs") return PAIR_ANSWERS;
  if (state.mode === "verdicts") return VERDICT_ANSWERS;
  const words = state.options.map((word, k) => ({ choice: word, label: word, keys: k < 9 ? [String(k + 1)] : [], help: `${word} fits`, word: true }));
  return [
    ...words,
    { choice: "other", label: "Other", keys: ["o"], help: "some other word is needed" },
    { choice: "bad", label: "Bad translation", keys: ["x"], help: "nothing would fit" },
  ];
}

function press() {
  for (const button of document.querySelectorAll("[data-choice]")) {
    button.setAttribute("aria-pressed", String(chosen.includes(button.dataset.choice)));
  }
  if (state.mode !== "gaps") return;
  at("next").disabled = chosen.length === 0;
  const place = document.querySelector(".candidate .gap");
  const words = chosen.filter((choice) => choice !== "bad").map((choice) => (choice === "other" ? "…" : choice));
  place.textContent = words.join(" / ") || "\u00a0";
  place.setAttribute("aria-label", words.length ? `gap: ${words.join(" or ")}` : "gap");
}

function choose(choice) {
  if (moving) return;
  if (state.mode !== "gaps") {
    chosen = [choice];
    press();
    submit();
    return;
  }
  if (chosen.includes(choice)) chosen = chosen.filter((one) => one !== choice);
  else chosen = choice === "bad" ? ["bad"] : [...chosen.filter((one) => one !== "bad"), choice];
  press();
}

function submit() {
  if (moving) return;
  if (chosen.length === 0) {
    at("status").textContent = "Nothing is chosen yet.";
    return;
  }
  const item = state.items[index].id;
  if (!same(chosen, answers.get(item)?.choice ?? [])) give(item, { choice: [...chosen], ...clock.read() });
  moving = true; // the choice is seen for a moment, and a double click answers one question, not two
  setTimeout(() => {
    moving = false;
    advance();
  }, SHOWN_CHOSEN);
}

const same = (one, other) => one.length === other.length && one.every((word) => other.includes(word));
const NOTHING = { choice: [], seconds: null, elapsed_seconds: null };

function give(item, answer, undoing = false) {
  if (!undoing) taken.push({ item, ...(answers.get(item) ?? NOTHING) });
  if (answer.choice.length) answers.set(item, answer);
  else answers.delete(item);
  outbox.add({ request: (undoing ? UNDO : "") + freshId(), item, ...answer });
  progress();
}

const firstLeft = () => state.items.findIndex((item) => !answers.has(item.id));

// To the next question; after a correction back to where one was, but not past a question without an answer.
function advance() {
  const left = firstLeft();
  let next = index + 1;
  if (came !== null) next = left >= 0 && left < came ? left : came;
  if (next === came) came = null;
  if (next >= state.items.length) next = left;
  if (next < 0) return finish();
  index = next;
  ask();
}

// The last answer is as it was before: another one if it was a correction, else none.
function undo() {
  if (moving || taken.length === 0) return;
  const { item, ...before } = taken.pop();
  give(item, before, true);
  came ??= at("question").hidden ? state.items.length : index;
  index = state.items.findIndex((one) => one.id === item);
  if (came === index) came = null;
  ask();
}

function step(by) {
  const reached = Math.min(frontier(), Math.max(0, index + by));
  if (reached === index || moving) return;
  if (by < 0) came ??= index;
  index = reached;
  if (came !== null && index >= came) came = null;
  ask();
}

// One can go back as far as one likes, and forward to the first question without an answer.
function frontier() {
  const left = firstLeft();
  return left < 0 ? state.items.length - 1 : Math.max(left, index);
}

function progress() {
  const total = state.items.length;
  Object.assign(at("progress"), { max: Math.max(1, total), value: answers.size });
  at("count").textContent = `${answers.size} of ${total}`;
  at("undo").disabled = taken.length === 0;
  at("back").disabled = index === 0 || at("question").hidden;
  at("forward").disabled = index >= frontier() || at("question").hidden;
}

function status({ waiting, failing, refused }) {
  const place = at("status");
  place.classList.toggle("waiting", failing || Boolean(refused));
  if (refused) place.textContent = `An answer was refused (${refused}). Please reload the page.`;
  else if (failing) place.textContent = `No connection: ${many(waiting)} kept on this device and will be sent.`;
  else place.textContent = waiting ? "Saving …" : "Saved";
  fit(); // the line may be longer now
  if (!at("thanks").hidden) thank();
  if (at("break-dialog").open) sayPause();
}

const many = (count) => (count === 1 ? "1 answer is" : `${count} answers are`);

// ---------------------------------------------------------------------------------------------- before, after, between
function welcome() {
  const done = answers.size, total = state.items.length;
  const greeting = done ? `Welcome back, ${state.name}` : state.title;
  at("welcome-title").textContent = greeting;
  at("instructions").replaceChildren(...paragraphs());
  at("example").replaceChildren(...(state.example ? example() : []));
  at("example").hidden = !state.example;
  at("fine").textContent = done
    ? `You have answered ${done} of ${total} questions${outbox.waiting.length ? "." : ", and all of them are saved."}`
    : `Hello ${state.name}. There are ${total} questions. Every answer is saved at once: take a break whenever you like, and come back with the same link. Keys answer, too: “Help” lists them and switches them off.`;
  at("start").textContent = done ? "Go on" : "Start";
  if (done) at("welcome-title").after(at("fine"), at("start")); // who comes back need not pass the instructions again
  show("welcome");
}

const paragraphs = () => state.instructions.map((text) => make("p", "", text));

function example() {
  const { language, context, candidates, verdict } = state.example;
  const options = candidates.map((parts, k) => {
    const letter = state.mode === "pairs" ? [make("span", "letter", "AB"[k])] : [];
    return make("div", "option", ...letter, sentence(parts, "now", language));
  });
  return [
    make("p", "label", "An example"),
    ...context.map((text) => sentence([[text, false]], "before", language)),
    make("div", "options", ...options),
    make("p", "verdict", verdict),
  ];
}

function finish() {
  came = null;
  thank();
  show("thanks");
  progress();
  at("thanks-title").focus();
}

// Nobody is sent away while an answer is only on this device.
function thank() {
  const { waiting, refused } = outbox.status;
  const all = `You have answered all ${state.items.length} questions.`;
  at("thanks").classList.toggle("unsent", Boolean(waiting || refused));
  at("thanks-title").textContent = waiting || refused ? `Almost done, ${state.name}` : `Thank you, ${state.name}`;
  if (waiting) at("thanks-text").textContent = `${all} ${many(waiting)} still being sent: please keep this page open. It says so when you can close it.`;
  else if (refused) at("thanks-text").textContent = `The study did not take an answer (${refused}). Please reload the page, and answer what is asked again.`;
  else at("thanks-text").textContent = `${all} All of them are saved. You can close this page now.`;
}

function begin() {
  const left = firstLeft();
  if (left < 0) return finish();
  index = left;
  ask();
}

function sayPause() {
  const { waiting } = outbox.status;
  const left = state.items.length - answers.size;
  const given = `${many(answers.size)} given, ${left} ${left === 1 ? "is" : "are"} left.`;
  at("break-text").textContent = waiting
    ? `${given} ${many(waiting)} still being sent: please keep this page open until they are.`
    : `${given} You can close this page: the same link brings you back to this place, on any device.`;
}

function pause(event) {
  sayPause();
  open("break-dialog", event);
}

function help(event) {
  at("help-text").replaceChildren(...paragraphs());
  open("help-dialog", event);
}

// After a click on a button the keys of the question work again; after Tab the focus returns to the button.
function open(dialog, event) {
  if (event?.detail) event.currentTarget.blur(); // clicks are counted by the pointer only
  at(dialog).showModal();
  holdForDialog();
}

// Browsers tell of a closed dialog only with their next frame, which may come after the next question.
function holdForDialog() {
  clock.hold("dialog", document.querySelector("dialog[open]") !== null);
}

function listKeys() {
  const lines = choices().filter((one) => one.keys.length).map((one) => [one.keys, one.help]);
  if (state.mode === "gaps") lines.push([["Enter"], "next question"]);
  lines.push([["u"], "take back the last answer or change"], [["←", "→"], "back and forward"]);
  const act = lines.filter(([keys]) => shortcuts.on || !keys.some((key) => /^[\w?]$/.test(key)));
  at("keys").replaceChildren(...act.flatMap(([keys, what]) => {
    const names = keys.flatMap((key) => [make("kbd", "", key.length === 1 ? key.toUpperCase() : key), " "]);
    return [make("dt", "", ...names), make("dd", "", what)];
  }));
}

function switchShortcuts(on) {
  shortcuts.on = on;
  document.body.classList.toggle("no-shortcuts", !on);
  at("shortcuts").checked = on;
  for (const [id, keys] of [["undo", "u"], ["help", "?"]]) {
    if (on) at(id).setAttribute("aria-keyshortcuts", keys);
    else at(id).removeAttribute("aria-keyshortcuts");
  }
  answerButtons();
  listKeys();
  if (!at("question").hidden) press();
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (name.length === 1 && !shortcuts.on) return; // who speaks to the computer may type letters without wanting to
  if (at("question").hidden) {
    if (name === "u" && !at("thanks").hidden) undo();
    return;
  }
  const found = choices().find((one) => one.keys.includes(name));
  if (found && !event.repeat) choose(found.choice);
  else if (name === "u" && !event.repeat) undo();
  else if (name === "ArrowLeft") step(-1);
  else if (name === "ArrowRight") step(1);
  else if (name === "?") help();
  else if (name === "Enter" && state.mode === "gaps" && !event.target.closest(".tool, a")) {
    if (!event.repeat) submit(); // whatever has the focus: it is what the key on “Next” says; Space chooses
  } else return;
  event.preventDefault();
}

async function load() {
  show("loading");
  try {
    const reply = await fetch(`${base}/state`);
    const found = await reply.json();
    if (!reply.ok) throw new Error(found.detail);
    state = found;
  } catch (error) {
    at("trouble-text").textContent = `${error.message} Answers you gave are not lost.`;
    show("trouble");
    return;
  }
  document.title = at("title").textContent = state.title;
  answers.clear();
  for (const [item, answer] of Object.entries(state.answers)) answers.set(item, answer);
  taken = state.undo;
  outbox ??= new Outbox(`${base}/answers`, `anaphora-study:${state.study}:${state.name}`, status);
  for (const waiting of outbox.waiting) replay(waiting); // answers that this device could not send yet
  outbox.flush();
  switchShortcuts(shortcuts.on);
  if (firstLeft() < 0) finish();
  else welcome();
}

function replay({ request, item, ...answer }) {
  if (!state.items.some((one) => one.id === item)) return; // of an earlier version; the server knows what it is
  if (request.startsWith(UNDO)) taken.pop();
  else taken.push({ item, ...(answers.get(item) ?? NOTHING) });
  if (answer.choice.length) answers.set(item, answer);
  else answers.delete(item);
}

at("start").addEventListener("click", begin);
at("again").addEventListener("click", load);
at("undo").addEventListener("click", undo);
at("back").addEventListener("click", () => step(-1));
at("forward").addEventListener("click", () => step(1));
at("help").addEventListener("click", help);
at("break").addEventListener("click", pause);
at("review").addEventListener("click", () => { index = 0; ask(); });
at("shortcuts").addEventListener("change", (event) => switchShortcuts(event.target.checked));
for (const dialog of document.querySelectorAll("dialog")) dialog.addEventListener("close", holdForDialog);
for (const button of document.querySelectorAll("[data-close]")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}
addEventListener("keydown", key);
addEventListener("resize", fit);
addEventListener("beforeunload", (event) => {
  if (!outbox?.waiting.length) return;
  event.preventDefault();
  event.returnValue = true; // what older browsers listen to
});
await load();
