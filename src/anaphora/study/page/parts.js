// What the annotator's page is made of. All text of a study goes in as text, never as HTML.
export const PAIR_ANSWERS = [
  { choice: "a", label: "A", keys: ["1", "a"], help: "the first one is better" },
  { choice: "b", label: "B", keys: ["2", "b"], help: "the second one is better" },
  { choice: "equal", label: "Equally good", keys: ["3", "e"], help: "both are equally good" },
  { choice: "neither", label: "Neither", keys: ["4", "n"], help: "neither is correct" },
  { choice: "invalid", label: "Invalid", keys: ["5", "i"], help: "these cannot be compared" },
];

export const VERDICT_ANSWERS = [
  { choice: "right", label: "Right", keys: ["1", "r"], help: "the pronoun is translated correctly" },
  { choice: "wrong", label: "Wrong", keys: ["2", "w"], help: "its translation is wrong" },
  { choice: "unclear", label: "Unclear", keys: ["3", "c"], help: "this cannot be decided" },
];

// A switch whose place is kept on this device, where it can keep anything.
export function remembered(key, on) {
  try {
    on = (localStorage.getItem(key) ?? String(on)) === "true";
  } catch { /* no storage */ }
  return {
    get on() { return on; },
    set on(value) {
      on = value;
      try {
        localStorage.setItem(key, String(value));
      } catch { /* for this visit only */ }
    },
  };
}

export function make(tag, className = "", ...children) {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...children);
  return element;
}

export function sentence(parts, className, language) {
  const p = make("p", `sentence ${className}`);
  p.lang = language;
  p.dir = "auto";
  for (const [text, marked] of parts) {
    if (!marked) p.append(text);
    else if (text) p.append(make("mark", "", text));
    else p.append(gap());
  }
  return p;
}

function gap() {
  const place = make("span", "gap");
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", "gap");
  place.append("\u00a0");
  return place;
}

// parts: the last sentence with its marked words, if it has any
export function passage(place, label, sentences, language, last, parts = null) {
  place.replaceChildren();
  place.hidden = sentences.length === 0;
  place.append(make("p", "label", label));
  sentences.forEach((text, k) => {
    const now = last && k === sentences.length - 1;
    place.append(sentence(now && parts ? parts : [[text, false]], now ? "now" : "before", language));
  });
}

export const languageName = (code) => {
  try {
    return new Intl.DisplayNames(["en"], { type: "language" }).of(code) ?? code;
  } catch {
    return code;
  }
};
