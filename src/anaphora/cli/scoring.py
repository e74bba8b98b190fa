"""`anaphora score`, `translate`, `evaluate`, `compare` and `report`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.cli.options import (
    PATH,
    Share,
    format_options,
    json_option,
    option,
    options,
    part_options,
    setting_options,
)
from anaphora.cli.output import echo_json, note, progress_bar, show
from anaphora.core.errors import AnaphoraError

if TYPE_CHECKING:
    from anaphora.runs import Run
    from anaphora.suites.contexts import Selection
    from anaphora.suites.suite import Suite
    from anaphora.systems.context import Context

REPORT_FORMATS = ("html", "md", "latex", "csv", "png", "svg")


@click.command(
    epilog="""\b
Examples:
  anaphora score contrapro --system hf:Helsinki-NLP/opus-mt-en-de -o runs/opus
  anaphora score contrapro --system hf:my-concat-model --context 1 --separator ' <SEP> ' -o runs/concat
  anaphora score contrapro --system lm:my-model -o runs/lm --workers 2 --resume
  anaphora score contrapro --system lm:my-model -o runs/quick --sample 500 --seed 1
  anaphora score contrapro --system lm:my-model -o runs/lm --cluster 10.0.0.1:6379 --gpus 1
  anaphora score suite.jsonl --system scores:my.scores -o runs/my-model
"""
)
@click.argument("suite")
@options("system", required=True)
@option(
    "-o",
    "--output",
    required=True,
    type=PATH,
    metavar="RUN",
    help="Run to write: a folder, or a file ending in .jsonl or .jsonl.gz.",
)
@options("context", "separator", "target-context")
@part_options
@options("resume", "overwrite", "threads", "workers", "cluster")
@option("--gpus", type=click.FloatRange(0), default=0, help="Number of GPUs per worker on a cluster.")
@options("batch-tokens")
@option(
    "--no-prefix-tree",
    "plain",
    is_flag=True,
    aliases=("--plain",),
    help="Score every candidate separately, without the prefix tree.",
)
@option("--margins-only", is_flag=True, help="Leave out of the scores what all candidates share.")
@options("truncate")
@json_option
def score(suite: str, system: str, output: Path, as_json: bool, **settings: Any) -> None:
    """Score the candidates of SUITE (a suite file or a catalogue name) with a system, and write a run."""
    from anaphora import api
    from anaphora.systems import kind_traits
    from anaphora.systems.context import Context

    if settings["resume"] and settings["overwrite"]:
        raise click.UsageError("--resume and --overwrite cannot be combined.")
    loaded = api.load_suite(suite)
    context = Context(settings["context"] or 0, settings["separator"], settings["target_context"])
    if all(settings[name] is None for name in ("workers", "cluster", "threads")):
        settings["workers"] = "auto"

    def started(selection: Selection) -> None:
        traits = kind_traits(system)
        note(_about(loaded, selection, context, traits.prefix_tree and not settings["plain"]))
        if settings["context"] is None and not traits.own_context and selection.context:
            note(_unused_context(loaded, selection.context))

    with progress_bar("ex") as bar:
        run = api.score(loaded, system, output, progress=bar, started=started, **settings)
    found = _summary(run)
    if as_json:
        echo_json(found)
        return
    note(f"{run.header.suite}@{run.header.sha256[:6]} scored by {system}: {run.path}")
    if settings["context"] and run.header.context not in (None, context.label):
        note(f"context {run.header.context}, not {context.label}: the model was trained with it")
    if found["undecidable"]:
        note(f"{found['undecidable']:,} candidates are identical to another one after preprocessing: undecidable")
    if found["unanswered"] or found["partly_answered"]:
        note(_no_answer(found))
    if found["truncated"]:
        note(f"inputs that exceeded the model's maximum length and were truncated: {found['truncated']:,}")


def _no_answer(found: dict[str, Any]) -> str:
    """Report how many examples have no answer, and some outputs that are none."""
    parts = []
    if found["unanswered"]:
        parts.append(f"{found['unanswered']:,} of {found['examples']:,} examples have no answer and count as wrong")
    if found["partly_answered"]:
        parts.append(f"{found['partly_answered']:,} have an answer in some orders of their candidates only")
    shown = ", ".join(map(repr, found["answers"]))
    return "; ".join(parts) + (f". Not an answer: {shown}" if shown else "")


def _unused_context(suite: Suite, most: int) -> str:
    """Report that the suite has context that is not used."""
    sentences = "1 sentence" if most == 1 else f"up to {most} sentences"
    return f"{suite.header.name} has {sentences} of context, but the system is scored without it (see --context)"


def _about(suite: Suite, selection: Selection, context: Context, prefix_tree: bool) -> str:
    """The suite, how much is to be scored, and what the prefix tree saves of it, estimated by words."""
    from anaphora.scoring.tree import saved_work

    about, candidates = suite.header, sum(len(example.candidates) for example in selection.examples)
    languages = f"{about.source_language}-{about.target_language}"
    size = f"{about.name} {languages} · {len(selection.examples):,} examples · {candidates:,} candidates"
    if not prefix_tree:
        return size
    inputs = map(context.scoring_input, selection.examples)
    saved = saved_work((source.split(), [target.split() for target in targets]) for source, targets in inputs)
    return f"{size} · the prefix tree saves about {saved:.0%} of the work"


def _summary(run: Run) -> dict[str, Any]:
    """What --json prints."""
    header = run.header
    about = {"run": str(run.path), "suite": header.suite, "sha256": header.sha256, "system": header.system}
    return about | run.summarize().to_dict()


@click.command(
    epilog="""\b
