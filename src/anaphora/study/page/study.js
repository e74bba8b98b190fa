// The annotator's page. All text of the study goes in as text, never as HTML.
import { Outbox, freshId } from "./outbox.js";
import { EXAMPLES, PAIR_ANSWERS, languageName, make, passage, sentence } from "./parts.js";

const base = location.pathname.replace(/\/$/, "");
const at = (id) => document.getElementById(id);
const SECTIONS = ["loading", "welcome", "question", "thanks", "trouble"];
const SHOWN_CHOSEN = matchMedia("(prefers-reduced-motion: reduce)").matches ? 60 : 180; // milliseconds

let state, outbox;
const answers = new Map(); // item → choice, in the order of answering
let index = 0, chosen = [], since = 0, moving = false;

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
  chosen = [...(answers.get(item.id) ?? [])];
  since = performance.now();
  const question = state.mode === "pairs" ? "Which pronoun fits better?" : "Which words fit the gap?";
  at("asked").replaceChildren(make("span", "", question), " ");
  const where = make("span", "count", `Question ${index + 1} of ${state.items.length}`);
  at("asked").append(where);
  passage(at("source"), languageName(state.source_language), item.source, state.source_language, true);
  passage(at("context"), item.source.length ? languageName(target) : "What comes before", item.context, target, false);
  const place = at("candidates");
  place.classList.toggle("one", state.mode === "gaps");
  place.replaceChildren(...item.candidates.map((candidate, k) => card(candidate, k)));
  show("question");
  press();
  progress();
  if (focus) at("asked").focus({ preventScroll: true });
}

function card(candidate, k) {
  const before = candidate.context.map((text) => sentence([[text, false]], "before", state.target_language));
  const body = make("div", "", ...before, sentence(candidate.parts, "now", state.target_language));
  if (state.mode === "gaps") return make("div", "candidate", body);
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
      button.setAttribute("aria-keyshortcuts", one.keys.join(" "));
      const hint = make("kbd", "", one.keys[0].toUpperCase());
      hint.setAttribute("aria-hidden", "true");
      button.append(hint);
    }
    if (one.label.length === 1) button.setAttribute("aria-label", `${one.label}: ${one.help}`);
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
  if (state.mode === "pairs") {
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
  if (moving || chosen.length === 0) return;
  say(state.items[index].id, chosen);
  moving = true; // the choice is seen for a moment, and a double click answers one question, not two
  setTimeout(() => {
    moving = false;
    advance();
  }, SHOWN_CHOSEN);
}

function say(item, choice) {
  answers.delete(item);
  if (choice.length) answers.set(item, [...choice]);
  const seconds = Math.round(performance.now() - since) / 1000;
  outbox.add({ request: freshId(), item, choice: [...choice], seconds });
  progress();
}

function advance() {
  const left = state.items.findIndex((item) => !answers.has(item.id));
  if (left < 0 && index === state.items.length - 1) return finish();
  index = index < state.items.length - 1 ? index + 1 : left;
  ask();
}

function undo() {
  const last = [...answers.keys()].at(-1);
  if (last === undefined || moving) return;
  say(last, []);
  index = state.items.findIndex((item) => item.id === last);
  ask();
}

function step(by) {
  const reached = Math.min(frontier(), Math.max(0, index + by));
  if (reached === index || moving) return;
  index = reached;
  ask();
}

// One can go back as far as one likes, and forward to the first question without an answer.
function frontier() {
  const left = state.items.findIndex((item) => !answers.has(item.id));
  return left < 0 ? state.items.length - 1 : Math.max(left, index);
}

function progress() {
  const total = state.items.length;
  Object.assign(at("progress"), { max: Math.max(1, total), value: answers.size });
  at("count").textContent = `${answers.size} of ${total}`;
  at("undo").disabled = answers.size === 0;
  at("back").disabled = index === 0 || at("question").hidden;
  at("forward").disabled = index >= frontier() || at("question").hidden;
}

