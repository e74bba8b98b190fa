"""The six cases and the score: by hand, by the formula of §2.4, and with what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError
from anaphora.languages.pronoun_files import pronoun_lists
from anaphora.metrics.apt.cases import Weighting, case_of, count_cases, parse_cases, parse_weights

FRENCH = pronoun_lists("en-fr")


@pytest.mark.parametrize(
    ("reference", "candidate", "case"),
    [
        ("il", "il", 1),
        ("ce", "c'", 1),
        ("cela", "ç'", 1),
        ("il", "ce", 2),
        ("c'", "il", 2),
        ("cela", "c'", 2),
        ("il", "ça", 3),  # Table 2 has ce with both, not the two with each other
        ("il", "elle", 3),
        ("il", None, 4),
        (None, "il", 5),
        (None, None, 6),
    ],
)
def test_cases(reference: str | None, candidate: str | None, case: int) -> None:
    assert case_of(reference, candidate, FRENCH) == case


def test_the_score_is_reckoned_by_hand() -> None:
    counts = (5, 2, 4, 1, 3, 1)  # 16 pronouns
    assert Weighting().score(counts) == pytest.approx((5 + 0.5 * 2) / 16)
    assert Weighting((1, 1, 0, 0, 0, 1)).score(counts) == pytest.approx((5 + 2 + 1) / 16)
    assert Weighting(discarded=(5, 6)).score(counts) == pytest.approx(6 / 12)
    assert Weighting((1, 0, 0, 0, 0, 0.5), (2, 4)).score(counts) == pytest.approx(5.5 / 13)


def test_without_pronouns_there_is_no_score() -> None:
    assert Weighting().score((0,) * 6) is None
    assert Weighting(discarded=(1, 2, 3, 4)).score((3, 1, 2, 4, 0, 0)) is None


@settings(derandomize=True, deadline=None)
@given(
    st.lists(st.integers(0, 500), min_size=6, max_size=6),
    st.lists(st.floats(0, 1), min_size=6, max_size=6),
    st.sets(st.integers(1, 6), max_size=5),
)
def test_the_formula(counts: list[int], weights: list[float], discarded: set[int]) -> None:
    weighting = Weighting(tuple(weights), tuple(discarded))
    kept = [(w, n) for case, (w, n) in enumerate(zip(weights, counts, strict=True), start=1) if case not in discarded]
    total = sum(n for _, n in kept)
    score = weighting.score(counts)
    if not total:
        assert score is None
        return
    assert score == pytest.approx(sum(w * n for w, n in kept) / total)
    assert 0 <= score <= 1
    credits = [weighting.credit(case) for case in range(1, 7)]
    assert [credit is None for credit in credits] == [case in discarded for case in range(1, 7)]
    assert score == pytest.approx(sum((credit or 0) * n for credit, n in zip(credits, counts, strict=True)) / total)


@pytest.mark.parametrize("weights", ["1,0.5,0,0,0", "1,1,1,1,1,1,1", "1,2,0,0,0,0", "-0.1,0,0,0,0,0", "nan,0,0,0,0,0"])
def test_weights_are_six_numbers_between_0_and_1(weights: str) -> None:
    with pytest.raises(AnaphoraError, match=r"six numbers from 0 to 1, one per case, such as 1,0\.5,0,0,0,0"):
        Weighting(parse_weights(weights))


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(AnaphoraError, match="not weights: '1,x,0,0,0,0'"):
        parse_weights("1,x,0,0,0,0")
    with pytest.raises(AnaphoraError, match="not cases: 'five'"):
        parse_cases("five")


def test_cases_to_discard() -> None:
    assert parse_cases("6, 5") == (6, 5)
    assert parse_cases("") == ()
    assert Weighting(discarded=(6, 5, 6)).discarded == (5, 6)
    with pytest.raises(AnaphoraError, match=r"cannot discard 0,7: no case 0\. The cases are 1 to 6"):
        Weighting(discarded=(0, 7))
    with pytest.raises(AnaphoraError, match="nothing would be left"):
        Weighting(discarded=(1, 2, 3, 4, 5, 6))


def test_cases_are_counted_from_the_first_to_the_sixth() -> None:
    assert count_cases([1, 3, 1, 6, 4, 1]) == (3, 0, 1, 1, 0, 1)
