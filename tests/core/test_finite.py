"""What is not a finite number is an error that says what was computed, and what to do."""

from __future__ import annotations

import doctest
import math

import numpy as np
import pytest

from anaphora.core import finite as module
from anaphora.core.errors import AnaphoraError
from anaphora.core.finite import NotFinite, all_finite, finite, json_text, no_overflow


def test_the_examples_of_the_module_hold() -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_are_errors_for_the_user(value: float) -> None:
    with pytest.raises(AnaphoraError, match=r"^the loss of update 7 is .*, not a finite number\. Lower the rate\.$"):
        finite(value, "the loss of update 7", "Lower the rate.")
    for values in ([0.5, value], (0.5, value), np.array([[0.5], [value]])):
        with pytest.raises(NotFinite, match=r"^scores: 1 of 2 values is not a finite number \("):
            all_finite(values, "scores")


def test_finite_values_come_back_as_they_are() -> None:
    numbers = np.array([-1e308, 5e-324, 0.0])
    assert all_finite(numbers, "scores") is numbers
    assert finite(-1e308, "a score") == -1e308
    assert all_finite([], "no scores") == []


@pytest.mark.parametrize(
    ("numerator", "denominator", "message"),
    [(1.0, 0.0, "divide by zero"), (0.0, 0.0, "invalid value"), (1e308, 1e-308, "overflow")],
)
def test_operations_without_a_result_are_errors(numerator: float, denominator: float, message: str) -> None:
    with (
        pytest.raises(NotFinite, match=f"^the share of links: {message} encountered"),
        no_overflow("the share of links"),
    ):
        np.divide(numerator, denominator)
    with no_overflow("the share of links"):
        assert np.exp(np.array([-1000.0]))[0] == 0.0  # an underflow is a small number


def test_json_never_holds_nan() -> None:
    assert json_text({"a": [1.5, None]}, "the result") == '{"a": [1.5, null]}'
    assert json_text({"é": 1}, "the result", indent=1) == '{\n "é": 1\n}'
    with pytest.raises(NotFinite, match=r"^the result: a value is not a finite number"):
        json_text({"a": [math.inf]}, "the result")
