// The overview: progress and agreement, a few times a minute.
const base = location.pathname.replace(/\/$/, "");
const root = base.slice(0, base.lastIndexOf("/admin/"));
const at = (id) => document.getElementById(id);
let links = ""; // what the table of links was made from

function cell(row, content, className = "") {
  const td = row.insertCell();
  td.className = className;
  td.append(content);
  return td;
}

const count = (number) => number.toLocaleString("en-US");
const figure = (found) => (found?.value == null ? "–" : found.value.toFixed(3).replace("-", "−"));
const percent = (share) => (share == null ? "–" : (100 * share).toFixed(1));

function linkCell(row, person) {
  const field = document.createElement("input");
  Object.assign(field, { className: "link", readOnly: true, value: `${location.origin}${root}/${person.link}` });
  field.setAttribute("aria-label", `Personal link of ${person.name}`);
  const copy = Object.assign(document.createElement("button"), { type: "button", className: "copy", textContent: "Copy" });
  copy.setAttribute("aria-label", `Copy the link of ${person.name}`);
  copy.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      document.execCommand("copy"); // the page came without https
    }
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy"; }, 1500);
  });
  const td = cell(row, field);
  td.append(copy);
}

function showPeople(people) {
  const body = at("people");
  const now = JSON.stringify(people.map((person) => person.link));
  if (now !== links) { // made once, so that a field one copies from stays what it is
    body.replaceChildren();
    for (const person of people) {
      const row = body.insertRow();
      cell(row, person.name);
      const bar = document.createElement("progress");
      bar.setAttribute("aria-label", `Progress of ${person.name}`);
      cell(row, bar);
      cell(row, "", "number");
      cell(row, "");
      linkCell(row, person);
    }
    links = now;
  }
  people.forEach((person, k) => {
    const { cells } = body.rows[k];
    Object.assign(cells[1].firstChild, { max: Math.max(1, person.total), value: person.done });
    cells[2].textContent = `${count(person.done)} / ${count(person.total)}`;
    cells[3].textContent = person.last ? new Date(person.last).toLocaleString() : "–";
  });
}

function showAgreement(found) {
  const body = at("agreement");
  body.replaceChildren();
  const lines = [[found.without_ties ? "with ties" : "all", found.with_ties], ["without ties", found.without_ties]];
  for (const [name, part] of lines) {
    if (!part) continue;
    const row = body.insertRow();
    cell(row, name);
    cell(row, count(part.items), "number");
    cell(row, part === found.with_ties ? percent(found.preferred) : "", "number");
    for (const coefficient of ["percent", "kappa", "alpha", "ac1"]) cell(row, figure(part[coefficient]), "number");
  }
  at("left-out").textContent = found.left_out ? `${count(found.left_out)} items are left out: an annotator found neither candidate correct, or the question invalid.` : "";
  const pairs = Object.entries(found.pairs);
  at("pairs-part").hidden = pairs.length === 0;
  at("pairs").replaceChildren();
  for (const [name, group] of pairs) {
    const row = at("pairs").insertRow();
    cell(row, name.replace(":", " : "));
    cell(row, count(group.with_ties.items), "number");
    cell(row, percent(group.preferred), "number");
    cell(row, figure(group.with_ties.ac1), "number");
    cell(row, figure(group.without_ties?.ac1), "number");
  }
}

async function refresh() {
  try {
    const reply = await fetch(`${base}/overview`);
    const found = await reply.json();
    if (!reply.ok) throw new Error(found.detail);
    document.title = at("title").textContent = found.title;
    const done = found.agreement.answered, asked = found.agreement.asked;
    at("summary").textContent = `${count(found.items)} items, ${found.overlap} ${found.overlap === 1 ? "answer" : "answers"} each · ${count(done)} of ${count(asked)} answers are here`;
    at("preferred-title").textContent = { pairs: "% reference", gaps: "% correct", verdicts: "% right" }[found.mode];
    showPeople(found.annotators);
    showAgreement(found.agreement);
    at("trouble").hidden = true;
  } catch (error) {
    at("trouble").textContent = `The server does not answer as it should: ${error.message}`;
    at("trouble").hidden = false;
  }
}

at("jsonl").href = `${base}/answers.jsonl`;
at("tsv").href = `${base}/answers.tsv`;
await refresh();
setInterval(() => { if (!document.hidden) refresh(); }, 5000);
