"""Alignments are word numbers in pairs, exchanged in the Pharaoh format; what does not fit is refused by its place."""

from __future__ import annotations

import contextlib
import gzip
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anaphora.align.alignment import (
    DEFAULT,
    HEURISTICS,
    Alignment,
    FoundTranslation,
    Point,
    agreement,
    check_alignment,
    find_translation,
    format_alignment,
    linked_pronoun,
    links,
    markers,
    nearest_to_center,
    parse_alignment,
    read_alignments,
    symmetrize,
    transposed,
    widened,
)
from anaphora.core.errors import AnaphoraError, BadInput

FIXED = settings(derandomize=True)
POINTS = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99))).map(tuple)
HERE = Path("x.align")


def test_a_line_is_source_and_target_words_from_0() -> None:
    assert parse_alignment("0-0 1-2\t3-1", HERE, 1) == ((0, 0), (1, 2), (3, 1))
    assert parse_alignment("  ", HERE, 1) == ()
    assert format_alignment([(0, 0), (10, 2)]) == "0-0 10-2"


@FIXED
@given(POINTS)
def test_what_is_written_is_read_again(points: tuple[tuple[int, int], ...]) -> None:
    assert parse_alignment(format_alignment(points), HERE, 1) == points


@pytest.mark.parametrize(
    "item", ["1", "1-", "-1", "1-2-3", "a-b", "1–2", "1:2", "²-1", "١-1", "1-+2", "-1-2", "1-" + "9" * 5000]
)
def test_anything_else_is_not_a_point(item: str) -> None:
    with pytest.raises(BadInput, match=r"x\.align: line 1,234: not an alignment point: .* A line is source-target"):
        parse_alignment(f"0-0 {item}", HERE, 1234)


@FIXED
@given(st.text("0123456789- ab²", max_size=12))
def test_a_line_is_read_or_refused(line: str) -> None:
    good = all(re.fullmatch("[0-9]+-[0-9]+", item) for item in line.split())
    with contextlib.nullcontext() if good else pytest.raises(BadInput, match="line 1: not an alignment point"):
        assert len(parse_alignment(line, HERE, 1)) == len(line.split())


def test_files_may_be_gzipped_and_errors_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.align.gz"
    path.write_bytes(gzip.compress(b"0-0\n\n1-1 2-0\r\n"))
    assert list(read_alignments(path)) == [((0, 0),), (), ((1, 1), (2, 0))]
    path.write_bytes(b"0-0\n0_0\n")
    with pytest.raises(BadInput, match="line 2: not an alignment point: '0_0'"):
        list(read_alignments(path))


@pytest.mark.parametrize(("source", "target"), [(1, 9), (2, 3), (9, 3)])
def test_points_outside_the_sentences(source: int, target: int) -> None:
    alignment = ((0, 0), (1, 3))
    check_alignment(alignment, 2, 4, HERE, 7)
    with pytest.raises(BadInput, match=r"line 7: point 1-3 is outside the sentences of \d and \d words"):
        check_alignment(alignment, source, target, HERE, 7)


def test_the_links_of_each_source_word() -> None:
    assert links(((2, 1), (0, 3), (0, 1), (0, 3)), 4) == [[1, 3], [], [1], []]


@FIXED
@given(POINTS)
def test_transposing_twice_changes_nothing(points: tuple[tuple[int, int], ...]) -> None:
    assert transposed(transposed(points)) == points
    assert transposed(points) == tuple((t, s) for s, t in points)


# Alignments are compared with given ones by precision, recall and F of their points.


def test_points_are_counted_over_all_pairs() -> None:
    """Found 4, given 5, both 3: two in the first pair, one in the second."""
    actual = [((0, 0), (1, 1), (2, 2)), ((0, 1),), ()]
    given = [((0, 0), (1, 1), (2, 3)), ((0, 1),), ((5, 5),)]
    got = agreement(actual, given)
    assert (got.found, got.given, got.both) == (4, 5, 3)
    assert (got.precision, got.recall) == (3 / 4, 3 / 5)
    assert got.f == pytest.approx(2 / (4 / 3 + 5 / 3))  # the harmonic mean
    assert got.to_dict() == {"found": 4, "given": 5, "both": 3, "precision": 0.75, "recall": 0.6, "f": got.f}


