"""Cells of TSV and CSV files that no spreadsheet takes for a formula, and the same text back when they are read.

Names of systems, tags and words come from outside. A spreadsheet runs a cell such as `=HYPERLINK(…)` or `+cmd|…` when
the table is opened. So text that begins with `=`, `+`, `-` or `@` is written with an apostrophe before it, which
spreadsheets know as the mark of plain text. Figures with a sign stay figures. Text that looks as if it had been marked
gets one more apostrophe, so that reading, which takes one away, always returns what was written.
"""

from __future__ import annotations

import re

_FORMULA = re.compile(r"['’]*[\s]*[=+\-@＝＋－＠]")  # full-width signs count in East Asian spreadsheets
_FIGURE = re.compile(r"[+\-][\d.,:;%*eE\s\[\]()±–−∞+\-]*")  # -0.5, +1.2 [-0.1, 2.5]**, a lone dash: nothing to run
_MARKED = re.compile(r"'['’]*[\s]*[=+\-@＝＋－＠]")


def safe_cell(text: str) -> str:
    """The text as it can stand in a table: marked by an apostrophe where it would be taken for a formula."""
    return f"'{text}" if _FORMULA.match(text) and not _FIGURE.fullmatch(text) else text


def plain_cell(cell: str) -> str:
    """The text of a cell that `safe_cell` wrote."""
    return cell[1:] if _MARKED.match(cell) else cell


def tsv_line(cells: list[str] | tuple[str, ...]) -> str:
    """A line of a tab-separated file, without its end; white space inside a cell becomes one space."""
    return "\t".join(safe_cell(" ".join(cell.split())) for cell in cells)
