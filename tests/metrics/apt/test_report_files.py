"""Beside a result: a row per pronoun, and score files of the original program's layout."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.metrics.apt.report_files import write_details, write_score_files
from anaphora.metrics.apt.result import DETAILS, AptResult, make_result
from anaphora.metrics.apt.task import Confusion, Outcome, Side, Triple, Weighting
from anaphora.stats.intervals import Resampling

TRIPLES = [
    Triple(3, Side((1,), ("it",)), Side((0,), ("il",)), Side(), 4),
    Triple(3, Side((2,), ("it",)), Side(), Side(), 6),
]


@pytest.fixture
def result() -> AptResult:
    outcome = Outcome("a", TRIPLES, ["it", "it"], Confusion(("il", "NONE"), ((0, 1), (0, 1))), 5)
    return make_result(
        [outcome],
        languages="en-fr",
        variant="paper",
        weighting=Weighting(discarded=(6,)),
        sampling=Resampling(samples=100),
        signature="apt",
    )


def test_details(result: AptResult, tmp_path: Path) -> None:
    path = tmp_path / "details.tsv.gz"
    write_details(result, path)
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert lines[0].split("\t") == list(DETAILS)
    assert lines[1].split("\t") == ["a", "3", "1", "it", "0", "il", "aligned", "", "", "", "4"]
    assert lines[2].split("\t") == ["a", "3", "2", "it", "", "", "", "", "", "", "6"]


def test_score_files_have_the_cases_that_count(result: AptResult, tmp_path: Path) -> None:
    write_score_files(result, [tmp_path / "a.score"], longest=9)
    lines = (tmp_path / "a.score").read_text(encoding="utf-8").splitlines()
    assert lines[:6] == [
        "Score: 0.0000",
        "Cases: 1,2,3,4,5",
        "Weights: 1.0,0.5,0.0,0.0,0.0",
        "Findings per case: 0,0,0,1,0",
        "Not source: 5",
        "Total findings: 1",
    ]
    with pytest.raises(AnaphoraError, match=r"one score file .* is needed for each translation: 1 translations, but 2"):
        write_score_files(result, [tmp_path / "a", tmp_path / "b"], longest=9)
