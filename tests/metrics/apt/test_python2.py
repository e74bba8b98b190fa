"""Orders of Python 2.7 and of NumPy of its time; what is expected here was printed by Python 2.7.18 itself."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.metrics.apt.python2 import Python2Set, numpy_argsort, python2_hash

FIXED = settings(derandomize=True, deadline=None)
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
    assert list(one.without("they")) == [word for word in one if word != "they"]


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
