"""Options of a phenomenon, which come as text from the command line."""

from __future__ import annotations

import math

from anaphora.core.errors import AnaphoraError


def number_of(value: float | str, name: str) -> float:
    """A number of at least 0; a confidence is at most 1."""
    try:
        found = float(value)
    except ValueError:
        raise AnaphoraError(f"{name}: not a number: {value!r}") from None
    if not 0 <= found < math.inf or (name == "confidence" and found > 1):
        raise AnaphoraError(f"{name}: {value} is out of range")
    return found


def switch_of(value: bool | str, name: str) -> bool:
    """Yes or no."""
    known = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    if isinstance(value, bool):
        return value
    if value.lower() not in known:
        raise AnaphoraError(f"{name}: yes or no, not {value!r}")
    return known[value.lower()]
