"""Tab-separated tables with a header line: columns are looked up by name, and no cell is a formula."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anaphora.core.errors import BadInput, did_you_mean
from anaphora.core.files import text_lines


@dataclass(frozen=True, slots=True)
class Record:
    """A line of a table, its cells under the names of their columns."""

    path: Path
    line: int
    cells: dict[str, str]

    def number(self, column: str) -> float:
        text = self.cells[column]
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            what = f"not a number: {text!r}" if text else "no value"
            raise BadInput(self.path, f"{what} in the column {column!r}", line=self.line, remedy="Write 0.85 or 37.2.")
        return value


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns and the records below them."""

    path: Path
    names: tuple[str, ...]
    records: tuple[Record, ...]

    def require(self, wanted: Sequence[str], remedy: str = "") -> None:
        """Every one of these columns is here, or it is an error that names those that are."""
        for name in wanted:
            if name not in self.names:
                problem = f"no column {name!r}{did_you_mean(name, self.names)}; there are {', '.join(self.names)}"
                raise BadInput(self.path, problem, line=1, remedy=remedy)


def read_columns(path: Path) -> Columns:
    """A whole table; empty lines are passed over, a line with too few or too many cells is an error."""
    names: list[str] = []
    records = []
    for number, line in enumerate(text_lines(path), start=1):
        if not line.strip():
            continue
        cells = [plain_cell(cell.strip()) for cell in line.split("\t")]
        if not names:
            names = _header(path, number, cells)
        elif len(cells) != len(names):
            problem = f"{len(cells)} columns where the header has {len(names)}"
            raise BadInput(path, problem, line=number, remedy="Separate the columns by tabs.")
        else:
            records.append(Record(path, number, dict(zip(names, cells, strict=True))))
    if not records:
        raise BadInput(path, "no rows", remedy="The file needs a header line with column names, and rows below it.")
    return Columns(path, tuple(names), tuple(records))


def _header(path: Path, line: int, names: list[str]) -> list[str]:
    if len(names) < 2:
        raise BadInput(path, "a header line with columns separated by tabs is expected", line=line)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadInput(path, f"two columns are called {twice!r}", line=line)
    return names


# Cells that a spreadsheet never takes for a formula; reading them returns the original text.
#
# Names of systems, tags and words come from outside. A spreadsheet runs a cell such as `=HYPERLINK(…)` or `+cmd|…` when
# the table is opened. So text that begins with `=`, `+`, `-` or `@` is written with an apostrophe before it, which
# spreadsheets know as the mark of plain text. Figures with a sign stay figures. Text that looks as if it were marked
# gets one more apostrophe, so that reading, which takes one away, always returns what was written.

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
