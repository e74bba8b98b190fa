"""One table, many ways to write it: aligned text, Markdown, LaTeX (booktabs), TSV, CSV, HTML."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape

from anaphora.core.cells import tsv_line


@dataclass(frozen=True, slots=True)
class Row:
    """Cells of a row; a section is a heading of its own, its first cell alone."""

    cells: tuple[str, ...]
    section: bool = False
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Columns after the first are figures and stand to the right; notes follow below."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = field(default=())

    def render(self, format: str) -> str:
        return RENDERERS[format](self)


def as_text(table: Table) -> str:
    """Aligned columns for a terminal."""
    rows = [table.columns, *(("  " * row.indent + row.cells[0], *row.cells[1:]) for row in table.rows)]
    plain = [row for row, of in zip(rows, [None, *table.rows], strict=True) if of is None or not of.section]
    widths = [max(_width(row[i]) for row in plain) for i in range(len(table.columns))]
    widths[0] = max([widths[0], *(_width(row[0]) for row in rows)])
    lines = [table.title]
    for row in rows:
        cells = [_pad(row[0], widths[0], left=True)]
        cells += [_pad(cell, width, left=False) for cell, width in zip(row[1:], widths[1:], strict=False)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join([*lines, *table.notes])


def as_markdown(table: Table) -> str:
    """A pipe table, as GitHub and most wikis read it."""
    lines = [f"**{_escape(table.title, '*_|')}**", ""]
    lines.append("| " + " | ".join(map(_cell, table.columns)) + " |")
    lines.append("|" + "|".join([" :-- ", *[" --: "] * (len(table.columns) - 1)]) + "|")
    for row in table.rows:
        cells = [_cell(c) for c in row.cells] + [""] * (len(table.columns) - len(row.cells))
        cells[0] = f"*{cells[0]}*" if row.section else "&nbsp;&nbsp;" * row.indent + cells[0]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *(f"{_escape(note, '*_')}  " for note in table.notes)]).rstrip()


def as_latex(table: Table) -> str:
    """A booktabs table with a caption; needs \\usepackage{booktabs}."""
    columns = len(table.columns)
    lines = ["\\begin{table}", "\\centering", f"\\begin{{tabular}}{{l{'r' * (columns - 1)}}}", "\\toprule"]
    lines.append(" & ".join(map(_latex, table.columns)) + " \\\\")
    lines.append("\\midrule")
    for row in table.rows:
        if row.section:
            lines.append(f"\\multicolumn{{{columns}}}{{l}}{{\\textit{{{_latex(row.cells[0])}}}}} \\\\")
        else:
            lead = "\\quad " * row.indent
            lines.append(lead + " & ".join(map(_latex, row.cells)) + " \\\\")
    caption = ". ".join([table.title, *table.notes])
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", f"\\caption{{{_latex(caption)}}}", "\\end{table}"])


def as_tsv(table: Table) -> str:
    """Tab-separated, every row complete: the section it belongs to is its first column. No cell is a formula."""
    lines = [tsv_line(["section", *table.columns])]
    section = ""
    for row in table.rows:
        if row.section:
            section = row.cells[0]
            continue
        if not row.indent:
            section = ""
        lines.append(tsv_line([section, *row.cells]))
    return "\n".join(lines)


def as_csv(table: Table) -> str:
    """Comma-separated, laid out as the TSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(line.split("\t") for line in as_tsv(table).split("\n"))
    return out.getvalue().rstrip("\n")


def as_html(table: Table) -> str:
    """An HTML table with a caption, for pages and notebooks."""
    columns = len(table.columns)
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in table.columns)
    rows = []
    for row in table.rows:
        first = escape(row.cells[0])
        if row.section:
            rows.append(f'<tr class="section"><th scope="rowgroup" colspan="{columns}">{first}</th></tr>')
            continue
        lead = f' style="padding-left:{row.indent}em"' if row.indent else ""
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in row.cells[1:])
        rows.append(f"<tr><td{lead}>{first}</td>{cells}</tr>")
    notes = "".join(f'<p class="mark">{escape(note)}</p>' for note in table.notes)
    caption = f"<caption>{escape(table.title)}</caption>"
    body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f'<div class="scroll" {region(table.title)}><table>{caption}{body}</table></div>{notes}'


def region(name: str) -> str:
    """The attributes of an element that may have to be scrolled: the keyboard reaches it, and it has a name."""
    return f'tabindex="0" role="region" aria-label="{escape(name)}"'


RENDERERS: dict[str, Callable[[Table], str]] = {
    "table": as_text,
    "markdown": as_markdown,
    "latex": as_latex,
    "tsv": as_tsv,
    "csv": as_csv,
    "html": as_html,
}


def section(name: str) -> Row:
    return Row((name,), section=True)


def rows_of(cells: Sequence[Sequence[str]], indent: int = 1) -> list[Row]:
    return [Row(tuple(row), indent=indent) for row in cells]


def p_text(p: float | None) -> str:
    """A p-value as all tables have it: 0.012*, <0.001***."""
    if p is None:
        return "–"
    return f"{'<0.001' if p < 0.001 else f'{p:.3f}'}{stars_of(p)}"


def stars_of(p: float) -> str:
    """How sure a difference is: * for p < 0.05, ** for p < 0.01, *** for p < 0.001."""
    return "*" * sum(p < limit for limit in (0.05, 0.01, 0.001))


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in text)


def _pad(text: str, width: int, *, left: bool) -> str:
    space = " " * (width - _width(text))
    return text + space if left else space + text


def _cell(text: str) -> str:
    """A Markdown cell: a bar or a new line in it would end it."""
    return _escape(_one_line(text), "\\|")


def _escape(text: str, characters: str) -> str:
    return "".join(f"\\{c}" if c in characters else c for c in text)


_LATEX = {
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "×": "$\\times$",
    "−": "$-$",
    "→": "$\\rightarrow$",
    "±": "$\\pm$",
    "<": "$<$",
    ">": "$>$",
    "|": "\\textbar{}",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}


def _latex(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in text)


def _one_line(text: str) -> str:
    return " ".join(text.split())
