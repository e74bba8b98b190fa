"use strict";
// The example browser. All data is in the page; texts are put into it as text, never as HTML.
const PAGE = 20;
const el = (name, attributes = {}, ...children) => {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};

const theme = document.getElementById("theme");
theme.hidden = false;
theme.addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});

// tables that belong on paper are opened for it, and closed again
const opened = [];
addEventListener("beforeprint", () => {
  for (const table of document.querySelectorAll("details.printed:not([open])")) { table.open = true; opened.push(table); }
});
addEventListener("afterprint", () => { for (const table of opened.splice(0)) table.open = false; });

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// ---------------------------------------------------------------- texts

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
// where words stand in a text: the one place, or all of them where it cannot be known which is meant
const placesOf = (text, words, kind) => {
  if (!words) return [];
  const found = [...text.matchAll(new RegExp(`(?<!\\p{L})${escaped(words)}(?!\\p{L})`, "giu"))];
  const sure = found.length > 1 ? `${kind} maybe` : kind;
  return found.map((match) => [match.index, match.index + match[0].length, sure]);
};
const pairs = (flat, kind = "") => Array.from({ length: flat.length / 2 }, (_, k) => [flat[2 * k], flat[2 * k + 1], kind]);

// a text with spans of it marked; a span is [start, end, class]
function marked(text, spans) {
  const node = el("span");
  let place = 0;
  for (const [start, end, kind] of [...spans].sort((a, b) => a[0] - b[0])) {
    if (start < place) continue;
    node.append(text.slice(place, start), el("mark", kind ? { class: kind } : {}, text.slice(start, end)));
    place = end;
  }
  node.append(text.slice(place));
  return node;
}

function passage(text, spans, language) {
  const box = el("div", { class: "text", lang: language });
  let start = 0;
  const sentences = text.split("\n");
  sentences.forEach((sentence, number) => {
    const inside = spans.filter((s) => s[0] >= start && s[1] <= start + sentence.length);
    const line = marked(sentence, inside.map(([a, b, kind]) => [a - start, b - start, kind]));
    if (sentence) box.append(el("div", number < sentences.length - 1 ? { class: "before" } : {}, line));
    start += sentence.length + 1;
  });
  return box;
}

// ---------------------------------------------------------------- one example

function candidates(suite, i) {
  const right = suite.target[i];
  const all = suite.others[i].map(([start, end, middle]) => right.slice(0, start) + middle + right.slice(right.length - end));
  all.splice(suite.gold[i] ?? 0, 0, right);
  return all.map((text, k) => [text.slice(text.lastIndexOf("\n") + 1), pairs(suite.differences[i][k])]);
}

function show(suite, i) {
  const [english, german] = suite.languages;
  const head = el("header", {}, el("b", {}, suite.ids[i]), suite.suite);
  for (const [name, { values, codes }] of Object.entries(suite.tags)) {
    if (codes[i] >= 0) head.append(el("span", {}, `${name.replaceAll("_", " ")}: ${values[codes[i]]}`));
  }
  const item = el("li", { class: "example" }, head);
  const source = suite.source[i], last = source.lastIndexOf("\n") + 1, pronouns = suite.pronoun[i];
  const meant = pairs(pronouns, pronouns.length > 2 ? "maybe" : "").map(([a, b, kind]) => [a + last, b + last, kind]);
  item.append(passage(source, [...meant, ...placesOf(source, suite.antecedents.source_antecedent[i], "second")], english));
  const target = suite.target[i], before = target.lastIndexOf("\n");
  if (before > 0) {
    const context = target.slice(0, before);
    const box = passage(context, placesOf(context, suite.antecedents.target_antecedent[i], "second"), german);
    box.classList.add("before");
    item.append(box);
  }
  const texts = candidates(suite, i), list = el("ul", { class: "candidates" });
  texts.forEach(([text, spans], k) => {
    const gold = suite.gold[i] === k;
    const row = el("li", { lang: german }, marked(text, spans));
    if (gold) {
      row.prepend(el("span", { class: "tick", "aria-hidden": "true" }, "●"));
      row.append(el("span", { class: "label", lang: "en" }, "right answer"));
    }
    list.append(row);
    const chips = suite.systems.flatMap((name, s) => (suite.chosen[i][s] === k ? [chip(suite, i, s)] : []));
    if (chips.length) row.append(el("div", { class: "chips", lang: "en" }, ...chips));
  });
  const tied = suite.systems.flatMap((name, s) => (suite.chosen[i][s] === null ? [chip(suite, i, s)] : []));
  if (tied.length) list.append(el("li", { class: "ties" }, "several are equally good to", el("div", { class: "chips" }, ...tied)));
  item.append(list, scores(suite, i, texts));
  return item;
}

