"""One table, four ways to write it: what lines up on a terminal also survives a wiki, a paper and a spreadsheet."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.table import RENDERERS, Row, Table, p_text, rows_of, section

TABLE = Table(
    title="made-up en→de",
    columns=("", "n", "accuracy"),
    rows=(
        Row(("all", "12,000", "0.652")),
        section("reference pronoun"),
        *rows_of([("er", "4,000", "0.497"), ("sie", "80", "1.000")]),
    ),
    notes=("0 ties",),
)


def test_text_lines_up() -> None:
    assert TABLE.render("table") == "\n".join(
        [
            "made-up en→de",
            "                        n  accuracy",
            "all                12,000     0.652",
            "reference pronoun",
            "  er                4,000     0.497",
            "  sie                  80     1.000",
            "0 ties",
        ]
    )


def test_columns_of_words_are_left_aligned() -> None:
    rows = (Row(("contrapro", "12,000", "yes", "ContraPro")), Row(("scat", "1,000", "", "Supporting context")))
    table = Table("suites", ("name", "examples", "installed", "title"), rows)
    assert table.render("table").splitlines()[1:] == [
        "name       examples  installed  title",
        "contrapro    12,000  yes        ContraPro",
        "scat          1,000             Supporting context",
    ]
    assert "| :-- | --: | :-- | :-- |" in table.render("markdown")
    assert r"\begin{tabular}{lrll}" in table.render("latex")


def test_a_long_section_does_not_push_the_figures_away() -> None:
    rows = (section("nmt:" + "long/" * 20 + "model"), *rows_of([("all", "300")]))
    assert "  all  300" in Table("", ("", "n"), rows).render("table").splitlines()


def test_markdown_is_a_pipe_table() -> None:
    assert TABLE.render("markdown") == "\n".join(
        [
            "**made-up en→de**",
            "",
            "|  | n | accuracy |",
            "| :-- | --: | --: |",
            "| all | 12,000 | 0.652 |",
            "| *reference pronoun* |  |  |",
            "| &nbsp;&nbsp;er | 4,000 | 0.497 |",
            "| &nbsp;&nbsp;sie | 80 | 1.000 |",
            "",
            "0 ties",
        ]
    )


def test_latex_is_a_booktabs_table() -> None:
    assert TABLE.render("latex") == "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            r"\begin{tabular}{lrr}",
            r"\toprule",
            r" & n & accuracy \\",
            r"\midrule",
            r"all & 12,000 & 0.652 \\",
            r"\multicolumn{3}{l}{\textit{reference pronoun}} \\",
            r"\quad er & 4,000 & 0.497 \\",
            r"\quad sie & 80 & 1.000 \\",
            r"\bottomrule",
            r"\end{tabular}",
            r"\caption{made-up en$\rightarrow$de. 0 ties}",
            r"\end{table}",
        ]
    )


def test_tsv_has_the_section_in_a_column_of_its_own() -> None:
    assert TABLE.render("tsv") == "\n".join(
        [
            "section\t\tn\taccuracy",
            "\tall\t12,000\t0.652",
            "reference pronoun\ter\t4,000\t0.497",
            "reference pronoun\tsie\t80\t1.000",
        ]
    )


def test_a_row_after_a_section_stands_alone() -> None:
    table = Table("t", ("", "n"), (section("one"), *rows_of([("a", "1")]), Row(("rest", "2"))))
    assert table.render("tsv").splitlines()[1:] == ["one\ta\t1", "\trest\t2"]


def test_there_are_six_ways() -> None:
    assert set(RENDERERS) == {"table", "markdown", "latex", "tsv", "csv", "html"}


def test_csv_is_laid_out_as_tsv() -> None:
    assert TABLE.render("csv").splitlines() == [
        "section,,n,accuracy",
        ',all,"12,000",0.652',
        'reference pronoun,er,"4,000",0.497',
        "reference pronoun,sie,80,1.000",
    ]


def test_html_escapes_and_heads_its_rows() -> None:
    table = Table("a<b", ("", "n"), (section("one"), *rows_of([("<i>", "1&2")])), ("x > y",))
    text = table.render("html")
    assert "<caption>a&lt;b</caption>" in text
    assert '<tr class="section"><th scope="rowgroup" colspan="2">one</th></tr>' in text
    assert '<tr><td style="padding-left:1em">&lt;i&gt;</td><td>1&amp;2</td></tr>' in text
    assert text.endswith('<p class="mark">x &gt; y</p>')


def test_figures_stand_under_each_other_whatever_the_letters() -> None:
    """A Chinese character is two columns wide, a combining accent none."""
    table = Table("t", ("", "n"), tuple(Row((word, "1")) for word in ("sie", "它们", "e\u0301")))
    assert table.render("table").splitlines()[2:] == ["sie   1", "它们  1", "e\u0301     1"]


def test_a_long_section_does_not_shift_its_figures() -> None:
    table = Table("t", ("", "n"), (section("a section with a long name"), *rows_of([("er", "1"), ("sie", "22")])))
    _, head, _, first, second = table.render("table").splitlines()
    assert len(head) == len(first) == len(second)
    assert first.endswith("   1")


def test_markdown_cells_keep_bars_and_lines_inside() -> None:
    table = Table("a|b*c_d", ("", "x|y"), (Row(("one|two", "a\\|b")), Row(("two\nlines", "1"))), ("2 * 3_4",))
    title, _, head, _, first, second, _, note = table.render("markdown").splitlines()
    assert title == r"**a\|b\*c\_d**"
    assert head == r"|  | x\|y |"
    assert first == r"| one\|two | a\\\|b |"
    assert second == "| two lines | 1 |"
    assert note == r"2 \* 3\_4"


def test_latex_escapes_what_latex_takes_for_its_own() -> None:
    table = Table("50 % & more", ("", "p"), (Row(("a_b×c>3", "<0.001")), Row(("~^\\{}$#|", "−1±2"))))
    lines = table.render("latex").splitlines()
    assert r"a\_b$\times$c$>$3 & $<$0.001 \\" in lines
    assert r"\textasciitilde{}\textasciicircum{}\textbackslash{}\{\}\$\#\textbar{} & $-$1$\pm$2 \\" in lines
    assert r"\caption{50 \% \& more}" in lines


def test_tsv_cells_keep_tabs_and_lines_inside() -> None:
    table = Table("t", ("", "n"), (section("one\ttwo"), *rows_of([("a\tb\nc", "1")])))
    assert table.render("tsv").splitlines() == ["section\t\tn", "one two\ta b c\t1"]


CELLS = st.text(st.sampled_from("ab0 .×<>|\\{}$&%#_^~\t\n*-−"), max_size=8)
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=5)


@settings(derandomize=True)
@given(CELLS, ROWS)
def test_every_row_has_every_column_whatever_is_in_the_cells(title: str, rows: list[tuple[str, str, str]]) -> None:
    table = Table(title, ("", "one", "two"), (section(title), *rows_of(rows)))
    tsv = table.render("tsv").split("\n")
    assert len(tsv) == 1 + len(rows)
    assert {line.count("\t") for line in tsv} == {3}

    markdown = table.render("markdown").split("\n")
    body = markdown[next(n for n, line in enumerate(markdown) if line.startswith("| :-- |")) - 1 :]
    assert {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in body if line} == {4}

    latex = table.render("latex")
    assert unescaped(latex, "{") == unescaped(latex, "}")
    assert unescaped(latex, "$") % 2 == 0
    assert unescaped(latex, "#%~^_") == 0
    lines = latex.partition("\\midrule\n")[2].partition("\\bottomrule")[0].split(" \\\\\n")
    assert [unescaped(line, "&") for line in lines] == [0, *[2] * len(rows), 0]  # the section, the rows, the end


def unescaped(text: str, characters: str) -> int:
    """How often characters stand in LaTeX without a backslash before them."""
    return len(re.findall(rf"(?<!\\)[{re.escape(characters)}]", text.replace("\\\\", "")))


def test_a_table_without_rows_is_still_one() -> None:
    table = Table("nothing", ("", "n"), ())
    assert table.render("table") == "nothing\n  n"
    assert table.render("markdown").splitlines()[2:] == ["|  | n |", "| :-- | --: |"]
    assert table.render("tsv") == "section\t\tn"
    assert "\\midrule\n\\bottomrule" in table.render("latex")


@pytest.mark.parametrize(
    ("p", "text"),
    [(None, "–"), (0.0, "<0.001***"), (0.00099, "<0.001***"), (0.001, "0.001**"), (0.0123, "0.012*"), (0.05, "0.050")],
)
def test_a_p_value_is_written_in_one_way(p: float | None, text: str) -> None:
    assert p_text(p) == text
