"""Which runs belong to which system, and what of them is a template, a test set, an attack."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.evaluation.diagnosis_evidence import gather
from anaphora.evaluation.result import Settings
from anaphora.systems.run import Run, RunHeader, open_run, write_run
from anaphora.systems.scored import Scored

SETTINGS = Settings(samples=100)
Make = Callable[..., Run]


@pytest.fixture
def run(tmp_path: Path) -> Make:
    def make(suite: str, *items: Scored, place: str = "", **about: Any) -> Run:
        about = {"system": "hf:x", "target_language": "de", "context": "1+1", **about}
        sha256 = about.pop("sha256", f"{sum(map(ord, suite)):064x}")
        header = RunHeader(suite, sha256, "en", version="1.2.3", **about)
        return open_run(write_run(tmp_path / (place or suite), header, items))

    return make


def item(identifier: str, gold: int | None = 0, **tags: Any) -> Scored:
    return Scored(identifier, gold, tags, [-1.0, -2.0])


def attacked(original: str, attack: str = "a/x") -> Scored:
    return item(f"{attack}/{original}", attack=attack, attacked=original)


def test_answers_are_sorted(run: Make) -> None:
    mixed = run("mixed", item("t1", template="gender"), item("t2", None, template="prior/verb"), item("0"))
    other = run("other", item("1"), item("2", None))
    attack = run("other-a", attacked("1"))
    (found,) = gather([attack, mixed, other], SETTINGS)
    assert {name: [a.id for a in answers] for name, answers in found.templates.items()} == {
        "gender": ["t1"],
        "prior/verb": ["t2"],
    }
    assert {name: [a.id for a in answers] for name, answers in found.tests.items()} == {"mixed": ["0"], "other": ["1"]}
    assert [(r.suite, [a.name for a in r.attacks]) for r in found.attacks] == [("other", ["a/x"])]
    assert [name.partition("@")[0] for name in found.suites] == ["other-a", "mixed", "other"]


def test_an_answer(run: Make) -> None:
    lower = Settings(minimize=True)
    tied = Scored("b", 0, {}, [-1.0, -1.0])
    (found,) = gather([run("s", item("a"), tied)], SETTINGS)
    assert [(a.chosen, a.correct, a.candidates) for a in found.tests["s"]] == [(0, True, 2), (None, False, 2)]
    (found,) = gather([run("s", item("a"), place="again")], lower)
    assert [(a.chosen, a.correct) for a in found.tests["s"]] == [(1, False)]


def test_a_system_with_another_context_is_another_system(run: Make) -> None:
    runs = [
        run("s", item("a"), place="1"),
        run("s", item("a"), place="2", context="0+0"),
        run("s", item("a"), place="3", system="hf:y"),
        run("t", item("a"), place="4"),
    ]
    found = gather(runs, SETTINGS)
    assert [(e.system, e.context, len(e.suites)) for e in found] == [
        ("hf:x", "1+1", 2),
        ("hf:x", "0+0", 1),
        ("hf:y", "1+1", 1),
    ]


def test_score_files_are_joined_by_name(run: Make) -> None:
    runs = [run("s", item("a"), system="scores:1"), run("s-a", attacked("a"), system="scores:2")]
    with pytest.raises(BadInput, match=r"s-a.run.jsonl: an attack, but no run has the originals .* scores:2.*--system"):
        gather(runs, SETTINGS)
    (found,) = gather(runs, SETTINGS, "mine")
    assert (found.system, len(found.attacks)) == ("mine", 1)


def test_the_originals_of_an_attack_are_found_by_name_if_several_suites_have_them(run: Make) -> None:
    one, two = run("one", item("0"), item("1")), run("two", item("0"), item("1"))
    (found,) = gather([one, two, run("two-a-x", attacked("1"))], SETTINGS)
    assert [r.suite for r in found.attacks] == ["two"]
    with pytest.raises(BadInput, match="several runs have the originals"):
        gather([one, two, run("other", attacked("1"))], SETTINGS)


@pytest.mark.parametrize(
    ("about", "problem"),
    [
        ({"place": "again"}, r"again.run.jsonl: a second run of s by hf:x, besides .*Name one of them"),
        ({"suite": "t"}, r"the template gender is in .*s.run.jsonl, too. Diagnose the two suites apart"),
        ({"suite": "t", "target_language": "fr"}, r"languages en-fr, but .* has en-de"),
    ],
)
def test_what_does_not_go_together(run: Make, about: dict[str, str], problem: str) -> None:
    first = run("s", item("a", template="gender"))
    second = run(about.pop("suite", "s"), item("a", template="gender"), **about)
    with pytest.raises(BadInput, match=problem):
        gather([first, second], SETTINGS)


def test_nothing(run: Make) -> None:
    with pytest.raises(AnaphoraError, match="name one or more runs"):
        gather([], SETTINGS)
    with pytest.raises(BadInput, match="no example is in it"):
        gather([run("s")], SETTINGS)
