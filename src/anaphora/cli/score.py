"""`anaphora score`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.cli.output import PATH, echo_json, json_option, note, part_options, progress_bar

TREE_KINDS = ("hf", "lm", "nmt")  # scored through the prefix tree
OWN_CONTEXT = ("nmt", "measure", "scores")  # read what they were trained with, or were given it elsewhere

if TYPE_CHECKING:
    from anaphora.runs import Run
    from anaphora.suites.contexts import Selection
    from anaphora.suites.suite import Suite
    from anaphora.systems.context import Context


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
