"""Decisions about examples (right, wrong, tie), groups of them by tags, and the choices on prior templates."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from anaphora.core.errors import AnaphoraError, did_you_mean
from anaphora.evaluation.result import Proportion
from anaphora.runs import ScoredExample
from anaphora.stats.intervals import wilson
from anaphora.suites.example import Tag

Item = TypeVar("Item")


class Decision(NamedTuple):
    """The decision that the scores of an example imply.

    correct: the gold is strictly better than every other candidate
    tie: the gold shares the best score with another candidate; one that is tied below a better candidate is wrong
    chosen: the index of the best candidate, None where several are best. Without a gold only `chosen` has a meaning.
    """

    correct: bool
    tie: bool
    chosen: int | None


def proportion(correct: int, total: int, confidence: float) -> Proportion:
    """Return a proportion with Wilson's interval."""
    return Proportion(total, correct, wilson(correct, total, confidence))


def decide(item: ScoredExample, *, minimize: bool = False, normalize: str = "sum") -> Decision:
    """Decide an example (ContraPro §3.2): correct if the reference beats every contrastive translation."""
    scores = item.scores if normalize == "sum" else per_token(item)
    best, gold = min(scores) if minimize else max(scores), item.gold
    chosen = scores.index(best) if scores.count(best) == 1 else None
    if gold is None:
        return Decision(False, False, chosen)
    return Decision(chosen == gold, chosen is None and scores[gold] == best, chosen)


def per_token(item: ScoredExample) -> list[float]:
    """Return the scores divided by length: the mean instead of the sum."""
    if item.tokens is None:
        raise AnaphoraError(
            f"example {item.id}: scores cannot be divided by length, no token counts are known. "
            "Write score⇥tokens on each line of the score file, or use --normalize sum"
        )
    if min(item.tokens) <= 0:
        raise AnaphoraError(f"example {item.id}: scores cannot be divided by length, a candidate has no tokens")
    return [score / count for score, count in zip(item.scores, item.tokens, strict=True)]


def unit_of(item: ScoredExample, tag: str | None) -> Hashable:
    """Return the unit of resampling: the item's value of a tag; None if single items are resampled."""
    if tag is None:
        return None
    unit = item.tags.get(tag)
    if unit is None or isinstance(unit, list | dict):
        raise AnaphoraError(f"example {item.id} has no single value of the tag {tag!r} to resample by")
    return unit


# Breakdowns: any tag, numbers above a limit merged, and tags crossed with each other.

PART = re.compile(r"(?P<tag>[^×*>]+?)\s*(?:>\s*(?P<limit>\d{1,18}))?")
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
        """Return the name of the group of these values; None if a tag is missing."""
        labels = [_label(value, limit) for value, (_, limit) in zip(key, self.parts, strict=True)]
        return None if None in labels else "×".join(label for label in labels if label is not None)


def parse(spec: str) -> Breakdown:
    """Parse a value of --by: `tag`, `tag>3`, `a×b` or `a*b`."""
    parts = []
    for text in re.split(r"[×*]", spec):
        match = PART.fullmatch(text.strip())
        if match is None:
            raise AnaphoraError(f"not a breakdown: {spec!r}. Write a tag, tag>3 to merge numbers above 3, or a×b (a*b)")
        limit = match["limit"]
        parts.append((match["tag"].strip(), None if limit is None else int(limit)))
    return Breakdown(tuple(parts))


def parse_all(specs: Iterable[str]) -> dict[str, Breakdown]:
    """Parse breakdowns; returns them by name: without limits (distance), unless two would have the same name."""
    parsed = list(dict.fromkeys(map(parse, specs)))
    uses = Counter(breakdown.name for breakdown in parsed)
    return {b.name if uses[b.name] == 1 else b.spec: b for b in parsed}


def grouped(specs: Iterable[str], items: Iterable[tuple[Mapping[str, Tag], Item]]) -> dict[str, dict[str, list[Item]]]:
    """Return name of a breakdown → group → its items, in order; breakdowns without groups are left out.

    items: with the tags of their examples
    """
    wanted = parse_all(specs)
    groups: dict[str, dict[str, list[Item]]] = {name: {} for name in wanted}
    for tags, item in items:
        for name, breakdown in wanted.items():
            if (group := breakdown.group(keyed(breakdown, tags))) is not None:
                groups[name].setdefault(group, []).append(item)
    return {
        name: {group: members[group] for group in sorted(members, key=order)}
        for name, members in groups.items()
        if members
    }


def counted(
    specs: Iterable[str], values: Sequence[tuple[Mapping[str, Tag], str]], make: Callable[[Mapping[str, int]], Item]
) -> tuple[Item, dict[str, dict[str, Item]]]:
    """Return what is made of the counts of values, in all and by breakdowns. values: with the tags of their examples"""
    by_group = {
        name: {group: make(Counter(members)) for group, members in groups.items()}
        for name, groups in grouped(specs, values).items()
    }
    return make(Counter(value for _, value in values)), by_group


def joint(breakdowns: Iterable[Breakdown]) -> Breakdown:
    """The breakdown by every tag that any of these needs; their groups are unions of its groups."""
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
    """Raise an error for a tag that no example has, which is most likely a typo."""
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
    """Sort key of groups: numbers by value, merged ones after them, then words."""
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


# Templates without a right answer: what a system chooses when nothing decides (ContraCAT §6.1.1, Tables 10–12).

TIE = "tie"


class Priors:
    """Counts the meanings of choices by template.

    Tags of an example: `choices`, the meaning of each candidate (subject, object, neither); `pair`, the same for two
    examples that name the same entities in both orders. Pairs are counted as one: the first in both orders, the
    second in both, or the same antecedent in both.
    """

    def __init__(self) -> None:
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._waiting: dict[tuple[str, str], str] = {}

    def add(self, tags: Mapping[str, Tag], chosen: int | None) -> None:
        template = str(tags.get("template", "all"))
        choice = _meaning(tags.get("choices"), chosen)
        pair = tags.get("pair")
        if not isinstance(pair, str):
            self._counts[template][choice] += 1
            return
        other = self._waiting.pop((template, pair), None)
        if other is None:
            self._waiting[template, pair] = choice
        else:
            self._counts[template][_both(choice, other)] += 1

    def unpaired(self) -> dict[str, int]:
        """The number of examples of each template that lack the other half of their pair and are not counted."""
        return dict(sorted(Counter(template for template, _ in self._waiting).items()))

    def figures(self, confidence: float) -> dict[str, dict[str, Proportion]]:
        """The share of each choice, the most frequent first. A pair whose other half is missing is not counted."""
        result = {}
        for template, counts in sorted(self._counts.items()):
            total = counts.total()
            result[template] = {choice: proportion(n, total, confidence) for choice, n in counts.most_common()}
        return result


def _meaning(choices: Tag, chosen: int | None) -> str:
    if chosen is None:
        return TIE
    if isinstance(choices, list) and chosen < len(choices):
        return str(choices[chosen])
    return f"candidate {chosen + 1}"


def _both(one: str, other: str) -> str:
    """Combine the choices in both orders; `first` and `second` are the same antecedent, as the order is reversed."""
    if TIE in (one, other):
        return TIE
    if one == other:
        return one
    return "neither" if "neither" in (one, other) else "same antecedent"
