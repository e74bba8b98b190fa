"""The pages in a real browser: keyboard, mouse and phone, undo and return, no network, nothing from elsewhere."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from anaphora.study.analysis import current_answers
from anaphora.study.create import Design, make_study
from anaphora.study.details import suite_of_details
from anaphora.study.model import Study, read_links, read_study, write_study
from anaphora.study.pages import opaque_ids
from anaphora.study.store import Answer, read_answers
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, suite_of

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here: apt-get install chromium")

Make = Callable[..., Study]
Serve = Callable[..., Any]
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
PAYLOAD = "<img src=x onerror=\"document.title='hacked'\"><script>alert(1)</script>"


# one process draws all pages, and none is started in advance: starting them takes longer than most tests
FEW_PROCESSES = ["--renderer-process-limit=1", "--disable-features=SpareRendererForSitePerProcess"]


@pytest.fixture(scope="module")
def contexts() -> Iterator[Callable[..., Any]]:
    """What several tests share: a context of the browser by its options. Every server is an origin of its own."""
    made: dict[str, Any] = {}
    with playwright.sync_playwright() as running:
        arguments = ["--no-sandbox", "--disable-gpu", *FEW_PROCESSES]
        chromium = running.chromium.launch(executable_path=CHROMIUM, args=arguments)

        def context(**options: Any) -> Any:
            name = json.dumps(options, sort_keys=True)
            if name not in made:
                made[name] = chromium.new_context(**options)
            return made[name]

        context.browser = chromium  # type: ignore[attr-defined]
        yield context
        chromium.close()


@pytest.fixture
def visit(contexts: Any) -> Iterator[Callable[..., Any]]:
    """Open a page; whatever it complains about, and whatever it loads from elsewhere, fails the test."""
    used, own, complaints = [], [], []

    def page(link: str, *, clock: bool = False, **options: Any) -> Any:
        if clock:  # the clock of a context: time goes on, and can be put forward
            context = contexts.browser.new_context(**options)
            context.clock.install()
            own.append(context)
        else:
            context = contexts(**options)
            used.append(context)
        opened = context.new_page()
        host = urlsplit(link).netloc

        def asked(request: Any) -> None:
            if urlsplit(request.url).netloc != host:
                complaints.append(f"a request to {request.url}")

        opened.on("request", asked)
        opened.on("pageerror", lambda error: complaints.append(str(error)))
        opened.on(
            "console", lambda m: complaints.append(m.text) if m.type == "error" and "ERR_" not in m.text else None
        )
        opened.on("dialog", lambda dialog: on_dialog(opened, dialog))
        opened.asked_to_stay = 0
        opened.goto(link)
        return opened

    def on_dialog(opened: Any, dialog: Any) -> None:
        if dialog.type == "beforeunload":  # the browser asks whether one really wants to leave; one does
            opened.asked_to_stay += 1
        else:
            complaints.append(f"a dialog: {dialog.message}")
        dialog.accept()

    yield page
    for context in used:
        context.set_offline(False)
        for opened in context.pages:
            opened.close()
    for context in own:
        context.close()
    assert complaints == []


def start(page: Any) -> None:
    page.get_by_role("button", name="Start").or_(page.get_by_role("button", name="Go on")).first.click()
    page.wait_for_selector("#question:visible")


def at_question(page: Any, number: int) -> None:
    page.get_by_text(f"Question {number} of").wait_for()


def saved(page: Any) -> None:
    """The server has every answer (what polls by a string of code is against the page's own policy)."""
    playwright.expect(page.locator("#status")).to_have_text("Saved", timeout=20_000)


def log_of(folder: Path) -> list[Answer]:
    return read_answers(read_study(folder), folder)


def until(page: Any, condition: Callable[[], bool]) -> None:
    """Wait for what the page does not show; another page of its browser lets the time pass and hears of dialogs."""
    other = page.context.new_page()
    for _ in range(400):
        if condition():
            return
        other.wait_for_timeout(50)
    raise AssertionError("it did not happen")


def choices(folder: Path, name: str) -> dict[str, tuple[str, ...]]:
    study = read_study(folder)
    current = current_answers(study, read_answers(study, folder), "log")
    return {item: answer.choice for (annotator, item), answer in current.items() if annotator == name}


def test_with_the_keyboard(make: Make, serve: Serve, visit: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "study"
    study = make(7)
    write_study(study, folder)
    server = serve(folder)
    page = visit(server.links["anna"])
    page.get_by_role("heading", name="Which pronoun fits?").wait_for()
    playwright.expect(page.get_by_text("B is better")).to_be_visible(timeout=20_000)  # the example
    page.get_by_role("button", name="Start").focus()
    page.keyboard.press("Enter")
    for number, key in enumerate("1be45", start=1):
        at_question(page, number)
        page.keyboard.press(key)
    at_question(page, 6)
    asked = [one.item for one in study.annotators[0].assignments]
    saved(page)
    expected = dict(zip(asked, [("a",), ("b",), ("equal",), ("neither",), ("invalid",)], strict=False))
    assert choices(folder, "anna") == expected
    assert page.locator("#progress").evaluate("bar => [bar.value, bar.max]") == [5, 7]

    page.keyboard.press("u")  # takes back the last answer and asks again
    at_question(page, 5)
    assert page.locator("[aria-pressed=true]").count() == 0
    page.keyboard.press("ArrowLeft")
    at_question(page, 4)
    assert page.locator("[aria-pressed=true]").inner_text().startswith("Neither")
    page.keyboard.press("a")  # changed
    at_question(page, 5)
    page.keyboard.press("ArrowRight")  # not past a question without an answer
    playwright.expect(page.get_by_text("Question 5 of")).to_be_visible(timeout=20_000)

    page.reload()  # a break: back where one left
    page.get_by_role("heading", name="Welcome back, anna").wait_for()
    playwright.expect(page.get_by_text("You have answered 4 of 7 questions")).to_be_visible(timeout=20_000)
    start(page)
    at_question(page, 5)
    for number in (5, 6, 7):
        at_question(page, number)
        page.keyboard.press("n")
    page.get_by_role("heading", name="Thank you, anna").wait_for()
    saved(page)
    actual = choices(folder, "anna")
    assert len(actual) == 7
    assert (actual[asked[3]], actual[asked[4]]) == (("a",), ("neither",))
    history = [one.choice for one in read_answers(study, folder) if one.item == asked[4]]
    assert history == [("invalid",), (), ("neither",)]

    overview = visit(server.admin)
    overview.get_by_text("7 / 7").wait_for()
    assert overview.locator("#people tr").count() == 3
    assert overview.get_by_label("Personal link of anna").input_value() == server.links["anna"]
    with overview.expect_download() as download:
        overview.get_by_text("Download JSON Lines").click()
    assert len(Path(download.value.path()).read_text(encoding="utf-8").splitlines()) == 7


def test_on_a_phone_with_text_that_looks_like_html(serve: Serve, visit: Callable[..., Any], tmp_path: Path) -> None:
    long = " and so on" * 30
    examples = [
        Example(
            f"x{k}{PAYLOAD}",
            (PAYLOAD, f"{PAYLOAD} {k}"),
            ((PAYLOAD, f"he {PAYLOAD}{long}"), (PAYLOAD, f"it {PAYLOAD}{long}")),
            0,
        )
        for k in range(3)
    ]
    design = Design(annotators=(f"anna {PAYLOAD}"[:79],), title=PAYLOAD, instructions=(PAYLOAD,))
    folder = tmp_path / "study"
    study = make_study(suite_of(Header("x", "de", "en"), lambda: examples), design)
    write_study(study, folder)
    server = serve(folder)
    (link,) = server.links.values()
    page = visit(link, **PHONE)
    playwright.expect(page.get_by_role("heading", name=PAYLOAD)).to_be_visible(timeout=20_000)
    page.get_by_role("button", name="Start").tap()
    at_question(page, 1)
    assert page.title() == PAYLOAD
    assert page.locator("img").count() == 0
    assert PAYLOAD in page.locator(".candidate").first.inner_text()
    assert page.locator(".candidate mark").all_inner_texts() in (["he", "it"], ["it", "he"])
    wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert page.evaluate(wide) is False  # nothing to scroll sideways
    small = "[...document.querySelectorAll('button')].filter(b => b.offsetParent && b.offsetHeight < 44).length"
    assert page.evaluate(small) == 0  # everything is large enough for a thumb
    page.locator(".candidate").nth(1).tap()
    at_question(page, 2)
    page.get_by_role("button", name="Equally good").tap()
    at_question(page, 3)
    saved(page)
    (name,) = server.links
    assert sorted(choices(folder, name).values()) == [("b",), ("equal",)]
    overview = visit(server.admin, **PHONE)
    overview.get_by_text("2 / 3").wait_for()
    assert overview.title() == PAYLOAD
    assert overview.evaluate(wide) is False


def test_without_a_connection(make: Make, serve: Serve, visit: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_study(make(5), folder)
    page = visit(serve(folder).links["anna"])
    start(page)
    page.keyboard.press("1")
    at_question(page, 2)
    saved(page)
    page.context.set_offline(True)
    page.keyboard.press("2")
    at_question(page, 3)
    page.get_by_text("No connection: 1 answer is kept on this device").wait_for()
    page.keyboard.press("3")
    page.get_by_text("No connection: 2 answers are kept").wait_for()
    assert len(choices(folder, "anna")) == 1
    page.context.set_offline(False)
    saved(page)
    assert sorted(choices(folder, "anna").values()) == [("a",), ("b",), ("equal",)]


def test_answers_that_were_left_on_the_device(
    make: Make, serve: Serve, visit: Callable[..., Any], tmp_path: Path
) -> None:
    """The page was closed before it could send: the next visit sends them."""
    folder = tmp_path / "study"
    study = make(5)
    write_study(study, folder)
    server = serve(folder)
    page = visit(server.url)  # the same storage
    item = study.annotators[0].assignments[0].item
    shown = opaque_ids(study, read_links(folder, study)[0])["anna"][item]
    kept = [{"request": "left-behind-1", "item": shown, "choice": ["b"], "seconds": 1}]
    key = f"anaphora-study:{study.id}:anna"
    page.evaluate("([key, kept]) => localStorage.setItem(key, JSON.stringify(kept))", [key, kept])
    page.goto(server.links["anna"])
    page.get_by_text("You have answered 1 of 5 questions").wait_for()
    saved(page)
    assert page.evaluate("key => localStorage.getItem(key)", key) == "[]"
    assert choices(folder, "anna") == {item: ("b",)}


def test_unsent_answers_hold_the_last_page(make: Make, serve: Serve, visit: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_study(make(4), folder)
    page = visit(serve(folder).links["anna"])
    start(page)
    for number, key in enumerate("12", start=1):
        at_question(page, number)
        page.keyboard.press(key)
    at_question(page, 3)
    saved(page)
    page.context.set_offline(True)
    page.keyboard.press("3")
    at_question(page, 4)
    page.keyboard.press("4")
    section = page.locator("#thanks")
    playwright.expect(section).to_contain_text("2 answers are still being sent", timeout=20_000)
    playwright.expect(section).to_contain_text("keep this page open")
    assert "close this page" not in section.inner_text()
    assert len(log_of(folder)) == 2
    page.context.set_offline(False)
    page.get_by_role("heading", name="Thank you, anna").wait_for()  # by itself
    playwright.expect(section).to_contain_text("You can close this page now")
    assert sorted(choices(folder, "anna").values()) == [("a",), ("b",), ("equal",), ("neither",)]
    page.close(run_before_unload=True)
    until(page, page.is_closed)
    assert page.asked_to_stay == 0  # nothing waits


def test_closing_asks_first_and_sends_what_waits(
    make: Make, serve: Serve, visit: Callable[..., Any], tmp_path: Path
) -> None:
    """The usual way of sending is blocked: what arrives came with the last request, which outlives the page."""
    folder = tmp_path / "study"
    write_study(make(4), folder)
    page = visit(serve(folder).links["anna"])
    start(page)
    page.route("**/answers", lambda route: route.abort())
    for number, key in enumerate("123", start=1):
        at_question(page, number)
        page.keyboard.press(key)
    at_question(page, 4)
    page.keyboard.press("ArrowLeft")
    at_question(page, 3)
    page.keyboard.press("4")  # the order counts: the second answer to the same question is the last
    page.get_by_text("No connection: 4 answers are kept").wait_for()
    page.get_by_role("button", name="Break").click()
    playwright.expect(page.get_by_role("dialog")).to_contain_text("4 answers are still being sent")
    page.keyboard.press("Escape")
    assert log_of(folder) == []
    page.close(run_before_unload=True)
    until(page, lambda: len(log_of(folder)) == 4)
    assert page.asked_to_stay == 1
    assert [one.choice for one in log_of(folder)] == [("a",), ("b",), ("equal",), ("neither",)]
    assert sorted(choices(folder, "anna").values()) == [("a",), ("b",), ("neither",)]


def test_a_device_that_cannot_store_still_sends(
    make: Make, serve: Serve, visit: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "study"
    write_study(make(3), folder)
    page = visit(serve(folder).links["anna"])
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('full'); }; }")
    start(page)
    page.context.set_offline(True)
    page.keyboard.press("1")
    at_question(page, 2)
    page.get_by_text("No connection: 1 answer is kept").wait_for()
    page.context.set_offline(False)
    saved(page)
    assert list(choices(folder, "anna").values()) == [("a",)]


def test_who_is_done_is_thanked_again(make: Make, serve: Serve, visit: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_study(make(2), folder)
    page = visit(serve(folder).links["anna"])
    start(page)
    for number in (1, 2):
        at_question(page, number)
        page.keyboard.press("1")
    page.get_by_role("heading", name="Thank you, anna").wait_for()
    saved(page)
    page.reload()
    page.get_by_role("heading", name="Thank you, anna").wait_for()
    assert page.locator("#start").is_hidden()
    page.get_by_role("button", name="Look at my answers again").click()
    at_question(page, 1)


@pytest.mark.parametrize("late", [False, True])
def test_the_clock_stops_in_breaks_and_hidden_tabs(
    make: Make, serve: Serve, visit: Callable[..., Any], tmp_path: Path, late: bool
) -> None:
    folder = tmp_path / "study"
    write_study(make(4), folder)
    page = visit(serve(folder).links["anna"], clock=True)
    start(page)
    if late:  # the browser tells of the closed dialog too late, as one does that has much to do
        page.evaluate("addEventListener('close', event => event.stopImmediatePropagation(), true)")
    page.clock.fast_forward(600_000)  # looked at for ten minutes
    page.keyboard.press("1")
    at_question(page, 2)
    page.get_by_role("button", name="Break").click()
    page.clock.fast_forward(600_000)
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    at_question(page, 3)
    hide = """hidden => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(hide, True)  # another tab, a locked phone
    page.clock.fast_forward(600_000)
    page.evaluate(hide, False)
    page.clock.fast_forward(60_000)
    page.keyboard.press("1")
    at_question(page, 4)
    saved(page)
    looked, paused, hidden = log_of(folder)
    assert looked.seconds is not None
    assert 600 <= looked.seconds < 630
    assert looked.elapsed is not None
    assert looked.seconds <= looked.elapsed < 630
    assert paused.seconds is not None
    assert paused.seconds < 30
    assert paused.elapsed is not None
    assert paused.elapsed >= 600
    assert hidden.seconds is not None
    assert 60 <= hidden.seconds < 90
    assert hidden.elapsed is not None
    assert hidden.elapsed >= 660


def test_undo_brings_back_the_answer_before(
    make: Make, serve: Serve, visit: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "study"
    study = make(8)
    write_study(study, folder)
    page = visit(serve(folder).links["anna"])
    asked = [one.item for one in study.annotators[0].assignments]
    start(page)
    for number in range(1, 6):
        at_question(page, number)
        page.keyboard.press("a")
    at_question(page, 6)
    for number in (5, 4, 3, 2):
        page.keyboard.press("ArrowLeft")
        at_question(page, number)
    page.keyboard.press("b")
    at_question(page, 6)  # back where one was
    saved(page)
    assert choices(folder, "anna")[asked[1]] == ("b",)
    page.keyboard.press("u")
    at_question(page, 2)
    pressed = page.locator("[aria-pressed=true]")
    playwright.expect(pressed.first).to_have_attribute("data-choice", "a")
    saved(page)
    assert choices(folder, "anna") == dict.fromkeys(asked[:5], ("a",))
    assert page.locator("#count").inner_text() == "5 of 8"
    page.reload()  # what can be undone is known on every device
    start(page)
    at_question(page, 6)
    page.keyboard.press("u")  # the fifth answer
    at_question(page, 5)
    assert pressed.count() == 0
    page.keyboard.press("u")
    at_question(page, 4)
    page.keyboard.press("n")
    at_question(page, 5)  # not past a question without an answer
    page.keyboard.press("n")
    at_question(page, 6)
    saved(page)
    assert [choices(folder, "anna")[item] for item in asked[:5]] == [*[("a",)] * 3, ("neither",), ("neither",)]


def test_shortcuts_can_be_switched_off(make: Make, serve: Serve, visit: Callable[..., Any], tmp_path: Path) -> None:
    """WCAG 2.1.4: speech input may type letters; they must not answer."""
    folder = tmp_path / "study"
    write_study(make(4), folder)
    page = visit(serve(folder).links["anna"])
    start(page)
    page.get_by_role("button", name="Help").click()
    setting = page.get_by_role("checkbox", name="Use letters and digits as shortcuts")
    playwright.expect(setting).to_be_checked(timeout=20_000)
    setting.uncheck()
    page.keyboard.press("Escape")
    for visits in range(2):
        for key in ("a", "2", "e", "u", "?"):
            page.keyboard.press(key)
        at_question(page, 1)
        assert page.locator("[aria-pressed=true]").count() == 0
        assert page.get_by_role("dialog").count() == 0
        assert page.locator("[aria-keyshortcuts*='1']").count() == 0
        assert page.locator("#answers kbd:visible").count() == 0
        if visits == 0:
            page.reload()  # it is remembered
            start(page)
    page.get_by_role("button", name="Equally good").click()
    at_question(page, 2)
    page.keyboard.press("ArrowLeft")  # a key that no word is made of
    at_question(page, 1)
    page.get_by_role("button", name="Help").click()
    setting.check()
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    at_question(page, 2)
    saved(page)
    assert list(choices(folder, "anna").values()) == [("b",)]


def test_names_begin_with_what_is_seen(make: Make, serve: Serve, visit: Callable[..., Any], tmp_path: Path) -> None:
    """Who speaks to the page says what they see on a button (WCAG 2.5.3)."""
    folder = tmp_path / "study"
    write_study(make(2), folder)
    server = serve(folder)
    page = visit(server.links["anna"])
    start(page)
    for name in ("A", "B", "Equally good", "Neither", "Invalid"):
        button = page.locator("#answers").get_by_role("button", name=name, exact=True)
        playwright.expect(button).to_have_count(1, timeout=20_000)
        assert button.get_attribute("aria-label") is None
        assert button.get_attribute("title")
    overview = visit(server.admin)
    overview.get_by_text("0 / 2").first.wait_for()
    assert "" not in [text.strip() for text in overview.locator("th").all_text_contents()]


def test_nothing_looks_chosen_on_a_touch_screen(
    make: Make, serve: Serve, visit: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "study"
    write_study(make(3), folder)
    page = visit(serve(folder).links["anna"], **PHONE)
    page.get_by_role("button", name="Start").tap()
    at_question(page, 1)
    colors = "[...document.querySelectorAll('[data-choice]')].map(b => getComputedStyle(b).borderTopColor)"
    page.locator(".candidate").nth(1).tap()
    at_question(page, 2)
    page.wait_for_timeout(300)  # a transition
    assert len(set(page.evaluate(colors))) == 1
    page.get_by_role("button", name="Neither").tap()
    at_question(page, 3)
    page.wait_for_timeout(300)
    assert len(set(page.evaluate(colors))) == 1


def test_under_the_pointer_is_not_chosen(make: Make, serve: Serve, visit: Callable[..., Any], tmp_path: Path) -> None:
    """After a click the pointer rests on the next question: its border is not that of what is chosen."""
    folder = tmp_path / "study"
    write_study(make(3), folder)
    page = visit(serve(folder).links["anna"], reduced_motion="reduce")
    start(page)
    second = page.locator(".candidate").nth(1)
    border = "b => getComputedStyle(b).borderTopColor"
    second.click()
    at_question(page, 2)
    assert second.evaluate("b => b.matches(':hover')")
    resting = second.evaluate(border)
    page.mouse.move(0, 0)
    page.keyboard.press("ArrowLeft")
    at_question(page, 1)
    playwright.expect(second).to_have_attribute("aria-pressed", "true")
    assert second.evaluate(border) != resting
    second.hover()
    assert second.evaluate(border) != resting  # what is chosen looks chosen under the pointer, too


BLIND = """() => {
  // where answers can be pressed although a highlighted word of a candidate is not in view, at any place of the page
  const seen = (element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return top >= 0 && bottom <= innerHeight && hit !== null && (element.contains(hit) || hit.contains(element));
  };
  const blind = [];
  for (let y = 0; y <= document.documentElement.scrollHeight; y += 20) {
    scrollTo(0, y);
    const answers = [...document.querySelectorAll("#answers button")].filter(seen).length;
    const hidden = [...document.querySelectorAll(".candidate mark, .candidate .gap")].filter((m) => !seen(m)).length;
    if (answers && hidden) blind.push(`${scrollY}: ${answers} answers, ${hidden} candidates hidden`);
  }
  scrollTo(0, 0);
  return blind;
}"""
WINDOWS = {
    "landscape": {"viewport": {"width": 844, "height": 390}, "has_touch": True, "is_mobile": True},
    "zoom 200 %": {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2},
    "zoom 200 %, large": {"viewport": {"width": 960, "height": 540}, "device_scale_factor": 2},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
    "desktop": {"viewport": {"width": 1280, "height": 800}},
}


@pytest.mark.parametrize("window", WINDOWS)
def test_candidates_are_seen_wherever_they_are_answered(
    serve: Serve, visit: Callable[..., Any], tmp_path: Path, window: str
) -> None:
    before = "In the evening we came to a village in which nobody had ever heard of the railway or of the war."
    now = "Then {} said that the bridge over the river was closed, and that we had better wait until the morning."
    examples = [Example("x", (before, before, before), tuple((before, before, now.format(w)) for w in ("he", "it")), 0)]
    folder = tmp_path / "study"
    design = Design(annotators=("anna",))
    write_study(make_study(suite_of(Header("x", "de", "en"), lambda: examples), design), folder)
    page = visit(serve(folder).links["anna"], **WINDOWS[window])
    start(page)
    at_question(page, 1)
    assert page.evaluate(BLIND) == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    page.locator("#answers button").first.scroll_into_view_if_needed()
    assert page.locator("#answers").is_visible()


def test_the_organizers_text_stands_alone(serve: Serve, visit: Callable[..., Any], tmp_path: Path) -> None:
    examples = [Example("x", ("Da.",), (("He is.",), ("It is.",)), 0)]
    folder = tmp_path / "study"
    design = Design(annotators=("anna",), instructions=("Choose what sounds best, not what is correct.",))
    write_study(make_study(suite_of(Header("x", "de", "en"), lambda: examples), design), folder)
    page = visit(serve(folder).links["anna"])
    playwright.expect(page.get_by_text("Choose what sounds best")).to_be_visible(timeout=20_000)
    assert page.locator("#example").is_hidden()
    assert "B is better" not in page.locator("main").inner_text()


def test_the_example_is_in_the_language_of_the_study(serve: Serve, visit: Callable[..., Any], tmp_path: Path) -> None:
    shown = {}
    for language in ("de", "fr", "ru"):
        examples = [Example("x", ("It is.",), (("A.",), ("B.",)), 0)]
        folder = tmp_path / language
        design = Design(annotators=("anna",))
        write_study(make_study(suite_of(Header("x", "en", language), lambda actual=examples: actual), design), folder)
        page = visit(serve(folder).links["anna"])
        page.get_by_role("button", name="Start").wait_for()
        sentences = page.locator("#example .sentence")
        shown[language] = (sentences.evaluate_all("all => [...new Set(all.map((p) => p.lang))]"), sentences.count())
    assert shown == {"de": (["de"], 3), "fr": (["fr"], 3), "ru": ([], 0)}  # rather none than one in English


def test_gaps_of_tokenized_text_are_shown_as_people_write(
    serve: Serve, visit: Callable[..., Any], tmp_path: Path
) -> None:
    files = {
        "src": ["I bought a lamp .", "It was cheap ."],
        "fr": ["J&apos; ai acheté une lampe .", "Il n&apos; était pas cher ."],
        "details": ["system\tsentence\tposition\tcandidate_position\tcandidate", "a\t1\t0\t0\til"],
    }
    for name, lines in files.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    suite = suite_of_details(tmp_path / "details", tmp_path / "src", [tmp_path / "fr"], ["a"], "en-fr")
    folder = tmp_path / "study"
    write_study(make_study(suite, Design(annotators=("anna",), mode="gaps")), folder)
    page = visit(serve(folder).links["anna"])
    start(page)
    assert page.locator("#source .sentence").all_inner_texts() == ["I bought a lamp.", "It was cheap."]
    assert page.locator("#context .sentence").all_inner_texts() == ["J'ai acheté une lampe."]
    assert page.locator(".candidate .sentence").inner_text().replace("\u00a0", "").strip() == "n'était pas cher."
    assert "a/1" not in page.request.get(f"{page.url.rstrip('/')}/state").text()  # nor whose translation it is


@pytest.mark.parametrize("focus", ["the option clicked", "the option by Tab", "the heading", "Next", "Undo clicked"])
def test_enter_always_submits_a_gap(
    make_gaps: Make, serve: Serve, visit: Callable[..., Any], tmp_path: Path, focus: str
) -> None:
    folder = tmp_path / "study"
    study = make_gaps()
    write_study(study, folder)
    page = visit(serve(folder).links["anna"])
    start(page)
    option = page.get_by_role("button", name="il", exact=True)
    if focus == "the option clicked":
        option.click()
    elif focus == "the option by Tab":
        option.focus()
        page.keyboard.press("Space")
    elif focus == "the heading":
        page.keyboard.press("1")
    elif focus == "Next":
        page.keyboard.press("1")
        page.get_by_role("button", name="Next").focus()
    else:
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        at_question(page, 2)
        page.get_by_role("button", name="Undo").click()
        at_question(page, 1)
        page.keyboard.press("1")
    assert page.locator(".candidate .gap").inner_text() == "il"
    page.keyboard.press("Enter")
    at_question(page, 2)
    assert page.locator("[aria-pressed=true]").count() == 0
    option.focus()
    page.keyboard.press("Enter")  # nothing is chosen, and Enter chooses nothing
    at_question(page, 2)
    assert page.locator("[aria-pressed=true]").count() == 0
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    at_question(page, 3)
    saved(page)
    asked = [one.item for one in study.annotators[0].assignments]
    assert choices(folder, "anna") == {asked[0]: ("il",), asked[1]: ("elle",)}


def test_gaps(make_gaps: Make, serve: Serve, visit: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "study"
    study = make_gaps()
    write_study(study, folder)
    page = visit(serve(folder).links["anna"])
    start(page)
    following = page.get_by_role("button", name="Next")
    assert following.is_disabled()
    page.keyboard.press("1")
    page.keyboard.press("2")
    assert page.locator(".candidate .gap").inner_text() == "il / elle"
    page.keyboard.press("1")
    assert page.locator(".candidate .gap").inner_text() == "elle"
    page.keyboard.press("Enter")
    at_question(page, 2)
    page.get_by_role("button", name="ils").click()
    page.get_by_role("button", name="Bad translation").click()
    assert page.locator("[aria-pressed=true]").all_inner_texts()[0].startswith("Bad translation")
    assert page.locator("[aria-pressed=true]").count() == 1
    following.click()
    at_question(page, 3)
    page.keyboard.press("o")
    page.get_by_role("button", name="Help").focus()  # a tool that one came to with Tab is pressed by Enter
    page.keyboard.press("Enter")
    playwright.expect(page.get_by_role("dialog", name="Instructions")).to_be_visible(timeout=20_000)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Help").click()
    page.keyboard.press("Escape")  # after a click the keys of the question work again
    page.keyboard.press("Enter")
    at_question(page, 4)
    saved(page)
    asked = [one.item for one in study.annotators[0].assignments]
    assert choices(folder, "anna") == {asked[0]: ("elle",), asked[1]: ("bad",), asked[2]: ("other",)}


@pytest.mark.parametrize("device", [{}, {**PHONE, "color_scheme": "dark"}], ids=["desktop", "phone"])
def test_verdicts(
    make_verdicts: Make, serve: Serve, visit: Callable[..., Any], tmp_path: Path, device: dict[str, Any]
) -> None:
    folder = tmp_path / "study"
    study = make_verdicts()
    write_study(study, folder)
    page = visit(serve(folder).links["anna"], **device)
    playwright.expect(page.get_by_text("so it should be “er”")).to_be_visible(timeout=20_000)  # the example
    assert page.evaluate(CONTRAST) == []
    start(page)
    asked = [one.item for one in study.annotators[0].assignments]
    answers = {"a/1": "Wrong", "a/2": "Right", "a/3": "Unclear"}
    for number, item in enumerate(asked, start=1):
        at_question(page, number)
        assert page.get_by_role("heading", name="Is the pronoun translated correctly?").is_visible()
        assert page.locator("#source mark").all_inner_texts() == ["It"]
        actual = study.by_id[item].pronoun
        assert page.locator(".candidate mark").all_inner_texts() == ([actual] if actual else [])
        assert page.evaluate(CONTRAST) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if device:
            page.get_by_role("button", name=answers[item]).tap()
        else:
            page.keyboard.press({"Right": "r", "Wrong": "2", "Unclear": "c"}[answers[item]])
    playwright.expect(page.get_by_text("Thank you, anna")).to_be_visible(timeout=20_000)
    assert choices(folder, "anna") == {item: (answer.lower(),) for item, answer in answers.items()}


CONTRAST = """() => {
  const channel = (v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
  const ground = (element) => {
    for (; element; element = element.parentElement) {
      const found = numbers(getComputedStyle(element).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  const low = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const element = node.parentElement;
    if (!node.textContent.trim() || !element.checkVisibility() || element.closest(":disabled, script, kbd")) continue;
    const [a, b] = [light(numbers(getComputedStyle(element).color)), light(ground(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) low.push(`${contrast.toFixed(2)}: ${node.textContent}`);
  }
  return low;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible(make: Make, serve: Serve, visit: Callable[..., Any], tmp_path: Path, scheme: str) -> None:
    folder = tmp_path / "study"
    write_study(make(3), folder)
    server = serve(folder)
    page = visit(server.links["anna"], color_scheme=scheme, reduced_motion="reduce")
    assert page.evaluate(CONTRAST) == []
    start(page)
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate("document.activeElement.id") == "asked"  # a screen reader begins with the question
    nameless = "[...document.querySelectorAll('button')].filter(b => !(b.ariaLabel || b.textContent.trim())).length"
    assert page.evaluate(nameless) == 0
    languages = page.evaluate(
        "[...document.querySelectorAll('.candidate .sentence, #source .sentence')].map(p => p.lang)"
    )
    assert set(languages) == {"de", "en"}
    reached = []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.dataset.choice ?? ''"))
        if reached[-1]:
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
            assert outline == "3px"  # where the focus is can be seen
        if reached[-1] == "invalid":
            break
    assert [choice for choice in reached if choice] == ["a", "b", "a", "b", "equal", "neither", "invalid"]
    page.keyboard.press("Space")
    at_question(page, 2)
    page.locator(".candidate").first.click()
    at_question(page, 3)
    page.get_by_role("button", name="Break").click()
    playwright.expect(page.get_by_role("dialog", name="Take your time")).to_be_visible(timeout=20_000)
    page.keyboard.press("1")  # no answer while the dialog is open
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    playwright.expect(page.get_by_role("dialog", name="Instructions")).to_be_visible(timeout=20_000)
    assert page.evaluate(CONTRAST) == []
    page.keyboard.press("Escape")
    at_question(page, 3)
    overview = visit(server.admin, color_scheme=scheme)
    overview.get_by_text("2 / 3").wait_for()
    assert overview.evaluate(CONTRAST) == []


def test_what_scrolls_in_the_overview_is_reached_by_keyboard(
    make: Make, serve: Serve, visit: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "study"
    write_study(make(3), folder)
    overview = visit(serve(folder).admin, **PHONE)
    overview.get_by_text("0 / 3").first.wait_for()
    boxes = overview.locator(".scroll")
    assert any(boxes.evaluate_all("all => all.map((box) => box.scrollWidth > box.clientWidth)"))
    named = boxes.evaluate_all("all => all.map((box) => box.tabIndex === 0 && box.role === 'region' && box.ariaLabel)")
    assert named == ["Progress", "Agreement so far", "By pair of pronouns"]


def test_a_wrong_link(make: Make, serve: Serve, contexts: Any, tmp_path: Path) -> None:
    write_study(make(3), tmp_path / "study")
    server = serve(tmp_path / "study")
    page = contexts().new_page()
    page.goto(server.links["anna"][:-1])
    playwright.expect(page.get_by_role("heading", name="There is no study behind this address")).to_be_visible(
        timeout=20_000
    )
    assert json.loads(page.goto(f"{server.links['anna'][:-1]}/state").text())["detail"].startswith("This link does not")
    page.close()
