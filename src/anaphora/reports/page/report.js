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

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// ---------------------------------------------------------------- texts

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const lastOf = (text, word) => {
  if (!word) return null;
  const found = [...text.matchAll(new RegExp(`(?<!\\p{L})${escaped(word)}(?!\\p{L})`, "giu"))];
  return found.length ? [found.at(-1).index, found.at(-1).index + word.length] : null;
};

// a text with spans of it marked; a span is [start, end, class]
function marked(text, spans) {
  const node = el("span");
  let place = 0;
  for (const [start, end, kind] of spans.filter(Boolean).sort((a, b) => a[0] - b[0])) {
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
    const inside = spans.filter(Boolean).filter((s) => s[0] >= start && s[1] <= start + sentence.length);
    const line = marked(sentence, inside.map(([a, b, kind]) => [a - start, b - start, kind]));
    if (sentence) box.append(el("div", number < sentences.length - 1 ? { class: "before" } : {}, line));
    start += sentence.length + 1;
  });
  return box;
}

// ---------------------------------------------------------------- one example

function candidates(suite, i) {
  const texts = [];
  const gold = suite.gold[i] ?? 0;
  if (suite.target) {
    const right = suite.target[i];
    const starts = suite.others[i].map(([start]) => start);
    const ends = suite.others[i].map(([, end]) => end);
    // whole words around what differs
    let from = Math.min(right.length, ...starts), to = right.length - Math.min(right.length, ...ends);
    const grow = (text, a, b) => {
      while (a > 0 && /\p{L}/u.test(text[a - 1])) a--;
      while (b < text.length && /\p{L}/u.test(text[b])) b++;
      return [a, Math.max(a, b)];
    };
    const all = suite.others[i].map(([start, end, middle]) => [
      right.slice(0, start) + middle + right.slice(right.length - end), [start, start + middle.length],
    ]);
    all.splice(gold, 0, [right, [from, to]]);
    for (const [text, [a, b]] of all) texts.push([text, grow(text, a, b)]);
  } else {
    suite.scores[i][0].forEach((_, k) => texts.push([`candidate ${k + 1}`, null]));
  }
  return texts;
}

function show(suite, i) {
  const head = el("header", {}, el("b", {}, suite.ids[i]), suite.suite);
  for (const [name, { values, codes }] of Object.entries(suite.tags)) {
    if (codes[i] >= 0) head.append(el("span", {}, `${name.replaceAll("_", " ")}: ${values[codes[i]]}`));
  }
  const item = el("li", { class: "example" }, head);
  if (suite.source) {
    const text = suite.source[i], last = text.lastIndexOf("\n") + 1;
    const pronoun = lastOf(text.slice(last), suite.marks.source_pronoun[i]);
    const spans = [lastOf(text, suite.marks.source_antecedent[i])?.concat("second")];
    if (pronoun) spans.push([pronoun[0] + last, pronoun[1] + last, ""]);
    item.append(passage(text, spans, suite.languages?.[0] ?? ""));
    const target = suite.target[i], before = target.lastIndexOf("\n");
    if (before > 0) {
      const shown = lastOf(target, suite.marks.target_antecedent[i]);
      const spans = shown && shown[1] <= before ? [shown.concat("second")] : [];
      const context = passage(target.slice(0, before), spans, suite.languages?.[1] ?? "");
      context.className = "text before";
      item.append(context);
    }
  }
  const table = el("table"), top = el("tr", {}, el("th", { scope: "col" }, "candidate"));
  suite.systems.forEach((name, s) => {
    const right = suite.right[i]?.[s];
    const outcome = right === undefined ? "" : right ? " ✓" : " ✗";
    top.append(el("th", { scope: "col", class: outcome ? (right ? "right" : "wrong") : "" }, name + outcome));
  });
  table.append(el("thead", {}, top));
  const rows = el("tbody");
  candidates(suite, i).forEach(([text, span], k) => {
    const start = text.lastIndexOf("\n") + 1;
    const inside = span && span[0] >= start ? [[span[0] - start, span[1] - start, ""]] : [];
    const cell = el("td", { lang: suite.languages?.[1] ?? "" }, marked(text.slice(start), inside));
    if (suite.gold[i] === k) cell.prepend(el("span", { class: "right", title: "the right one" }, "● "));
    const row = el("tr", {}, cell);
    suite.scores[i].forEach((scores, s) => {
      row.append(el("td", suite.chosen[i][s] === k ? { class: "best" } : {}, scores[k].toFixed(2)));
    });
    rows.append(row);
  });
  table.append(rows);
  item.append(el("div", { class: "scroll" }, table));
  return item;
}

