"""Phenomena are found by name, in this package and in others; their options come as text."""

from __future__ import annotations

import pytest

from anaphora.build.mine.phenomenon import load_phenomenon, number_of, phenomena, switch_of
from anaphora.core.errors import AnaphoraError

pytestmark = pytest.mark.usefixtures("toy")


def test_ours_and_those_of_other_packages() -> None:
    assert {"pronouns", "toy"} <= set(phenomena())
    actual = load_phenomenon("toy", ("en", "de"), {"shortest": "4"})
    assert actual.settings() == {"shortest": 4}


def test_what_is_not_known() -> None:
    with pytest.raises(AnaphoraError, match=r"unknown phenomenon 'toys' \(did you mean toy\?\)"):
        load_phenomenon("toys", ("en", "de"), {})
    with pytest.raises(AnaphoraError, match=r"phenomenon 'toy': got an unexpected keyword argument 'size'"):
        load_phenomenon("toy", ("en", "de"), {"size": "4"})


def test_an_error_of_its_own_is_not_hidden() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        load_phenomenon("toy", ("en", "de"), {"shortest": "four"})


# Options.


def test_numbers() -> None:
    assert number_of("0.5", "confidence") == number_of(0.5, "confidence") == 0.5
    assert number_of("7", "distance") == 7
    for value in ("-1", "inf", "nan"):
        with pytest.raises(AnaphoraError, match=f"distance: {value} is out of range"):
            number_of(value, "distance")
    with pytest.raises(AnaphoraError, match=r"confidence: 1\.5 is out of range"):
        number_of(1.5, "confidence")


@pytest.mark.parametrize(
    ("value", "expected"), [("yes", True), ("TRUE", True), ("0", False), ("no", False), (True, True)]
)
def test_switches(value: bool | str, expected: bool) -> None:
    assert switch_of(value, "oblique") is expected


def test_neither_yes_nor_no() -> None:
    with pytest.raises(AnaphoraError, match="oblique: yes or no, not 'both'"):
        switch_of("both", "oblique")
