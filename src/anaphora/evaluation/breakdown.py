"""Breakdowns: any tag, numbers above a limit merged, and tags crossed with each other."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anaphora.core.errors import AnaphoraError, did_you_mean
from anaphora.suites.example import Tag

PART = re.compile(r"(?P<tag>[^×*>]+?)\s*(?:>\s*(?P<limit>\d+))?")
Key = tuple[Any, ...]  # the values of the tags, one per part


@dataclass(frozen=True, slots=True)
class Breakdown:
    """`distance>3×reference_pronoun`: tags, each with the number above which values are merged (None: never)."""

    parts: tuple[tuple[str, int | None], ...]

    @property
    def name(self) -> str:
        return "×".join(tag for tag, _ in self.parts)

    @property
    def spec(self) -> str:
        return "×".join(tag if limit is None else f"{tag}>{limit}" for tag, limit in self.parts)

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(tag for tag, _ in self.parts)

    def group(self, key: Key) -> str | None:
        """The name of the group that values fall in; None where a tag is missing."""
        labels = [_label(value, limit) for value, (_, limit) in zip(key, self.parts, strict=True)]
        return None if None in labels else "×".join(label for label in labels if label is not None)


def parse(spec: str) -> Breakdown:
    """A breakdown as it is written after --by: `tag`, `tag>3`, `a×b` or `a*b`."""
    parts = []
    for text in re.split(r"[×*]", spec):
        match = PART.fullmatch(text.strip())
        if match is None:
            raise AnaphoraError(f"not a breakdown: {spec!r}. Write a tag, tag>3 to merge numbers above 3, or a×b (a*b)")
        limit = match["limit"]
        parts.append((match["tag"].strip(), None if limit is None else int(limit)))
    return Breakdown(tuple(parts))


def named(specs: Iterable[str]) -> dict[str, Breakdown]:
    """Breakdowns by the name they go by: without limits (distance), unless that would be the name of two."""
    parsed = list(dict.fromkeys(map(parse, specs)))
    uses = Counter(breakdown.name for breakdown in parsed)
    return {b.name if uses[b.name] == 1 else b.spec: b for b in parsed}


def joint(breakdowns: Iterable[Breakdown]) -> Breakdown:
    """The breakdown by every tag that any of these needs; their groups are made of its groups."""
    tags = dict.fromkeys(tag for breakdown in breakdowns for tag in breakdown.tags)
    return Breakdown(tuple((tag, None) for tag in tags))


def keyed(breakdown: Breakdown, tags: Mapping[str, Tag]) -> Key:
    """The values an example has for a breakdown; cheap, as it runs for every example."""
    try:
        key = tuple([tags.get(tag) for tag, _ in breakdown.parts])
        hash(key)
    except TypeError:
        tag = next(t for t in breakdown.tags if isinstance(tags.get(t), list | dict))
        raise AnaphoraError(f"the tag {tag!r} has several values in an example and cannot be a breakdown") from None
    return key


def check_known(breakdowns: Iterable[Breakdown], known: Iterable[str]) -> None:
    """A tag that no example has is a mistake, most likely in writing."""
    names = sorted(known)
    for tag in (tag for breakdown in breakdowns for tag in breakdown.tags):
        if tag not in names:
            has = ", ".join(names) or "none"
            raise AnaphoraError(f"no example has the tag {tag!r}{did_you_mean(tag, names)}. Tags of this suite: {has}")


def repeated(names: Sequence[str], groups: Iterable[Sequence[str | None]]) -> dict[str, str]:
    """Breakdowns that have the same items in their groups as an earlier one, by name, and which one that is.

    groups: for each item (or kind of item) its group in every breakdown, in the order of the names
    """
    rows = set(map(tuple, groups))
    copies: dict[str, str] = {}
    for j, name in enumerate(names):
        for i, earlier in enumerate(names[:j]):
            pairs = {(row[i], row[j]) for row in rows}
            one_to_one = len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)
            if one_to_one and pairs != {(None, None)} and all((a is None) == (b is None) for a, b in pairs):
                copies[name] = copies.get(earlier, earlier)
                break
    return copies


def order(group: str) -> tuple[tuple[int, float, str], ...]:
    """Sort key of groups: numbers by value, merged ones behind them, then words."""
    return tuple(_part_order(part) for part in group.split("×"))


def _part_order(part: str) -> tuple[int, float, str]:
    try:
        number = float(part.removeprefix(">"))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):  # also the words "nan" and "infinity"
        return 1, 0.0, part
    return 0, number + (0.5 if part.startswith(">") else 0), ""


def _label(value: Any, limit: int | None) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if limit is not None and isinstance(value, int | float) and value > limit:
        return f">{limit}"
    return str(value)
