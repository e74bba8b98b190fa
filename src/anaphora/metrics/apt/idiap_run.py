"""A config of the original APT program, run: the same two files, and a result as for every other variant."""

from __future__ import annotations

from pathlib import Path

from anaphora.core.errors import BadInput
from anaphora.core.files import atomic_writer
from anaphora.languages.pronouns import PronounLists
from anaphora.metrics.apt import idiap as apt_idiap
from anaphora.metrics.apt.cases import CASES, Weighting
from anaphora.metrics.apt.idiap import IdiapSettings
from anaphora.metrics.apt.idiap_config import IdiapConfig, read_config
from anaphora.metrics.apt.input import Files, read_task
from anaphora.metrics.apt.metric import signature_parts
from anaphora.metrics.apt.result import AptResult, SystemResult, make_result
from anaphora.metrics.apt.score_file import ScoreFile, detail_file
from anaphora.metrics.apt.task import Task
from anaphora.stats.intervals import Resampling


def run_config(path: Path, sampling: Resampling | None = None) -> tuple[AptResult, tuple[Path, Path]]:
    """Do what the original program does with a config; returns the result and the two files that were written."""
    config = read_config(path)
    sampling = sampling or Resampling(trials=10_000)
    files = Files(
        config.source, config.reference, (config.target,), config.reference_alignment, (config.target_alignment,)
    )
    task = read_task(files, apt_idiap.split, PronounLists(config.languages))
    _check_positions(config, task)
    weighting = weighting_of(config.settings)
    result = make_result(
        apt_idiap.outcomes(task, config.settings),
        languages=config.languages,
        variant="idiap",
        weighting=weighting,
        sampling=sampling,
        parts=signature_parts(task, "idiap", weighting, sampling, lists=f"config:{config.digest[:6]}"),
        texts=task.texts,
    )
    return result, write_files(config.output, result.systems[0], config.settings)


def weighting_of(settings: IdiapSettings) -> Weighting:
    """The original program has a weight for each case in use; the other cases are discarded."""
    weights = dict(zip(settings.cases, settings.weights, strict=True))
    discarded = tuple(case for case in CASES if case not in weights)
    return Weighting(tuple(weights.get(case, 0.0) for case in CASES), discarded)


def write_files(output: Path, system: SystemResult, settings: IdiapSettings) -> tuple[Path, Path]:
    """The `.score` and the `.detail` file."""
    score = ScoreFile(
        score=system.score.apt,
        cases=settings.cases,
        weights=settings.weights,
        counts=[system.score.cases[case - 1] for case in settings.cases],
        confusion=system.outcome.confusion,
        longest=settings.longest,
    )
    paths = output.with_name(f"{output.name}.score"), output.with_name(f"{output.name}.detail")
    for path, text in zip(paths, (str(score), detail_file(system.outcome.triples)), strict=True):
        with atomic_writer(path) as out:
            out.write(text.encode())
    return paths


def _check_positions(config: IdiapConfig, task: Task) -> None:
    """Places of pronouns have to be in the text."""
    for sentence, position in config.settings.positions or ():
        if sentence >= len(task.source) or position >= len(task.source[sentence]):
            problem = f"the place {sentence} {position} is outside the source"
            raise BadInput(config.pronouns, problem, remedy="Sentences and positions count from 0.")