def test_a_point_given_twice_counts_once() -> None:
    assert agreement([((0, 0), (0, 0))], [((0, 0),)]).precision == 1.0


def test_nothing_is_not_a_figure() -> None:
    nothing = agreement([()], [((0, 0),)])
    assert (nothing.precision, nothing.recall, nothing.f) == (None, 0.0, None)
    assert agreement([((0, 0),)], [()]).recall is None


def test_lists_of_different_lengths_do_not_belong_together() -> None:
    with pytest.raises(ValueError, match="longer"):
        agreement([()], [(), ()])


# Two directions are merged as the Moses manual says; small cases are worked out by hand.

FIXED_SYMMETRIZE = settings(derandomize=True, max_examples=200)
GROWN = ("grow-diag", "grow-diag-final", "grow-diag-final-and")
SIDE = st.integers(1, 6)
Both = tuple[frozenset[Point], frozenset[Point]]


@st.composite
def directions(draw: st.DrawFn) -> Both:
    """As models give them: forward one source word per target word, backward one target word per source word."""
    sources, targets = draw(SIDE), draw(SIDE)
    forward = [draw(st.integers(-1, sources - 1)) for _ in range(targets)]
    backward = [draw(st.integers(-1, targets - 1)) for _ in range(sources)]
    one = frozenset((s, t) for t, s in enumerate(forward) if s >= 0)
    return one, frozenset((s, t) for s, t in enumerate(backward) if t >= 0)


@st.composite
def any_sets(draw: st.DrawFn) -> Both:
    """As files of other programs may have them."""
    points = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=14)
    return draw(points), draw(points)


BOTH = directions() | any_sets()


def turned(points: Iterable[Point]) -> frozenset[Point]:
    return frozenset((t, s) for s, t in points)


# ------------------------------------------------------------------------------------------------- worked by hand

# forward    T0 T1 T2     backward   T0 T1 T2
#        S0  .  .  .             S0  .  .  x
#        S1  .  x  x             S1  .  x  .
FORWARD, BACKWARD = ((1, 1), (1, 2)), ((0, 2), (1, 1))


def test_intersection_and_union() -> None:
    assert symmetrize(FORWARD, BACKWARD, "intersection") == ((1, 1),)
    assert symmetrize(FORWARD, BACKWARD, "union") == ((0, 2), (1, 1), (1, 2))
    assert symmetrize(FORWARD, BACKWARD, "forward") == FORWARD
    assert symmetrize(FORWARD, BACKWARD, "backward") == BACKWARD


def test_neighbors_are_tried_straight_ones_first() -> None:
    """From 1-1, the next target word is tried before the diagonals: T2 is free, 1-2 joins. Then 0-2 joins for S0.

    With diagonals first 0-2 would join and 1-2 would not: S1 and T2 would have links.
    """
    assert symmetrize(FORWARD, BACKWARD, "grow-diag") == ((0, 2), (1, 1), (1, 2))


def test_points_grow_from_points_that_have_grown() -> None:
    """3-3 is not next to 0-0, but next to 2-2, which is next to 1-1, which is next to 0-0."""
    chain = ((1, 1), (2, 2), (3, 3))
    assert symmetrize(((0, 0), *chain), ((0, 0),), "grow-diag") == ((0, 0), *chain)
    assert symmetrize(((0, 0), (2, 2)), ((0, 0),), "grow-diag") == ((0, 0),)  # a gap ends it


def test_a_point_whose_words_have_links_does_not_join() -> None:
    """0-1 is next to 0-0 and 1-1, but S0 and T1 are taken."""
    assert symmetrize(((0, 0), (1, 1)), ((0, 0), (1, 1), (0, 1)), "grow-diag-final") == ((0, 0), (1, 1))


def test_final_and_final_and_differ_in_words_left_free() -> None:
    """2-4 has no neighbor: T4 is free, S2 has its link 2-0. Final takes it, final-and does not. 4-2 has both free."""
    forward, backward = ((2, 0), (2, 4)), ((2, 0), (4, 2))
    assert symmetrize(forward, backward, "grow-diag") == ((2, 0),)
    assert symmetrize(forward, backward, "grow-diag-final-and") == ((2, 0), (4, 2))
    assert symmetrize(forward, backward, "grow-diag-final") == ((2, 0), (2, 4), (4, 2))


