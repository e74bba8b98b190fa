"""The decision that follows from the scores of one example."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from anaphora.core.errors import AnaphoraError
from anaphora.systems.scored import Scored


class Decision(NamedTuple):
    """What the scores of an example decide.

    correct: the gold is strictly better than every other candidate
    tie: the gold shares the best score with another candidate; one that is tied behind a better candidate is wrong
    chosen: the index of the best candidate, None where several are best. Without a gold only `chosen` speaks.
    """

    correct: bool
    tie: bool
    chosen: int | None


def decide(item: Scored, *, minimize: bool = False, normalize: str = "sum") -> Decision:
    """ContraPro §3.2: right only if the reference is better than any contrastive translation; a tie is wrong."""
    scores = item.scores if normalize == "sum" else per_token(item)
    best, gold = min(scores) if minimize else max(scores), item.gold
    chosen = scores.index(best) if scores.count(best) == 1 else None
    if gold is None:
        return Decision(False, False, chosen)
    return Decision(chosen == gold, chosen is None and scores[gold] == best, chosen)


def per_token(item: Scored) -> list[float]:
    """Scores divided by length: the mean instead of the sum."""
    if item.tokens is None:
        raise AnaphoraError(
            f"example {item.id}: scores cannot be divided by length, no token counts are known. "
            "Write score⇥tokens on each line of the score file, or use --normalize sum"
        )
    if min(item.tokens) <= 0:
        raise AnaphoraError(f"example {item.id}: scores cannot be divided by length, a candidate has no tokens")
    return [score / count for score, count in zip(item.scores, item.tokens, strict=True)]


def unit_of(item: Scored, tag: str | None) -> Hashable:
    """What is resampled whole with this item: all that share its value of a tag; None where items stand alone."""
    if tag is None:
        return None
    unit = item.tags.get(tag)
    if unit is None or isinstance(unit, list | dict):
        raise AnaphoraError(f"example {item.id} has no single value of the tag {tag!r} to resample by")
    return unit
