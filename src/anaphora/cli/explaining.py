"""`anaphora context-usage`, `generative`, `robustness` and `diagnose`: why a score is what it is."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.cli.options import (
    PATH,
    format_options,
    option,
    options,
    part_options,
    setting_options,
    split_aligner,
    text_options,
)
from anaphora.cli.output import echo_json, note, progress_bar, show, tell_texts
from anaphora.core.errors import AnaphoraError

if TYPE_CHECKING:
    from anaphora.evaluation.generative import Generative, Texts


@click.command(
    "context-usage",
    epilog="""\b
Examples:
  anaphora context-usage contrapro --system hf:my-concat-model --context 3 --separator ' <SEP> ' -o usage/
""",
)
@click.argument("suite")
@options("system", required=True)
@option("-o", "--output", required=True, type=PATH, help="Folder for the runs and the chart (curve.svg).")
@option(
    "--context", type=click.IntRange(1), default=1, metavar="N", help="Largest number of preceding sentences to test."
)
@options("separator", "target-context")
@part_options
@options("threads", "batch-tokens", "truncate")
@format_options
def context_usage(
    suite: str,
    system: str,
    output: Path,
    context: int,
    separator: str,
    target_context: str,
    limit: int | None,
    sample: int | None,
    seed: int,
    threads: int | None,
    batch_tokens: int,
    truncate: bool,
    format: str,
    as_json: bool,
) -> None:
    """Does a system use context? Accuracy and CXMI with none, with 1…N sentences, with random and shuffled ones."""
    from anaphora import api
    from anaphora.core.files import atomic_writer
    from anaphora.evaluation.context_usage import context_usage as measure
    from anaphora.evaluation.result import Settings
    from anaphora.reports.charts import usage_curve
    from anaphora.reports.tables import usage_table
    from anaphora.runs import Run
    from anaphora.suites.contexts import select
    from anaphora.suites.suite import Suite
    from anaphora.systems.context import Context, Options
    from anaphora.systems.scoring import SystemCache, score_suite

    asked = Context(context, separator, target_context)
    options = Options(asked, threads=threads, batch_tokens=batch_tokens, truncate=truncate)
    truncated = 0  # texts, in the run with most of them
    scorer = SystemCache()
    loaded = api.load_suite(suite)
    scored = select(loaded, limit=limit, sample=sample, seed=seed)

    def score(examples: Suite, chosen: Options, place: Path) -> Run:
        nonlocal truncated
        with progress_bar("examples") as progress:
            run = score_suite(
                examples,
                system,
                place,
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
        usage = measure(loaded, system, options, output, score, Settings(seed=seed), most=scored.context)
    with atomic_writer(output / "curve.svg") as out:
        out.write(usage_curve(usage).encode())
    show(usage_table(usage), {**usage.to_dict(), "truncated": truncated}, format, as_json)
    if not as_json:
        if truncated:
            note(f"up to {truncated:,} inputs per run exceeded the model's maximum length and were truncated")
        note(f"chart: {output / 'curve.svg'}")


@click.command(
    epilog="""\b
Examples:
  anaphora generative contrapro -t my-model.de
  anaphora generative contrapro -t my-model.de --run runs/my-model --by distance
  anaphora generative suite.jsonl -t one.de -t two.de --corpus train.en train.de --details outcomes.tsv
"""
)
@click.argument("suite")
@options("translation", required=True)
@option(
    "--run",
    "runs",
    type=PATH,
    multiple=True,
    metavar="RUN",
    help="Contrastive run of the same system, to report the gap (one per -t).",
)
@options("corpus")
@options("aligner-model", aliases=("--align",))
@options("aligner")
@option("--model", metavar="NAME", hidden=True, help="Model of the aligner (use --aligner NAME:MODEL).")
@text_options
@options("by", "details")
@format_options
def generative(
    suite: str,
    translations: tuple[Path, ...],
    runs: tuple[Path, ...],
    corpus: tuple[tuple[Path, Path], ...],
    aligner_model: Path | None,
    aligner: str,
    model: str | None,
    tokenize: str,
    normalize: bool,
    by: tuple[str, ...],
    details: Path | None,
    format: str,
    as_json: bool,
) -> None:
    """Is the pronoun right in a system's own translations of SUITE? Correct, wrong, not found."""
    from anaphora import api
    from anaphora.align import Aligner, Settings
    from anaphora.core.documents import read_parallel
    from anaphora.evaluation import generative as translated
    from anaphora.reports.tables import generative_table
    from anaphora.runs import open_run

    if runs and len(runs) != len(translations):
        raise AnaphoraError(f"{len(runs)} runs for {len(translations)} translations. Pass one --run per -t.")
    names = _names(translations)
    loaded = api.load_suite(suite)
    texts = translated.read_texts(loaded, tokenize, normalize=normalize)
    own = {
        name: translated.read_translations(path, texts, loaded) for name, path in zip(names, translations, strict=True)
    }
    words = {name: text.sentences for name, text in own.items()}
    more = [pair for files in corpus for pair in texts.words.pairs(*read_parallel(*files))]
    saved = None if aligner_model is None else Aligner.load(aligner_model)
    backend, chosen = split_aligner(aligner, model)
    settings = Settings(backend=backend, model=chosen)
    with progress_bar("steps") as progress:
        found = translated.align_texts(texts, words, corpus=more, settings=settings, aligner=saved, progress=progress)
    references = translated.judge_texts(texts, texts.gold, found.reference, found.reference)
    aligned = translated.alignment_label(saved.settings if saved else settings, more, aligner_model)
    results = []
    for number, name in enumerate(names):
        outcomes = translated.judge_texts(texts, words[name], found.reference, found.systems[name])
        run = open_run(runs[number]) if runs else None
        done = own[name].treatment
        results.append(
            translated.evaluate_translations(
                texts, name, outcomes, aligned, treatment=done, references=references, by_tags=by, run=run
            )
        )
    tell_texts({name: treatment for result in results for name, treatment in result.texts.items()}, normalized=False)
    if details is not None:
        _write_details(details, texts, results)
        note(f"one row per example: {details}")
    document = results[0].to_dict() if len(results) == 1 else {}
    document = document | {"systems": {result.system: result.to_dict() for result in results}}
    show(generative_table(results), document, format, as_json)