def test_final_takes_forward_points_first() -> None:
    """Nothing is shared. 0-2 of the forward direction takes S0 and T2, so that 2-2 comes too late for `and`."""
    assert symmetrize(((0, 2),), ((2, 2),), "grow-diag-final-and") == ((0, 2),)
    assert symmetrize(((2, 2),), ((0, 2),), "grow-diag-final-and") == ((2, 2),)
    assert symmetrize(((0, 2),), ((2, 2),), "grow-diag-final") == ((0, 2), (2, 2))  # S2 is free


def test_final_goes_through_target_words_in_order() -> None:
    """T0 comes before T2: 2-0 joins, and leaves S2 no longer free for 2-2."""
    assert symmetrize(((2, 2), (2, 0)), (), "grow-diag-final-and") == ((2, 0),)


def test_the_default_is_that_of_apt() -> None:
    assert DEFAULT == "grow-diag-final"
    forward, backward = ((2, 0), (2, 4)), ((2, 0), (4, 2))
    assert symmetrize(forward, backward) == symmetrize(forward, backward, "grow-diag-final")


def test_an_unknown_heuristic() -> None:
    with pytest.raises(
        AnaphoraError, match=r"unknown symmetrization 'grow-diag-finale' \(did you mean grow-diag-final"
    ):
        symmetrize((), (), "grow-diag-finale")


# --------------------------------------------------------------------------------- against the manual, cell by cell


def by_the_manual(forward: frozenset[Point], backward: frozenset[Point], heuristic: str) -> Alignment:
    """The pseudo-code of the Moses manual, its English being the target: every cell is looked at in every pass."""
    cells = range(1 + max((max(p) for p in forward | backward), default=0))
    alignment = set(forward & backward)

    def source_aligned(s: int) -> bool:
        return any(p[0] == s for p in alignment)

    def target_aligned(t: int) -> bool:
        return any(p[1] == t for p in alignment)

    neighboring = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))
    new_points = True
    while new_points:
        new_points = False
        for e in cells:
            for f in cells:
                if (f, e) in alignment:
                    for e_step, f_step in neighboring:
                        e_new, f_new = e + e_step, f + f_step
                        if not (target_aligned(e_new) and source_aligned(f_new)) and (
                            (f_new, e_new) in forward or (f_new, e_new) in backward
                        ):
                            alignment.add((f_new, e_new))
                            new_points = True
    for direction in (forward, backward) if "final" in heuristic else ():
        for e in cells:
            for f in cells:
                if (f, e) in direction:
                    taken = [target_aligned(e), source_aligned(f)]
                    if not (any(taken) if heuristic.endswith("and") else all(taken)):
                        alignment.add((f, e))
    return tuple(sorted(alignment))


@FIXED_SYMMETRIZE
@given(BOTH, st.sampled_from(GROWN))
def test_grown_alignments_are_those_of_the_manual(both: Both, heuristic: str) -> None:
    assert symmetrize(*both, heuristic) == by_the_manual(*both, heuristic)


# ------------------------------------------------------------------------------------------------------- properties


@FIXED_SYMMETRIZE
@given(BOTH, st.sampled_from(HEURISTICS))
def test_every_result_lies_between_intersection_and_union(both: Both, heuristic: str) -> None:
    alignment = symmetrize(*both, heuristic)
    assert both[0] & both[1] <= set(alignment) <= both[0] | both[1]
    assert list(alignment) == sorted(set(alignment))


@FIXED_SYMMETRIZE
@given(BOTH)
def test_final_steps_only_add(both: Both) -> None:
    grown = set(symmetrize(*both, "grow-diag"))
    assert grown <= set(symmetrize(*both, "grow-diag-final"))
    assert grown <= set(symmetrize(*both, "grow-diag-final-and"))


