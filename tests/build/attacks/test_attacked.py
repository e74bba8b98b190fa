"""The new suite: every example names its original, and what was left alone is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from anaphora.build.attacks.attacked import Left, attacked_suite, suite_name
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite


def shout(example: Example) -> Example | Left:
    if example.id == "no":
        return Left("it will not")
    if example.id == "same":
        return Left("nothing to do", kept=True)
    return replace(example, source=tuple(s.upper() for s in example.source), tags={**example.tags, "new": 1})


def test_ids_and_tags(example: Callable[..., Example], suite: Callable[..., Suite]) -> None:
    heard: list[str] = []
    whole = suite(example("a"), example("no"), example("same"))
    attacked = attacked_suite(whole, [("loud/shout", shout)], heard.append)
    assert (attacked.header.name, attacked.header.breakdowns) == ("small-loud-shout", ("reference_pronoun",))
    first, last = attacked
    assert heard == ["it will not", "nothing to do"]
    assert (first.id, first.source[1]) == ("loud/shout/a", "IT IS OLD.")
    assert first.tags == {**example("a").tags, "new": 1, "attack": "loud/shout", "attacked": "a"}
    assert (last.id, last.source[1], last.tags["attacked"]) == ("loud/shout/same", "it is old.", "same")
    assert [e.id for e in attacked] == [first.id, last.id]  # once more


@pytest.mark.parametrize(
    ("attacks", "name"),
    [
        (["phrase-addition/he_said"], "small-phrase-addition-he_said"),
        (["phrase-addition/he_said", "phrase-addition/she_said"], "small-phrase-addition"),
        (["no-context"], "small-no-context"),
    ],
)
def test_names(suite: Callable[..., Suite], attacks: list[str], name: str) -> None:
    assert suite_name(suite(), attacks) == name
