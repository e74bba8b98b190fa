"""Any tag can be a breakdown, as one writes it after --by; what cannot be one is said in a way that helps."""

from __future__ import annotations

from typing import Any

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.evaluation.breakdown import Breakdown, check_known, joint, keyed, named, order, parse, repeated


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("distance", [("distance", None)]),
        ("distance>3", [("distance", 3)]),
        (" distance > 3 ", [("distance", 3)]),
        ("location×reference_pronoun", [("location", None), ("reference_pronoun", None)]),
        ("location*reference_pronoun", [("location", None), ("reference_pronoun", None)]),
        ("distance>3 × pronoun pair", [("distance", 3), ("pronoun pair", None)]),
        ("a*b×c>10", [("a", None), ("b", None), ("c", 10)]),
    ],
)
def test_a_breakdown_is_a_tag_a_limit_and_crosses(written: str, parts: list[tuple[str, int | None]]) -> None:
    assert parse(written) == Breakdown(tuple(parts))


@pytest.mark.parametrize("written", ["", " ", "×", "a×", "*b", "a**b", "a>", "a>x", ">3", "a>3>4", "a>-1"])
def test_what_is_no_breakdown_is_said_with_an_example(written: str) -> None:
    with pytest.raises(AnaphoraError, match=r"not a breakdown: .*tag>3 to merge") as error:
        parse(written)
    assert repr(written) in str(error.value)


def test_the_name_leaves_limits_out_and_the_spec_keeps_them() -> None:
    breakdown = parse("distance>3*reference_pronoun")
    assert breakdown.name == "distance×reference_pronoun"
    assert breakdown.spec == "distance>3×reference_pronoun"
    assert parse(breakdown.spec) == breakdown


def test_breakdowns_that_would_share_a_name_keep_their_limits() -> None:
    """Asked for both, the whole distances must not be lost behind the merged ones."""
    assert list(named(["distance", "distance>3", "location"])) == ["distance", "distance>3", "location"]
    assert list(named(["distance>3", "location"])) == ["distance", "location"]
    assert list(named(["a*b", "a×b", "c", "c"])) == ["a×b", "c"]


@pytest.mark.parametrize(
    ("written", "tags", "group"),
    [
        ("distance>3", {"distance": 3}, "3"),
        ("distance>3", {"distance": 4}, ">3"),
        ("distance>3", {"distance": 3.5}, ">3"),
        ("distance>3", {"distance": 0}, "0"),
        ("distance", {"distance": 17}, "17"),
        ("distance>3", {"distance": "unknown"}, "unknown"),  # a word is not larger than a number
        ("distance>0", {"distance": True}, "yes"),  # and neither is yes
        ("attacked", {"attacked": False}, "no"),
        ("distance>3×location", {"distance": 9, "location": "external"}, ">3×external"),
        ("distance>3×location", {"distance": 9}, None),
        ("location", {"location": None}, None),
        ("location", {}, None),
        ("location", {"location": ""}, ""),
    ],
)
def test_an_example_falls_in_the_group_of_its_values(written: str, tags: dict[str, Any], group: str | None) -> None:
    breakdown = parse(written)
    assert breakdown.group(keyed(breakdown, tags)) == group


def test_groups_come_in_the_order_people_read() -> None:
    """Numbers by value, what is merged behind them, then words; crosses part by part."""
    groups = ["er", ">3", "10", "2", "0", "sie", "-1", "0.5", ">10", "3"]
    assert sorted(groups, key=order) == ["-1", "0", "0.5", "2", "3", ">3", "10", ">10", "er", "sie"]
    crossed = ["10×er", "2×sie", ">3×er", "2×er", "no×1", "0×es"]
    assert sorted(crossed, key=order) == ["0×es", "2×er", "2×sie", ">3×er", "10×er", "no×1"]


def test_words_that_python_takes_for_numbers_are_words() -> None:
    """Not a number compares with nothing: the bread called nan would leave the groups in any order."""
    groups = ["nan", "2", "apple", "infinity", "1", "zebra"]
    assert sorted(groups, key=order) == ["1", "2", "apple", "infinity", "nan", "zebra"]


@pytest.mark.parametrize("value", [["er", "sie"], [], {"start": 1}])
def test_a_tag_with_several_values_cannot_be_a_breakdown(value: Any) -> None:
    with pytest.raises(AnaphoraError, match="the tag 'spans' has several values"):
        keyed(parse("location×spans"), {"location": "external", "spans": value})


def test_a_tag_that_no_example_has_is_a_mistake_in_writing() -> None:
    known = {"distance", "location", "reference_pronoun"}
    check_known([parse("distance>3×location")], known)
    with pytest.raises(AnaphoraError) as error:
        check_known([parse("location×referencepronoun")], known)
    assert str(error.value) == (
        "no example has the tag 'referencepronoun' (did you mean reference_pronoun?). "
        "Tags of this suite: distance, location, reference_pronoun"
    )
    with pytest.raises(AnaphoraError, match="Tags of this suite: none"):
        check_known([parse("anything")], set())


def test_the_joint_breakdown_has_every_tag_once() -> None:
    breakdowns = [parse("distance>3"), parse("location×distance"), parse("pronoun>2")]
    assert joint(breakdowns).parts == (("distance", None), ("location", None), ("pronoun", None))
    assert joint([]).parts == ()


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([("er", "it:er"), ("sie", "it:sie")], {"b": "a"}),
        ([("er", "it:er"), ("sie", "it:er")], {}),  # coarser
        ([("er", "it:er"), ("er", "they:er")], {}),  # finer
        ([("er", "x"), (None, None)], {"b": "a"}),  # neither has a value for the second
        ([("er", "x"), ("sie", None)], {}),  # an item that is shown in one of them only
        ([("er", None), ("sie", None)], {}),  # nothing is in it, and so nothing twice
    ],
)
def test_a_breakdown_repeats_another_with_the_same_groups(
    groups: list[tuple[str | None, str | None]], expected: dict[str, str]
) -> None:
    assert repeated(["a", "b"], groups) == expected
