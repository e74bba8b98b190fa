"""`anaphora evaluate`."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from anaphora.cli.output import PATH, Command, format_options, note, show
from anaphora.core.errors import AnaphoraError


class Share(click.FloatRange):
    """A number within 0 and 1. `nan` compares with neither end: it would pass the range and every gate."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


def setting_options(command: Command) -> Command:
    """What `evaluate` and `compare` have in common."""
    options: list[Callable[[Command], Command]] = [
        click.option(
            "--by", multiple=True, metavar="TAG", help="Break down by a tag, tag>3, or a×b (a*b). Repeatable."
        ),
        click.option("--minimize", is_flag=True, help="Lower scores are better (losses, perplexities)."),
        click.option(
            "--normalize",
            type=click.Choice(["sum", "mean"]),
            default="sum",
            show_default=True,
            help="Compare sums of log-probabilities, or means per token.",
        ),
        click.option("--confidence", type=Share(0, 1, True, True), default=0.95, show_default=True),
        click.option("--resample", metavar="TAG", help="Resample whole groups of examples, for example documents."),
        click.option("--samples", type=click.IntRange(100), default=10_000, show_default=True),
        click.option("--seed", type=click.IntRange(0), default=12345, show_default=True),
    ]
    for option in reversed(options):
        command = option(command)
    return command


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