// a system under the candidate that it prefers
function chip(suite, i, s) {
  const right = suite.right[i]?.[s], kind = right === undefined ? "none" : right ? "right" : "wrong";
  const sign = { none: [], right: [el("span", {}, "✓")], wrong: [el("span", {}, "✗")] }[kind];
  return el("span", { class: `chip ${kind}` }, el("span", {}, suite.systems[s]), ...sign);
}

// the scores are made when they are asked for
function scores(suite, i, texts) {
  const box = el("details", {}, el("summary", {}, "Scores"));
  box.addEventListener("toggle", () => {
    if (box.childElementCount > 1) return;
    const words = texts.map(([text, spans]) => spans.map(([a, b]) => text.slice(a, b)).join(" … "));
    const named = new Set(words).size === words.length && words.every((word) => word && word.length < 25);
    const top = el("tr", {}, el("th", { scope: "col" }, "system"));
    words.forEach((word, k) => top.append(el("th", { scope: "col" }, named ? word : `candidate ${k + 1}`)));
    const rows = suite.scores[i].map((line, s) => el(
      "tr", {}, el("th", { scope: "row" }, suite.systems[s]),
      ...line.map((score, k) => el("td", suite.chosen[i][s] === k ? { class: "best" } : {}, score.toFixed(2))),
    ));
    const region = { class: "scroll", tabindex: "0", role: "region", "aria-label": `Scores of ${suite.ids[i]}` };
    box.append(el("div", region, el("table", {}, el("thead", {}, top), el("tbody", {}, ...rows))));
  });
  return box;
}

// ---------------------------------------------------------------- order and filters

const differs = (right) => right && right.some(Boolean) && !right.every(Boolean);

// an order of chance, the same every time
function shuffled(places) {
  let seed = 12345;
  const random = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let value = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
  for (let k = places.length - 1; k > 0; k--) {
    const other = Math.floor(random() * (k + 1));
    [places[k], places[other]] = [places[other], places[k]];
  }
  return places;
}

// what tells systems apart first (of one system: its mistakes), what has no right answer last
function telling(suite) {
  const first = suite.systems.length > 1 ? differs : (right) => right && !right[0];
  const ranks = [[], [], []];
  suite.right.forEach((right, i) => ranks[right === null ? 2 : first(right) ? 0 : 1].push(i));
  return ranks.flatMap(shuffled);
}

function outcomes(suite) {
  const all = { "": ["any outcome", () => true] };
  if (suite.systems.length === 1) {
    all.right = ["right", (r) => r?.[0]];
    all.wrong = ["wrong", (r) => r && !r[0]];
    return all;
  }
  all.differ = ["systems differ", differs];
  all.right = ["all systems right", (r) => r?.every(Boolean)];
  all.wrong = ["all systems wrong", (r) => r && !r.some(Boolean)];
  return all;
}

