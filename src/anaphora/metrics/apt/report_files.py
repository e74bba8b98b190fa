"""Files beside a result of APT: one row per pronoun, and score files in the original program's layout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anaphora.core.cells import tsv_line
from anaphora.core.errors import AnaphoraError
from anaphora.core.files import atomic_writer
from anaphora.metrics.apt.idiap import ScoreFile
from anaphora.metrics.apt.result import DETAILS, AptResult, SystemResult
from anaphora.metrics.apt.task import CASES


def write_details(result: AptResult, path: Path) -> None:
    """Tab-separated, with a header; an empty cell is what was not found."""
    with atomic_writer(path) as out:
        for row in (DETAILS, *result.details()):
            out.write((tsv_line(row) + "\n").encode())


def write_score_files(result: AptResult, paths: Sequence[Path], longest: int) -> None:
    """A score file for each system."""
    if len(paths) != len(result.systems):
        counts = f"{len(result.systems)} translations, but {len(paths)}"
        raise AnaphoraError(f"one score file (--score-file) is needed for each translation: {counts} given")
    for system, path in zip(result.systems, paths, strict=True):
        with atomic_writer(path) as out:
            out.write(str(score_file(result, system, longest)).encode())


def score_file(result: AptResult, system: SystemResult, longest: int) -> ScoreFile:
    """What the original program would write of a system."""
    cases = [case for case in CASES if case not in result.weighting.discarded]
    return ScoreFile(
        score=system.score.apt,
        cases=cases,
        weights=[result.weighting.weights[case - 1] for case in cases],
        counts=[system.score.cases[case - 1] for case in cases],
        confusion=system.outcome.confusion,
        longest=longest,
        unaligned=system.outcome.unaligned,
    )
