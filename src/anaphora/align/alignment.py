"""Word alignments: links, symmetrization, agreement, and the rescue of pronouns (APT §2.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from anaphora.core.errors import BadInput, check_name
from anaphora.core.files import text_lines
from anaphora.core.parsing import is_count

Point = tuple[int, int]  # source word, target word; both count from 0
Alignment = tuple[Point, ...]  # of one sentence pair, in the order of the file

LONGEST = 20  # characters of a point
FORMAT = "A line is source-target word numbers from 0: 0-0 1-2."


def parse_alignment(line: str, path: Path, number: int) -> Alignment:
    """One line of a Pharaoh file; an empty line is a pair without links."""
    points = []
    for item in line.split():
        source, dash, target = item.partition("-")
        if not (dash and is_count(source) and is_count(target)):
            raise BadInput(path, f"not an alignment point: {item[:LONGEST]!r}", line=number, remedy=FORMAT)
        points.append((int(source), int(target)))
    return tuple(points)


def read_alignments(path: Path) -> Iterator[Alignment]:
    """A Pharaoh file, line by line."""
    for number, line in enumerate(text_lines(path), start=1):
        yield parse_alignment(line, path, number)


def format_alignment(alignment: Iterable[Point]) -> str:
    """One line of a Pharaoh file."""
    return " ".join(f"{source}-{target}" for source, target in alignment)


def check_alignment(alignment: Alignment, source: int, target: int, path: Path, number: int) -> None:
    """Raise BadInput unless all points are inside sentences of these lengths."""
    for i, j in alignment:
        if i >= source or j >= target:
            problem = f"point {i}-{j} is outside the sentences of {source:,} and {target:,} words"
            remedy = "Align the same texts that are scored, with the same tokenization."
            raise BadInput(path, problem, line=number, remedy=remedy)


def links(alignment: Alignment, source: int) -> list[list[int]]:
    """The target words of each source word, in ascending order; source: the number of source words."""
    targets: list[set[int]] = [set() for _ in range(source)]
    for i, j in alignment:
        targets[i].add(j)
    return [sorted(words) for words in targets]


def transposed(alignment: Alignment) -> Alignment:
    """The alignment from target to source."""
    return tuple((j, i) for i, j in alignment)


# Precision, recall and F of alignments against given ones (Och and Ney 2003).


@dataclass(frozen=True, slots=True)
class Agreement:
    """The numbers of points found, given, and in both. Measures that divide by zero are None."""

    found: int
    given: int
    both: int

    @property
    def precision(self) -> float | None:
        return self.both / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        return self.both / self.given if self.given else None

    @property
    def f(self) -> float | None:
        """The F measure; if all links are sure, 1 − F is the alignment error rate."""
        return 2 * self.both / (self.found + self.given) if self.found and self.given else None

    def to_dict(self) -> dict[str, float | int | None]:
        return asdict(self) | {"precision": self.precision, "recall": self.recall, "f": self.f}


def agreement(aligned: Iterable[Alignment], given: Iterable[Alignment]) -> Agreement:
    """The agreement over all sentence pairs; duplicate points count once."""
    numbers = [0, 0, 0]
    for one, other in zip(aligned, given, strict=True):
        ours, theirs = set(one), set(other)
        for k, points in enumerate((ours, theirs, ours & theirs)):
            numbers[k] += len(points)
    return Agreement(*numbers)


# Symmetrization of two directions by Moses' heuristics.

HEURISTICS = ("intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and", "forward", "backward")
DEFAULT = "grow-diag-final"  # APT 2017, §2.3

# Steps to the neighbors of a point as (source, target), in the order of the manual, whose pairs are (target, source).
NEIGHBORS = ((0, -1), (-1, 0), (0, 1), (1, 0), (-1, -1), (1, -1), (-1, 1), (1, 1))


def symmetrize(forward: Iterable[Point], backward: Iterable[Point], heuristic: str = DEFAULT) -> Alignment:
    """The symmetrized alignment of two directions, sorted by source and target word.

    forward: from the model of the target given the source, in which a target word has at most one link
    backward: from the model of the source given the target, in which a source word has at most one link
    Both hold (source, target) points. Words with more than one link are allowed as well.
    """
    check_name("symmetrization", heuristic, HEURISTICS)
    one, other = set(forward), set(backward)
    if heuristic == "intersection":
        points = one & other
    elif heuristic == "union":
        points = one | other
    elif heuristic in ("forward", "backward"):
        points = one if heuristic == "forward" else other
    else:
        points = _grown(one, other, heuristic)
    return tuple(sorted(points))


def _grown(forward: set[Point], backward: set[Point], heuristic: str) -> set[Point]:
    """GROW-DIAG from the intersection, then FINAL of each direction if requested."""
    points = forward & backward
    sources, targets = {s for s, _ in points}, {t for _, t in points}  # words that have a link
    # A point joins only if one of its words has no link yet, and links are never taken back: the others are out.
    waiting = {p for p in forward ^ backward if p[0] not in sources or p[1] not in targets}
    if waiting and points:
        _grow_diag(points, waiting, sources, targets)
    if waiting and heuristic != "grow-diag":
        both = heuristic == "grow-diag-final-and"
        for direction in (forward, backward):
            _final(points, waiting & direction, sources, targets, both=both)
    return points


def _grow_diag(points: set[Point], waiting: set[Point], sources: set[int], targets: set[int]) -> None:
    """Add waiting points next to points until none can be added.

    The manual scans every cell of the matrix. Only points next to a waiting one have an effect, so it is enough to scan
    those in the same order.
    """
    adjacent: dict[Point, list[Point]] = {}  # a point → the waiting points next to it, in their order
    for source_step, target_step in NEIGHBORS:
        for candidate in waiting:
            point = candidate[0] - source_step, candidate[1] - target_step
            if point in points or point in waiting:
                adjacent.setdefault(point, []).append(candidate)
    scan = sorted(adjacent, key=lambda point: (point[1], point[0]))
    added = True
    while added:
        added = False
        for point in scan:
            if point not in points:  # a waiting one that has not joined, or not yet
                continue
            for candidate in adjacent[point]:
                if candidate[0] not in sources or candidate[1] not in targets:
                    _add(candidate, points, sources, targets)
                    added = True


def _final(points: set[Point], direction: set[Point], sources: set[int], targets: set[int], *, both: bool) -> None:
    """Add what is left of a direction where a word has no link; with `both`, only where neither has one.

    Only points that share a word compete, and those are in the same order by source as by target.
    """
    for point in sorted(direction):
        free = (point[0] not in sources) + (point[1] not in targets)
        if free == 2 or (free and not both):
            _add(point, points, sources, targets)


def _add(point: Point, points: set[Point], sources: set[int], targets: set[int]) -> None:
    points.add(point)
    sources.add(point[0])
    targets.add(point[1])


# Pronouns that the aligner missed: the four steps of APT §2.3, as the paper states them.

Question = Callable[[int], bool]  # of a target word, by its position


class FoundTranslation(NamedTuple):
    """The translation of a pronoun; rescued: found without a link of its own."""

    position: int
    rescued: bool


def find_translation(
    pronoun: int,
    links: Sequence[Sequence[int]],
    length: int,
    *,
    is_pronoun: Question,
    is_likely: Question,
    rescue: bool = True,
) -> FoundTranslation | None:
    """The translation of the source pronoun at a position, or None.

    links: for each source word the target words it is aligned to; length: the number of target words
    rescue: whether to search among the neighbors; without it only a link to a pronoun counts
    """
    linked = linked_pronoun(links[pronoun], is_pronoun, is_likely)
    if linked is not None:
        return FoundTranslation(linked, rescued=False)
    if not rescue:
        return None
    marked = markers(pronoun, links)
    if not marked:
        return None
    words = widened(marked, length)
    nearest = nearest_to_center([word for word in words if is_likely(word)], words)
    return None if nearest is None else FoundTranslation(nearest, rescued=True)


def linked_pronoun(linked: Sequence[int], is_pronoun: Question, is_likely: Question) -> int | None:
    """Step 1: the pronoun among the words that a source pronoun is aligned to."""
    pronouns = [word for word in sorted(linked) if is_pronoun(word)]
    return next((word for word in pronouns if is_likely(word)), pronouns[0] if pronouns else None)


def markers(pronoun: int, links: Sequence[Sequence[int]]) -> list[int]:
    """Step 1, where it finds no pronoun: what the words at −1 and +1 are aligned to."""
    neighbors = (index for index in (pronoun - 1, pronoun + 1) if 0 <= index < len(links))
    return sorted({word for index in neighbors for word in links[index]})


def widened(marked: Sequence[int], length: int) -> range:
    """Step 2: from one word before the first marker to one after the last, within the sentence."""
    return range(max(marked[0] - 1, 0), min(marked[-1] + 1, length - 1) + 1)


def nearest_to_center(candidates: Sequence[int], words: range) -> int | None:
    """Step 4: among the likely translations of step 3 the one nearest to the middle of the range."""
    twice_center = words.start + words.stop - 1  # doubled, to stay with whole numbers
    return min(candidates, key=lambda word: (abs(2 * word - twice_center), word), default=None)