@FIXED_SYMMETRIZE
@given(BOTH)
def test_final_links_every_word_that_the_union_links(both: Both) -> None:
    actual, union = symmetrize(*both, "grow-diag-final"), both[0] | both[1]
    for side in (0, 1):
        assert {p[side] for p in actual} == {p[side] for p in union}
    some = symmetrize(*both, "grow-diag-final-and")  # here, of every point of the union at least one word
    assert all(p[0] in {s for s, _ in some} or p[1] in {t for _, t in some} for p in union)


@FIXED_SYMMETRIZE
@given(BOTH, st.sampled_from(HEURISTICS))
def test_directions_that_agree_are_left_as_they_are(both: Both, heuristic: str) -> None:
    assert set(symmetrize(both[0], both[0], heuristic)) == both[0]


@FIXED_SYMMETRIZE
@given(BOTH)
def test_intersection_and_union_are_symmetric_under_transposition(both: Both) -> None:
    for heuristic in ("intersection", "union"):
        there = symmetrize(*both, heuristic)
        assert turned(symmetrize(turned(both[1]), turned(both[0]), heuristic)) == set(there)


@FIXED_SYMMETRIZE
@given(BOTH, st.sampled_from(GROWN[1:]))
def test_the_final_step_is_symmetric_under_transposition(both: Both, heuristic: str) -> None:
    other = turned(both[0]), turned(both[1])  # what was forward is still the first argument
    assume(turned(symmetrize(*other, "grow-diag")) == set(symmetrize(*both, "grow-diag")))
    assert turned(symmetrize(*other, heuristic)) == set(symmetrize(*both, heuristic))


def test_grow_diag_is_not_symmetric_where_points_compete() -> None:
    """As published: the scan is by target words, so that the transposed scan may come to another point first."""
    forward, backward = {(0, 0), (2, 1), (1, 2)}, {(0, 1), (1, 0), (2, 1)}
    here = symmetrize(forward, backward, "grow-diag")
    there = turned(symmetrize(turned(backward), turned(forward), "grow-diag"))
    assert here == ((0, 1), (1, 0), (1, 2), (2, 1))
    assert there == {(0, 0), (1, 0), (1, 2), (2, 1)}


# The rescue finds a pronoun that the aligner missed, step by step as the paper's Table 1 shows it.

# Table 1 of the paper: "it" is the word 6 and has no link
SOURCE = ["The", "system", "is", "so", "healthy", "that", "it", "purifies", "the", "water", "."]
TARGET = ["Le", "système", "est", "si", "sain", "qu'", "il", "purifie", "l'", "eau", "."]
LINKS = [[0], [1], [2], [3], [4], [5], [], [7], [8], [9], [10]]
IT, IL = SOURCE.index("it"), TARGET.index("il")


def find(
    links: list[list[int]], target: list[str], likely: set[str], pronoun: int = IT, **options: bool
) -> FoundTranslation | None:
    pronouns = likely | {"elle", "eux"}
    return find_translation(
        pronoun,
        links,
        len(target),
        is_pronoun=lambda j: target[j] in pronouns,
        is_likely=lambda j: target[j] in likely,
        **options,
    )


def test_table_1_step_by_step() -> None:
    marked = markers(IT, LINKS)
    assert [TARGET[j] for j in marked] == ["qu'", "purifie"]
    words = widened(marked, len(TARGET))
    assert [TARGET[j] for j in words] == ["sain", "qu'", "il", "purifie", "l'"]
    candidates = [j for j in words if TARGET[j] in {"il", "l'"}]
    assert [TARGET[j] for j in candidates] == ["il", "l'"]
    assert nearest_to_center(candidates, words) == IL


def test_table_1_as_a_whole() -> None:
    assert find(LINKS, TARGET, {"il", "l'"}) == FoundTranslation(IL, rescued=True)
    assert find(LINKS, TARGET, {"il", "l'"}, rescue=False) is None


@pytest.mark.parametrize("wrong", [[3], [4, 9]])
def test_a_link_to_other_words_is_a_misalignment(wrong: list[int]) -> None:
    links = [wrong if i == IT else linked for i, linked in enumerate(LINKS)]
    assert find(links, TARGET, {"il", "l'"}) == FoundTranslation(IL, rescued=True)
    assert find(links, TARGET, {"il", "l'"}, rescue=False) is None


