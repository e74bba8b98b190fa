"""The Python interface: a function for each command, with the command's words as parameters.

Commands that read texts are in `anaphora.api_texts`. Library code never prints and never exits.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import atomic_writer
from anaphora.core.lock import lock_output
from anaphora.core.parameters import named
from anaphora.evaluation.compare import Comparison, compare_runs
from anaphora.evaluation.contrastive import evaluate_run, evaluate_scores
from anaphora.evaluation.result import Result, Settings
from anaphora.runs import Run, RunSummary, describe, open_run, refuse_other, run_file, unfinished, write_run
from anaphora.suites.catalogue import catalogue
from anaphora.suites.contexts import SEED, Selection, select
from anaphora.suites.formats import read_suite, suite_of_rows
from anaphora.suites.get import resolve
from anaphora.suites.suite import Suite
from anaphora.systems import System, kind_traits, load_system
from anaphora.systems.context import Context, Options
from anaphora.systems.scores import ScoreArray, ScoreFile
from anaphora.systems.scoring import Progress, ScoreFunction, StartScorer, name_of, score_suite, scorer_of

if TYPE_CHECKING:
    from anaphora.evaluation.context_usage import ContextUsage
    from anaphora.evaluation.diagnosis import Diagnosis
    from anaphora.evaluation.robustness import Robustness

DEFAULTS = Settings()
_in_memory: list[tempfile.TemporaryDirectory[str]] = []  # runs without an output; they live as long as the program


@named
def load_suite(
    what: str | Path | Iterable[Mapping[str, Any]],
    format: str = "native",
    *,
    name: str | None = None,
    languages: str | None = None,
    breakdowns: Sequence[str] | None = None,
    context_from: str | Path | None = None,
    context: int | None = None,
    split: str | None = None,
    contrast_from: str | Path | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
) -> Suite:
    """Load a suite by its file, by its name in the catalogue, from any published format, or from rows.

    Rows are dicts, a Hugging Face dataset or a data frame as it is.

    format: how the file is laid out, as for `anaphora suites convert --from`
    name, languages, breakdowns: of the suite that rows become
    context_from, context, split, contrast_from, source_language, target_language: settings of a published format, as
        the options of `anaphora suites convert`
    """
    rows = {"name": name, "languages": languages, "breakdowns": None if breakdowns is None else tuple(breakdowns)}
    folders = {"context_from": context_from, "contrast_from": contrast_from}
    options: dict[str, Any] = {key: Path(path) for key, path in folders.items() if path is not None}
    options |= {"context": context, "split": split, **rows}
    options |= {"source_language": source_language, "target_language": target_language}
    options = {key: value for key, value in options.items() if value is not None}
    if not isinstance(what, str | Path):
        if other := [key for key in options if key not in rows]:
            raise AnaphoraError(f"rows take name, languages and breakdowns, not {', '.join(other)}")
        return suite_of_rows(what, **options)
    path = resolve(str(what)) if format == "native" else Path(what)
    return read_suite(path, format, **options)


def load_run(path: str | Path) -> Run:
    """Open a run that `score` wrote: a header, and a record per example."""
    return _run_or_advice(path)


@named
def score(
    suite: Suite | str | Path,
    system: str | System | ScoreFunction,
    output: str | Path | None = None,
    *,
    context: int | None = None,
    separator: str = " ",
    target_context: str = "gold",
    limit: int | None = None,
    sample: int | None = None,
    seed: int = SEED,
    resume: bool = False,
    overwrite: bool = False,
    workers: int | Literal["auto"] | None = None,
    cluster: str | None = None,
    gpus: float = 0,
    progress: Progress | None = None,
    started: Callable[[Selection], None] | None = None,
    threads: int | None = None,
    batch_tokens: int = 2048,
    plain: bool = False,
    margins_only: bool = False,
    truncate: bool = False,
    scope: str = "candidate",
    focus: str | None = None,
) -> Run:
    """Score a suite with a system, and return the run, which is written to the output as it goes.

    system: a spec such as "hf:NAME" (`anaphora systems` lists the kinds), a function that is given a source and one
        translation and returns a score, or an object with the methods `settings` and `score` of a backend
    output: a folder, or a file ending in .jsonl or .jsonl.gz; None: the run is kept until the program ends
    context: number of preceding sentences to include; by default what an nmt: model was trained with, otherwise 0
    separator, target_context: as the options of `anaphora score`
    limit, sample, seed: score the first N examples, or a random sample of N
    resume, overwrite: what to do where the output already exists
    workers: processes that score in parallel; by default one, and on a cluster as many as it has room for; "auto" is
        one per processor for models that compute on CPUs, if memory suffices
        (a script that starts them has its own work under `if __name__ == "__main__":`, as multiprocessing demands)
    cluster: the address of a Ray cluster, or "" for the one that is found or started here
    gpus: GPUs per worker on a cluster; its processors are `threads`, or one
    progress: called with the numbers of examples that are scored and that there are
    started: called once with the selected examples, before the first one is scored
    threads, batch_tokens, plain, margins_only, truncate, scope: see `Options`; focus: the old name of scope
    """
    suite = suite if isinstance(suite, Suite) else load_suite(suite)
    if output is None:
        _in_memory.append(tempfile.TemporaryDirectory(prefix="anaphora-"))
        output = Path(_in_memory[-1].name) / "run"
    chosen = Options(
        context=Context(context or 0, separator, target_context),
        threads=threads,
        batch_tokens=batch_tokens,
        plain=plain,
        margins_only=margins_only,
        truncate=truncate,
        scope=focus or scope,
        own_context=context is None,
    )
    if not isinstance(system, str):
        if workers not in (None, "auto", 1) or cluster is not None:
            raise AnaphoraError("an object scores in this process: leave workers and cluster out")
        name, scorer = name_of(system), scorer_of(system)
    else:
        name, traits = system, kind_traits(system)
        if traits.imports:
            if limit is not None or sample is not None:
                raise AnaphoraError(
                    "a score file is imported whole, without a limit or a sample. Cut the suite: suites convert --limit"
                )
            imported: Any = load_system(system, chosen)
            return import_scores(suite, imported, Path(output), overwrite=overwrite)
        if traits.single_process and (cluster is not None or workers not in (None, "auto", 1)):
            raise AnaphoraError(traits.single_process)
        scorer = None
    selection = select(suite, limit=limit, sample=sample, seed=seed)
    if isinstance(system, str):
        scorer = _scorer(system, len(selection.examples), workers, cluster, threads, gpus)
    reports = _first_calling(started, selection, progress) if started else progress
    return score_suite(
        suite,
        name,
        Path(output),
        options=chosen,
        limit=limit,
        sample=sample,
        seed=seed,
        resume=resume,
        overwrite=overwrite,
        progress=reports,
        scorer=scorer,
        selection=selection,
    )


def _first_calling(started: Callable[[Selection], None], selection: Selection, progress: Progress | None) -> Progress:
    """A progress function that calls `started` before its first report."""
    pending = [started]

    def report(done: int, total: int) -> None:
        if pending:
            pending.pop()(selection)
        if progress is not None:
            progress(done, total)

    return report


def _scorer(
    spec: str, examples: int, workers: int | str | None, cluster: str | None, threads: int | None, gpus: float
) -> StartScorer | None:
    """Computes the scores; None is this process."""
    from anaphora.systems.workers import default_worker_count, local_workers, ray_cluster

    count = default_worker_count(spec, examples) if workers == "auto" and cluster is None else workers
    count = count if isinstance(count, int) else None
    if cluster is not None:
        return ray_cluster(cluster, workers=count, cpus_per_worker=threads or 1, gpus_per_worker=gpus)
    return local_workers(count, threads) if count is not None and count > 1 else None


def import_scores(suite: Suite, scores: Path | ScoreFile, output: Path, *, overwrite: bool = False) -> Run:
    """Write a run from scores that another toolkit wrote. A run of another system or suite at the output is an error.

    overwrite: replace a run that exists there
    """
    scores = ScoreFile(scores) if isinstance(scores, Path) else scores
    digest = hashlib.sha256()
    examples = list(suite.examples(digest))
    header = describe(suite, sha256=digest.hexdigest(), system=scores.spec, examples=len(examples))
    with lock_output(run_file(output)):
        if not overwrite:
            refuse_other(output, header)
        run = open_run(write_run(output, header, scores.score(examples)))
        unfinished(run.path).unlink(missing_ok=True)
        return replace(run, summary=RunSummary(len(examples)))


@named
def evaluate(
    what: Suite | Run | str | Path,
    *,
    scores: str | Path | Iterable[Any] | None = None,
    scores_are: str = "sum",
    by: str | Sequence[str] = (),
    interval: str | None = None,
    minimize: bool = False,
    normalize: str = DEFAULTS.normalize,
    confidence: float = DEFAULTS.confidence,
    resample: str | None = None,
    samples: int = DEFAULTS.samples,
    seed: int = DEFAULTS.seed,
) -> Result:
    """Evaluate a run, or a suite with scores.

    scores: a score file, one line per candidate in the order of the suite; or numbers in that order, as a list, a list
        of lists (one per example) or an array of NumPy
    scores_are: what the file holds, "sum" or "mean" (per token, with the number of tokens in a second column)
    by: tags to break down by, instead of those that the suite's paper reports
    interval: "wilson", or "bootstrap", the default where `resample` names a tag (Wilson's takes examples to be
        independent)
    minimize, normalize, confidence, resample, samples, seed: see `Settings`
    """
    interval = interval or ("wilson" if resample is None else "bootstrap")
    chosen = Settings(
        samples,
        seed,
        confidence,
        minimize=minimize,
        normalize=normalize,
        scores_are=scores_are,
        interval=interval,
        resample=resample,
    )
    by = [by] if isinstance(by, str) else by
    if scores is not None:
        if isinstance(what, Run):
            raise AnaphoraError("a run has its scores already; name a suite to evaluate a score file")
        if not isinstance(scores, str | Path):
            suite = what if isinstance(what, Suite) else load_suite(what)
            return evaluate_scores(suite, ScoreArray(scores), breakdowns=by, settings=chosen)
        suite = what if isinstance(what, Suite) else _suite_or_advice(what, scores)
        return evaluate_scores(suite, Path(scores), breakdowns=by, settings=chosen)
    if isinstance(what, Suite):
        raise AnaphoraError("a suite is evaluated with scores: pass a score file, or a run")
    run = what if isinstance(what, Run) else _run_or_advice(what)
    return evaluate_run(run, breakdowns=by, settings=chosen)


def _suite_or_advice(name: str | Path, scores: str | Path) -> Suite:
    """A suite to evaluate a score file on; if a run was named instead, what to do with it."""
    try:
        return load_suite(name)
    except AnaphoraError:
        try:
            run = open_run(Path(name))
        except AnaphoraError:
            run = None
        if run is None:
            raise
        raise AnaphoraError(
            f"{name} is a run of {run.header.suite}, with scores of its own. Drop --scores {scores}, or name the suite"
        ) from None


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


@named
def compare(
    *runs: Run | str | Path,
    by: str | Sequence[str] = (),
    test: str | None = None,
    minimize: bool = False,
    normalize: str = DEFAULTS.normalize,
    confidence: float = DEFAULTS.confidence,
    resample: str | None = None,
    samples: int = DEFAULTS.samples,
    seed: int = DEFAULTS.seed,
) -> Comparison:
    """Every pair of runs on the same suite, tested on the same items.

    by: tags to break down by, instead of those that the suite's paper reports
    test: whose p-value is shown: "mcnemar", "randomisation" or "bootstrap"
    minimize, normalize, confidence, resample, samples, seed: see `Settings`
    """
    chosen = Settings(samples, seed, confidence, minimize=minimize, normalize=normalize, resample=resample)
    opened = [run if isinstance(run, Run) else open_run(Path(run)) for run in runs]
    by = [by] if isinstance(by, str) else by
    return compare_runs(opened, breakdowns=by, settings=chosen, test=test)


@dataclass(frozen=True, slots=True)
class Reported:
    """What `report` wrote. silent: suites whose texts were not at hand, so that their examples are not in it.

    remedies: what to do about each of these
    """

    files: tuple[Path, ...]
    summary: tuple[str, ...]
    silent: tuple[str, ...]
    remedies: tuple[str, ...] = ()


@named
def robustness(
    run: Run | str | Path,
    *attacked: Run | str | Path,
    by: str | Sequence[str] = (),
    test: str | None = None,
    minimize: bool = False,
    normalize: str = DEFAULTS.normalize,
    confidence: float = DEFAULTS.confidence,
    resample: str | None = None,
    samples: int = DEFAULTS.samples,
    seed: int = DEFAULTS.seed,
) -> Robustness:
    """Compare the accuracy of a system before and after attacks, on the same items, with paired tests.

    run: a run on a suite; attacked: runs of the same system on attacks of that suite
    by, test, minimize, normalize, confidence, resample, samples, seed: as in `compare`
    """
    from anaphora.evaluation.robustness import robustness as measure

    chosen = Settings(samples, seed, confidence, minimize=minimize, normalize=normalize, resample=resample)
    runs = [opened if isinstance(opened, Run) else open_run(Path(opened)) for opened in (run, *attacked)]
    return measure(runs[0], runs[1:], breakdowns=[by] if isinstance(by, str) else by, settings=chosen, test=test)


@named
def diagnose(
    *runs: Run | str | Path,
    name: str | None = None,
    minimize: bool = False,
    normalize: str = DEFAULTS.normalize,
    confidence: float = DEFAULTS.confidence,
) -> tuple[Diagnosis, ...]:
    """Explain which step of pronoun translation fails, what the priors are, and how robust the score is.

    runs: on templates, test sets and attacks on them, in any order; a diagnosis is returned for each system
    name: of the system that all runs are of (score files do not name one)
    """
    from anaphora.evaluation.diagnosis import diagnose as examine

    settings = Settings(minimize=minimize, normalize=normalize, confidence=confidence)
    opened = [run if isinstance(run, Run) else open_run(Path(run)) for run in runs]
    return examine(opened, system=name, settings=settings)


@named
def context_usage(
    suite: Suite | str | Path,
    system: str,
    output: str | Path,
    *,
    context: int = 1,
    separator: str = " ",
    target_context: str = "gold",
    limit: int | None = None,
    sample: int | None = None,
    seed: int = SEED,
    threads: int | None = None,
    batch_tokens: int = 2048,
    truncate: bool = False,
    progress: Progress | None = None,
) -> tuple[ContextUsage, int]:
    """Measure accuracy and CXMI without context, with 1 … N sentences of it, and with random and shuffled context.

    Returns the usage, and the number of inputs that were truncated in the run with most of them.

    output: a folder for the runs; unfinished ones are resumed
    context: the largest number of preceding sentences to test; everything else as in `score`
    """
    from contextlib import closing

    from anaphora.evaluation.context_usage import context_usage as measure
    from anaphora.systems.scoring import SystemCache

    loaded = suite if isinstance(suite, Suite) else load_suite(suite)
    options = Options(
        Context(context, separator, target_context), threads=threads, batch_tokens=batch_tokens, truncate=truncate
    )
    truncated = 0
    scorer = SystemCache()

    def scored(examples: Suite, chosen: Options, folder: Path) -> Run:
        nonlocal truncated
        run = score_suite(
            examples,
            system,
            folder,
            options=chosen,
            limit=limit,
            sample=sample,
            seed=seed,
            resume=True,
            progress=progress,
            scorer=scorer,
        )
        truncated = max(truncated, sum(item.extra.get("truncated", 0) for item in run))
        return run

    with closing(scorer):
        most = select(loaded, limit=limit, sample=sample, seed=seed).context
        usage = measure(loaded, system, options, Path(output), scored, Settings(seed=seed), most=most)
    return usage, truncated


@named
def report(
    *runs: Run | str | Path,
    output: str | Path,
    results: Sequence[str | Path] = (),
    suites: Sequence[str | Path] = (),
    names: Sequence[str] = (),
    title: str = "",
    format: str = "html",
    by: str | Sequence[str] = (),
    minimize: bool = False,
    normalize: str = DEFAULTS.normalize,
    confidence: float = DEFAULTS.confidence,
    resample: str | None = None,
    samples: int = DEFAULTS.samples,
    seed: int = DEFAULTS.seed,
) -> Reported:
    """Write a report on runs of any systems and suites: one HTML file, or with another format a folder of parts.

    results: files of JSON that apt, generative or context-usage printed
    suites: files that were scored, or names of the catalogue, for the texts of their examples; suites of the catalogue
        are found by themselves
    names: of the systems, one for each run, and OLD=NEW for a system of a result
    by, minimize, normalize, confidence, resample, samples, seed: as in `compare`
    """
    from anaphora.reports.html import export, page
    from anaphora.reports.page import make_report

    opened = [run if isinstance(run, Run) else _run_or_advice(run) for run in runs]
    made = make_report(
        opened,
        results=[Path(path) for path in results],
        suites=suites,
        names=names,
        title=title,
        by=[by] if isinstance(by, str) else by,
        settings=Settings(samples, seed, confidence, minimize=minimize, normalize=normalize, resample=resample),
    )
    output = Path(output)
    if format == "html":
        text = page(made)
        with atomic_writer(output) as out:
            out.write(text.encode("utf-8", "backslashreplace"))  # paths may have bytes that are not UTF-8
        files = [output]
    else:
        files = export(made, format, output)
    summary = tuple(word for chapter in made.chapters for word in chapter.summary)
    silent = tuple(missing.suite for missing in made.suites_without_text)
    return Reported(tuple(files), summary, silent, tuple(missing.remedy for missing in made.suites_without_text))
