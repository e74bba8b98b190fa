"""The original program's APT: what it takes for a translation, what for equal, and how its rescue really works."""

from __future__ import annotations

from dataclasses import replace

import pytest

from anaphora.languages.pronoun_files import pronoun_lists
from anaphora.languages.pronouns import PronounLists
from anaphora.metrics.apt.idiap import IdiapSettings, Place, find_places, outcomes, settings_for, split
from anaphora.metrics.apt.task import Outcome, Side, Task, Translation

PLAIN = IdiapSettings(source_pronouns=("it", "they"))
LISTED = replace(PLAIN, target_pronouns=("il", "elle", "ce", "c'", "on"))


def run(
    source: str,
    reference: str,
    candidate: str,
    links: tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]],
    settings: IdiapSettings,
) -> Outcome:
    one, other = (Translation(n, [split(t)], [a]) for n, t, a in zip("rs", (reference, candidate), links, strict=True))
    return outcomes(Task([split(source)], one, [other], PronounLists("en-fr")), settings)[0]


def test_words_are_split_at_every_single_space() -> None:
    assert split(" a  b ") == ["a", "", "b"]
    assert find_places([split("a  It b")], PLAIN) == [Place(0, 2, "it")]


def test_a_word_with_two_pronouns_counts_twice() -> None:
    assert find_places([["it-they", "x"]], PLAIN) == []
    divided = replace(PLAIN, source_separator="-")
    assert find_places([["it-they", "x"]], divided) == [Place(0, 0, "it"), Place(0, 0, "they")]


def test_pronouns_by_their_place() -> None:
    placed = replace(PLAIN, positions=((1, 0), (0, 1)))
    assert find_places([["a", "B"], ["IT"]], placed) == [Place(1, 0, "it"), Place(0, 1, "b")]


def test_all_aligned_words_are_the_translation_and_one_in_common_is_enough() -> None:
    (triple,) = run("it", "Le chat dort", "dort bien", (((0, 2), (0, 0)), ((0, 0), (0, 1))), PLAIN).triples
    assert triple.reference == Side((0, 2), ("le", "dort"))
    assert triple.candidate == Side((0, 1), ("dort", "bien"))
    assert triple.case == 1


@pytest.mark.parametrize(
    ("reference", "candidate", "count_other", "case"),
    [
        ("il", "il", False, 1),
        ("il", "elle", False, 3),
        ("ce", "c'", False, 1),
        ("c'", "il", False, 2),
        ("chat", "chien", False, 3),
        ("chat", "chien", True, 1),  # both are OTHER
        ("est-on", "on", False, 1),
    ],
)
def test_cases_with_a_list_of_target_pronouns(reference: str, candidate: str, count_other: bool, case: int) -> None:
    settings = replace(
        LISTED, equal=(("ce", "c'"),), similar=(("ce", "il"),), count_other=count_other, target_separator="-"
    )
    outcome = run("it", reference, candidate, (((0, 0),), ((0, 0),)), settings)
    assert [triple.case for triple in outcome.triples] == [case]
    assert outcome.confusion.labels == ("il", "elle", "ce", "c'", "on", "OTHER", "NONE")


def test_what_is_aligned_to_nothing_stays_so_the_search_at_its_neighbours_never_runs() -> None:
    """Here the paper's rescue finds "il" between its markers; the program does not."""
    settings = replace(LISTED, valid_source=frozenset({"it"}), valid_target=frozenset({"il"}))
    links = ((0, 0), (2, 2))
    (triple,) = run("that it sleeps", "qu' il dort", "qu' il dort", (links, links), settings).triples
    assert triple.case == 6


def test_its_rescue_looks_two_words_around_the_aligned_ones() -> None:
    settings = replace(LISTED, valid_source=frozenset({"they"}), valid_target=frozenset({"il", "elle"}))

    def rescued(reference: str, links: tuple[tuple[int, int], ...], source: str = "it they") -> Side:
        return run(source, reference, "x", (links, ()), settings).triples[0].reference

    assert rescued("a b chat il", ((0, 2),)) == Side((2, 3), ("il",), rescued=True)
    assert rescued("chat b il", ((0, 0),)) == Side((0, 2), ("il",), rescued=True)
    assert rescued("chat b c il", ((0, 0),)) == Side((0,), ("OTHER",))  # too far
    assert rescued("on il", ((0, 0),)) == Side((0, 1), ("on", "il"), rescued=True)  # "on" is listed, but not valid
    assert rescued("elle il", ((0, 0),)) == Side((0,), ("elle",))  # there is a valid one already
    assert rescued("chat il", ((0, 0), (1, 1))) == Side((0,), ("OTHER",))  # "il" belongs to "they"
    assert rescued("chat dort-il", ((0, 0),)) == Side((0, 1), ("dort-il",), rescued=True)  # the whole word is kept
    assert rescued("il chat elle", ((0, 1),)) == Side((1, 0), ("il",), rescued=True)  # equally near: the first


def test_the_matrix_counts_once_unless_told_otherwise() -> None:
    links = (((0, 0), (0, 1)), ((0, 0),))
    once = run("it", "il elle", "ce", links, LISTED).confusion
    assert sum(map(sum, once.counts)) == 1
    every = run("it", "il elle", "ce", links, replace(LISTED, count_multiword=True)).confusion
    assert [row[2] for row in every.counts] == [1, 1, 0, 0, 0, 0, 0]


def test_cases_that_are_not_in_use_are_not_in_the_matrix() -> None:
    nothing = run("it", "il", "x", (((0, 0),), ()), replace(LISTED, cases=(1,), weights=(1.0,)))
    assert [triple.case for triple in nothing.triples] == [4]
    assert sum(map(sum, nothing.confusion.counts)) == 0


def test_the_lists_of_a_pair_as_a_config() -> None:
    lists = pronoun_lists("en-fr")
    nothing = Translation("r", [], [])
    settings = settings_for(Task([], nothing, [], lists))
    assert settings.source_pronouns == ("it", "they")
    assert settings.target_separator == "-"
    assert settings.valid_target == set(lists.target)
    assert (settings.equal, settings.similar) == (lists.identical, lists.equivalent)
    bare = settings_for(Task([], nothing, [], lists, pronouns=("he",), rescue=False))
    assert (bare.source_pronouns, bare.valid_source, bare.valid_target) == (("he",), frozenset(), frozenset())