@pytest.mark.parametrize("linked", [[6], [3, 6], [6, 9, 10]])
@pytest.mark.parametrize("rescue", [True, False])
def test_a_pronoun_among_the_linked_words_is_the_translation(linked: list[int], rescue: bool) -> None:
    links = [linked if i == IT else other for i, other in enumerate(LINKS)]
    assert find(links, TARGET, {"il"}, rescue=rescue) == FoundTranslation(IL, rescued=False)


def test_a_likely_linked_pronoun_is_preferred_then_the_first() -> None:
    target = ["elle", "eux", "il"]
    assert linked_pronoun([0, 1, 2], lambda j: True, lambda j: target[j] == "il") == 2
    assert linked_pronoun([2, 1], lambda j: True, lambda j: False) == 1
    assert linked_pronoun([0, 1], lambda j: False, lambda j: True) is None


def test_a_linked_pronoun_need_not_be_a_likely_one() -> None:
    links = [[j] for j in range(11)]
    target = [word if j != IL else "eux" for j, word in enumerate(TARGET)]
    assert find(links, target, {"il"}) == FoundTranslation(IL, rescued=False)


@pytest.mark.parametrize(
    ("links", "pronoun", "marked"),
    [
        ([[], [4]], 0, [4]),  # the sentence begins: only the word after it
        ([[4], []], 1, [4]),  # it ends: only the word before it
        ([[], [], [5]], 1, [5]),  # the word before is aligned to nothing
        ([[7, 2], [], [5, 7]], 1, [2, 5, 7]),  # several words each
        ([[8], [], [3]], 1, [3, 8]),  # the order is turned round
        ([[], [3], []], 1, []),  # its own links are no markers
        ([[3]], 0, []),  # the only word
    ],
)
def test_markers(links: list[list[int]], pronoun: int, marked: list[int]) -> None:
    assert markers(pronoun, links) == marked


def test_nothing_is_found_without_a_marker_or_a_likely_translation() -> None:
    assert find([[], [], []], ["il", "il", "il"], {"il"}, pronoun=1) is None
    assert find(LINKS, TARGET, {"ils"}) is None


@pytest.mark.parametrize(
    ("marked", "length", "words"),
    [([5, 7], 11, (4, 8)), ([0, 2], 11, (0, 3)), ([9, 10], 11, (8, 10)), ([0], 1, (0, 0)), ([3], 9, (2, 4))],
)
def test_the_range_is_widened_by_one_word_within_the_sentence(
    marked: list[int], length: int, words: tuple[int, int]
) -> None:
    assert (widened(marked, length)[0], widened(marked, length)[-1]) == words


def test_the_first_of_two_that_are_equally_near_is_chosen() -> None:
    assert nearest_to_center([3, 5], range(2, 7)) == 3
    assert nearest_to_center([4, 5], range(3, 7)) == 4  # the center is between them
    assert nearest_to_center([2, 5], range(2, 7)) == 5
    assert nearest_to_center([], range(2, 7)) is None


@FIXED
@given(st.data())
def test_rescue_prefers_likely_pronouns_near_a_marker_and_the_center(data: st.DataObject) -> None:
    length = data.draw(st.integers(1, 12))
    source = data.draw(st.integers(1, 8))
    links = data.draw(st.lists(st.lists(st.integers(0, length - 1), unique=True), min_size=source, max_size=source))
    likely = data.draw(st.sets(st.integers(0, length - 1)))
    pronoun = data.draw(st.integers(0, source - 1))
    translation = find_translation(
        pronoun, links, length, is_pronoun=likely.__contains__, is_likely=likely.__contains__
    )
    own = [j for j in links[pronoun] if j in likely]
    if own:
        assert translation == FoundTranslation(min(own), rescued=False)
        return
    around = [j for i in (pronoun - 1, pronoun + 1) if 0 <= i < source for j in links[i]]
    low, high = (max(min(around) - 1, 0), min(max(around) + 1, length - 1)) if around else (0, -1)
    candidates = [j for j in likely if low <= j <= high]
    if not candidates:
        assert translation is None
        return
    assert translation is not None
    assert translation.rescued
    assert translation.position in candidates
    center = (low + high) / 2
    assert all(abs(translation.position - center) <= abs(j - center) for j in candidates)
