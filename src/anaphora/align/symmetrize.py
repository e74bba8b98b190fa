"""Two directions of word alignment made one, by Moses' heuristics.

Koehn, Och and Marcu 2003 start from the points that both directions have, and add points that only one has; the Moses
manual ("Align words") gives the steps as pseudo-code, which is followed here to the order of its loops: words of the
target (its English) outside, words of the source inside, neighbours in its order. That order matters where two points
compete for a word, so that grow-diag and all that builds on it are not quite symmetric: aligning the other way round
may give other points. The final step takes the points of the forward direction first.
"""

from __future__ import annotations

from collections.abc import Iterable

from anaphora.align.alignment import Alignment, Point
from anaphora.core.errors import AnaphoraError, did_you_mean

HEURISTICS = ("intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and", "forward", "backward")
DEFAULT = "grow-diag-final"  # APT 2017, §2.3

# Steps to the neighbours of a point as (source, target), in the order of the manual, whose pairs are (target, source).
NEIGHBOURS = ((0, -1), (-1, 0), (0, 1), (1, 0), (-1, -1), (1, -1), (-1, 1), (1, 1))


def check_heuristic(name: str, known: Iterable[str] = HEURISTICS) -> None:
    """An unknown heuristic is an error that says which there are."""
    if name not in known:
        raise AnaphoraError(f"unknown symmetrisation {name!r}{did_you_mean(name, known)}. Known: {', '.join(known)}")


def symmetrize(forward: Iterable[Point], backward: Iterable[Point], heuristic: str = DEFAULT) -> Alignment:
    """One alignment from two, sorted by source and target word.

    forward: by the model of the target given the source: a word of the target has at most one link
    backward: by the model of the source given the target: a word of the source has at most one link
    Both hold (source, target) points. That a word has at most one link is usual, but nothing here depends on it.
    """
    check_heuristic(heuristic)
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
    """GROW-DIAG from the intersection, then FINAL of each direction if it is asked for."""
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
    """Add waiting points beside points, over and over until none is added.

    The manual scans every cell of the matrix. Only a point beside a waiting one can have an effect, so that it is
    enough to scan those; in the same order they do the same.
    """
    beside: dict[Point, list[Point]] = {}  # where a point would stand → the waiting points beside it, in their order
    for source_step, target_step in NEIGHBOURS:
        for candidate in waiting:
            place = candidate[0] - source_step, candidate[1] - target_step
            if place in points or place in waiting:
                beside.setdefault(place, []).append(candidate)
    scan = sorted(beside, key=lambda place: (place[1], place[0]))
    added = True
    while added:
        added = False
        for place in scan:
            if place not in points:  # a waiting one that has not joined, or not yet
                continue
            for candidate in beside[place]:
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