function status({ waiting, failing, refused }) {
  const place = at("status");
  place.classList.toggle("waiting", failing || Boolean(refused));
  const many = waiting === 1 ? "1 answer is" : `${waiting} answers are`;
  if (refused) place.textContent = `An answer was refused (${refused}). Please reload the page.`;
  else if (failing) place.textContent = `No connection: ${many} kept on this device and will be sent.`;
  else place.textContent = waiting ? "Saving …" : "Saved";
}

// ---------------------------------------------------------------------------------------------- before, after, between
function welcome() {
  const done = answers.size, total = state.items.length;
  const greeting = done ? `Welcome back, ${state.name}` : state.title;
  at("welcome-title").textContent = greeting;
  at("instructions").replaceChildren(...paragraphs());
  at("example").replaceChildren(...example());
  at("fine").textContent = done
    ? `You have answered ${done} of ${total} questions${outbox.waiting.length ? "." : ", and all of them are saved."}`
    : `Hello ${state.name}. There are ${total} questions. Every answer is saved at once: take a break whenever you like, and come back with the same link.`;
  at("start").textContent = done ? "Go on" : "Start";
  if (done) at("welcome-title").after(at("fine"), at("start")); // who comes back need not pass the instructions again
  show("welcome");
}

const paragraphs = () => state.instructions.map((text) => make("p", "", text));

function example() {
  const { context, candidates, verdict } = EXAMPLES[state.mode];
  const options = candidates.map((parts, k) => {
    const letter = state.mode === "pairs" ? [make("span", "letter", "AB"[k])] : [];
    return make("div", "option", ...letter, sentence(parts, "now", "en"));
  });
  return [
    make("p", "label", "An example"),
    ...context.map((text) => sentence([[text, false]], "before", "en")),
    make("div", "options", ...options),
    make("p", "verdict", verdict),
  ];
}

function finish() {
  const total = state.items.length;
  at("thanks-title").textContent = `Thank you, ${state.name}`;
  at("thanks-text").textContent = `You have answered all ${total} questions. You can close this page now.`;
  show("thanks");
  progress();
  at("thanks-title").focus();
}

function begin() {
  const left = state.items.findIndex((item) => !answers.has(item.id));
  if (left < 0) return finish();
  index = left;
  ask();
}

function pause() {
  const left = state.items.length - answers.size;
  at("break-text").textContent = `${answers.size} answers are given, ${left} are left. You can close this page: the same link brings you back to this place, on any device.`;
  at("break-dialog").showModal();
}

function help() {
  at("help-text").replaceChildren(...paragraphs());
  at("help-dialog").showModal();
}

function listKeys() {
  const lines = choices().filter((one) => one.keys.length).map((one) => [one.keys, one.help]);
  if (state.mode === "gaps") lines.push([["Enter"], "next question"]);
  lines.push([["u"], "take back the last answer"], [["←", "→"], "back and forward"]);
  at("keys").replaceChildren(...lines.flatMap(([keys, what]) => {
    const names = keys.flatMap((key) => [make("kbd", "", key.length === 1 ? key.toUpperCase() : key), " "]);
    return [make("dt", "", ...names), make("dd", "", what)];
  }));
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
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
  else if (name === "Enter" && state.mode === "gaps" && event.target === document.activeElement && !event.target.closest("button")) submit();
  else return;
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
  for (const [item, choice] of state.order.map((id) => [id, state.answers[id]])) answers.set(item, choice);
  outbox ??= new Outbox(`${base}/answers`, `anaphora-study:${state.study}:${state.name}`, status);
  for (const { item, choice } of outbox.waiting) { // answers that this device could not send yet
    answers.delete(item);
    if (choice.length) answers.set(item, choice);
  }
  outbox.flush();
  answerButtons();
  listKeys();
  welcome();
}

at("start").addEventListener("click", begin);
at("again").addEventListener("click", load);
at("undo").addEventListener("click", undo);
at("back").addEventListener("click", () => step(-1));
at("forward").addEventListener("click", () => step(1));
at("help").addEventListener("click", help);
at("break").addEventListener("click", pause);
at("review").addEventListener("click", () => { index = 0; ask(); });
for (const button of document.querySelectorAll("[data-close]")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}
addEventListener("keydown", key);
addEventListener("beforeunload", (event) => { if (outbox?.waiting.length) event.preventDefault(); });
await load();
