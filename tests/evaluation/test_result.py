"""A Result is what everything downstream reads: its JSON is the contract, its settings are checked when made."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.evaluation.result import Proportion, Result, RunSignature, Settings
from anaphora.measurement import Measurement

RESULT = Result(
    suite="made-up",
    sha256="ab" * 32,
    languages="en-de",
    system="scores:x",
    figure=Proportion(4, 3, (0.3, 0.95)),
    ties=1,
    breakdowns={"pronoun": {"er": Proportion(4, 3, (0.3, 0.95))}},
    settings=Settings(),
    version="1.2.3",
)


def test_a_figure_is_k_of_n() -> None:
    assert Proportion(4, 3, (0.3, 0.95)).accuracy == 0.75
    assert Proportion(0, 0, (0.0, 1.0)).accuracy is None
    assert Proportion(4, 3, (0.3, 0.95)).to_dict() == {
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
        figure=Proportion(0, 0, (0.0, 1.0)),
        ties=0,
        breakdowns={},
        settings=Settings(),
        version="1.2.3",
        blocks=Proportion(2, 1, (0.1, 0.9)),
        priors={"prior/role": {"subject": Proportion(8, 6, (0.4, 0.9))}},
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
        ({"confidence": 95}, "confidence must be between 0 and 1"),
        ({"samples": 10**19}, "more than 10,000,000 samples or trials would not fit into memory"),
        ({"trials": 10_000_001}, "more than 10,000,000 samples or trials would not fit into memory"),
        ({"confidence": 0.0}, "confidence must be between 0 and 1"),
        ({"samples": 0}, "samples and trials at least 1"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings: dict[str, Any], problem: str) -> None:
    """A figure must not say it was made in a way that does not exist."""
    with pytest.raises(AnaphoraError, match=problem):
        Settings(**settings)


# A signature makes a figure reproducible: whatever changes the figure changes the line, and nothing else does.

RESULT_SIGNATURE = Result(
    suite="contrapro",
    sha256="1f3c9a" + "0" * 58,
    languages="en-de",
    system="hf:model",
    figure=Proportion(4, 3, (0.3, 0.95)),
    ties=0,
    breakdowns={},
    settings=Settings(),
    version="0.3.0",
    context="1+1",
)


def test_the_short_signature_is_that_of_the_design() -> None:
    assert RESULT_SIGNATURE.signature == "ctr|s:contrapro@1f3c9a|ctx:1+1|norm:sum|tie:wrong|v:0.3.0"


def test_a_context_that_is_not_known_is_left_out() -> None:
    assert replace(RESULT_SIGNATURE, context=None).signature == "ctr|s:contrapro@1f3c9a|norm:sum|tie:wrong|v:0.3.0"
    assert "|context:unknown|" in replace(RESULT_SIGNATURE, context=None).long_signature


def test_the_long_signature_spells_everything_out() -> None:
    settings = Settings(minimize=True, normalize="mean", interval="bootstrap", resample="document", seed=7)
    assert replace(RESULT_SIGNATURE, settings=settings).long_signature == (
        f"contrastive|suite:contrapro@1f3c9a{'0' * 58}|languages:en-de|context:1+1"
        '|focus:"candidate"|margins_only:false|normalise:1.0|separator:" "|truncate:false'
        "|normalization:mean|better:lower|ties:wrong|interval:bootstrap|confidence:0.95|resampled:document|samples:10000|seed:7|version:0.3.0"
    )
    assert "|samples:none|seed:none|" in RESULT_SIGNATURE.long_signature


CHANGES: list[dict[str, Any]] = [
    {"minimize": True},
    {"normalize": "mean"},
    {"confidence": 0.9},
    {"interval": "bootstrap"},
    {"interval": "bootstrap", "resample": "document"},
    {"interval": "bootstrap", "samples": 500},
    {"interval": "bootstrap", "seed": 1},
]


def test_every_setting_that_changes_a_figure_changes_both_signatures() -> None:
    results = [RESULT_SIGNATURE, *(replace(RESULT_SIGNATURE, settings=Settings(**change)) for change in CHANGES)]
    assert len({result.signature for result in results}) == len(results)
    assert len({result.long_signature for result in results}) == len(results)


@pytest.mark.parametrize("change", [{"seed": 1}, {"samples": 500}])
def test_what_only_resampling_depends_on_is_not_named_without_it(change: dict[str, Any]) -> None:
    other = replace(RESULT_SIGNATURE, settings=Settings(**change))
    assert (other.signature, other.long_signature) == (RESULT_SIGNATURE.signature, RESULT_SIGNATURE.long_signature)


@pytest.mark.parametrize("change", [{"sha256": "ff" * 32}, {"suite": "other"}, {"version": "9"}, {"context": "3+3"}])
def test_another_suite_context_or_version_is_another_signature(change: dict[str, str]) -> None:
    other = replace(RESULT_SIGNATURE, **change)
    assert other.signature != RESULT_SIGNATURE.signature
    assert other.long_signature != RESULT_SIGNATURE.long_signature


PROTOCOLS: list[dict[str, Any]] = [
    {},
    {"mode": "score", "prompt": "{source}", "chat": False},
    {"mode": "choose", "prompt": "{source}", "chat": True},
    {"mode": "generate", "prompt": "{source}", "chat": True},
    {"mode": "score", "prompt": "{source}\n", "chat": False},
    {"margins_only": True},
    {"separator": " | "},
    {"truncate": True},
]


def test_modes_prompts_and_options_of_scoring_are_distinguished() -> None:
    results = [replace(RESULT_SIGNATURE, protocol=protocol) for protocol in PROTOCOLS]
    assert len({result.signature for result in results}) == len(PROTOCOLS)
    assert len({result.long_signature for result in results}) == len(PROTOCOLS)


def test_settings_are_a_short_hash_in_the_short_signature() -> None:
    result = replace(RESULT_SIGNATURE, protocol={"mode": "choose", "chat": True})
    code = Measurement("1+1", result.protocol).code
    assert result.signature == f"ctr|s:contrapro@1f3c9a|ctx:1+1|set:{code}|norm:sum|tie:wrong|v:0.3.0"
    assert '|mode:"choose"|' in result.long_signature
    assert replace(RESULT_SIGNATURE, protocol={"chat": True, "mode": "choose"}).signature == result.signature


def test_a_prompt_cannot_break_a_signature() -> None:
    result = replace(RESULT_SIGNATURE, protocol={"prompt": "a|norm:mean\n{source}"})
    assert result.long_signature.count("|") == RESULT_SIGNATURE.long_signature.count("|") + 1
    assert "\n" not in result.long_signature


def test_runs_that_were_measured_alike_are_reported_once() -> None:
    one, other = Measurement("1+1"), Measurement("0+0", {"mode": "choose"})
    assert str(RunSignature("x").measured(one, one)) == "x|ctx:1+1"
    assert str(RunSignature("x").measured(one, other)) == f"x|ctx:1+1,0+0|set:plain,{other.code}"
    assert str(RunSignature("x").measured(Measurement(), one)) == "x|ctx:?,1+1"
    assert str(RunSignature("x").measured(Measurement(), Measurement())) == "x"


def test_many_suites_are_a_number_and_a_hash() -> None:
    names = [f"a{n}@ababab" for n in range(5)]
    line = str(RunSignature("x").others(names))
    assert line.startswith("x|vs:5@")
    assert line == str(RunSignature("x").others(names[::-1]))
    assert line != str(RunSignature("x").others([*names[:4], "b@ababab"]))
    assert str(RunSignature("x").others(names[:2])) == "x|vs:a0@ababab|vs:a1@ababab"
