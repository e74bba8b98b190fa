"""A Result is what everything downstream reads: its JSON is the contract, its settings are checked when made."""

from __future__ import annotations

import json
from typing import Any

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.evaluation.result import Figure, Result, Settings

RESULT = Result(
    suite="made-up",
    sha256="ab" * 32,
    languages="en-de",
    system="scores:x",
    figure=Figure(4, 3, (0.3, 0.95)),
    ties=1,
    breakdowns={"pronoun": {"er": Figure(4, 3, (0.3, 0.95))}},
    settings=Settings(),
    version="1.2.3",
)


def test_a_figure_is_so_many_of_so_many() -> None:
    assert Figure(4, 3, (0.3, 0.95)).accuracy == 0.75
    assert Figure(0, 0, (0.0, 1.0)).accuracy is None
    assert Figure(4, 3, (0.3, 0.95)).to_dict() == {
        "total": 4,
        "correct": 3,
        "accuracy": 0.75,
        "interval": [0.3, 0.95],
    }


def test_the_json_has_what_the_contract_promises() -> None:
    document = json.loads(json.dumps(RESULT.to_dict(), allow_nan=False))
    promised = {"suite", "total", "correct", "accuracy", "interval", "ties", "breakdowns", "signature"}
    assert promised <= set(document)
    assert (document["suite"], document["total"], document["correct"], document["ties"]) == ("made-up", 4, 3, 1)
    assert document["accuracy"] == 0.75
    assert document["interval"] == [0.3, 0.95]
    assert document["breakdowns"] == {
        "pronoun": {"er": {"total": 4, "correct": 3, "accuracy": 0.75, "interval": [0.3, 0.95]}}
    }
    assert document["signature"] == RESULT.signature
    assert document["long_signature"] == RESULT.long_signature
    assert document["blocks"] is None


def test_shares_of_choices_are_not_called_accuracy() -> None:
    """Where there is no right answer, nothing is correct."""
    result = Result(
        suite="priors",
        sha256="ab" * 32,
        languages="en-de",
        system="scores:x",
        figure=Figure(0, 0, (0.0, 1.0)),
        ties=0,
        breakdowns={},
        settings=Settings(),
        version="1.2.3",
        blocks=Figure(2, 1, (0.1, 0.9)),
        priors={"prior/role": {"subject": Figure(8, 6, (0.4, 0.9))}},
    )
    document = result.to_dict()
    assert document["priors"] == {
        "prior/role": {"subject": {"total": 8, "count": 6, "share": 0.75, "interval": [0.4, 0.9]}}
    }
    assert document["accuracy"] is None
    assert document["blocks"] == {"total": 2, "correct": 1, "accuracy": 0.5, "interval": [0.1, 0.9]}


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"normalize": "tokens"}, "unknown normalize 'tokens'. Known: sum, mean"),
        ({"interval": "wald"}, "unknown interval 'wald'. Known: wilson, bootstrap"),
        ({"confidence": 95}, "confidence is a number between 0 and 1"),
        ({"confidence": 0.0}, "confidence is a number between 0 and 1"),
        ({"samples": 0}, "samples a number from 1"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings: dict[str, Any], problem: str) -> None:
    """A figure must not say it was made in a way that does not exist."""
    with pytest.raises(AnaphoraError, match=problem):
        Settings(**settings)
