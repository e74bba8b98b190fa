"""What a report is made of: parts, each a picture with its table, in chapters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from anaphora.table import Table


@dataclass(frozen=True, slots=True)
class Part:
    """A picture, its figures as a table, and what there is to say; any of them may be missing.

    name: for links and files, unique within a report
    marks: short remarks that are read with the picture (what is significant)
    printed: whether its table is on paper, too, where it is not open
    """

    name: str
    title: str
    svg: str | None = None
    table: Table | None = None
    marks: tuple[str, ...] = ()
    wide: bool = False
    printed: bool = False


@dataclass(frozen=True, slots=True)
class Chapter:
    """Parts that belong together: a suite, attacks on it, a diagnosis.

    words: sentences for the summary; said: what the chapter itself says, in lists under headings
    remarks: on the chapter as a whole (what is not shown)
    """

    title: str
    parts: Sequence[Part]
    words: tuple[str, ...] = ()
    said: Mapping[str, Sequence[str]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return slug(self.title)


def slug(text: str) -> str:
    """A text as a name for files and links: small letters, digits, hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "part"
