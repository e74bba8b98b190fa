"""`anaphora score`, `translate`, `evaluate`, `compare` and `report` in Python."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from anaphora.api.inputs import (
    File,
    Normalize,
    PairedTest,
    Progress,
    as_path,
    as_runs,
    as_suite,
    as_words,
    load_run,
    load_suite,
)
from anaphora.core.errors import AnaphoraError, named
from anaphora.core.files import atomic_writer
from anaphora.core.lock import lock_output
from anaphora.evaluation.result import Result, Settings
from anaphora.run_writer import refuse_other
from anaphora.runs import Run, RunSummary, describe, open_run, run_file, unfinished, write_run
from anaphora.suites.contexts import SEED, Selection, select
from anaphora.suites.suite import Suite
from anaphora.systems import System, kind_traits, load_system
from anaphora.systems.context import Context, Options
from anaphora.systems.scores import ScoreArray, ScoreFile
from anaphora.systems.scoring import ScoreFunction, name_of, refuse_both, score_suite, scorer_of

if TYPE_CHECKING:
    from anaphora.evaluation.compare import Comparison
    from anaphora.systems.scoring import StartScorer
    from anaphora.systems.translation import Translated

DEFAULTS = Settings()
_in_memory: list[tempfile.TemporaryDirectory[str]] = []  # runs without an output; they live as long as the program


@named
def score(
    suite: Suite | File,
    system: str | System | ScoreFunction,
    output: File | None = None,
    *,
    context: int | None = None,
    separator: str = " ",
    target_context: Literal["gold", "produced", "none"] = "gold",
    limit: int | None = None,
    sample: int | None = None,
    seed: int = SEED,
    resume: bool = False,
    overwrite: bool = False,
    threads: int | None = None,
    workers: int | Literal["auto"] | None = None,
    cluster: str | None = None,
    gpus: float = 0,
    batch_tokens: int = 2048,
    plain: bool = False,
    margins_only: bool = False,
    truncate: bool = False,
    scope: str = "candidate",
    focus: str | None = None,
    progress: Progress | None = None,
    started: Callable[[Selection], None] | None = None,
) -> Run:
    """Score the candidates of a suite with a system, and write a run.

    suite: a suite file or a name of the catalog, or a suite
    system: a spec such as "hf:NAME" (`anaphora systems` lists the kinds), a function that is given a source and one
        translation and returns a score, or an object with the methods `settings` and `score` of a backend
    output: a folder, or a file ending in .jsonl or .jsonl.gz; None: a temporary run, deleted when the program ends
    context: number of preceding sentences to include; by default as many as an nmt: model was trained with, otherwise 0
    separator, target_context: text between the sentences of a passage; context of the candidates
    limit, sample, seed: score the first N examples, or a random sample of N
    resume, overwrite: resume, or replace, an existing output
    workers: processes that score in parallel; by default one, and on a cluster as many as it has room for; "auto" is
        one per processor for models that compute on CPUs, if memory suffices
        (a script that starts them has its own work under `if __name__ == "__main__":`, as multiprocessing demands)
    cluster: the address of a Ray cluster, or "" for the one that is found or started here
    gpus: Number of GPUs per worker on a cluster.
    margins_only: Exclude the prefix that all candidates share from the scores.
    threads, batch_tokens, plain, truncate, scope: see `Options`; focus: the old name of scope
    progress: called with the number of scored examples and the total number
    started: called once with the selected examples, before the first one is scored
    """
    suite = as_suite(suite)
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
            raise AnaphoraError("a Python object scores in this process. Leave out workers and cluster")
        name, scorer = name_of(system), scorer_of(system)
    else:
        name, traits = system, kind_traits(system)
        if traits.imports:
            if limit is not None or sample is not None:
                raise AnaphoraError(
                    "a score file is imported whole, without a limit or a sample. Cut the suite: suites convert --limit"
                )
            refuse_both(resume, overwrite)
            imported: Any = load_system(system, chosen)
            return import_scores(suite, imported, Path(output), overwrite=overwrite)
        if traits.single_process and (cluster is not None or workers not in (None, "auto", 1)):
            raise AnaphoraError(traits.single_process)
        scorer = None
    selection = select(suite, limit=limit, sample=sample, seed=seed)
    if isinstance(system, str):
        scorer = _scorer(system, len(selection.examples), workers, cluster, threads, gpus)
    return score_suite(
        suite,
        name,
        Path(output),
        options=chosen,
        resume=resume,
        overwrite=overwrite,
        progress=_first_calling(started, selection, progress) if started else progress,
        scorer=scorer,
        selection=selection,
    )


def _first_calling(started: Callable[[Selection], None], selection: Selection, progress: Progress | None) -> Progress:
    """A progress function that calls `started` before its first report."""
    pending = [started]

    def report(done: int, total: int | None) -> None:
        if pending:
            pending.pop()(selection)
        if progress is not None:
            progress(done, total)

    return report


def _scorer(
    spec: str, examples: int, workers: int | str | None, cluster: str | None, threads: int | None, gpus: float
) -> StartScorer | None:
    """Computes the scores; None is this process."""
    from anaphora.systems.scoring import default_worker_count, local_workers, ray_cluster

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
def translate(
    system: str,
    input: File,
    output: File,
    *,
    languages: str = "",
    docids: bool = False,
    context: int | None = None,
    separator: str = " ",
    target_context: Literal["produced", "none"] = "none",
    target_context_from: File | None = None,
    n_best: int = 0,
    beams: int | None = None,
    max_tokens: int = 256,
    threads: int | None = None,
    batch_tokens: int = 2048,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Translated:
    """Translate documents with any system, each sentence with its preceding context.

    system: a spec such as "hf:NAME" (`anaphora systems` lists the kinds)
    input: Sentences to translate, with blank lines between documents.
    output: Translations, in the layout of the input.
    languages: language pair, for multilingual systems and prompts, for example "en-de"
    context, separator: as in `score`
    target_context: Whether the output also contains the context and is split at the separator (produced), or not
        (none).
    target_context_from: Translations of the input by another system, as target context (nmt: models that read it).
    n_best: Also write the N best translations with their scores to OUTPUT.nbest (nmt: models).
    beams: Beam size (default: 4 for translation models, 1 for language models).
    max_tokens: Maximum number of tokens per translation.
    """
    from anaphora.systems.translation import check_separator, translate_file

    chosen = Context(context or 0, separator, target_context)
    if not kind_traits(system).own_context:  # such a model knows where its sentences end
        check_separator(chosen)
    first, _, second = languages.partition("-")
    options = Options(chosen, (first, second), threads, batch_tokens, own_context=context is None)
    return translate_file(
        load_system(system, options),
        system,
        Path(input),
        Path(output),
        context=chosen,
        languages=languages,
        docids=docids,
        beams=beams,
        max_tokens=max_tokens,
        n_best=n_best,
        context_from=as_path(target_context_from),
        resume=resume,
        overwrite=overwrite,
        progress=progress,
    )


@named
def evaluate(
    what: Suite | Run | File,
    *,
    scores: File | Iterable[Any] | None = None,
    scores_are: Literal["sum", "mean"] | None = None,
    interval: Literal["wilson", "bootstrap"] | None = None,
    by: str | Sequence[str] = (),
    minimize: bool = False,
    normalize: Normalize = "sum",
    confidence: float = DEFAULTS.confidence,
    resample: str | None = None,
    samples: int = DEFAULTS.samples,
    seed: int = DEFAULTS.seed,
) -> Result:
    """Compute the accuracy of a run, or of a suite with scores, overall and by the breakdowns of its paper.

    scores: a score file, one line per candidate in the order of the suite; or numbers in that order, as a list, a list
        of lists (one per example) or an array of NumPy
    scores_are: Content of the score file: sums of log-probabilities (default), or means per token, with score⇥tokens on
        each line.
    interval: Kind of interval (default: wilson, or bootstrap with --resample).
    by: tags to break down by, instead of those that the suite's paper reports
    minimize, normalize, confidence, resample, samples, seed: see `Settings`
    """
    from anaphora.evaluation.contrastive import evaluate_run, evaluate_scores

    if interval == "wilson" and resample is not None:
        raise AnaphoraError("--interval wilson assumes independent examples and cannot be combined with --resample.")
    if scores is None and scores_are is not None:
        raise AnaphoraError("--scores-are needs --scores: a run records what its scores are.")
    settings = Settings(
        samples,
        seed,
        confidence,
        minimize=minimize,
        normalize=normalize,
        scores_are=scores_are or "sum",
        interval=interval or ("wilson" if resample is None else "bootstrap"),
        resample=resample,
    )
    by = as_words(by)
    if scores is not None:
        if isinstance(what, Run):
            raise AnaphoraError("a run already has scores. Pass a suite to evaluate a score file")
        if not isinstance(scores, str | Path):
            return evaluate_scores(as_suite(what), ScoreArray(scores), breakdowns=by, settings=settings)
        suite = what if isinstance(what, Suite) else _suite_or_advice(what, scores)
        return evaluate_scores(suite, Path(scores), breakdowns=by, settings=settings)
    if isinstance(what, Suite):
        raise AnaphoraError("a suite cannot be evaluated without scores. Pass a score file, or a run")
    run = what if isinstance(what, Run) else load_run(what)
    return evaluate_run(run, breakdowns=by, settings=settings)


def _suite_or_advice(name: File, scores: File) -> Suite:
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


@named
def compare(
    *runs: Run | File,
    test: PairedTest | None = None,
    by: str | Sequence[str] = (),
    minimize: bool = False,
    normalize: Normalize = "sum",
    confidence: float = DEFAULTS.confidence,
    resample: str | None = None,
    samples: int = DEFAULTS.samples,
    seed: int = DEFAULTS.seed,
) -> Comparison:
    """Compare two or more runs on the same suite: differences, intervals, paired tests and changed items.

    A run on an attack of the suite is compared with the suite's run on the attacked items.

    test: test whose p-value is shown: "mcnemar", "randomization" or "bootstrap"
    by: tags to break down by, instead of those that the suite's paper reports
    minimize, normalize, confidence, resample, samples, seed: see `Settings`
    """
    from anaphora.evaluation.compare import compare_runs

    settings = Settings(samples, seed, confidence, minimize=minimize, normalize=normalize, resample=resample)
    return compare_runs(as_runs(runs), breakdowns=as_words(by), settings=settings, test=test)


@dataclass(frozen=True, slots=True)
class Reported:
    """The files that `report` wrote. silent: suites whose texts were not available, so their examples are missing.

    remedies: how to add each of these
    """

    files: tuple[Path, ...]
    summary: tuple[str, ...]
    silent: tuple[str, ...]
    remedies: tuple[str, ...] = ()


@named
def report(
    *runs: Run | File,
    output: File,
    results: Sequence[File] = (),
    suites: Sequence[File] = (),
    names: Sequence[str] = (),
    title: str = "",
    format: Literal["html", "md", "latex", "csv", "png", "svg"] = "html",
    by: str | Sequence[str] = (),
    minimize: bool = False,
    normalize: Normalize = "sum",
    confidence: float = DEFAULTS.confidence,
    resample: str | None = None,
    samples: int = DEFAULTS.samples,
    seed: int = DEFAULTS.seed,
) -> Reported:
    """Write an HTML report for one or more runs, or its tables and charts as files.

    Runs of several systems and suites may be mixed. Attacks are shown next to the suite that they attack.

    output: HTML file to write; a folder with another --format.
    results: JSON output of apt, generative, context-usage or suites baselines, or the output file of attribute
        (repeatable).
    suites: files that were scored, or names of the catalog, for the texts of their examples; suites of the catalog are
        found automatically
    names: names of the systems, one for each run, and OLD=NEW for a system of a result
    format: One HTML page, or each part as a file of this format.
    by, minimize, normalize, confidence, resample, samples, seed: as in `compare`
    """
    from anaphora.reports.page import export, make_report, page

    made = make_report(
        [run if isinstance(run, Run) else load_run(run) for run in runs],
        results=[Path(path) for path in results],
        suites=suites,
        names=names,
        title=title,
        by=as_words(by),
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