// ---------------------------------------------------------------- filters

function outcomes(suite) {
  const all = { "": ["any outcome", () => true] };
  all.right = ["all systems right", (r) => r?.every(Boolean)];
  all.wrong = ["all systems wrong", (r) => r && !r.some(Boolean)];
  suite.systems.forEach((name, s) => {
    if (suite.systems.length === 1) return;
    suite.systems.forEach((other, t) => {
      if (s !== t) all[`${s}>${t}`] = [`${name} right, ${other} wrong`, (r) => r && r[s] && !r[t]];
    });
  });
  return all;
}

function browser(suites) {
  const form = document.getElementById("filters"), choices = document.getElementById("choices");
  const state = { suite: 0, text: "", outcome: "", tags: {}, page: 0 };
  form.addEventListener("submit", (event) => event.preventDefault());

  const choice = (label, options, chosen, change) => {
    const select = el("select", { name: label });
    for (const [value, text] of options) select.append(el("option", { value }, text));
    select.value = chosen;
    select.addEventListener("change", () => { change(select.value); state.page = 0; draw(); });
    return el("label", {}, label, select);
  };

  function controls() {
    const suite = suites[state.suite];
    choices.replaceChildren();
    if (suites.length > 1) {
      const options = suites.map((one, k) => [String(k), one.suite]);
      choices.append(choice("suite", options, String(state.suite), (value) => {
        Object.assign(state, { suite: Number(value), outcome: "", tags: {} });
        controls();
      }));
    }
    const search = el("input", { type: "search", name: "search", placeholder: "words or an id" });
    search.value = state.text;
    search.addEventListener("input", () => { Object.assign(state, { text: search.value, page: 0 }); draw(); });
    choices.append(el("label", {}, "search", search));
    const known = Object.entries(outcomes(suite)).map(([value, [text]]) => [value, text]);
    choices.append(choice("outcome", known, state.outcome, (value) => { state.outcome = value; }));
    for (const [name, { values }] of Object.entries(suite.tags)) {
      if (values.length > 60) continue;
      const options = [["", "any"], ...values.map((value, k) => [String(k), value])];
      choices.append(choice(name.replaceAll("_", " "), options, state.tags[name] ?? "", (value) => { state.tags[name] = value; }));
    }
  }

  function found() {
    const suite = suites[state.suite], fits = outcomes(suite)[state.outcome][1], wanted = state.text.trim().toLowerCase();
    const chosen = Object.entries(state.tags).filter(([, value]) => value !== "");
    const places = [];
    for (let i = 0; i < suite.ids.length; i++) {
      if (!fits(suite.right[i])) continue;
      if (chosen.some(([name, value]) => suite.tags[name].codes[i] !== Number(value))) continue;
      if (wanted) {
        const text = `${suite.ids[i]}\n${suite.source?.[i] ?? ""}\n${suite.target?.[i] ?? ""}`.toLowerCase();
        if (!text.includes(wanted)) continue;
      }
      places.push(i);
    }
    return places;
  }

  function draw() {
    const suite = suites[state.suite], places = found();
    const pages = Math.max(1, Math.ceil(places.length / PAGE));
    state.page = Math.min(state.page, pages - 1);
    const shown = places.slice(state.page * PAGE, (state.page + 1) * PAGE);
    document.getElementById("list").replaceChildren(...shown.map((i) => show(suite, i)));
    const total = suite.ids.length.toLocaleString("en");
    document.getElementById("count").textContent = `${places.length.toLocaleString("en")} of ${total} examples`;
    document.getElementById("place").textContent = `${state.page + 1} / ${pages}`;
    document.getElementById("previous").disabled = state.page === 0;
    document.getElementById("next").disabled = state.page === pages - 1;
  }

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
