"""Both sides weigh in: probabilities of aligned phrases are multiplied."""

from __future__ import annotations

import pytest

from anaphora.annotate.document import Mention
from anaphora.link import Link
from anaphora.link.joint import TWICE, UNALIGNED, JointLink, join


def mention(head: int) -> Mention:
    return Mention(0, head, head + 1, head)


def link(**probabilities: float) -> Link:
    """Candidates `h3=0.5`: the phrase with head 3 has probability 0.5."""
    candidates = tuple((mention(int(name[1:])), p) for name, p in probabilities.items())
    return Link(Mention(1, 0, 1, 0), None, candidates=candidates)


def aligned(**pairs: int) -> dict[tuple[int, int], list[tuple[int, int]]]:
    return {(0, int(source[1:])): [(0, target)] for source, target in pairs.items()}


def test_aligned_phrases_multiply() -> None:
    points = aligned(h1=11, h2=12)
    joint = join(link(h1=0.6, h2=0.3), link(h11=0.1, h12=0.8), lambda place: points.get(place, []))
    # h1: 0.06, h2: 0.24, nothing: 0.1·0.1, less what both count
    assert joint.source == mention(2)
    assert joint.target == mention(12)
    assert joint.confidence == pytest.approx(0.24 / (0.3 + 0.01 / TWICE))


def test_a_phrase_without_a_partner_counts_little_and_is_no_answer() -> None:
    joint = join(link(h1=0.9), link(h11=0.9), lambda place: [])
    assert (joint.source, joint.target) == (None, None)
    assert joint == JointLink(None, None, pytest.approx(0.01 / TWICE / (0.01 / TWICE + 0.9 * UNALIGNED)))


def test_nothing_on_both_sides() -> None:
    points = aligned(h1=11)
    joint = join(link(h1=0.1), link(h11=0.1), lambda place: points.get(place, []))
    assert joint == JointLink(None, None, pytest.approx(0.81 / TWICE / (0.81 / TWICE + 0.01)))


def test_without_any_candidates() -> None:
    assert join(link(), link(), lambda place: []) == JointLink(None, None, 1.0)


def test_of_several_aligned_words_the_likelier_phrase_counts() -> None:
    joint = join(link(h1=0.9), link(h11=0.2, h12=0.7), lambda place: [(0, 11), (0, 12), (5, 5)])
    assert joint.target == mention(12)
