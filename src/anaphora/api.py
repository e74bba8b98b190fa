"""The Python interface: as short as the command line. Library code never prints and never exits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.errors import AnaphoraError, BadInput
from anaphora.evaluation.compare import Comparison, compare_runs
from anaphora.evaluation.contrastive import evaluate_run, evaluate_scores
from anaphora.evaluation.result import Result, Settings
from anaphora.files import atomic_writer
from anaphora.suites.catalogue import catalogue
from anaphora.suites.formats import read_suite
from anaphora.suites.get import resolve
from anaphora.suites.rows import suite_of_rows
from anaphora.suites.selection import SEED
from anaphora.suites.suite import Suite
from anaphora.systems.context import Context
from anaphora.systems.options import Options, split_spec
from anaphora.systems.run import Run, describe, open_run, write_run
from anaphora.systems.scores import ScoreFile
from anaphora.systems.scoring import Progress, StartScorer, score_suite


def load_suite(what: str | Path | Iterable[Mapping[str, Any]], format: str = "native", **options: Any) -> Suite:
    """A suite by its file, by its name in the catalogue, from any published format, or from rows.

    Rows are dicts, or a Hugging Face dataset as it is; options for them: name, languages, breakdowns.
    """
    if not isinstance(what, str | Path):
        return suite_of_rows(what, **options)
    path = resolve(str(what)) if format == "native" else Path(what)
    return read_suite(path, format, **options)


def score(
    suite: Suite | str | Path,
    system: str,
    output: str | Path,
    *,
    context: int | None = None,
    separator: str = " ",
    target_context: str = "gold",
    limit: int | None = None,
    sample: int | None = None,
    seed: int = SEED,
    resume: bool = False,
    overwrite: bool = False,
    workers: int | None = None,
    cluster: str | None = None,
    gpus: float = 0,
    progress: Progress | None = None,
    **options: Any,
) -> Run:
    """Let a system score a suite; the run is written to the output as it goes. Other options are those of `Options`.

    context: previous sentences to give; unless told, what a model of `anaphora train` was trained with, else none
    limit, sample, seed: score the first N examples, or a random sample of N
    workers: processes that score side by side; one unless told otherwise, and on a cluster as many as it has room for
        (a script that starts them has its own work under `if __name__ == "__main__":`, as multiprocessing demands)
    cluster: the address of a Ray cluster, or "" for the one that is found or started here
    gpus: of each worker on a cluster; its processors are `threads`, or one
    """
    suite = suite if isinstance(suite, Suite) else load_suite(suite)
    kind, what = split_spec(system)
    if kind == "scores":
        if limit is not None or sample is not None:
            raise AnaphoraError(
                "a score file is imported whole, without a limit or a sample. Cut the suite: suites convert --limit"
            )
        return import_scores(suite, Path(what), Path(output))
    if kind == "openai" and (cluster is not None or (workers or 1) > 1):
        raise AnaphoraError(
            "an openai: server is asked many things at once by one process: set concurrency=N in the spec, "
            "and leave --workers and --cluster out"
        )
    scorer = _scorer(workers, cluster, options.get("threads"), gpus)
    chosen = Options(context=Context(context or 0, separator, target_context), own_context=context is None, **options)
    return score_suite(
        suite,
        system,
        Path(output),
        options=chosen,
        limit=limit,
        sample=sample,
        seed=seed,
        resume=resume,
        overwrite=overwrite,
        progress=progress,
        scorer=scorer,
    )


def _scorer(workers: int | None, cluster: str | None, threads: int | None, gpus: float) -> StartScorer | None:
    """Who scores; None is this process."""
    if cluster is not None:
        from anaphora.systems.distributed.cluster import ray_cluster

        return ray_cluster(cluster, workers=workers, cpus_per_worker=threads or 1, gpus_per_worker=gpus)
    if workers is not None and workers > 1:
        from anaphora.systems.distributed.workers import local_workers

        return local_workers(workers, threads)
    return None


def import_scores(suite: Suite, scores: Path, output: Path) -> Run:
    """A run from scores that another toolkit wrote."""
    digest = hashlib.sha256()
    examples = sum(1 for _ in suite.examples(digest))
    header = describe(suite, sha256=digest.hexdigest(), system=f"scores:{scores}", examples=examples)
    return open_run(write_run(output, header, ScoreFile(scores).score(suite)))


def evaluate(
    what: Suite | Run | str | Path,
    *,
    scores: str | Path | None = None,
    by: str | Sequence[str] = (),
    **settings: Any,
) -> Result:
    """The Result of a run, or of a suite with a score file. Settings are those of `Settings`.

    With `resample` intervals are bootstrapped: Wilson's takes examples to be independent.
    """
    if settings.get("resample") is not None:
        settings.setdefault("interval", "bootstrap")
    chosen = Settings(**settings)
    by = [by] if isinstance(by, str) else by
    if scores is not None:
        if isinstance(what, Run):
            raise AnaphoraError("a run has its scores already; name a suite to evaluate a score file")
        suite = what if isinstance(what, Suite) else load_suite(what)
        return evaluate_scores(suite, Path(scores), breakdowns=by, settings=chosen)
    if isinstance(what, Suite):
        raise AnaphoraError("a suite is evaluated with scores: pass a score file, or a run")
    run = what if isinstance(what, Run) else _run_or_advice(what)
    return evaluate_run(run, breakdowns=by, settings=chosen)


def _run_or_advice(name: str | Path) -> Run:
    """A run by its path; if a suite was named instead, what to do with it."""
    advice = f"{name} is a suite. Evaluate a system's scores on it: anaphora evaluate {name} --scores FILE"
    if not Path(name).exists() and str(name) in catalogue():
        raise AnaphoraError(advice)
    try:
        return open_run(Path(name))
    except BadInput:
        try:
            read_suite(Path(name))
        except AnaphoraError:
            is_suite = False
        else:
            is_suite = True
        if is_suite:
            raise AnaphoraError(advice) from None
        raise


def compare(
    *runs: Run | str | Path, by: str | Sequence[str] = (), test: str | None = None, **settings: Any
) -> Comparison:
    """Every pair of runs on the same suite, tested on the same items."""
    opened = [run if isinstance(run, Run) else open_run(Path(run)) for run in runs]
    by = [by] if isinstance(by, str) else by
    return compare_runs(opened, breakdowns=by, settings=Settings(**settings), test=test)


@dataclass(frozen=True, slots=True)
class Reported:
    """What `report` wrote. silent: suites whose texts were not at hand, so that their examples have figures only."""

    files: tuple[Path, ...]
    summary: tuple[str, ...]
    silent: tuple[str, ...]


def report(
    *runs: Run | str | Path,
    output: str | Path,
    results: Sequence[str | Path] = (),
    suites: Sequence[str | Path] = (),
    names: Sequence[str] = (),
    title: str = "",
    format: str = "html",
    by: Sequence[str] = (),
    **settings: Any,
) -> Reported:
    """Write a report on runs of any systems and suites: one HTML file, or with another format a folder of parts.

    results: files of JSON that apt, generative or context-usage printed
    suites: files that were scored, for the texts of their examples; those of the catalogue are found by themselves
    names: of the systems, one for each run
    """
    from anaphora.reports.page.contents import make_report
    from anaphora.reports.page.export import export
    from anaphora.reports.page.html import page

    opened = [run if isinstance(run, Run) else _run_or_advice(run) for run in runs]
    made = make_report(
        opened,
        results=[Path(path) for path in results],
        suites=[Path(path) for path in suites],
        names=names,
        title=title,
        by=by,
        settings=Settings(**settings),
    )
    output = Path(output)
    if format == "html":
        text = page(made)
        with atomic_writer(output) as out:
            out.write(text.encode())
        files = [output]
    else:
        files = export(made, format, output)
    summary = tuple(word for chapter in made.chapters for word in chapter.words)
    return Reported(tuple(files), summary, made.silent)
