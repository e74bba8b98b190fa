"""`anaphora score`, `translate`, `evaluate`, `compare` and `report`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.cli.options import PATH, Share, format_options, json_option, part_options, setting_options
from anaphora.cli.output import echo_json, note, progress_bar, show
from anaphora.core.errors import AnaphoraError

if TYPE_CHECKING:
    from anaphora.runs import Run
    from anaphora.suites.contexts import Selection
    from anaphora.suites.suite import Suite
    from anaphora.systems.context import Context

TREE_KINDS = ("hf", "lm", "nmt")  # scored through the prefix tree
OWN_CONTEXT = ("nmt", "measure", "scores")  # read what they were trained with, or were given it elsewhere
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
@click.option("--system", required=True, metavar="SPEC", help="The system, KIND:WHAT; see: anaphora systems.")
@click.option(
    "-o", "--output", required=True, type=PATH, metavar="RUN", help="A folder, or a file ending in .jsonl[.gz]."
)
@click.option(
    "--context",
    type=click.IntRange(0),
    help="Previous sentences to give; default: what an nmt: model was trained with, else none.",
)
@click.option("--separator", default=" ", help="What stands between sentences, exactly as given; a space by default.")
@click.option(
    "--target-context",
    type=click.Choice(["gold", "produced", "none"]),
    default="gold",
    show_default=True,
    help="Before the candidates: the suite's context, the system's translation of it, or nothing.",
)
@part_options
@click.option("--resume", is_flag=True, help="Go on with an unfinished run.")
@click.option("--overwrite", is_flag=True, help="Start anew where there is a run already.")
@click.option("--threads", type=click.IntRange(1), help="Of each worker.")
@click.option(
    "--workers",
    type=click.IntRange(1),
    help="Processes side by side, each with the whole model; by default as many as processors and memory allow.",
)
@click.option(
    "--cluster",
    is_flag=False,
    flag_value="",
    metavar="[ADDRESS]",
    help="Workers on a Ray cluster, HOST:PORT, or what RAY_ADDRESS says, or one on this machine.",
)
@click.option("--gpus", type=click.FloatRange(0), default=0, help="Of each worker on a cluster.")
@click.option(
    "--batch-tokens", type=click.IntRange(1), default=2048, show_default=True, help="Tokens computed at a time."
)
@click.option("--plain", is_flag=True, help="Every candidate by itself, without the prefix tree.")
@click.option("--margins-only", is_flag=True, help="Leave out of the scores what all candidates share.")
@click.option("--truncate", is_flag=True, help="Cut what is longer than the model takes, and count it.")
@json_option
def score(suite: str, system: str, output: Path, as_json: bool, **settings: Any) -> None:
    """Let a system score the candidates of SUITE (a suite file or a catalogue name) and write a run."""
    from anaphora import api
    from anaphora.suites.contexts import select
    from anaphora.systems.context import Context
    from anaphora.systems.workers import default_worker_count

    if settings["resume"] and settings["overwrite"]:
        raise click.UsageError("--resume goes on with a run, --overwrite does away with it: give one of them")
    loaded = api.load_suite(suite)
    context = Context(settings["context"] or 0, settings["separator"], settings["target_context"])
    selection = select(loaded, limit=settings["limit"], sample=settings["sample"], seed=settings["seed"])
    if all(settings[name] is None for name in ("workers", "cluster", "threads")):
        settings["workers"] = default_worker_count(system, len(selection.examples))
    with progress_bar("ex") as bar:

        def progress(done: int, total: int, said: list[str] = []) -> None:  # noqa: B006  (of this one call)
            if not said:  # only now is it certain that there is something to do
                said.append(_about(loaded, selection, system, context, settings["plain"]))
                note(said[0])
                if settings["context"] is None and system.partition(":")[0] not in OWN_CONTEXT and selection.context:
                    note(_unused_context(loaded, selection.context))
            if bar is not None:
                bar(done, total)

        run = api.score(loaded, system, output, progress=progress, **settings)
    found = _summary(run)
    if as_json:
        echo_json(found)
        return
    note(f"{run.header.suite}@{run.header.sha256[:6]} scored by {system}: {run.path}")
    if settings["context"] and run.header.context not in (None, context.label):
        note(f"context {run.header.context}, not {context.label}: the model reads what it was trained to read")
    if found["undecidable"]:
        note(f"{found['undecidable']:,} candidates are the same to the system as another one: undecidable")
    if found["unanswered"] or found["partly_answered"]:
        note(_no_answer(found))
    if found["truncated"]:
        note(f"{found['truncated']:,} texts were longer than the model takes, and were cut: --truncate")


def _no_answer(found: dict[str, Any]) -> str:
    """How many examples have no answer, and what was said instead."""
    parts = []
    if found["unanswered"]:
        parts.append(f"{found['unanswered']:,} of {found['examples']:,} examples have no answer and count as wrong")
    if found["partly_answered"]:
        parts.append(f"{found['partly_answered']:,} have an answer in some orders of their candidates only")
    shown = ", ".join(map(repr, found["answers"]))
    return "; ".join(parts) + (f". Not an answer: {shown}" if shown else "")


def _unused_context(suite: Suite, most: int) -> str:
    """A hint where there is context, and none was asked for."""
    sentences = "1 sentence" if most == 1 else f"up to {most} sentences"
    return f"{suite.header.name} has {sentences} of context, and the system is given none: see --context"


def _about(suite: Suite, selection: Selection, system: str, context: Context, plain: bool) -> str:
    """The suite, how much is to be scored, and what the prefix tree saves of it, estimated by words."""
    from anaphora.scoring.tree import saved_work

    questions = [context.question(example) for example in selection.examples]
    sizes = [len(question.targets) for question in questions]
    about = suite.header
    languages = f"{about.source_language}-{about.target_language}"
    told = f"{about.name} {languages} · {len(sizes):,} examples · {sum(sizes):,} candidates"
    if plain or system.partition(":")[0] not in TREE_KINDS:
        return told
    saved = saved_work((q.source.split(), [target.split() for target in q.targets]) for q in questions)
    return f"{told} · the prefix tree saves about {saved:.0%} of the work"


def _summary(run: Run) -> dict[str, Any]:
    """What --json prints.

    undecidable: candidates that are the same to the system as another one; truncated: texts that were cut
    unanswered, partly_answered: examples where none, or not all, of what the system said was an answer, and some of it
    """
    examples = undecidable = truncated = unanswered = partly = 0
    answers: list[str] = []
    for item in run:
        examples += 1
        undecidable += len({candidate for pair in item.extra.get("undecidable", ()) for candidate in pair})
        truncated += item.extra.get("truncated", 0)
        unanswered += item.unanswered
        partly += "unanswered" in item.extra and not item.unanswered
        if len(answers) < 3 and item.extra.get("answer"):
            answers.append(item.extra["answer"])
    return {
        "run": str(run.path),
        "suite": run.header.suite,
        "sha256": run.header.sha256,
        "system": run.header.system,
        "examples": examples,
        "undecidable": undecidable,
        "truncated": truncated,
        "unanswered": unanswered,
        "partly_answered": partly,
        "answers": answers,
    }


@click.command(
    epilog="""\b
