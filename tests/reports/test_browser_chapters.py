"""What the chapters of a report say and show, in a real browser."""

from __future__ import annotations

import html
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from anaphora.reports.page import make_report, page
from anaphora.runs import Run, ScoredExample, describe, open_run, write_run
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, suite_of

FORMS = ("er", "sie", "es")
# by system: how often it is right, and how often it still is when attacked; the first one guesses
SKILLS = {"guessing": (0.34, 0.34), "concat": (0.7, 0.35), "document": (0.9, 0.75)}
APT = {"apt": 0.5, "interval": [0.4, 0.6], "cases": [10, 2, 3, 4, 5, 6], "signature": "apt|x"}
WRITTEN = {"suite": "small", "system": "out/concat.de", "total": 90, "accuracy": 0.4, "interval": [0.3, 0.5]}
RESULTS = {
    "apt": {"apt": 0.5, "cases": [10, 2, 3, 4, 5, 6], "systems": {"out/concat.de": APT}},
    "written": {"systems": {"out/concat.de": {**WRITTEN, "found_by": {}, "signature": "gen|x"}}},
}


def run(suite: Suite, system: str, skill: float, folder: Path) -> Run:
    chance = random.Random(f"{suite.header.name}{system}")
    header = describe(
        suite, sha256=suite.sha256(), system=f"scores:/home/somebody/{system}.scores", examples=sum(1 for _ in suite)
    )
    rows = []
    for example in suite:
        gold = example.gold or 0
        best = gold if chance.random() < skill else chance.choice([k for k in range(3) if k != gold])
        rows.append(ScoredExample(example.id, gold, example.tags, [float(k == best) for k in range(3)]))
    return open_run(write_run(folder, header, rows))


def suites() -> tuple[Suite, Suite]:
    """A suite whose breakdowns repeat one another, and two attacks on it."""
    examples = [
        Example(
            *(f"{k}", ("A thing.", "It is."), tuple(("Ding.", f"{form} ist.") for form in FORMS), k % 3),
            {
                "reference_pronoun": FORMS[k % 3],
                "pronoun_pair": f"it:{FORMS[k % 3]}",
                "place": "near" if k % 2 else "far",
            },
        )
        for k in range(90)
    ]
    attacked = [
        Example(
            f"{e.id}/{how}", e.source, e.candidates, e.gold, {**e.tags, "attacked": e.id, "attack": f"phrase/{how}"}
        )
        for e in examples
        for how in ("he_said", "true")
    ]
    header = Header("small", "en", "de", ("reference_pronoun", "pronoun_pair", "place"))
    return suite_of(header, lambda: examples), suite_of(Header("small-phrase", "en", "de"), lambda: attacked)


@pytest.fixture(scope="module")
def tab(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("chapters")
    original, attacked = suites()
    runs: list[Run] = []
    for system, (skill, left) in SKILLS.items():
        runs += [
            run(original, system, skill, folder / system),
            run(attacked, system, left, folder / f"{system}-attack"),
        ]
    for name, document in RESULTS.items():
        (folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    made = make_report(runs, results=[folder / f"{name}.json" for name in RESULTS])
    (folder / "report.html").write_text(page(made), encoding="utf-8")
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    opened.goto((folder / "report.html").as_uri())
    yield opened
    opened.close()


def texts(tab: Any, part: str) -> list[str]:
    return [html.unescape(text) for text in tab.locator(f"#part-{part} svg text").all_text_contents()]


def colors(tab: Any, part: str) -> set[str]:
    """The colors of everything in a chart that is neither text nor a line of the grid."""
    drawn = tab.locator(f"#part-{part} svg").evaluate(
        "(svg) => [...svg.querySelectorAll('circle, path, rect')]"
        ".flatMap((node) => [node.getAttribute('fill'), node.getAttribute('stroke')])"
    )
    return {color for color in drawn if color and color.startswith("#") and color not in ("#666", "#444", "#ddd")}


def test_commands_of_runs_have_no_local_path(tab: Any) -> None:
    commands = tab.locator("#runs pre").all_inner_texts()
    assert len(commands) == 6
    assert commands[0] == "anaphora score small.jsonl --system scores:guessing.scores -o runs/guessing"
    assert "/home/" not in tab.content()
    assert "{'" not in tab.locator("#runs").inner_text()


def test_all_attacks_are_on_one_axis_from_0_to_100(tab: Any) -> None:
    (chart,) = tab.locator("#attacks figure").all()
    actual = chart.locator("svg text").all_text_contents()
    assert [text for text in actual if text in ("0", "20", "40", "60", "80", "100 %")] == [
        "0",
        "20",
        "40",
        "60",
        "80",
        "100 %",
    ]
    assert "hollow: before the attack, full: after it" in chart.text_content()
    assert sum("→" in text for text in actual) == 6  # two attacks on three systems


def test_a_system_has_its_color_wherever_it_is(tab: Any) -> None:
    of_all = colors(tab, "accuracy")
    assert len(of_all) == 3
    assert colors(tab, "small-under-attack") == of_all
    concat = colors(tab, "generative-written")
    assert len(concat) == 1
    assert concat < of_all
    assert colors(tab, "apt-apt") == concat


def test_a_breakdown_that_repeats_another_is_named_only(tab: Any) -> None:
    titles = [texts(tab, part)[0] for part in ("small-en-de-reference-pronoun", "small-en-de-place")]
    assert titles == ["By reference pronoun", "By place"]
    assert tab.locator("#part-small-en-de-pronoun-pair").count() == 0
    assert (
        "Left out: pronoun pair (the same groups as reference pronoun)." in tab.locator("#small-en-de").text_content()
    )
    tab.locator("#part-small-en-de-differences summary").click()
    assert "it:er" not in tab.locator("#part-small-en-de-differences").inner_text()


def test_results_join_their_runs(tab: Any) -> None:
    assert "concat.de" not in tab.locator("main").text_content()
    assert any(
        word.startswith("In its own translations of small (90 examples) concat ") for word in summary_sentences(tab)
    )
    assert any(word.startswith("By APT") and "concat has 0.500" in word for word in summary_sentences(tab))


def summary_sentences(tab: Any) -> Sequence[str]:
    actual: list[str] = tab.locator("#summary li").all_text_contents()
    return actual


def test_the_best_is_compared_with_the_second_best(tab: Any) -> None:
    assert summary_sentences(tab)[0].startswith("On small (90 examples) document is right in ")
    assert summary_sentences(tab)[1].startswith("document is better than concat, by ")
    assert sum("guessing" in word and "worse" in word for word in summary_sentences(tab)) == 1


def test_who_guesses_is_neither_robust_nor_brittle(tab: Any) -> None:
    (word,) = [word for word in summary_sentences(tab) if word.startswith("guessing") and "attack" in word]
    assert "nothing that attacks could take away" in word
    verdicts = tab.locator("#diagnosis .said", has=tab.get_by_role("heading", name="guessing"))
    assert verdicts.count() == 1
    assert "cannot be assessed" in verdicts.inner_text()
    assert "✓" not in verdicts.inner_text()


def test_signs_stand_before_the_lines_of_their_sentence(tab: Any) -> None:
    """No line begins under a sign, however long the sentence is."""
    under = tab.locator(".said li").evaluate_all(
        "(items) => items.filter((item) => item.querySelector('.sign').getBoundingClientRect().right > "
        "item.getBoundingClientRect().left + parseFloat(getComputedStyle(item).paddingLeft) + 1).length"
    )
    assert tab.locator(".said li .sign").count() == tab.locator(".said li").count() > 0
    assert under == 0
