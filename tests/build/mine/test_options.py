"""Options come as text."""

from __future__ import annotations

import pytest

from anaphora.build.mine.options import number_of, switch_of
from anaphora.core.errors import AnaphoraError


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