Examples:
  anaphora translate --system hf:Helsinki-NLP/opus-mt-en-de -l en-de -i talk.en -o talk.de
  anaphora translate --system hf:my-concat-model -l en-de -i talk.en -o talk.de --context 1 --separator ' <SEP> '
"""
)
@click.option("--system", required=True, metavar="SPEC", help="The system, KIND:WHAT; see: anaphora systems.")
@click.option("-i", "--input", "source", required=True, type=PATH, help="Sentences, a blank line between documents.")
@click.option("-o", "--output", required=True, type=PATH, help="Translations, laid out as the input.")
@click.option("-l", "--languages", default="", metavar="SRC-TGT", help="For multilingual systems and prompts: en-de.")
@click.option("--docids", is_flag=True, help="The input has docid⇥sentence on each line.")
@click.option(
    "--context",
    type=click.IntRange(0),
    help="Previous sentences to give; default: what an nmt: model was trained with, else none.",
)
@click.option("--separator", default=" ", help="What stands between sentences, exactly as given.")
@click.option(
    "--target-context",
    type=click.Choice(["produced", "none"]),
    default="none",
    show_default=True,
    help="Whether the system's output holds the context as well, and is cut at the separator.",
)
@click.option(
    "--context-from",
    type=PATH,
    help="Translations of the input by another system, as target context (nmt: models that read it).",
)
@click.option(
    "--n-best", type=click.IntRange(0), default=0, help="Also so many translations with scores, in OUTPUT.nbest (nmt:)."
)
@click.option("--beams", type=click.IntRange(1), help="Default: 4 for translation models, 1 for language models.")
@click.option("--max-tokens", type=click.IntRange(1), default=256, show_default=True)
@click.option("--threads", type=click.IntRange(1))
@click.option("--batch-tokens", type=click.IntRange(1), default=2048, show_default=True)
@click.option("--resume", is_flag=True, help="Go on with an unfinished translation.")
@click.option("--overwrite", is_flag=True, help="Start anew where there is one already.")
@json_option
def translate(
    system: str,
    source: Path,
    output: Path,
    languages: str,
    context: int | None,
    separator: str,
    target_context: str,
    threads: int | None,
    batch_tokens: int,
    as_json: bool,
    **settings: Any,
) -> None:
    """Translate documents, each sentence with those before it; batched, in order, resumable."""
    from anaphora.systems import load_system
    from anaphora.systems.context import Context, Options
    from anaphora.systems.translation import check_separator, translate_file

    chosen = Context(context or 0, separator, target_context)
    if not system.startswith("nmt:"):  # such a model knows where its sentences end
        check_separator(chosen)
    first, _, second = languages.partition("-")
    options = Options(chosen, (first, second), threads, batch_tokens, own_context=context is None)
    with progress_bar("sentences") as progress:
        loaded = load_system(system, options)
        found = translate_file(loaded, system, source, output, context=chosen, progress=progress, **settings)
    if as_json:
        document = {"output": str(output), "sentences": found.sentences}
        echo_json(document | {"missing_separators": found.missing, "surplus_separators": found.surplus})
        return
    note(f"{found.sentences:,} sentences: {output}")
    if found.missing or found.surplus:
        note(f"{found.missing:,} outputs lack a separator (kept whole), {found.surplus:,} have one too many")


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
@click.option("--scores", type=PATH, help="A score file: one line per candidate, in the order of the suite.")
@click.option(
    "--scores-are",
    type=click.Choice(["sum", "mean"]),
    help="What the score file holds: sums of log-probabilities (default), or means per token, with score⇥tokens on "
    "each line.",
)
@click.option(
    "--interval",
    type=click.Choice(["wilson", "bootstrap"]),
    help="How intervals are made: wilson, unless groups are resampled.",
)
@click.option("--fail-under", type=Share(0, 1), metavar="ACCURACY", help="Exit with 1 if the accuracy is lower.")
@click.option("--long-signature", is_flag=True, help="Print the signature with every setting spelled out.")
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
    """Accuracy of a RUN, or of a SUITE with a score file, in all and by every breakdown of the suite's paper."""
    from anaphora import api
    from anaphora.reports.tables import result_table

    if interval == "wilson" and settings["resample"] is not None:
        raise AnaphoraError("--interval wilson takes examples to be independent; leave it out with --resample")
    if scores is None and scores_are is not None:
        raise AnaphoraError("--scores-are goes with --scores: a run says itself what its scores are")
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
@click.option(
    "--test",
    type=click.Choice(["mcnemar", "randomisation", "bootstrap"]),
    help="Whose p-value is shown: mcnemar, unless groups are resampled; then randomisation. JSON has all three.",
)
@setting_options
@format_options
def compare(
    runs: tuple[Path, ...], by: tuple[str, ...], test: str | None, format: str, as_json: bool, **settings: Any
) -> None:
    """Compare two or more runs on the same suite: differences, intervals, paired tests, the items that flipped.

    A run on an attack of the suite is compared with it, too, on the items that were attacked.
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
@click.option("-o", "--output", required=True, type=PATH, help="The page; with another --format a folder.")
@click.option(
    "--result",
    "results",
    multiple=True,
    type=PATH,
    help="What apt, generative or context-usage print with --json. Repeatable.",
)
@click.option(
    "--suite",
    "suites",
    multiple=True,
    metavar="SUITE",
    help="A suite that was scored (file or catalogue name), for the texts of its examples; those of the catalogue are "
    "found by themselves. Repeatable.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    help="What a system is called, one for each run in order; runs of one system have one name. OLD=NEW renames a "
    "system of a --result.",
)
@click.option("--title", default="", help="The heading.")
@click.option(
    "--format",
    "format",
    type=click.Choice(REPORT_FORMATS),
    default="html",
    show_default=True,
    help="One page, or each part as a file.",
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
    """Everything that runs say, as one HTML file that needs nothing else, or as parts for papers and wikis.

    Runs of several systems and suites may be mixed; attacks are set beside the suite that they attack.
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
        note(f"the texts of {name} are not at hand, so its examples are not in the report: {remedy}")
    note(f"{len(made.files):,} files in {output}" if format != "html" else f"the report: {output}")
