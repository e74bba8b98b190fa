"""What a system said about one example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from anaphora.suites.example import Tag


class Scored(NamedTuple):
    """An example's gold and tags with the system's scores, so that nothing has to be scored or read again.

    scores: one per candidate; tokens: how many tokens each candidate has, where known
    extra: what else was noticed, for example candidates that the system cannot tell apart
    """

    id: str
    gold: int | None
    tags: Mapping[str, Tag]
    scores: Sequence[float]
    tokens: Sequence[int] | None = None
    extra: Mapping[str, Any] = MappingProxyType({})

    @property
    def unanswered(self) -> bool:
        """Whether the system was asked, and none of what it said was an answer: then all scores are the same."""
        return bool(self.extra.get("unanswered")) and len(set(self.scores)) == 1


class Answer(NamedTuple):
    """A system's answer to one example.

    scores: a log-probability for each candidate; tokens: how many tokens it was added up over, where known
    undecidable: pairs of candidates that the system cannot tell apart, as they are the same to it
    truncated: how many of the texts were cut to what the model takes
    extra: what else the record keeps, by the names in `run.EXTRA`, for example the system's own translation
    """

    scores: Sequence[float]
    tokens: Sequence[int] | None = None
    undecidable: Sequence[tuple[int, int]] = ()
    truncated: int = 0
    extra: Mapping[str, Any] = {}  # nobody writes to it; a MappingProxyType could not be sent to a process