def _names(paths: tuple[Path, ...]) -> list[str]:
    """Short names of systems: those of the files, or their paths where two have the same."""
    names = [path.name for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]


def _write_details(path: Path, texts: Texts, results: list[Generative]) -> None:
    from anaphora.core.cells import tsv_line
    from anaphora.core.files import atomic_writer

    with atomic_writer(path) as out:
        out.write(b"system\tid\toutcome\tfound\thow\tsource_position\tposition\n")
        for result in results:
            for outcome in result.outcomes:
                places = ("" if place is None else str(place) for place in (outcome.source, outcome.place))
                row = (result.system, outcome.id, outcome.outcome, outcome.found, outcome.how, *places)
                out.write((tsv_line(row) + "\n").encode())


@click.command(
    epilog="""\b
Examples:
  anaphora robustness runs/contrapro runs/true_colon runs/maria
  anaphora robustness runs/contrapro runs/attacks --by reference_pronoun --format markdown
  anaphora robustness runs/contrapro runs/attacks --plot drop.svg
"""
)
@click.argument("before", type=PATH, metavar="RUN")
@click.argument("attacked", nargs=-1, required=True, type=PATH, metavar="ATTACKED_RUN…")
@options("paired-test")
@options("plot", aliases=("--figure",))
@setting_options
@format_options
def robustness(
    before: Path,
    attacked: tuple[Path, ...],
    by: tuple[str, ...],
    test: str | None,
    plot: Path | None,
    format: str,
    as_json: bool,
    **settings: Any,
) -> None:
    """Accuracy of a system before and after attacks, on the same items, with paired tests.

    RUN is its run on a suite; the others are its runs on attacks of that suite, made by anaphora build attack.
    """
    from anaphora.evaluation.result import Settings
    from anaphora.evaluation.robustness import robustness as measure
    from anaphora.reports.charts import robustness_chart, write_chart
    from anaphora.reports.tables import robustness_table
    from anaphora.runs import open_run

    runs = [open_run(path) for path in attacked]
    found = measure(open_run(before), runs, breakdowns=by, settings=Settings(**settings), test=test)
    if plot is not None:
        write_chart(plot, robustness_chart([found]))
    show(robustness_table(found), found.to_dict(), format, as_json)
    if plot is not None and not as_json:
        note(f"chart: {plot}")


@click.command(
    epilog="""\b
Examples:
  anaphora diagnose runs/templates runs/contrapro runs/true_colon
  anaphora diagnose runs/opus-* runs/mine-* --format markdown
  anaphora diagnose runs/* --system mine --items evidence/
"""
)
@click.argument("runs", nargs=-1, required=True, type=PATH, metavar="RUN…")
@option(
    "--name",
    "system",
    metavar="NAME",
    aliases=("--system",),
    help="Name of the system that all runs are of (score files do not name one).",
)
@option(
    "--items",
    type=PATH,
    metavar="FOLDER",
    help="Write the items behind each statement to this folder, one file per rule.",
)
@option(
    "--max-items",
    type=click.IntRange(0),
    default=20,
    metavar="N",
    help="Maximum number of item ids per statement in JSON.",
)
@options("minimize", "normalize", "confidence")
@format_options
def diagnose(
    runs: tuple[Path, ...],
    system: str | None,
    items: Path | None,
    max_items: int,
    minimize: bool,
    normalize: str,
    confidence: float,
    format: str,
    as_json: bool,
) -> None:
    """Which step of pronoun translation fails, what the priors are, how robust the score is.

    RUN…: a system's runs on templates, test sets and attacks on them, in any order; several systems are set side by
    side. Words come first (--format latex and tsv: the table alone), then one table.
    """
    from anaphora.evaluation.diagnosis import diagnose as examine
    from anaphora.evaluation.result import Settings
    from anaphora.reports.tables import STATEMENT_FORMATS, diagnosis_table, diagnosis_text, write_items
    from anaphora.runs import open_run

    settings = Settings(minimize=minimize, normalize=normalize, confidence=confidence)
    diagnoses = examine([open_run(path) for path in runs], system=system, settings=settings)
    written = write_items(diagnoses, items) if items is not None else []
    if as_json or format == "json":
        echo_json({"systems": [diagnosis.to_dict(max_items) for diagnosis in diagnoses]})
        return
    if format in STATEMENT_FORMATS:
        click.echo(f"{diagnosis_text(diagnoses, format)}\n")
    click.echo(diagnosis_table(diagnoses).render(format))
    if items is not None:
        note(f"the items behind {len(written)} statements: {items}")
