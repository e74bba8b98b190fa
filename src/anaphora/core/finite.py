"""Results are finite numbers: NaN and infinity are an error where they arise, and never a figure."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from anaphora.core.errors import AnaphoraError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Values = TypeVar("Values", bound="Sequence[float] | NDArray[np.floating]")


class NotFinite(AnaphoraError):  # noqa: N818  (it reads well where it is raised)
    """A computation gave NaN or infinity."""


def finite(value: float, what: str, remedy: str = "") -> float:
    """The value itself; NaN or infinity is an error that names what was computed, and from what.

    >>> finite(0.5, "the loss of update 7")
    0.5
    >>> finite(math.nan, "the loss of update 7", "Lower the learning rate.")
    Traceback (most recent call last):
    anaphora.core.finite.NotFinite: the loss of update 7 is nan, not a finite number. Lower the learning rate.
    """
    if not math.isfinite(value):
        raise NotFinite(f"{what} is {float(value)}, not a finite number. {remedy}".rstrip())
    return value


def all_finite(values: Values, what: str, remedy: str = "") -> Values:
    """The values themselves, a list or an array; one that is NaN or infinite is an error.

    >>> all_finite([-1.5, -math.inf], "scores of example 7")
    Traceback (most recent call last):
    anaphora.core.finite.NotFinite: scores of example 7: 1 of 2 values is not a finite number (-inf).
    """
    if isinstance(values, list | tuple):
        numbers = values if not all(map(math.isfinite, values)) else []
    else:
        import numpy as np

        numbers = [] if np.isfinite(values).all() else np.ravel(values).tolist()
    if numbers:
        wrong = [number for number in numbers if not math.isfinite(number)]
        verb = "is not a finite number" if len(wrong) == 1 else "are not finite numbers"
        raise NotFinite(f"{what}: {len(wrong):,} of {len(numbers):,} values {verb} ({wrong[0]}). {remedy}".rstrip())
    return values


def refuse_constant(name: str) -> float:
    """Raise a ValueError, as `parse_constant` of json.loads: Python reads NaN and infinity, which are not JSON."""
    raise ValueError(f"{name} is not a number that JSON has")


def json_text(document: Any, what: str, **layout: Any) -> str:
    """The document as JSON, which has neither NaN nor infinity: such a value is an error."""
    try:
        return json.dumps(document, ensure_ascii=False, allow_nan=False, **layout)
    except ValueError as error:
        if "JSON compliant" not in str(error):  # a document that holds itself
            raise
        raise NotFinite(f"{what}: a value is not a finite number, which cannot be a result") from None


@contextmanager
def no_overflow(what: str, remedy: str = "") -> Iterator[None]:
    """Make NumPy's overflows, divisions by zero and undefined operations errors, not warnings next to a result."""
    import numpy as np

    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            yield
    except FloatingPointError as error:
        raise NotFinite(f"{what}: {error}. {remedy}".rstrip()) from error