Examples:
  anaphora translate --system hf:Helsinki-NLP/opus-mt-en-de -l en-de -i talk.en -o talk.de
  anaphora translate --system hf:my-concat-model -l en-de -i talk.en -o talk.de --context 1 --separator ' <SEP> '
"""
)
@options("system", required=True)
@option(
    "-i",
    "--input",
    "source",
    required=True,
    type=PATH,
    help="Sentences to translate, with blank lines between documents.",
)
@option("-o", "--output", required=True, type=PATH, help="Translations, in the layout of the input.")
@options("languages", "docids", "context", "separator")
@option(
    "--target-context",
    type=click.Choice(["produced", "none"]),
    default="none",
    help="Whether the output contains the context as well, and is cut at the separator (produced), or not (none).",
)
@option(
    "--target-context-from",
    type=PATH,
    aliases=("--context-from",),
    help="Translations of the input by another system, as target context (nmt: models that read it).",
)
@option(
    "--n-best",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Also write the N best translations with their scores to OUTPUT.nbest (nmt: models).",
)
@option(
    "--beams",
    type=click.IntRange(1),
    metavar="N",
    help="Beam size (default: 4 for translation models, 1 for language models).",
)
@option(
    "--max-tokens", type=click.IntRange(1), default=256, metavar="N", help="Maximum number of tokens per translation."
)
@options("threads", "batch-tokens", "resume", "overwrite")
@json_option
def translate(system: str, source: Path, output: Path, languages: str | None, as_json: bool, **settings: Any) -> None:
    """Translate documents with any system, each sentence with its preceding context."""
    from anaphora import api_texts

    with progress_bar("sentences") as progress:
        found = api_texts.translate(system, source, output, languages=languages or "", progress=progress, **settings)
    if as_json:
        document = {"output": str(output), "sentences": found.sentences}
        echo_json(document | {"missing_separators": found.missing, "surplus_separators": found.surplus})
        return
    note(f"{found.sentences:,} sentences: {output}")
    if found.missing or found.surplus:
        note(f"{found.missing:,} outputs lack a separator and are kept whole, {found.surplus:,} have too many")


@click.command(
    epilog="""\b
Examples:
  anaphora evaluate runs/my-model
  anaphora evaluate contrapro --scores my.scores --minimize
  anaphora evaluate contrapro --scores fairseq.scores --scores-are mean
  anaphora evaluate suite.jsonl --scores my.scores --by 'distance>3×reference_pronoun' --format latex
  anaphora evaluate runs/my-model --fail-under 0.7
