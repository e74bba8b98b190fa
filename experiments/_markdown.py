"""What the reports of experiments share."""

from __future__ import annotations

import textwrap


def paragraph(*sentences: str) -> list[str]:
    """Sentences as the lines of one paragraph."""
    return textwrap.wrap(" ".join(sentences), 120, break_on_hyphens=False, break_long_words=False)


def bullet(sentences: list[str]) -> list[str]:
    """Sentences as one item of a list."""
    text = " ".join(sentences)
    return textwrap.wrap(
        text, 120, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
    )


def p_value(p: float) -> str:
    """Two digits; a bound where the number says no more than that."""
    return f"{p:.2g}" if p >= 1e-10 else "< 1e-10"
