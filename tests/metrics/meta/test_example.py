"""The example files: every command of meta-evaluation takes them, and they say the same in all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.metrics.meta.evaluation import outliers, read_human, read_scores
from anaphora.metrics.meta.example import JUDGED, PRONOUNS, SYSTEMS, write_example
from anaphora.metrics.meta.judgements import judge_cases
from anaphora.metrics.meta.sweep import read_cases, sweep
from anaphora.stats.correlation import Settings


def test_the_files_fit_together(tmp_path: Path) -> None:
    files = write_example(tmp_path)
    scores_file, basic, rescued, details, judgements = files
    scores = read_scores(scores_file)
    assert scores.systems == tuple(SYSTEMS)
    assert outliers(scores) == ("broken",)
    cases = read_cases([("basic", basic), ("rescued", rescued)])
    found = sweep(read_human(scores_file), cases, weights=[(0.5, 0)], settings=Settings(samples=100))
    assert all(sum(counts) == PRONOUNS for systems in cases.values() for counts in systems.values())
    assert list(found.settings[1].scores.values()) == pytest.approx(scores.metrics["apt"].tolist(), abs=5e-5)
    table = judge_cases(details, judgements)
    assert [case.total for case in table.cases] == list(found.totals()["rescued"])
    assert table.total.correct / PRONOUNS == pytest.approx(scores.human_scores.sum(), abs=1e-3)


def test_the_shares_of_judgements_are_those_of_the_paper() -> None:
    assert all(sum(shares) == 100 for shares in JUDGED)


def test_the_same_seed_writes_the_same_files(tmp_path: Path) -> None:
    one, other = write_example(tmp_path / "a"), write_example(tmp_path / "b")
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in other]
    assert write_example(tmp_path / "c", seed=1)[0].read_bytes() != one[0].read_bytes()
