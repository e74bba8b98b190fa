"""The rescue finds a pronoun that the aligner missed, step by step as the paper's Table 1 shows it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.align.rescue import Found, find_translation, linked_pronoun, markers, nearest_to_centre, widened

FIXED = settings(derandomize=True, deadline=None)

# Table 1 of the paper: "it" is the word 6 and has no link
SOURCE = ["The", "system", "is", "so", "healthy", "that", "it", "purifies", "the", "water", "."]
TARGET = ["Le", "système", "est", "si", "sain", "qu'", "il", "purifie", "l'", "eau", "."]
LINKS = [[0], [1], [2], [3], [4], [5], [], [7], [8], [9], [10]]
IT, IL = SOURCE.index("it"), TARGET.index("il")


def find(
    links: list[list[int]], target: list[str], likely: set[str], pronoun: int = IT, **options: bool
) -> Found | None:
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
    assert nearest_to_centre(candidates, words) == IL


def test_table_1_as_a_whole() -> None:
    assert find(LINKS, TARGET, {"il", "l'"}) == Found(IL, rescued=True)
    assert find(LINKS, TARGET, {"il", "l'"}, rescue=False) is None


@pytest.mark.parametrize("wrong", [[3], [4, 9]])
def test_a_link_to_words_that_are_no_pronouns_is_a_misalignment(wrong: list[int]) -> None:
    links = [wrong if i == IT else linked for i, linked in enumerate(LINKS)]
    assert find(links, TARGET, {"il", "l'"}) == Found(IL, rescued=True)
    assert find(links, TARGET, {"il", "l'"}, rescue=False) is None


@pytest.mark.parametrize("linked", [[6], [3, 6], [6, 9, 10]])
@pytest.mark.parametrize("rescue", [True, False])
def test_a_pronoun_among_the_linked_words_is_the_translation(linked: list[int], rescue: bool) -> None:
    links = [linked if i == IT else other for i, other in enumerate(LINKS)]
    assert find(links, TARGET, {"il"}, rescue=rescue) == Found(IL, rescued=False)


def test_among_several_linked_pronouns_a_likely_one_goes_first_then_the_first() -> None:
    target = ["elle", "eux", "il"]
    assert linked_pronoun([0, 1, 2], lambda j: True, lambda j: target[j] == "il") == 2
    assert linked_pronoun([2, 1], lambda j: True, lambda j: False) == 1
    assert linked_pronoun([0, 1], lambda j: False, lambda j: True) is None


def test_a_linked_pronoun_need_not_be_a_likely_one() -> None:
    links = [[j] for j in range(11)]
    target = [word if j != IL else "eux" for j, word in enumerate(TARGET)]
    assert find(links, target, {"il"}) == Found(IL, rescued=False)


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
    assert nearest_to_centre([3, 5], range(2, 7)) == 3
    assert nearest_to_centre([4, 5], range(3, 7)) == 4  # the centre is between them
    assert nearest_to_centre([2, 5], range(2, 7)) == 5
    assert nearest_to_centre([], range(2, 7)) is None


@FIXED
@given(st.data())
def test_what_is_found_is_likely_near_a_marker_and_the_nearest_to_the_centre(data: st.DataObject) -> None:
    length = data.draw(st.integers(1, 12))
    source = data.draw(st.integers(1, 8))
    links = data.draw(st.lists(st.lists(st.integers(0, length - 1), unique=True), min_size=source, max_size=source))
    likely = data.draw(st.sets(st.integers(0, length - 1)))
    pronoun = data.draw(st.integers(0, source - 1))
    found = find_translation(pronoun, links, length, is_pronoun=likely.__contains__, is_likely=likely.__contains__)
    own = [j for j in links[pronoun] if j in likely]
    if own:
        assert found == Found(min(own), rescued=False)
        return
    around = [j for i in (pronoun - 1, pronoun + 1) if 0 <= i < source for j in links[i]]
    low, high = (max(min(around) - 1, 0), min(max(around) + 1, length - 1)) if around else (0, -1)
    candidates = [j for j in likely if low <= j <= high]
    if not candidates:
        assert found is None
        return
    assert found is not None
    assert found.rescued
    assert found.position in candidates
    centre = (low + high) / 2
    assert all(abs(found.position - centre) <= abs(j - centre) for j in candidates)
