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
