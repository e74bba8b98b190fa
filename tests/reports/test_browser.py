"""The report in a real browser: charts drawn, filters work, nothing in the console, no request."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from anaphora.reports.page import make_report, page
from anaphora.runs import Run, ScoredExample, describe, open_run, write_run
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, suite_of

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: apt-get install chromium")


@pytest.fixture
def shown(browser: Any, runs: list[Run], tmp_path: Path) -> Iterator[Any]:
    """The page in a browser; what it says on the console or asks for is an error."""
    file = tmp_path / "report.html"
    file.write_text(page(make_report(runs, suites=[tmp_path / "small.jsonl"])), encoding="utf-8")
    tab = browser.new_page(viewport={"width": 390, "height": 844})
    reported: list[str] = []
    tab.on("console", lambda message: reported.append(message.text))
    tab.on("pageerror", lambda error: reported.append(str(error)))
    tab.on(
        "request", lambda request: reported.append(request.url) if not request.url.startswith(file.as_uri()) else None
    )
    tab.goto(file.as_uri())
    tab.wait_for_selector(".example")
    yield tab
    assert reported == []
    tab.close()


def ids(tab: Any) -> list[str]:
    return [str(text) for text in tab.locator(".example header b").all_text_contents()]


def test_charts_are_drawn_within_a_phones_width(shown: Any) -> None:
    boxes = [svg.bounding_box() for svg in shown.locator("figure > svg").all()]
    assert len(boxes) == 4
    assert all(box["width"] > 200 and box["height"] > 50 and box["x"] + box["width"] <= 390 for box in boxes)
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390


def choose(tab: Any, name: str, label: str) -> None:
    tab.locator(f"select[name='{name}']").select_option(label=label)


def test_filters(shown: Any) -> None:
    assert shown.locator("#count").text_content() == "4 of 4 examples"
    choose(shown, "outcome", "systems differ")
    assert sorted(ids(shown)) == ["a", "b"]
    choose(shown, "right", "context")
    choose(shown, "wrong", "sentence")
    assert sorted(ids(shown)) == ["a", "b"]
    choose(shown, "reference pronoun", "sie")
    assert ids(shown) == ["b"]
    for name, label in (("right", "any system"), ("wrong", "any system"), ("outcome", "all systems right")):
        choose(shown, name, label)
    assert ids(shown) == ["d"]
    choose(shown, "reference pronoun", "any")
    shown.get_by_label("search").fill("LÖFFEL")
    assert ids(shown) == []
    choose(shown, "outcome", "any outcome")
    assert ids(shown) == ["a"]


def test_what_tells_systems_apart_comes_first(shown: Any) -> None:
    assert sorted(ids(shown)[:2]) == ["a", "b"]
    choose(shown, "order", "as in the suite")
    assert ids(shown) == ["a", "b", "c", "d"]


def test_no_matching_example_shows_how_to_reset_filters(shown: Any) -> None:
    reset = shown.get_by_role("button", name="Reset filters")
    assert not reset.is_visible()
    shown.get_by_label("search").fill("nowhere")
    assert shown.locator("#count").text_content() == "0 of 4 examples"
    assert "No example fits these filters" in shown.locator("#list").text_content()
    reset.click()
    assert len(ids(shown)) == 4
    assert shown.get_by_label("search").input_value() == ""
    assert not reset.is_visible()


def test_buttons_that_do_nothing_look_so(shown: Any) -> None:
    button = shown.get_by_role("button", name="next")
    assert button.is_disabled()
    assert float(button.evaluate("node => getComputedStyle(node).opacity")) < 0.6


def test_pronouns_and_antecedents_are_marked(shown: Any) -> None:
    choose(shown, "order", "as in the suite")
    first = shown.locator(".example").first
    assert first.locator("mark.second").all_text_contents() == ["a spoon", "einen Löffel"]
    assert first.locator("mark:not(.second)").all_text_contents() == ["It", "Er", "Sie", "Es"]
    assert first.locator("mark.maybe").count() == 0


def test_a_system_stands_under_what_it_prefers(shown: Any) -> None:
    choose(shown, "order", "as in the suite")
    rows = shown.locator(".example").first.locator(".candidates > li")
    assert [row.locator(".chip").all_text_contents() for row in rows.all()] == [["context✓"], [], ["sentence✗"]]
    assert "right answer" in rows.first.text_content()
    shown.locator(".example summary").first.click()
    shown.locator(".example table").first.wait_for()  # it is made when the browser says that it was opened
    cells = shown.locator(".example").first.locator("td.best").all_text_contents()
    assert cells == ["-1.00", "-1.00"]


def test_texts_stay_texts(shown: Any) -> None:
    shown.get_by_label("search").fill("bed")
    assert "</script><img src=x onerror=alert(1)>" in shown.locator(".example").first.text_content()
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


def test_every_chart_has_its_table(browser: Any, full: str) -> None:
    tab = browser.new_page()
    tab.goto(full)
    assert tab.locator("figure.wide svg").count() == 1
    assert tab.locator("figure:has(svg):not(:has(details table))").count() == 0
    assert tab.locator("figure:not(:has(svg))").count() == 0, "no card without a chart"
    tab.close()


def test_a_wide_chart_keeps_its_size_on_a_phone(browser: Any, full: str) -> None:
    tab = browser.new_page(viewport={"width": 390, "height": 844})
    tab.goto(full)
    assert tab.locator("figure.wide svg").first.bounding_box()["width"] >= 600
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390, "it is moved inside its box, not the page"
    tab.close()


UNREACHABLE = """[...document.querySelectorAll("body *")].filter((node) => {
  const style = getComputedStyle(node);
  const scrolls = /auto|scroll/.test(style.overflowX) && node.scrollWidth > node.clientWidth + 1;
  return scrolls && !(node.tabIndex >= 0 && node.getAttribute("role") === "region" && node.getAttribute("aria-label"));
}).map((node) => node.outerHTML.slice(0, 80))"""


def test_what_scrolls_is_reached_by_keyboard(browser: Any, full: str) -> None:
    """The rule of axe called scrollable-region-focusable."""
    tab = browser.new_page(viewport={"width": 390, "height": 844})
    tab.goto(full)
    tab.wait_for_selector(".example")
    tab.evaluate("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
    tab.wait_for_selector(".example table")
    assert tab.locator(".scroll").count() > 5
    assert tab.evaluate(UNREACHABLE) == []
    tab.close()


def printed(browser: Any, full: str, **options: Any) -> Any:
    tab = browser.new_page(**options)
    tab.goto(full)
    tab.wait_for_selector(".example")
    return tab


def test_paper_is_white(browser: Any, full: str) -> None:
    tab = printed(browser, full, color_scheme="dark")
    tab.get_by_label("Switch between dark and light").click()
    tab.get_by_label("Switch between dark and light").click()
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
    tab.emulate_media(media="print")
    ink = "getComputedStyle(document.querySelector('figure svg text')).fill"
    assert (tab.evaluate("getComputedStyle(document.body).backgroundColor"), tab.evaluate(ink)) == (
        "rgb(255, 255, 255)",
        "rgb(0, 0, 0)",
    )
    assert tab.locator("figure svg:visible").count() == tab.locator("figure svg").count()
    tab.close()


def test_accuracy_and_differences_are_printed(browser: Any, full: str) -> None:
    tab = printed(browser, full)
    tab.locator("summary", has_text="All figures of context").click()
    tab.emulate_media(media="print")
    captions = {name: tab.locator(f"#part-{name} td").first.is_visible() for name in PRINTED}
    assert captions == PRINTED
    tab.close()


PRINTED = {
    "accuracy": True,
    "small-en-de-differences-overall": True,
    "small-en-de-differences": False,
    "small-en-de-context": True,  # it is open
    "small-en-de-sentence": False,
    "small-en-de-location": False,
}


def test_examples_are_printed_where_some_were_chosen(browser: Any, full: str) -> None:
    tab = printed(browser, full)
    tab.emulate_media(media="print")
    assert not tab.locator("#examples").is_visible()
    tab.emulate_media(media="screen")
    tab.get_by_label("search").fill("Löffel")
    tab.emulate_media(media="print")
    assert tab.locator(".example:visible").count() == 1
    tab.close()


def test_titles_stay_with_their_text_on_paper(browser: Any, full: str) -> None:
    tab = printed(browser, full, viewport={"width": 680, "height": 1000})  # a page of A4 between its margins
    tab.emulate_media(media="print")
    assert tab.evaluate("[...document.querySelectorAll('h2')].every((h) => getComputedStyle(h).breakAfter === 'avoid')")
    size = (
        "(node) => parseFloat(node.getAttribute('font-size')) * "
        "node.getBoundingClientRect().height / node.getBBox().height"
    )
    points = [0.75 * text.evaluate(size) for text in tab.locator("figure.card svg text:visible").all()]
    assert min(points) > 6.5
    tab.close()


LONG = "nllb-200-distilled-600M-finetuned-opensubtitles2018-en-de-context-concat-step{}"


@pytest.mark.parametrize("width", [390, 1280])
def test_long_names_leave_room_for_candidates(browser: Any, runs: list[Run], tmp_path: Path, width: int) -> None:
    names = [LONG.format(step) for step in (100_000, 120_000)]
    file = tmp_path / "long.html"
    file.write_text(page(make_report(runs, suites=[tmp_path / "small.jsonl"], names=names)), encoding="utf-8")
    tab = browser.new_page(viewport={"width": width, "height": 844})
    tab.goto(file.as_uri())
    tab.wait_for_selector(".example")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    card = tab.locator(".example").first.bounding_box()["width"]
    boxes = [row.bounding_box() for row in tab.locator(".candidates > li").all()]
    assert all(box["width"] > 0.8 * card for box in boxes)
    chips = [chip.bounding_box() for chip in tab.locator(".chip").all()]
    assert all(chip["x"] + chip["width"] <= card + 40 for chip in chips)
    assert all(label.bounding_box()["width"] <= 250 for label in tab.locator("#choices label").all())
    texts = tab.locator("#part-accuracy svg text").all_text_contents()
    assert {"…step100000", "…step120000"} <= set(texts)
    tab.close()


def test_a_pronoun_that_occurs_twice_is_marked_as_uncertain(browser: Any, tmp_path: Path) -> None:
    source = ("I saw a lamp.", "It is old, and I like it.")
    texts = ("Sie ist alt, und ich mag sie.", "Er ist alt, und ich mag ihn.")
    made = Example("x", source, tuple(("Ich sah eine Lampe.", text) for text in texts), 0, {"source_pronoun": "it"})
    suite = suite_of(Header("two", "en", "de"), lambda: [made])
    suite.write(tmp_path / "two.jsonl")
    header = describe(suite, sha256=suite.sha256(), system="scores:x", examples=1)
    run = open_run(write_run(tmp_path / "two", header, [ScoredExample("x", 0, made.tags, [-1.0, -2.0])]))
    file = tmp_path / "two.html"
    file.write_text(page(make_report([run], suites=[tmp_path / "two.jsonl"])), encoding="utf-8")
    tab = browser.new_page()
    tab.goto(file.as_uri())
    tab.wait_for_selector(".example")
    assert tab.locator(".example mark.maybe").all_text_contents() == ["It", "it"]
    assert tab.locator(".candidates mark").all_text_contents() == ["Sie", "sie", "Er", "ihn"]
    assert "does not say which is meant" in tab.locator("#examples").text_content()
    tab.close()


def test_without_texts_there_is_no_list(browser: Any, runs: list[Run], tmp_path: Path) -> None:
    file = tmp_path / "bare.html"
    file.write_text(page(make_report(runs)), encoding="utf-8")
    tab = browser.new_page()
    messages: list[str] = []
    tab.on("pageerror", lambda error: messages.append(str(error)))
    tab.goto(file.as_uri())
    assert tab.locator("#list, #pages, #filters").count() == 0
    assert "add --suite FILE" in tab.locator("#examples").text_content()
    assert messages == []
    tab.close()
