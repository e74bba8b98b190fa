"""Both sides weigh in: the opinions on aligned phrases are pooled log-linearly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.annotate.document import Mention
from anaphora.coref import Link
from anaphora.coref.builtin import LEAST, JointLink, join, joint_weights, weighed

# with these the pool is a product, which is easy to count by hand
PRODUCT = {
    "source": 1.0,
    "target": 1.0,
    "unaligned": 0.0,
    "non-referential, source": 1.0,
    "non-referential, target": 1.0,
}


def mention(head: int) -> Mention:
    return Mention(0, head, head + 1, head)


def link(**probabilities: float) -> Link:
    """Candidates `h3=0.5`: the phrase with head 3 has probability 0.5."""
    candidates = tuple((mention(int(name[1:])), p) for name, p in probabilities.items())
    return Link(Mention(1, 0, 1, 0), None, candidates=candidates)


def aligned(**pairs: int) -> dict[tuple[int, int], list[tuple[int, int]]]:
    return {(0, int(source[1:])): [(0, target)] for source, target in pairs.items()}


def test_aligned_phrases() -> None:
    points = aligned(h1=11, h2=12)
    joint = join(link(h1=0.6, h2=0.3), link(h11=0.1, h12=0.8), lambda position: points.get(position, []), by=PRODUCT)
    # h1: 0.06, h2: 0.24, nothing: 0.1·0.1
    assert joint == JointLink(mention(2), mention(12), pytest.approx(0.24 / 0.31))


def test_the_weights_are_exponents() -> None:
    points = aligned(h1=11)
    by = {"source": 2.0, "target": 0.5, "non-referential": -1.0}
    joint = join(link(h1=0.9), link(h11=0.25), lambda position: points.get(position, []), by=by)
    assert joint.confidence == pytest.approx(0.81 * 0.5 / (0.81 * 0.5 + 2.718281828**-1))


def test_a_phrase_without_counterpart_counts_but_is_no_answer() -> None:
    joint = join(link(h1=0.9), link(h11=0.9), lambda position: [], by=PRODUCT | {"unaligned": -2.0})
    assert (joint.source, joint.target) == (None, None)
    assert joint.confidence == pytest.approx(0.01 / (0.01 + 0.9 * 2.718281828**-2))


def test_nothing_on_both_sides() -> None:
    points = aligned(h1=11)
    joint = join(link(h1=0.1), link(h11=0.1), lambda position: points.get(position, []), by=PRODUCT)
    assert joint == JointLink(None, None, pytest.approx(0.81 / 0.82))


def test_a_pronoun_that_is_often_non_referential_needs_more() -> None:
    points = aligned(h1=11)
    both = link(h1=0.7), link(h11=0.7)
    usual = join(*both, lambda position: points.get(position, []))
    clausal = join(*both, lambda position: points.get(position, []), clausal=True)
    assert usual.source == clausal.source == mention(1)
    assert clausal.confidence < usual.confidence


def test_without_any_candidates() -> None:
    assert join(link(), link(), lambda position: []) == JointLink(None, None, 1.0)


def test_of_several_aligned_words_the_likelier_phrase_counts() -> None:
    joint = join(link(h1=0.9), link(h11=0.2, h12=0.7), lambda position: [(0, 11), (0, 12), (5, 5)])
    assert joint.target == mention(12)


def test_the_features_are_those_that_have_weights() -> None:
    points = aligned(h1=11)
    choices = weighed(link(h1=0.6, h2=0.3), link(h11=0.5), lambda position: points.get(position, []), clausal=True)
    assert [(choice.source, choice.target) for choice in choices] == [
        (mention(1), mention(11)),
        (mention(2), None),
        (None, None),
    ]
    assert set().union(*(choice.features for choice in choices)) == set(joint_weights())


def test_an_impossible_phrase_does_no_harm() -> None:
    points = aligned(h1=11)
    joint = join(link(h1=1.0), link(h11=0.0), lambda position: points.get(position, []), by=PRODUCT)
    assert joint.confidence == pytest.approx(LEAST / (LEAST + LEAST))


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=5), st.lists(st.floats(0.001, 1), min_size=1, max_size=5))
def test_confidence_is_a_probability(ours: list[float], theirs: list[float]) -> None:
    def scaled(values: list[float], first: int) -> Link:
        return link(**{f"h{first + k}": value / (sum(values) + 0.1) for k, value in enumerate(values)})

    joint = join(scaled(ours, 1), scaled(theirs, 11), lambda position: [(0, position[1] + 10)])
    assert 0 < joint.confidence <= 1
    assert (joint.source is None) == (joint.target is None)
