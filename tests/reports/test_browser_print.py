"""The report on paper: what Chromium prints, sheet by sheet."""

from __future__ import annotations

import io
import random
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from anaphora.reports.page import make_report, page
from anaphora.runs import Run, ScoredExample, describe, open_run, write_run
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, suite_of

pypdf = pytest.importorskip("pypdf", reason="pypdf is not installed")
LONG = "nllb-200-distilled-600M-finetuned-opensubtitles2018-en-de-context-concat-step{}"
FIRST = "By kind"  # the chart that follows the title of the chapter

COPIES = ("the_same_by_another_name", "the_same_by_a_third_name", "the_same_by_a_fourth_name")  # a remark of two lines


@pytest.fixture
def runs(tmp_path: Path) -> list[Run]:
    """Two systems; a breakdown of two groups, copies of it, and one whose chart is half a sheet high."""
    examples = [
        Example(
            *(f"{k}", ("It is.",), (("Er ist.",), ("Sie ist.",)), 0),
            {"kind": k % 2, **dict.fromkeys(COPIES, k % 2), "many": k % 11},
        )
        for k in range(220)
    ]
    suite = suite_of(Header("small", "en", "de", ("kind", *COPIES, "many")), lambda: examples)
    made = []
    for skill, name in ((0.4, "sentence"), (0.8, "context")):
        chance = random.Random(name)
        header = describe(suite, sha256=suite.sha256(), system=f"scores:{name}.scores", examples=len(examples))
        rows = [ScoredExample(e.id, 0, e.tags, [float(chance.random() < skill), 0.5]) for e in examples]
        made.append(open_run(write_run(tmp_path / name, header, rows)))
    return made


def sheets(browser: Any, html: str, tmp_path: Path, height: int = 297) -> list[str]:
    """The text on each sheet, without spaces."""
    file = tmp_path / "report.html"
    file.write_text(html, encoding="utf-8")
    tab = browser.new_page()
    tab.goto(file.as_uri())
    printed = tab.pdf(
        width="210mm", height=f"{height}mm", margin=dict.fromkeys(("top", "bottom", "left", "right"), "15mm")
    )
    tab.close()
    texts = [sheet.extract_text() for sheet in pypdf.PdfReader(io.BytesIO(printed)).pages]
    return ["".join(unicodedata.normalize("NFKC", text).split()) for text in texts]  # ﬀ is ff


def of(text: str, actual: list[str]) -> int:
    """The sheet that a text is on."""
    (number,) = [k for k, sheet in enumerate(actual) if text.replace(" ", "") in sheet]
    return number


def test_a_title_is_on_the_sheet_of_its_first_chart(browser: Any, runs: list[Run], tmp_path: Path) -> None:
    """Whatever is before it: the foot of the first sheet comes at another place for each height."""
    html = page(make_report(runs))
    for height in range(200, 300, 8):
        actual = sheets(browser, html, tmp_path, height)
        assert of("small en→de Left out:", actual) == of(FIRST, actual), f"{height} mm"
        assert of("Differences overall", actual) == of("signature cmp|", actual), f"{height} mm"


def test_a_high_chart_leaves_a_low_one_on_its_sheet(browser: Any, runs: list[Run], tmp_path: Path) -> None:
    actual = sheets(browser, page(make_report(runs)), tmp_path)
    assert (of(FIRST, actual), of("By many", actual)) == (0, 1)


def test_long_names_do_not_shrink_the_paper(browser: Any, runs: list[Run], tmp_path: Path) -> None:
    """Chromium prints everything smaller where a table is wider than the sheet."""
    names = [LONG.format(step) for step in (100_000, 120_000)]
    file = tmp_path / "long.html"
    file.write_text(page(make_report(runs, names=names)), encoding="utf-8")
    tab = browser.new_page(viewport={"width": 680, "height": 1000})  # A4 without its margins
    tab.goto(file.as_uri())
    tab.emulate_media(media="print")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.locator("#part-small-en-de-differences-overall td").first.is_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 680
    tab.close()
