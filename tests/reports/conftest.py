"""Runs that tests of the report share: a small suite with texts, two systems, an attack."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from anaphora.runs import Run, ScoredExample, describe, open_run, write_run
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, suite_of

NASTY = "</script><img src=x onerror=alert(1)>"
TEXTS = {  # id → English, German with a gap, the right pronoun, its antecedents
    "a": ("I have a spoon.\nIt is old.", "Ich habe einen Löffel.\n{} ist alt.", "Er", ("a spoon", "einen Löffel")),
    "b": ("I have a lamp.\nIt is old.", "Ich habe eine Lampe.\n{} ist alt.", "Sie", ("a lamp", "eine Lampe")),
    "c": (f"I have a bed {NASTY}.\nIt is old.", "Ich habe ein Bett.\n{} ist alt.", "Es", ("a bed", "ein Bett")),
    "d": ("Nothing.\nThe cup, it broke.", "Nichts.\nDie Tasse, {} brach.", "sie", ("The cup", "Die Tasse")),
}
# by system: the scores of er, sie, es for a, b, c, d
SCORES = {
    "sentence": [(-3, -2, -1), (-3, -2, -1), (-3, -2, -1), (-3, -1, -2)],
    "context": [(-1, -2, -3), (-3, -1, -2), (-3, -2, -1), (-3, -1, -2)],
}


def example(name: str) -> Example:
    source, target, right, (english, german) = TEXTS[name]
    forms = ("er", "sie", "es")
    texts = [target.format(form if right.islower() else form.capitalize()) for form in forms]
    tags = {
        "source_pronoun": "it",
        "reference_pronoun": right.lower(),
        "location": "intrasegmental" if name == "d" else "external",
        "corpus": "old" if name in "ab" else "new",
        "source_antecedent": english,
        "target_antecedent": german,
    }
    candidates = tuple(tuple(text.split("\n")) for text in texts)
    return Example(name, tuple(source.split("\n")), candidates, forms.index(right.lower()), tags)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with playwright.sync_playwright() as started:
        # one process draws all pages, and none is started in advance: starting them takes longer than most tests
        few = ["--renderer-process-limit=1", "--disable-features=SpareRendererForSitePerProcess"]
        running = started.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu", *few])
        yield running
        running.close()


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    breakdowns = ("reference_pronoun", "location", "location×reference_pronoun")
    made = suite_of(Header("small", "en", "de", breakdowns), lambda: map(example, TEXTS), tmp_path / "small.jsonl")
    made.write(tmp_path / "small.jsonl")
    return made


@pytest.fixture
def run(suite: Suite, tmp_path: Path) -> Callable[[str], Run]:
    """The run of a system on the suite."""

    def make(system: str) -> Run:
        header = describe(suite, sha256=suite.sha256(), system=f"scores:{system}.scores", examples=len(TEXTS))
        rows = [
            ScoredExample(e.id, e.gold, e.tags, [float(score) for score in scores])
            for e, scores in zip(suite, SCORES[system], strict=True)
        ]
        return open_run(write_run(tmp_path / system, header, rows))

    return make


@pytest.fixture
def runs(run: Callable[[str], Run]) -> list[Run]:
    return [run("sentence"), run("context")]


@pytest.fixture
def attack(suite: Suite, tmp_path: Path) -> Callable[[str], Run]:
    """The run of a system on an attack of the suite, in which it is always wrong."""

    def make(system: str) -> Run:
        header = Header("small-phrase-addition", "en", "de", suite.header.breakdowns)
        changed = suite_of(
            header,
            lambda: (
                Example(f"{e.id}/x", e.source, e.candidates, e.gold, {**e.tags, "attacked": e.id, "attack": "phrase/x"})
                for e in suite
            ),
        )
        about = describe(changed, sha256=changed.sha256(), system=f"scores:{system}.scores", examples=len(TEXTS))
        rows = [ScoredExample(e.id, e.gold, e.tags, [float(k != e.gold) for k in range(3)]) for e in changed]
        return open_run(write_run(tmp_path / f"{system}.attack", about, rows))

    return make
