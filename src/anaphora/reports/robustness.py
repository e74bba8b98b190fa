"""The robustness report: a table like ContraCAT's Tables 4 and 5, and a picture like its Figure 1."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from anaphora.build.attacks.presets import built_in
from anaphora.evaluation.robustness import Attack, Robustness
from anaphora.reports.page.dots import Dot, Group, dots
from anaphora.reports.page.systems import COLOURS, SHAPES, Look, short_name
from anaphora.reports.tables import difference_cells, left_out, level_of, title_of
from anaphora.table import Row, Table, rows_of, section, stars_of

KINDS = {"phrase-addition": "phrase", "possessive-extension": "possessive"}  # whose presets have rows in the paper
COLOUR_AND_SHAPE = (COLOURS[0], SHAPES[0])
DONE = {  # what is done to the text, with the letters of the paper's tables
    "phrase-addition": "A phrase is added to the sentence before (C)",
    "possessive-extension": "The antecedent (A) gets an owner",
    "synonym-replacement": "The antecedent becomes a synonym of another gender",
    "wrong-antecedent": "A noun that cannot be meant is put in between",
    "random-context": "The sentences before are those of another example",
    "shuffled-context": "The sentences before are in another order",
    "no-context": "The sentences before are taken away",
}


def robustness_table(robustness: Robustness) -> Table:
    """Accuracy before and after each attack on the same items, by kind of attack."""
    figure = robustness.before
    low, high = figure.interval
    rows = [Row(("not attacked", f"{figure.total:,}", f"{figure.accuracy or 0:.3f}", "", "", "", ""))]
    for kind, attacks in itertools.groupby(robustness.attacks, key=lambda attack: attack.kind):
        members = list(attacks)
        indent = int(members[0].name != kind)  # no heading over a kind that is one attack, such as no-context
        if indent:
            rows.append(section(kind.replace("-", " ")))
        for attack in members:
            rows += rows_of([(label_of(attack), *difference_cells(attack.pair.overall))], indent)
            for name, groups in attack.pair.breakdowns.items():
                cells = [(f"{title_of(name)}: {g}", *difference_cells(groups[g])) for g in groups]
                rows += rows_of(cells, indent + 1)
    columns = ("", "n", "before", "after", "change", f"{level_of(robustness.settings)} interval", "p")
    notes = (
        f"before and after: accuracy on the n attacked items; all {figure.total:,} items: [{low:.3f}, {high:.3f}]",
        f"p: {robustness.test}, corrected (Holm); * < 0.05, ** < 0.01, *** < 0.001",
        *([left_out(robustness.repeated)] if robustness.repeated else []),
        f"signature {robustness.signature}",
    )
    title = f"{robustness.suite} {robustness.languages.replace('-', '→')} · {robustness.system}"
    return Table(title, columns, tuple(rows), notes)


def label_of(attack: Attack) -> str:
    """An attack as the paper's tables write it, where it is one of theirs."""
    name = attack.name.partition("/")[2]
    table = built_in(KINDS[attack.kind]).get(name, {}) if attack.kind in KINDS else {}
    return f"{name}  {table['table']}" if "table" in table else name or attack.name.replace("-", " ")


def done_to(kind: str) -> str:
    """What a kind of attack does to the text, as a heading."""
    return DONE.get(kind, kind.replace("-", " "))


def wording(attack: Attack) -> str:
    """An attack in the words of the paper's tables, where it is one of theirs; else its name."""
    name = attack.name.partition("/")[2]
    table = built_in(KINDS[attack.kind]).get(name, {}) if attack.kind in KINDS else {}
    return str(table.get("table") or name or attack.name.replace("-", " "))


def robustness_chart(found: Sequence[Robustness], looks: Mapping[str, Look] | None = None) -> str:
    """An SVG chart: for each attack every system before (hollow) and after (full), on one axis for all of them.

    found: systems on the same suite; looks: by their names
    """
    looks = looks or {one.system: Look(short_name(one.system), *COLOUR_AND_SHAPE) for one in found}
    by_attack: dict[str, dict[str, Attack]] = {}
    for one in found:
        for attack in one.attacks:
            by_attack.setdefault(attack.name, {})[one.system] = attack
    groups: list[Group] = []
    kinds = [next(iter(attacks.values())).kind for attacks in by_attack.values()]
    for k, (name, attacks) in enumerate(by_attack.items()):
        heading = done_to(kinds[k]) if not k or kinds[k] != kinds[k - 1] else ""
        first = next(iter(attacks.values()))
        label = wording(first) if first.name != first.kind else ""
        changes = {system: attack.pair.overall for system, attack in attacks.items()}
        total = max(change.total for change in changes.values())
        shown = {
            system: Dot(
                change.second,
                change.second,
                change.second,
                f"{looks[system].name} {name}: {100 * change.first:.1f} to {100 * change.second:.1f} %",
                stars_of(change.p_adjusted),
                change.first,
            )
            for system, change in changes.items()
        }
        groups.append(Group(label, f"n = {total:,}", shown, heading))
    return dots(f"Attacks on {found[0].suite}", groups, looks, "accuracy; hollow: before the attack, full: after it")
