"""Orders of Python 2.7 and of NumPy of its time; what is expected here was printed by Python 2.7.18 itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.languages.pronouns import PronounLists, pronoun_lists
from anaphora.metrics.apt.idiap import (
    IdiapSettings,
    Python2Set,
    find_occurrences,
    numpy_argsort,
    outcomes,
    python2_hash,
    settings_for,
    split,
)
from anaphora.metrics.apt.idiap_output import ScoreFile, detail_file
from anaphora.metrics.apt.task import Confusion, Occurrence, Outcome, Side, Task, Translation, Triple

FIXED = settings(derandomize=True)
WORDS = ["she", "they", "we", "you", "i", "it", "he", "his", "her", "their", "its", "who", "whose", "whom", "that"]


def test_hashes_of_texts() -> None:
    """`hash(u"…")` of Python 2.7.18 on a 64-bit machine, as an unsigned number."""
    signed = {"": 0, "i": 13440040424, "they": 2314053222248391254, "él": 29824178921268245}
    assert {text: python2_hash(text) for text in signed} == {text: n % (1 << 64) for text, n in signed.items()}


def test_the_order_of_a_set_of_words() -> None:
    assert list(Python2Set(WORDS)) == [
        "whose",
        "we",
        "his",
        "her",
        "whom",
        "i",
        "who",
        "it",
        "their",
        "that",
        "she",
        "they",
        "you",
        "its",
        "he",
    ]


def test_the_order_of_a_set_of_numbers() -> None:
    """8 and 16 fall into the slot of 0 and are moved on."""
    assert list(Python2Set([16, 8, 0, 3])) == [16, 8, 3, 0]
    assert list(Python2Set([9, 1, 17, 25, 33, 2])) == [33, 2, 1, 9, 17, 25]


def test_union_and_intersection() -> None:
    one, other = Python2Set(WORDS[:9]), Python2Set(WORDS[5:])
    assert list(one.union(other)) == [
        "whose",
        "we",
        "his",
        "her",
        "their",
        "i",
        "who",
        "it",
        "whom",
        "that",
        "she",
        "they",
        "you",
        "its",
        "he",
    ]
    assert list(one.intersection(other)) == ["his", "it", "her", "he"]


@FIXED
@given(st.lists(st.text(max_size=4)), st.lists(st.text(max_size=4)))
def test_they_are_sets(one: list[str], other: list[str]) -> None:
    a, b = Python2Set(one), Python2Set(other)
    assert sorted(a) == sorted(set(one))
    assert len(a) == len(set(one))
    assert set(a.union(b)) == set(one) | set(other)
    assert set(a.intersection(b)) == set(one) & set(other)
    assert all(word in a for word in one)
    assert all((word in a) == (word in one) for word in other)


def test_sorting_is_stable_only_for_few_values() -> None:
    assert numpy_argsort([1, 0] * 8) == [*range(1, 16, 2), *range(0, 16, 2)]
    assert numpy_argsort([0] * 17) != list(range(17))


def test_the_order_of_the_labels_of_a_published_file() -> None:
    """The diagonal of config 2 of the original program, and the order in which its score file has the labels."""
    labels = [*WORDS, "OTHER", "NONE"]
    diagonal = {"OTHER": 40, "his": 5, "NONE": 3, "that": 3, "they": 3, "i": 3, "we": 2, "her": 2, "who": 1, "she": 1}
    order = numpy_argsort([diagonal.get(label, 0) for label in labels])[::-1]
    shown = ["OTHER", "his", "NONE", "that", "they", "i", "we", "her", "who", "she", "their", "its", "he", "it", "you"]
    assert [labels[k] for k in order][:15] == shown


@FIXED
@given(st.lists(st.integers(0, 6), max_size=120))
def test_it_sorts(values: list[int]) -> None:
    order = numpy_argsort(values)
    assert sorted(order) == list(range(len(values)))
    assert [values[k] for k in order] == sorted(values)


# The original program's APT: what it takes for a translation, what for equal, and how its rescue really works.

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
    assert find_occurrences([split("a  It b")], PLAIN) == [Occurrence(0, 2, "it")]


def test_a_word_with_two_pronouns_counts_twice() -> None:
    assert find_occurrences([["it-they", "x"]], PLAIN) == []
    divided = replace(PLAIN, source_separator="-")
    assert find_occurrences([["it-they", "x"]], divided) == [Occurrence(0, 0, "it"), Occurrence(0, 0, "they")]


def test_pronouns_by_their_position() -> None:
    placed = replace(PLAIN, positions=((1, 0), (0, 1)))
    assert find_occurrences([["a", "B"], ["IT"]], placed) == [Occurrence(1, 0, "it"), Occurrence(0, 1, "b")]


def test_one_word_in_common_among_aligned_words_is_enough() -> None:
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


def test_unaligned_words_stay_so_without_a_search_of_neighbors() -> None:
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


def test_the_matrix_counts_once_by_default() -> None:
    links = (((0, 0), (0, 1)), ((0, 0),))
    once = run("it", "il elle", "ce", links, LISTED).confusion
    assert sum(map(sum, once.counts)) == 1
    every = run("it", "il elle", "ce", links, replace(LISTED, count_multiword=True)).confusion
    assert [row[2] for row in every.counts] == [1, 1, 0, 0, 0, 0, 0]


def test_unused_cases_are_not_in_the_matrix() -> None:
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


# The original program's files: the layout is computed by hand here, and compared byte by byte where they are real.

CONFUSION = Confusion(("il", "elle", "ce", "NONE"), ((3, 1, 0, 2), (0, 5, 1, 0), (1, 0, 0, 0), (0, 0, 0, 1)))


def test_a_matrix_that_is_not_too_long() -> None:
    text = str(ScoreFile(0.65, (1, 3, 4), (1.0, 0.25, 0.0), (9, 3, 2), CONFUSION, longest=4))
    assert text == (
        "Score: 0.6500\nCases: 1,3,4\nWeights: 1.0,0.25,0.0\nFindings per case: 9,3,2\nTotal findings: 14\n"
        "\telle\til\tNONE\tce\t-sum-\n"
        "elle\t5\t0\t0\t1\t6\n"
        "il\t1\t3\t2\t0\t6\n"
        "NONE\t0\t0\t1\t0\t1\n"
        "ce\t0\t1\t0\t0\t1\n"
        "-sum-\t6\t4\t3\t1\t14\n"
    )


def test_what_is_too_long_is_summed_up() -> None:
    lines = str(ScoreFile(0.65, (1,), (1.0,), (9,), CONFUSION, longest=2, unaligned=7)).splitlines()
    assert lines[3:6] == ["Findings per case: 9", "Not source: 7", "Total findings: 9"]
    assert lines[6:] == [
        "\telle\til\t...\t-sum-",
        "elle\t5\t0\t1\t6",
        "il\t1\t3\t2\t6",
        "...\t0\t1\t1\t2",
        "-sum-\t6\t4\t4\t14",
    ]


def test_numbers_are_written_as_python_2_did() -> None:
    weights = (1.0, 0.0, 1 / 3, 0.1 + 0.2, 1e-05, 0.5)
    line = str(ScoreFile(None, (1,), weights, (0,), Confusion((), ()), longest=3)).splitlines()
    assert line[0] == "Score: nan"
    assert line[2] == "Weights: 1.0,0.0,0.333333333333,0.3,1e-05,0.5"


def test_details() -> None:
    triples = [
        Triple(0, Side((7,), ("su",)), Side((3, 4), ("its", "OTHER")), Side(), 4),
        Triple(12, Side((0,), ("él",)), Side(), Side((2,), ("he",)), 5),
    ]
    assert detail_file(triples) == (
        "SENT.\tPOS. SOURCE\tSOURCE\tPOS. REF.\tREF.\tPOS. TARGET\tTARGET\tCASE\n"
        "0\t7\tsu\t3 4\tits OTHER\t-\t-\t4\n"
        "12\t0\tél\t-\t-\t2\the\t5\n"
    )
