"""The robustness report: a table like ContraCAT's Tables 4 and 5, and a picture like its Figure 1."""

from __future__ import annotations

import itertools
from html import escape

from anaphora.build.attacks.presets import built_in
from anaphora.evaluation.robustness import Attack, Robustness
from anaphora.reports.tables import difference_cells, level_of, title_of
from anaphora.table import Row, Table, rows_of, section

KINDS = {"phrase-addition": "phrase", "possessive-extension": "possessive"}  # whose presets have rows in the paper
WIDTH, LEFT, RIGHT, TOP, LINE = 760, 320, 30, 70, 24


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
        f"signature {robustness.signature}",
    )
    title = f"{robustness.suite} {robustness.languages.replace('-', '→')} · {robustness.system}"
    return Table(title, columns, tuple(rows), notes)


def label_of(attack: Attack) -> str:
    """An attack as the paper's tables write it, where it is one of theirs."""
    name = attack.name.partition("/")[2]
    table = built_in(KINDS[attack.kind]).get(name, {}) if attack.kind in KINDS else {}
    return f"{name}  {table['table']}" if "table" in table else name or attack.name.replace("-", " ")


def robustness_chart(robustness: Robustness) -> str:
    """An SVG picture: for each attack the accuracy before (hollow) and after (full) on the same items."""
    attacks = robustness.attacks
    values = [value for attack in attacks for value in (attack.pair.overall.first, attack.pair.overall.second)]
    low, high = max(0.0, min(values) - 0.05), min(1.0, max(values) + 0.05)
    height = TOP + LINE * len(attacks) + 40

    def x(value: float) -> str:
        return f"{LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / (high - low):.1f}"

    said = ", ".join(f"{a.name}: {a.pair.overall.first:.3f} to {a.pair.overall.second:.3f}" for a in attacks)
    title = f"{robustness.suite}: {robustness.system}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape(f"{title}. {said}")}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="10" y="22" font-size="14">{escape(title)}</text>',
        '<text x="10" y="42" fill="#444">accuracy on the same items: ○ before, ● after the attack</text>',
    ]
    for k in range(5):
        value = low + (high - low) * k / 4
        ends = f'y1="{TOP - 10}" y2="{height - 30}"'
        parts.append(f'<line x1="{x(value)}" x2="{x(value)}" {ends} stroke="#ddd"/>')
        parts.append(f'<text x="{x(value)}" y="{height - 14}" text-anchor="middle">{value:.2f}</text>')
    for k, attack in enumerate(attacks):
        y, first, second = TOP + LINE * k, attack.pair.overall.first, attack.pair.overall.second
        parts += [
            f'<text x="10" y="{y + 4}">{escape(label_of(attack))}</text>',
            f'<line x1="{x(first)}" x2="{x(second)}" y1="{y}" y2="{y}" stroke="#D55E00" stroke-width="2"/>',
            f'<circle cx="{x(first)}" cy="{y}" r="4" fill="white" stroke="#0072B2" stroke-width="2"/>',
            f'<circle cx="{x(second)}" cy="{y}" r="4.5" fill="#D55E00"/>',
        ]
    return "\n".join([*parts, "</svg>", ""])
