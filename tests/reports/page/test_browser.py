"""The report in a real browser: charts drawn, filters work, nothing in the console, no request."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from anaphora.reports.page.contents import make_report
from anaphora.reports.page.html import page
from anaphora.systems.run import Run

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: apt-get install chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def shown(browser: Any, runs: list[Run], tmp_path: Path) -> Iterator[Any]:
    """The page in a browser; what it says on the console or asks for is an error."""
    file = tmp_path / "report.html"
    file.write_text(page(make_report(runs, suites=[tmp_path / "small.jsonl"])), encoding="utf-8")
    tab = browser.new_page(viewport={"width": 390, "height": 844})
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda request: said.append(request.url) if not request.url.startswith(file.as_uri()) else None)
    tab.goto(file.as_uri())
    tab.wait_for_selector(".example")
    yield tab
    assert said == []
    tab.close()


def ids(tab: Any) -> list[str]:
    return [str(text) for text in tab.locator(".example header b").all_text_contents()]


def test_charts_are_drawn_within_a_phones_width(shown: Any) -> None:
    boxes = [svg.bounding_box() for svg in shown.locator("figure > svg").all()]
    assert len(boxes) == 4
    assert all(box["width"] > 200 and box["height"] > 50 and box["x"] + box["width"] <= 390 for box in boxes)
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390


def test_filters(shown: Any) -> None:
    assert ids(shown) == ["a", "b", "c", "d"]
    assert shown.locator("#count").text_content() == "4 of 4 examples"
    shown.get_by_label("outcome").select_option(label="context right, sentence wrong")
    assert ids(shown) == ["a", "b"]
    shown.locator("select[name='reference pronoun']").select_option(label="sie")
    assert ids(shown) == ["b"]
    shown.get_by_label("outcome").select_option(label="all systems right")
    assert ids(shown) == ["d"]
    shown.locator("select[name='reference pronoun']").select_option(label="any")
    shown.get_by_label("search").fill("LÖFFEL")
    assert ids(shown) == []
    shown.get_by_label("outcome").select_option(label="any outcome")
    assert ids(shown) == ["a"]


def test_pronouns_and_antecedents_are_marked(shown: Any) -> None:
    first = shown.locator(".example").first
    assert first.locator("mark.second").all_text_contents() == ["a spoon", "einen Löffel"]
    assert first.locator("mark:not(.second)").all_text_contents() == ["It", "Er", "Sie", "Es"]
    assert first.locator("td.best").all_text_contents() == ["-1.00", "-1.00"]


def test_texts_stay_texts(shown: Any) -> None:
    assert "</script><img src=x onerror=alert(1)>" in shown.locator(".example").nth(2).text_content()
    assert shown.locator(".example img").count() == 0


def test_dark_and_light(shown: Any) -> None:
    def paper() -> str:
        return str(shown.evaluate("getComputedStyle(document.body).backgroundColor"))

    before = paper()
    shown.get_by_label("Switch between dark and light").click()
    assert paper() != before


def test_tables_are_one_click_away(shown: Any) -> None:
    table = shown.locator("#part-accuracy table")
    assert not table.is_visible()
    shown.locator("#part-accuracy summary").click()
    assert table.is_visible()


APT = {
    "apt": 0.5,
    "cases": [10, 2, 3, 4, 5, 6],
    "systems": {"one": {"apt": 0.5, "interval": [0.4, 0.6], "cases": [10, 2, 3, 4, 5, 6], "signature": "apt|x"}},
}


@pytest.fixture
def full(runs: list[Run], attack: Callable[[str], Run], tmp_path: Path) -> str:
    """A page with wide pictures, too: an attack, APT's cases."""
    (tmp_path / "apt.json").write_text(json.dumps(APT), encoding="utf-8")
    made = make_report([*runs, attack("context")], suites=[tmp_path / "small.jsonl"], results=[tmp_path / "apt.json"])
    (tmp_path / "full.html").write_text(page(made), encoding="utf-8")
    return (tmp_path / "full.html").as_uri()


def test_every_picture_has_its_table(browser: Any, full: str) -> None:
    tab = browser.new_page()
    tab.goto(full)
    assert tab.locator("figure.wide > svg").count() == 2
    assert tab.locator("figure:has(> svg):not(:has(details table))").count() == 0
    tab.close()


def test_a_wide_picture_keeps_its_size_on_a_phone(browser: Any, full: str) -> None:
    tab = browser.new_page(viewport={"width": 390, "height": 844})
    tab.goto(full)
    assert tab.locator("figure.wide > svg").first.bounding_box()["width"] >= 600
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390, "it is moved inside its box, not the page"
    tab.close()


def test_paper_is_white_and_only_open_tables_are_printed(browser: Any, full: str) -> None:
    tab = browser.new_page(color_scheme="dark")
    tab.goto(full)
    tab.get_by_label("Switch between dark and light").click()
    tab.get_by_label("Switch between dark and light").click()
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
    tab.locator("#part-accuracy summary").click()
    tab.emulate_media(media="print")
    ink = "getComputedStyle(document.querySelector('figure svg text')).fill"
    assert (tab.evaluate("getComputedStyle(document.body).backgroundColor"), tab.evaluate(ink)) == (
        "rgb(255, 255, 255)",
        "rgb(0, 0, 0)",
    )
    assert tab.locator("details:visible").count() == 1
    assert tab.locator("figure > svg:visible").count() == tab.locator("figure > svg").count()
    tab.close()