function browser(suites) {
  const form = document.getElementById("filters"), choices = document.getElementById("choices");
  const fresh = () => ({ text: "", outcome: "", right: "", wrong: "", tags: {}, page: 0 });
  const state = { suite: 0, order: "telling", ...fresh() };
  form.addEventListener("submit", (event) => event.preventDefault());

  const choice = (label, options, chosen, change) => {
    const select = el("select", { name: label });
    for (const [value, text] of options) select.append(el("option", { value }, text));
    select.value = chosen;
    select.addEventListener("change", () => { change(select.value); state.page = 0; draw(); });
    return el("label", {}, label, select);
  };

  function controls() {
    const suite = suites[state.suite], several = suite.systems.length > 1;
    choices.replaceChildren();
    if (suites.length > 1) {
      const options = suites.map((one, k) => [String(k), one.suite]);
      choices.append(choice("suite", options, String(state.suite), (value) => {
        Object.assign(state, fresh(), { suite: Number(value) });
        controls();
      }));
    }
    const search = el("input", { type: "search", name: "search", placeholder: "words or an id" });
    search.value = state.text;
    search.addEventListener("input", () => { Object.assign(state, { text: search.value, page: 0 }); draw(); });
    choices.append(el("label", {}, "search", search));
    const known = Object.entries(outcomes(suite)).map(([value, [text]]) => [value, text]);
    choices.append(choice("outcome", known, state.outcome, (value) => { state.outcome = value; }));
    if (several) {
      const systems = [["", "any system"], ...suite.systems.map((name, s) => [String(s), name])];
      for (const side of ["right", "wrong"]) choices.append(choice(side, systems, state[side], (value) => { state[side] = value; }));
    }
    for (const [name, { values }] of Object.entries(suite.tags)) {
      if (values.length > 60) continue;
      const options = [["", "any"], ...values.map((value, k) => [String(k), value])];
      choices.append(choice(name.replaceAll("_", " "), options, state.tags[name] ?? "", (value) => { state.tags[name] = value; }));
    }
    const orders = [["telling", several ? "systems differ first" : "mistakes first"], ["suite", "as in the suite"]];
    choices.append(choice("order", orders, state.order, (value) => { state.order = value; }));
  }

  const filtered = () => state.text.trim() || state.outcome || state.right || state.wrong || Object.values(state.tags).some((v) => v !== "");

  function found() {
    const suite = suites[state.suite], fits = outcomes(suite)[state.outcome][1], wanted = state.text.trim().toLowerCase();
    const chosen = Object.entries(state.tags).filter(([, value]) => value !== "");
    suite.telling ??= telling(suite);
    if (wanted) suite.lower ??= suite.ids.map((id, i) => `${id}\n${suite.source[i]}\n${suite.target[i]}`.toLowerCase());
    const places = state.order === "suite" ? suite.ids.map((_, i) => i) : suite.telling;
    return places.filter((i) => {
      const right = suite.right[i];
      if (!fits(right)) return false;
      if (state.right !== "" && !right?.[Number(state.right)]) return false;
      if (state.wrong !== "" && (!right || right[Number(state.wrong)])) return false;
      if (chosen.some(([name, value]) => suite.tags[name].codes[i] !== Number(value))) return false;
      return !wanted || suite.lower[i].includes(wanted);
    });
  }

  function draw() {
    const suite = suites[state.suite], places = found(), list = document.getElementById("list");
    const pages = Math.max(1, Math.ceil(places.length / PAGE));
    state.page = Math.min(state.page, pages - 1);
    const shown = places.slice(state.page * PAGE, (state.page + 1) * PAGE).map((i) => show(suite, i));
    const hint = "No example fits these filters: change one of them, or reset them all.";
    list.replaceChildren(...(shown.length ? shown : [el("li", { class: "hint" }, hint)]));
    list.classList.toggle("chosen", Boolean(filtered()));
    const total = suite.ids.length.toLocaleString("en");
    document.getElementById("count").textContent = `${places.length.toLocaleString("en")} of ${total} examples`;
    document.getElementById("reset").hidden = !filtered();
    document.getElementById("place").textContent = `${state.page + 1} / ${pages}`;
    document.getElementById("previous").disabled = state.page === 0;
    document.getElementById("next").disabled = state.page === pages - 1;
  }

  document.getElementById("reset").addEventListener("click", () => {
    Object.assign(state, fresh());
    controls();
    draw();
    choices.querySelector("input").focus();
  });
  for (const [name, step] of [["previous", -1], ["next", 1]]) {
    document.getElementById(name).addEventListener("click", () => {
      state.page += step;
      draw();
      document.getElementById("filters").scrollIntoView();
    });
  }
  form.hidden = document.getElementById("pages").hidden = false;
  controls();
  draw();
}

const data = document.getElementById("data");
if (data) {
  unpack(data.textContent).then(browser).catch((error) => {
    document.getElementById("list").append(el("li", {}, `The examples cannot be shown: ${error.message}`));
  });
}
