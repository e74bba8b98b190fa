"""A system is found by a short spec; a spec that names none says how one is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.systems import load_system, systems
from anaphora.systems.scores import ScoreFile


def test_a_spec_is_a_kind_and_what_the_kind_takes() -> None:
    system = load_system("scores:some/my.scores")
    assert isinstance(system, ScoreFile)
    assert system.path == Path("some/my.scores")


def test_only_the_first_colon_divides() -> None:
    system = load_system("scores:C:/my.scores")
    assert isinstance(system, ScoreFile)
    assert system.path == Path("C:/my.scores")


@pytest.mark.parametrize("spec", ["", "scores", "scores:", ":x", "my.scores"])
def test_what_is_no_spec_says_how_to_write_one(spec: str) -> None:
    with pytest.raises(AnaphoraError) as error:
        load_system(spec)
    assert "scores" in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_kind_is_answered_with_the_nearest() -> None:
    with pytest.raises(AnaphoraError, match=r"unknown system 'score' \(did you mean scores\?\)\. Known: .*scores"):
        load_system("score:x")


def test_every_registered_system_exists() -> None:
    for kind in systems():
        assert callable(systems().load(kind))
