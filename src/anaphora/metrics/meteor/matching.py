"""METEOR's word alignment (Denkowski and Lavie 2014, §2): which words of a hypothesis and a reference match.

Every word is in at most one match. Of all such alignments the best has (1) the most matches, then (2) the fewest
chunks, runs of matches that are adjacent and in the same order in both sentences, then (3) the smallest sum of
distances between the positions of matched words. Ties that remain go to the alignment with the surer matchers.

Meteor 1.5 itself weighs the first criterion so that only exact matches count in it; the paper, and we, count all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from operator import itemgetter
from typing import Any

BEAM = 40  # as Meteor; paths that have the same future are merged here, so that far fewer are lost

Keys = Callable[[str], Iterable[Hashable]]  # words match if they have a key in common
Matchers = Mapping[str, Keys]  # in the order in which they are tried; a pair goes to the first that matches it


@dataclass(frozen=True, slots=True)
class Match:
    """A word of the hypothesis and one of the reference, and the matcher that says that they match."""

    hypothesis: int
    reference: int
    matcher: str


@dataclass(frozen=True, slots=True)
class MeteorAlignment:
    """The matches in the order of the reference, and the number of chunks they form."""

    matches: tuple[Match, ...]
    chunks: int


_Candidates = list[dict[int, int]]  # for each reference word: the hypothesis words that match it → rank of the matcher
# What decides a path's future: the hypothesis words it has used up (as bits), and the one just matched, if any
_State = tuple[int, int]
# (−matches, chunks, distance, ranks of the matchers): the better path is the smaller tuple
_Cost = tuple[int, int, int, int]
_Link = tuple[int, int, int, Any] | None  # hypothesis word, reference word, rank, the link before
_Paths = dict[_State, tuple[_Cost, _Link]]

_NOTHING = -2  # in the place of the word just matched: whatever comes next begins a chunk


def exact(word: str) -> Iterable[Hashable]:
    return (word,)


def align(hypothesis: Sequence[str], reference: Sequence[str], matchers: Matchers) -> MeteorAlignment:
    """The best alignment of two sentences, by beam search over the words of the reference."""
    candidates = possible_matches(hypothesis, reference, matchers)
    wanted_by = Counter(i for words in candidates for i in words)
    sure = [len(words) == 1 and wanted_by[next(iter(words))] == 1 for words in candidates]  # nobody else wants them
    paths: _Paths = {(0, _NOTHING): ((0, 0, 0, 0), None)}
    for j, words in enumerate(candidates):
        paths = _extended(paths, j, words, sure[j], candidates[j + 1 :])
        if len(paths) > BEAM:
            paths = _best(paths, [later for k, later in enumerate(candidates) if k > j and not sure[k]])
    cost, link = min(paths.values(), key=itemgetter(0))
    names = list(matchers)
    matches = []
    while link is not None:
        i, j, rank, link = link
        matches.append(Match(i, j, names[rank]))
    return MeteorAlignment(tuple(reversed(matches)), cost[1])


def _extended(paths: _Paths, j: int, words: dict[int, int], sure: bool, to_come: _Candidates) -> _Paths:
    """All paths with one more reference word: with each match that is still free, and without one.

    Of paths with the same future only the best is kept. Words that nothing to come could use are forgotten, and so is
    the word just matched if its neighbour cannot be matched next.
    """
    longer: _Paths = {}
    neighbours = to_come[0] if to_come else {}
    useful = 0
    for later in to_come:
        for i in later:
            useful |= 1 << i
    for (used, last), ((count, chunks, distance, ranks), link) in paths.items():
        for i, rank in words.items():
            if used >> i & 1:
                continue
            state = ((used | 1 << i) & useful, i if i + 1 in neighbours else _NOTHING)
            cost = (count - 1, chunks + (i != last + 1), distance + abs(i - j), ranks + rank)
            if state not in longer or cost < longer[state][0]:
                longer[state] = (cost, (i, j, rank, link))
        if not sure:
            state, cost = (used & useful, _NOTHING), (count, chunks, distance, ranks)
            if state not in longer or cost < longer[state][0]:
                longer[state] = (cost, link)
    return longer


def _best(paths: _Paths, to_come: _Candidates) -> _Paths:
    """The paths worth following: those that can still reach the most matches, then those with the fewest chunks.

    Without the look ahead a path that leaves a word to a later match would fall behind those that use it up at once.
    """
    wanted = Counter(sum(1 << i for i in words) for words in to_come)
    del wanted[0]
    possible: dict[int, int] = {}  # by the words used up: how many matches can still come

    def rank(item: tuple[_State, tuple[_Cost, _Link]]) -> _Cost:
        (used, _), ((count, chunks, distance, ranks), _) = item
        if used not in possible:
            possible[used] = sum(min(n, (mask & ~used).bit_count()) for mask, n in wanted.items())
        return count - possible[used], chunks, distance, ranks

    return dict(nsmallest(BEAM, paths.items(), key=rank))


def possible_matches(hypothesis: Sequence[str], reference: Sequence[str], matchers: Matchers) -> _Candidates:
    """For each reference word the hypothesis words that match it, each by the first matcher that says so."""
    found: _Candidates = [{} for _ in reference]
    for rank, keys_of in enumerate(matchers.values()):
        places: dict[Hashable, list[int]] = {}
        for i, word in enumerate(hypothesis):
            for key in keys_of(word):
                places.setdefault(key, []).append(i)
        for j, word in enumerate(reference):
            for key in keys_of(word):
                for i in places.get(key, ()):
                    found[j].setdefault(i, rank)
    return found