"""
)
@click.argument("what", metavar="RUN|SUITE")
@option("--scores", type=PATH, metavar="FILE", help="Score file: one line per candidate, in the order of the suite.")
@option(
    "--scores-are",
    type=click.Choice(["sum", "mean"]),
    help="What the score file holds: sums of log-probabilities (default), or means per token, with score⇥tokens on "
    "each line.",
)
@option(
    "--interval",
    type=click.Choice(["wilson", "bootstrap"]),
    help="Kind of interval (default: wilson, or bootstrap with --resample).",
)
@option("--fail-under", type=Share(0, 1), metavar="ACCURACY", help="Exit with 1 if the accuracy is lower.")
@option("--long-signature", is_flag=True, help="Print the signature with every setting spelled out.")
@setting_options
@format_options
def evaluate(
    what: str,
    scores: Path | None,
    scores_are: str | None,
    by: tuple[str, ...],
    interval: str | None,
    fail_under: float | None,
    long_signature: bool,
    format: str,
    as_json: bool,
    **settings: Any,
) -> None:
    """Compute the accuracy of a RUN, or of a SUITE with a score file, overall and by the breakdowns of its paper."""
    from anaphora import api
    from anaphora.reports.tables import result_table

    if interval == "wilson" and settings["resample"] is not None:
        raise AnaphoraError("--interval wilson assumes independent examples and cannot be combined with --resample.")
    if scores is None and scores_are is not None:
        raise AnaphoraError("--scores-are needs --scores: a run records what its scores are.")
    settings["scores_are"] = scores_are or "sum"
    settings["interval"] = interval or ("wilson" if settings["resample"] is None else "bootstrap")
    result = api.evaluate(what, scores=scores, by=by, **settings)
    show(result_table(result), result.to_dict(), format, as_json)
    if long_signature and not as_json:
        click.echo(result.long_signature)
    if fail_under is not None and (result.accuracy is None or result.accuracy < fail_under):
        found = "no accuracy" if result.accuracy is None else f"accuracy {result.accuracy:.4f}"
        note(f"failed: {found} is under {fail_under:g} on {result.suite}")
        sys.exit(1)


@click.command(
    epilog="""\b
Examples:
  anaphora compare runs/old runs/new
  anaphora compare runs/a runs/b runs/c --by reference_pronoun --format markdown
  anaphora compare runs/old runs/new --resample document
"""
)
@click.argument("runs", nargs=-1, required=True, type=PATH, metavar="RUN RUN…")
@options("paired-test")
@setting_options
@format_options
def compare(
    runs: tuple[Path, ...], by: tuple[str, ...], test: str | None, format: str, as_json: bool, **settings: Any
) -> None:
    """Compare two or more runs on the same suite: differences, intervals, paired tests and changed items.

    A run on an attack of the suite is compared with the suite's run on the attacked items.
    """
    from anaphora import api
    from anaphora.reports.tables import comparison_table

    comparison = api.compare(*runs, by=by, test=test, **settings)
    show(comparison_table(comparison), comparison.to_dict(), format, as_json)


@click.command(
    epilog="""\b
Examples:
  anaphora report runs/baseline runs/concat -o report.html
  anaphora report runs/* --suite mined.jsonl --name baseline --name concat -o report.html
  anaphora report runs/baseline runs/concat --result apt.json --result usage.json -o report.html
  anaphora report runs/baseline runs/concat --format latex -o tables/
"""
)
@click.argument("runs", nargs=-1, type=PATH, metavar="RUN…")
@option("-o", "--output", required=True, type=PATH, help="HTML file to write; a folder with another --format.")
@option(
    "--result",
    "results",
    multiple=True,
    type=PATH,
    metavar="FILE",
    help="JSON printed by apt, generative or context-usage (repeatable).",
)
@option(
    "--suite",
    "suites",
    multiple=True,
    metavar="SUITE",
    help="Suite that was scored, for the texts of its examples; catalogue suites are found automatically (repeatable).",
)
@options("name", "title")
@option(
    "--format",
    "format",
    type=click.Choice(REPORT_FORMATS),
    default="html",
    help="One HTML page, or each part as a file of this format.",
)
@setting_options
@json_option
def report(
    runs: tuple[Path, ...],
    output: Path,
    results: tuple[Path, ...],
    suites: tuple[str, ...],
    names: tuple[str, ...],
    title: str,
    format: str,
    by: tuple[str, ...],
    as_json: bool,
    **settings: Any,
) -> None:
    """Write an HTML report for one or more runs, or its tables and charts as files.

    Runs of several systems and suites may be mixed; attacks are shown next to the suite they attack. --name OLD=NEW
    renames a system of a --result.
    """
    from anaphora import api

    made = api.report(
        *runs, output=output, results=results, suites=suites, names=names, title=title, format=format, by=by, **settings
    )
    if as_json:
        echo_json({"files": [str(path) for path in made.files], "summary": list(made.summary)})
        return
    for word in made.summary:
        note(word)
    for name, remedy in zip(made.silent, made.remedies, strict=True):
        note(f"the report has no examples of {name}, whose texts were not found: {remedy}")
    note(f"{len(made.files):,} files in {output}" if format != "html" else f"report: {output}")
