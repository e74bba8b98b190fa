"""`anaphora context-usage`, `generative`, `robustness` and `diagnose`: why a score is what it is."""

from __future__ import annotations

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

if TYPE_CHECKING:
    from anaphora.evaluation.generative import Generative


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
    format: str,
    as_json: bool,
    **settings: Any,
) -> None:
    """Measure whether a system uses context: accuracy and CXMI with 0…N, random and shuffled sentences."""
    from anaphora import api
    from anaphora.core.files import atomic_writer
    from anaphora.reports.charts import usage_curve
    from anaphora.reports.tables import usage_table

    with progress_bar("examples") as progress:
        usage, truncated = api.context_usage(suite, system, output, progress=progress, **settings)
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
    """Judge the pronouns in a system's own translations of SUITE: correct, wrong or not found.

    Translations have a line, or a document, per example, as `suites convert --to sources` writes the sources.
    """
    from anaphora import api_texts
    from anaphora.reports.tables import generative_table

    backend, chosen = split_aligner(aligner, model)
    with progress_bar("steps") as progress:
        results = api_texts.generative(
            suite,
            translations,
            runs=runs,
            by=by,
            aligner=f"{backend}:{chosen or ''}",
            aligner_model=aligner_model,
            corpus=corpus,
            tokenize=tokenize,
            normalize=normalize,
            progress=progress,
        )
    tell_texts({name: treatment for result in results for name, treatment in result.texts.items()}, normalized=False)
    if details is not None:
        _write_details(details, results)
        note(f"one row per example: {details}")
    document = results[0].to_dict() if len(results) == 1 else {}
    document = document | {"systems": {result.system: result.to_dict() for result in results}}
    show(generative_table(results), document, format, as_json)


def _write_details(path: Path, results: list[Generative]) -> None:
    from anaphora.core.columns import tsv_line
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
    """Compare the accuracy of a system before and after attacks, on the same items, with paired tests.

    RUN is its run on a suite; the others are its runs on attacks of that suite (from `anaphora build attack`).
    """
    from anaphora import api
    from anaphora.reports.charts import robustness_chart, write_chart
    from anaphora.reports.tables import robustness_table

    found = api.robustness(before, *attacked, by=by, test=test, **settings)
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
  anaphora diagnose runs/* --name mine --items evidence/
"""
)
@click.argument("runs", nargs=-1, required=True, type=PATH, metavar="RUN…")
@option(
    "--name",
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
    name: str | None,
    items: Path | None,
    max_items: int,
    minimize: bool,
    normalize: str,
    confidence: float,
    format: str,
    as_json: bool,
) -> None:
    """Explain which step of pronoun translation fails, what the priors are, and how robust the score is.

    RUN…: runs on templates, test sets and attacks on them, in any order and of one or more systems. Statements come
    first (not with --format latex and tsv), then a table.
    """
    from anaphora import api
    from anaphora.reports.tables import STATEMENT_FORMATS, diagnosis_table, diagnosis_text, write_items

    diagnoses = api.diagnose(*runs, name=name, minimize=minimize, normalize=normalize, confidence=confidence)
    written = write_items(diagnoses, items) if items is not None else []
    if as_json or format == "json":
        echo_json({"systems": [diagnosis.to_dict(max_items) for diagnosis in diagnoses]})
        return
    if format in STATEMENT_FORMATS:
        click.echo(f"{diagnosis_text(diagnoses, format)}\n")
    click.echo(diagnosis_table(diagnoses).render(format))
    if items is not None:
        note(f"the items behind {len(written)} statements: {items}")
