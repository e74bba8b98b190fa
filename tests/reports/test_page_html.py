"""The page: whole, safe, and asking nothing of any network."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.reports.chapters import Chapter, slug
from anaphora.reports.page import Report, _list, export, make_report, page
from anaphora.runs import Run, open_run, write_run

VOID = {"meta", "img", "input", "br", "hr", "link"}


class Checked(HTMLParser):
    """Every tag is closed; ids are unique."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        actual = dict(attrs)
        if "id" in actual:
            self.ids.append(str(actual["id"]))
        if tag == "a":
            self.links.append(str(actual["href"]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture
def text(runs: list[Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ANAPHORA_HOME", str(tmp_path / "home"))
    report = make_report(runs, suites=[tmp_path / "small.jsonl"], names=["old", "<b>new</b>"])
    return page(report, datetime(2026, 11, 16, tzinfo=UTC))


def test_the_page_is_well_formed(text: str) -> None:
    checked = Checked()
    checked.feed(text)
    assert checked.open == []
    assert len(set(checked.ids)) == len(checked.ids)
    assert {link.removeprefix("#") for link in checked.links} <= set(checked.ids)


def test_nothing_is_asked_of_any_network(text: str) -> None:
    without = text.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|//cdn|@import|url\((?!#)", without)
    assert "Content-Security-Policy\" content=\"default-src 'none'" in text


def test_texts_cannot_become_markup(text: str) -> None:
    assert "onerror" not in text  # the suite's text is packed
    assert "<b>new</b>" not in text
    assert "&lt;b&gt;new&lt;/b&gt;" in text


@pytest.mark.parametrize("name", ["given", "of the run"])
def test_no_name_in_a_run_can_become_markup(run: Callable[[str], Run], tmp_path: Path, name: str) -> None:
    """Runs come from others: their suite, system, settings, tags and breakdowns are any text."""
    rows = [item._replace(tags={"<i TAG": "<i>VALUE</i>"}) for item in run("context")]
    header = replace(
        run("context").header,
        suite="<i>SUITE</i>",
        sha256="<i>SHA</i>",
        source_language="<i>SOURCE</i>",
        target_language="<i>TARGET</i>",
        system="<i>SYSTEM</i>",
        version="<i>VERSION</i>",
        breakdowns=("<i TAG",),
        context="<i>CONTEXT</i>",
        settings={"prompt": "<i>PROMPT</i>"},
    )
    report = make_report(
        [open_run(write_run(tmp_path / "hostile", header, rows))],
        names=["<i>NAME</i>"] if name == "given" else [],
        title="<i>TITLE</i>",
    )
    text = page(report, datetime(2026, 11, 16, tzinfo=UTC))
    assert "<i" not in text
    assert "&lt;i TAG" in text
    shown = {"SUITE", "SHA", "SYSTEM", "VALUE", "PROMPT", "VERSION", "CONTEXT", "SOURCE", "TARGET", "TITLE"}
    assert shown | ({"NAME"} if name == "given" else set()) == set(re.findall("&lt;i&gt;([A-Z]+)&lt;/i&gt;", text))


def test_the_page_has_date_summary_commands_and_charts(text: str) -> None:
    assert "2026-11-16" in text
    assert "is right in 100.0\u00a0%" in text
    assert "anaphora score small.jsonl --system scores:sentence.scores" in text
    assert text.count("<svg") == 4  # accuracy and three breakdowns


def test_what_may_have_to_be_scrolled_is_reached_by_keyboard(text: str) -> None:
    scrolled = re.findall(r'<div class="scroll"([^>]*)>', text)
    assert scrolled
    assert all(re.search(r'tabindex="0" role="region" aria-label="[^"]+"', actual) for actual in scrolled)


def test_a_part_without_a_chart_is_no_card(text: str) -> None:
    assert len(re.findall("<figure", text)) == text.count("<svg")


def test_no_line_ends_between_a_figure_and_its_unit() -> None:
    text = _list(["a is right in 76.0 % by 40.7 points (p < 0.001), n = 300, 5 of 9"])
    assert "76.0\u00a0% by 40.7\u00a0points (p\u00a0&lt;\u00a00.001), n\u00a0=\u00a0300, 5 of 9" in text


def test_missing_texts_are_reported_with_a_remedy(
    runs: list[Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANAPHORA_HOME", str(tmp_path / "home"))
    text = page(make_report(runs))
    assert "The texts of small are not in this report" in text
    assert "To list them, add --suite FILE, the file that was scored, and make the report again." in text
    assert 'id="list"' not in text
    assert "candidate 1" not in text


# Names for links and files.


def test_a_name_is_made_of_letters_digits_and_hyphens() -> None:
    assert slug("ContraPro en→de: by location×pronoun") == "contrapro-en-de-by-location-pronoun"
    assert Chapter("Attacks!", ()).name == "attacks"


@given(st.text())
def test_any_text_gives_a_name(text: str) -> None:
    name = slug(text)
    assert name
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert slug(name) == name


# The parts of a report as files.


@pytest.fixture
def report(runs: list[Run]) -> Report:
    return make_report(runs)


@pytest.mark.parametrize(("format", "ending", "begins"), [("md", ".md", "**"), ("latex", ".tex", "\\begin{table}")])
def test_tables(report: Report, tmp_path: Path, format: str, ending: str, begins: str) -> None:
    files = export(report, format, tmp_path / "out")
    assert len(files) == 8
    assert {file.suffix for file in files} == {ending}
    assert all(file.read_text("utf-8").startswith(begins) for file in files)


def test_csv_is_read_by_others(report: Report, tmp_path: Path) -> None:
    files = {file.stem: file for file in export(report, "csv", tmp_path / "out")}
    with files["small-en-de-reference-pronoun"].open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row[""], row["n"], row["sentence"], row["context"]) for row in rows] == [
        ("er", "1", "0.000", "1.000"),
        ("es", "1", "1.000", "1.000"),
        ("sie", "2", "0.500", "1.000"),
    ]


def test_charts(report: Report, tmp_path: Path) -> None:
    files = export(report, "svg", tmp_path / "out")
    assert [file.name for file in files][:2] == ["accuracy.svg", "small-en-de-reference-pronoun.svg"]
    assert all(file.read_text("utf-8").startswith("<svg") for file in files)


def test_pixels(report: Report, tmp_path: Path) -> None:
    pytest.importorskip("cairosvg", exc_type=ImportError, reason="needs CairoSVG")
    files = export(report, "png", tmp_path / "out")
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)
