"""`anaphora score`, `translate`, `evaluate`, `compare` and `report`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anaphora import api
from anaphora.cli.options import (
    PAIRED_TEST,
    Number,
    Share,
    WholeNumber,
    command,
    format_options,
    json_option,
    option,
    parameters,
)
from anaphora.cli.output import echo_json, note, progress_bar, show
from anaphora.cli.overwriting import refuse_other_kind
from anaphora.cli.streams import echo

if TYPE_CHECKING:
    from anaphora.runs import Run
    from anaphora.suites.contexts import Selection
    from anaphora.suites.suite import Suite
    from anaphora.systems.context import Context


@command("""
anaphora score contrapro --system hf:Helsinki-NLP/opus-mt-en-de -o runs/opus
anaphora score contrapro --system hf:my-concat-model --context 1 --separator ' <SEP> ' -o runs/concat
anaphora score contrapro --system lm:my-model -o runs/lm --workers 2 --resume
anaphora score contrapro --system lm:my-model -o runs/quick --sample 500 --seed 1
anaphora score contrapro --system lm:my-model -o runs/lm --cluster 10.0.0.1:6379 --gpus 1
anaphora score suite.jsonl --system scores:my.scores -o runs/my-model
""")
@parameters(
    api.score,
    arguments=["suite"],
    skip=("scope", "focus"),
    system={"required": True},
    output={
        "required": True,
        "metavar": "RUN",
        "help": "Run to write: a folder, or a file ending in .jsonl or .jsonl.gz.",
    },
    gpus={"type": Number(0), "metavar": "N"},
)
@json_option
def score(suite: str, system: str, output: Path, as_json: bool, **settings: Any) -> None:
    """Score the candidates of SUITE (a suite file or a catalog name) with a system, and write a run."""
    from anaphora.systems import kind_traits
    from anaphora.systems.context import Context

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
    summary = _summary(run)
    if as_json:
        echo_json(summary)
        return
    note(f"{run.header.suite}@{run.header.sha256[:6]} scored by {system}: {run.path}")
    if settings["context"] and run.header.context not in (None, context.label):
        note(f"context {run.header.context}, not {context.label}: the model was trained with it")
    if summary["undecidable"]:
        note(f"{summary['undecidable']:,} candidates are identical to another one after preprocessing: undecidable")
    if summary["unanswered"] or summary["partly_answered"]:
        note(_no_answer(summary))
    if summary["truncated"]:
        note(f"inputs that exceeded the model's maximum length and were truncated: {summary['truncated']:,}")


def _no_answer(summary: dict[str, Any]) -> str:
    """Report how many examples have no answer, and some outputs that are none."""
    parts = []
    if summary["unanswered"]:
        parts.append(f"{summary['unanswered']:,} of {summary['examples']:,} examples have no answer and count as wrong")
    if summary["partly_answered"]:
        parts.append(f"{summary['partly_answered']:,} have an answer in some orders of their candidates only")
    shown = ", ".join(map(repr, summary["answers"]))
    return "; ".join(parts) + (f". Not an answer: {shown}" if shown else "")


def _unused_context(suite: Suite, most: int) -> str:
    """Report that the suite has context that is not used."""
    sentences = "1 sentence" if most == 1 else f"up to {most} sentences"
    return f"{suite.header.name} has {sentences} of context, but the system is scored without it (see --context)"


def _about(suite: Suite, selection: Selection, context: Context, prefix_tree: bool) -> str:
    """Return the suite, how much is to be scored, and what the prefix tree saves of it, estimated by words."""
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
    """Return what --json prints."""
    header = run.header
    about = {"run": str(run.path), "suite": header.suite, "sha256": header.sha256, "system": header.system}
    return about | run.summarize().to_dict()


@command("""
anaphora translate --system hf:Helsinki-NLP/opus-mt-en-de -l en-de -i talk.en -o talk.de
anaphora translate --system hf:my-concat-model -l en-de -i talk.en -o talk.de --context 1 --separator ' <SEP> '
""")
@parameters(
    api.translate,
    input={"flags": ("-i", "--input")},
    target_context_from={"aliases": ("--context-from",)},
    beams={"type": WholeNumber(1)},
    max_tokens={"type": WholeNumber(1)},
)
@json_option
def translate(output: Path, as_json: bool, **settings: Any) -> None:
    with progress_bar("sentences") as progress:
        translated = api.translate(output=output, progress=progress, **settings)
    if as_json:
        document = {"output": str(output), "sentences": translated.sentences}
        echo_json(document | {"missing_separators": translated.missing, "surplus_separators": translated.surplus})
        return
    note(f"{translated.sentences:,} sentences: {output}")
    if translated.missing or translated.surplus:
        lacking, surplus = f"{translated.missing:,} outputs lack a separator", f"{translated.surplus:,} have too many"
        note(f"{lacking} and are kept whole, {surplus}")


@command("""
anaphora evaluate runs/my-model
anaphora evaluate contrapro --scores my.scores --minimize
anaphora evaluate contrapro --scores fairseq.scores --scores-are mean
anaphora evaluate suite.jsonl --scores my.scores --by 'distance>3×reference_pronoun' --format latex
anaphora evaluate runs/my-model --fail-under 0.7
""")
@parameters(
    api.evaluate,
    arguments=["what=RUN|SUITE"],
    scores="Score file: one line per candidate, in the order of the suite.",
)
@option("--fail-under", type=Share(0, 1), metavar="ACCURACY", help="Exit with code 1 if the accuracy is lower.")
@option("--long-signature", is_flag=True, help="Print the signature with every setting spelled out.")
@format_options
def evaluate(fail_under: float | None, long_signature: bool, format: str, as_json: bool, **settings: Any) -> None:
    """Compute the accuracy of a RUN, or of a SUITE with a score file, overall and by the breakdowns of its paper."""
    from anaphora.reports.tables import result_table

    result = api.evaluate(**settings)
    show(result_table(result), result.to_dict(), format, as_json)
    if long_signature and not as_json:
        echo(result.long_signature)
    if fail_under is not None and (result.accuracy is None or result.accuracy < fail_under):
        accuracy = "no accuracy" if result.accuracy is None else f"accuracy {result.accuracy:.4f}"
        note(f"failed: {accuracy} is under {fail_under:g} on {result.suite}")
        sys.exit(1)


@command("""
anaphora compare runs/old runs/new
anaphora compare runs/a runs/b runs/c --by reference_pronoun --format markdown
anaphora compare runs/old runs/new --resample document
""")
@parameters(api.compare, arguments=["runs=RUN RUN…"], test=PAIRED_TEST)
@format_options
def compare(runs: tuple[Path, ...], format: str, as_json: bool, **settings: Any) -> None:
    from anaphora.reports.tables import comparison_table

    comparison = api.compare(*runs, **settings)
    show(comparison_table(comparison), comparison.to_dict(), format, as_json)


@command("""
anaphora report runs/baseline runs/concat -o report.html
anaphora report runs/* --suite mined.jsonl --name baseline --name concat -o report.html
anaphora report runs/baseline runs/concat --result apt.json --result usage.json -o report.html
anaphora report runs/baseline runs/concat --format latex -o tables/
""")
@parameters(
    api.report,
    arguments=["runs=RUN…"],
    runs={"required": False},
    results={"flags": ("--result",)},
    suites={
        "flags": ("--suite",),
        "type": str,
        "metavar": "SUITE",
        "help": "Suite that was scored, for the texts of its examples; catalog suites are found automatically "
        "(repeatable).",
    },
    format={"flags": ("--format",), "metavar": None},
)
@json_option
def report(runs: tuple[Path, ...], output: Path, format: str, as_json: bool, **settings: Any) -> None:
    """Write an HTML report for one or more runs, or its tables and charts as files.

    Runs of several systems and suites may be mixed. Attacks are shown next to the suite that they attack. --name
    OLD=NEW renames a system of a --result.
    """
    if format == "html":
        refuse_other_kind(output, b"<!doctype html", "HTML page")
    reported = api.report(*runs, output=output, format=format, **settings)  # type: ignore[arg-type]
    if as_json:
        echo_json({"files": [str(path) for path in reported.files], "summary": list(reported.summary)})
        return
    for sentence in reported.summary:
        note(sentence)
    for name, remedy in zip(reported.silent, reported.remedies, strict=True):
        note(f"the report has no examples of {name}, whose texts were not found: {remedy}")
    note(f"{len(reported.files):,} files in {output}" if format != "html" else f"report: {output}")
