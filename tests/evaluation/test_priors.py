"""Templates without a right answer: what a system chooses when nothing tells, as in ContraCAT's Tables 10–12."""

from __future__ import annotations

import pytest

from anaphora.evaluation.priors import Priors
from anaphora.stats.intervals import wilson

ROLE = {"template": "prior/role", "choices": ["subject", "object", "neither"]}
VERB = {"template": "prior/verb", "choices": ["masculine", "feminine", "neuter"]}


def shares(priors: Priors, template: str) -> dict[str, tuple[int, int]]:
    """The count and total of each choice."""
    return {choice: (figure.correct, figure.total) for choice, figure in priors.figures(0.95)[template].items()}


def test_role_is_subject_object_or_neither() -> None:
    """Table 10, whose shares need not add up to 100 %: the rest is neither."""
    priors = Priors()
    for chosen in [1, 1, 1, 0, 2]:
        priors.add(ROLE, chosen)
    priors.add({**ROLE, "choices": ["neither", "object", "subject"]}, 2)  # what a candidate means is the item's own
    assert shares(priors, "prior/role") == {"object": (3, 6), "subject": (2, 6), "neither": (1, 6)}


def test_verb_is_one_of_three_genders() -> None:
    """Table 12."""
    priors = Priors()
    for chosen in [2, 2, 2, 0]:
        priors.add(VERB, chosen)
    assert shares(priors, "prior/verb") == {"neuter": (3, 4), "masculine": (1, 4)}


# a masculine and a feminine noun, in both orders: candidates are er, sie, es
ONE_ORDER = {"template": "prior/position", "pair": "dog cat", "choices": ["first", "second", "neither"]}
OTHER_ORDER = {"template": "prior/position", "pair": "dog cat", "choices": ["second", "first", "neither"]}


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        (0, 1, "first"),  # er for "the dog and the cat", sie for "the cat and the dog"
        (1, 0, "second"),
        (0, 0, "same antecedent"),  # er in both orders: the dog, wherever it stands
        (1, 1, "same antecedent"),
        (2, 2, "neither"),
        (0, 2, "neither"),
        (2, 1, "neither"),
        (None, 0, "tie"),
        (2, None, "tie"),
    ],
)
def test_position_is_counted_over_both_orders(one: int | None, other: int | None, together: str) -> None:
    """Table 11: two items, one count; it does not matter which of them comes first."""
    for items in ([(ONE_ORDER, one), (OTHER_ORDER, other)], [(OTHER_ORDER, other), (ONE_ORDER, one)]):
        priors = Priors()
        for tags, chosen in items:
            priors.add(tags, chosen)
        assert shares(priors, "prior/position") == {together: (1, 1)}


def test_pairs_need_not_stand_side_by_side_and_half_a_pair_is_not_counted() -> None:
    priors = Priors()
    priors.add(ONE_ORDER, 0)
    priors.add({**ONE_ORDER, "pair": "horse cow"}, 0)
    priors.add({**ONE_ORDER, "pair": "goat sheep"}, 0)
    priors.add({**OTHER_ORDER, "pair": "horse cow"}, 0)
    priors.add(OTHER_ORDER, 1)
    assert shares(priors, "prior/position") == {"same antecedent": (1, 2), "first": (1, 2)}
    assert priors.unpaired() == {"prior/position": 1}


def test_the_same_pair_again_is_a_new_pair() -> None:
    priors = Priors()
    for tags, chosen in [(ONE_ORDER, 0), (OTHER_ORDER, 1), (ONE_ORDER, 1), (OTHER_ORDER, 0)]:
        priors.add(tags, chosen)
    assert shares(priors, "prior/position") == {"first": (1, 2), "second": (1, 2)}


def test_a_tie_is_a_choice_of_its_own() -> None:
    priors = Priors()
    priors.add(VERB, None)
    priors.add(VERB, 1)
    priors.add(VERB, None)
    assert shares(priors, "prior/verb") == {"tie": (2, 3), "feminine": (1, 3)}


def test_templates_are_kept_apart_and_sorted_with_the_most_frequent_choice_first() -> None:
    priors = Priors()
    priors.add(VERB, 1)
    priors.add(ROLE, 2)
    priors.add(ROLE, 0)
    priors.add(ROLE, 0)
    found = priors.figures(0.9)
    assert {template: list(choices) for template, choices in found.items()} == {
        "prior/role": ["subject", "neither"],
        "prior/verb": ["feminine"],
    }
    assert found["prior/role"]["subject"].interval == wilson(2, 3, 0.9)


def test_without_tags_candidates_are_counted_by_their_number() -> None:
    priors = Priors()
    priors.add({}, 1)
    priors.add({}, 0)
    priors.add({}, 1)
    assert shares(priors, "all") == {"candidate 2": (2, 3), "candidate 1": (1, 3)}
