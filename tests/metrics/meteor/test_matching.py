"""METEOR's alignment: the most matches, the fewest chunks, the shortest distances; against trying everything."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.metrics.meteor import matching as meteor_matching
from anaphora.metrics.meteor.matching import Match, MeteorAlignment, align, exact, possible_matches

EXACT = {"exact": exact}
FIRST_LETTER = {"exact": exact, "letter": lambda word: word[:1]}  # a makeshift stemmer


def matched(hypothesis: str, reference: str, matchers: dict = EXACT) -> tuple[str, int]:  # type: ignore[type-arg]
    """The matches as `reference-hypothesis` places, and the chunks."""
    found = align(hypothesis.split(), reference.split(), matchers)
    return " ".join(f"{m.reference}-{m.hypothesis}" for m in found.matches), found.chunks


@pytest.mark.parametrize(
    ("hypothesis", "reference", "matches", "chunks"),
    [
        ("the cat sat", "the cat sat", "0-0 1-1 2-2", 1),
        ("sat the cat", "the cat sat", "0-1 1-2 2-0", 2),
        ("the big cat", "the cat", "0-0 1-2", 2),  # a gap in the hypothesis
        ("the cat", "the big cat", "0-0 2-1", 2),  # or in the reference
        ("x y", "a b", "", 0),
        ("", "a b", "", 0),
        ("a b", "", "", 0),
        # the second `the` makes one chunk with `dog`, and so it is taken
        ("the cat saw the dog", "the dog", "0-3 1-4", 1),
        # as many matches as can be, though one chunk would do for three words
        ("a b c a", "a a b c", "0-3 1-0 2-1 3-2", 2),
        # chunks being equal, the nearer word
        ("a x a", "y z a", "2-2", 1),
        ("a x a", "a y z", "0-0", 1),
    ],
)
def test_alignments_by_hand(hypothesis: str, reference: str, matches: str, chunks: int) -> None:
    assert matched(hypothesis, reference) == (matches, chunks)


def test_a_pair_goes_to_the_first_matcher_that_matches_it() -> None:
    found = align(["cat", "dogs"], ["cat", "dog"], FIRST_LETTER)
    assert found == MeteorAlignment((Match(0, 0, "exact"), Match(1, 1, "letter")), 1)


def test_all_else_being_equal_the_surer_matcher() -> None:
    """Both words of the hypothesis are as far from the reference's: only the matchers differ."""
    assert matched("bee x bat", "y bat z", FIRST_LETTER) == ("1-2", 1)
    assert matched("bat x bee", "y bat z", FIRST_LETTER) == ("1-0", 1)
    # two words for `ad` and `a`, in two chunks and at the same distance either way: `ad` is there as it stands
    assert matched("ad a", "x ac y ad", FIRST_LETTER) == ("1-1 3-0", 2)


def test_matches_and_chunks_count_before_matchers() -> None:
    """As the paper orders its criteria: two inexact matches in one chunk, though `bee` is there as it stands."""
    assert matched("bat bee", "bee bug", FIRST_LETTER) == ("0-0 1-1", 1)


def test_several_keys_of_a_word() -> None:
    """Words with several keys, as synsets: one in common is enough, and nothing goes over two steps."""
    synsets = {"big": {1}, "great": {1, 2}, "fine": {2}}
    matchers = {"exact": exact, "synonym": lambda word: synsets.get(word, ())}
    assert possible_matches(["big"], ["great", "fine"], matchers) == [{0: 1}, {}]


def every_alignment(candidates: Sequence[dict[int, int]]) -> Iterator[tuple[int, ...]]:
    """(−matches, chunks, distance, inexact matches) of every alignment there is, in plain words of the definition."""
    options = [[None, *words] for words in candidates]
    for choice in itertools.product(*options):
        used = [i for i in choice if i is not None]
        if len(set(used)) < len(used):
            continue
        chunks = distance = 0
        for j, i in enumerate(choice):
            if i is not None:
                before = choice[j - 1] if j else None
                chunks += before is None or i != before + 1
                distance += abs(i - j)
        ranks = sum(words[i] for words, i in zip(candidates, choice, strict=True) if i is not None)
        yield -len(used), chunks, distance, ranks


SENTENCES = st.lists(st.sampled_from(["a", "b", "c", "ab", "ac"]), max_size=6)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(SENTENCES, SENTENCES)
def test_no_alignment_is_better(hypothesis: list[str], reference: list[str]) -> None:
    found = align(hypothesis, reference, FIRST_LETTER)
    distance = sum(abs(match.hypothesis - match.reference) for match in found.matches)
    best = min(every_alignment(possible_matches(hypothesis, reference, FIRST_LETTER)))
    inexact = sum(match.matcher != "exact" for match in found.matches)
    assert (-len(found.matches), found.chunks, distance, inexact) == best


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.lists(st.sampled_from("abcdefgh"), max_size=40), st.lists(st.sampled_from("abcdefgh"), max_size=40))
def test_long_sentences_have_as_many_matches_as_possible(hypothesis: list[str], reference: list[str]) -> None:
    """With exact matches alone this number is known: words in common, as often as both have them."""
    found = align(hypothesis, reference, EXACT)
    assert len(found.matches) == sum(min(hypothesis.count(w), reference.count(w)) for w in set(reference))
    assert len({match.hypothesis for match in found.matches}) == len(found.matches)
    assert len({match.reference for match in found.matches}) == len(found.matches)
    assert all(hypothesis[match.hypothesis] == reference[match.reference] for match in found.matches)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=40))
def test_a_sentence_is_one_chunk_with_itself(words: list[str]) -> None:
    found = align(words, words, EXACT)
    assert ([match.hypothesis for match in found.matches], found.chunks) == (list(range(len(words))), 1)


def test_the_beam_looks_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even the narrowest beam leaves a word for the place where nothing else will do."""
    monkeypatch.setattr(meteor_matching, "BEAM", 1)
    synsets = {"big": {1, 2}, "large": {2}, "great": {1}}
    matchers = {"exact": exact, "synonym": lambda word: synsets.get(word, ())}
    assert matched("big great", "big large", matchers) == ("0-1 1-0", 2)
    assert matched("a c b", "c c b") == ("1-1 2-2", 1)
