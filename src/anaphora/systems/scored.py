"""What a system said about one example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from anaphora.suites.example import Tag


class Scored(NamedTuple):
    """An example's gold and tags with the system's scores, so that nothing has to be scored or read again.

    scores: one per candidate; tokens: how many tokens each candidate has, where known
    """

    id: str
    gold: int | None
    tags: Mapping[str, Tag]
    scores: Sequence[float]
    tokens: Sequence[int] | None = None
