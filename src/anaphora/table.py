"""Tables: one type with six renderings (text, Markdown, LaTeX, TSV, CSV, HTML), and how cells are written."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from typing import Any, ClassVar

from anaphora.core.columns import tsv_line


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of a row. A section is a heading that has only its first cell."""

    cells: tuple[str, ...]
    section: bool = False
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """A table with notes below it. Columns after the first are right-aligned, unless they hold words."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = field(default=())

    def render(self, format: str) -> str:
        return RENDERERS[format](self)

    def of_words(self, column: int) -> bool:
        """Whether a column is left-aligned: the first one, and those in which most cells begin with a letter."""
        cells = [row.cells[column] for row in self.rows if len(row.cells) > column and row.cells[column]]
        return column == 0 or 2 * sum(cell[0].isalpha() for cell in cells) > len(cells)


LONG_SECTION = 46  # characters; the headings of sections that are longer do not widen the first column


def as_text(table: Table) -> str:
    """Return aligned columns for a terminal."""
    rows = [table.columns, *(("  " * row.indent + row.cells[0], *row.cells[1:]) for row in table.rows)]
    plain = [table.columns, *(cells for cells, row in zip(rows[1:], table.rows, strict=True) if not row.section)]
    widths = [max(_width(row[i]) for row in plain) for i in range(len(table.columns))]
    widths[0] = max([widths[0], *(width for row in rows if (width := _width(row[0])) <= LONG_SECTION)])
    words = [table.of_words(column) for column in range(len(table.columns))]
    lines = [table.title]
    for row in rows:
        cells = [_pad(cell, width, left=left) for cell, width, left in zip(row, widths, words, strict=False)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join([*lines, *table.notes])


def as_markdown(table: Table) -> str:
    """Return a pipe table, as GitHub and most wikis read it."""
    lines = [f"**{_escape(table.title, '*_|')}**", ""]
    lines.append("| " + " | ".join(map(_cell, table.columns)) + " |")
    lines.append("|" + "|".join(" :-- " if table.of_words(i) else " --: " for i in range(len(table.columns))) + "|")
    for row in table.rows:
        cells = [_cell(c) for c in row.cells] + [""] * (len(table.columns) - len(row.cells))
        cells[0] = f"*{cells[0]}*" if row.section else "&nbsp;&nbsp;" * row.indent + cells[0]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *(f"{_escape(note, '*_')}  " for note in table.notes)]).rstrip()


def as_latex(table: Table) -> str:
    """Return a booktabs table with a caption; it needs \\usepackage{booktabs}."""
    columns = len(table.columns)
    alignment = "".join("l" if table.of_words(column) else "r" for column in range(columns))
    lines = ["\\begin{table}", "\\centering", f"\\begin{{tabular}}{{{alignment}}}", "\\toprule"]
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
    """Return tab-separated rows. The first column names the section of the row; no cell is a spreadsheet formula."""
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
    """Return comma-separated rows with the columns of the TSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(line.split("\t") for line in as_tsv(table).split("\n"))
    return out.getvalue().rstrip("\n")


def as_html(table: Table) -> str:
    """Return an HTML table with a caption, for pages and notebooks."""
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
    """Return the attributes of a scrollable element: the keyboard reaches it, and it has a name."""
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


# Cells: how figures are written in all tables.

MISSING = "–"


def decimal(value: float | None, digits: int = 3, *, signed: bool = False) -> str:
    """Return a number with a fixed number of decimals and a real minus sign; a dash where there is none."""
    return MISSING if value is None else f"{value:{'+' if signed else ''}.{digits}f}".replace("-", "−")


def interval_cell(interval: tuple[float, float] | None, digits: int = 3, *, signed: bool = False) -> str:
    """Return an interval as `[low, high]`; a dash where there is none."""
    if interval is None:
        return MISSING
    low, high = (decimal(bound, digits, signed=signed) for bound in interval)
    return f"[{low}, {high}]"


def counts(numbers: Iterable[int]) -> tuple[str, ...]:
    """Return counts with commas between thousands."""
    return tuple(f"{number:,}" for number in numbers)


def percent(share: float | None) -> str:
    """Return a share in percent; a dash where there is none."""
    return MISSING if share is None else f"{100 * share:.0f} %"


def level(confidence: float) -> str:
    """Return the heading of a column of intervals, such as `95 % interval`."""
    return f"{confidence * 100:g} % interval"


def arrow(languages: str) -> str:
    """Return a language pair as titles have it: `en→de`."""
    return languages.replace("-", "→")


def p_text(p: float | None) -> str:
    """Return a p-value with its stars: 0.012*, <0.001***."""
    if p is None:
        return MISSING
    return f"{'<0.001' if p < 0.001 else f'{p:.3f}'}{stars_of(p)}"


def p_note(test: str) -> str:
    """Return the note below a table of p-values."""
    return f"p: {test}, corrected (Holm); * < 0.05, ** < 0.01, *** < 0.001"


def stars_of(p: float) -> str:
    """Return the stars of a p-value: * for p < 0.05, ** for p < 0.01, *** for p < 0.001."""
    return "*" * sum(p < limit for limit in (0.05, 0.01, 0.001))


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in text)


def _pad(text: str, width: int, *, left: bool) -> str:
    space = " " * (width - _width(text))
    return text + space if left else space + text


def _cell(text: str) -> str:
    """Return a Markdown cell; a bar or a line break would end it."""
    return _escape(" ".join(text.split()), "\\|")


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


# Results that print themselves: the function that makes their tables is imported only when they are shown.


class Rendered:
    """Prints the tables that the command line prints, as text and in notebooks.

    TABLES: the function that makes a table, or a list of them, of a result, as "package.module:function"
    """

    __slots__ = ()
    TABLES: ClassVar[str]

    def __str__(self) -> str:
        return "\n\n".join(table.render("table") for table in self._tables())

    def _repr_html_(self) -> str:
        return "".join(table.render("html") for table in self._tables())

    def _tables(self) -> list[Any]:
        module, _, function = self.TABLES.partition(":")
        tables = getattr(import_module(module), function)(self)
        return list(tables) if isinstance(tables, list | tuple) else [tables]
