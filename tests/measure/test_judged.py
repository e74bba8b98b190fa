"""Any judge on pairs: breakdowns that the pairs have, and people from a list."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from anaphora import api
from anaphora.core.errors import BadInput
from anaphora.measure.judged import judge_run, with_people
from anaphora.suites.example import Example

Write = Callable[[list[Example], Path], Path]


def test_a_run_of_any_judge(toy: list[Example], write_suite: Write, tmp_path: Path) -> None:
    suite = api.load_suite(write_suite(toy, tmp_path / "toy.jsonl"))
    (tmp_path / "scores").write_text(
        "".join("2\n1\n" if e.tags["reference_pronoun"] != "it" else "1\n2\n" for e in toy)
    )
    run = api.score(suite, f"scores:{tmp_path / 'scores'}", tmp_path / "run")
    result, human = judge_run(run, suite)
    assert human is None
    assert (result.figure.total, result.figure.correct) == (72, 48)
    assert result.breakdowns["pronoun_pair"]["it:he"].correct == 0
    assert result.breakdowns["pronoun_pair"]["he:it"].accuracy == 1
    assert set(result.breakdowns) == {"pronoun_pair", "kind"}
    (tmp_path / "list.json").write_text('{"he_it": [[1, {"REF": 5}]], "it_he": [[1, {"SYS": 3}]]}')
    _, human = judge_run(run, with_people(suite, tmp_path / "list.json"))
    assert human is not None
    assert (human.pairs, human.accuracy, human.ac1) == (24, 1.0, 1.0)


def test_a_run_on_other_pairs_is_refused(toy: list[Example], write_suite: Write, tmp_path: Path) -> None:
    suite = api.load_suite(write_suite(toy[:2], tmp_path / "toy.jsonl"))
    (tmp_path / "scores").write_text("1\n2\n1\n2\n")
    run = api.score(suite, f"scores:{tmp_path / 'scores'}", tmp_path / "run")
    with pytest.raises(BadInput, match="which is not in toy"):
        judge_run(run, api.load_suite(write_suite(toy[1:3], tmp_path / "other.jsonl")))
