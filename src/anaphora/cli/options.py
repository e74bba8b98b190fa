"""Options that several commands share. One option has one name, one meaning and one default everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from anaphora.align.tokenize import DEFAULT, TOKENIZERS

if TYPE_CHECKING:
    pass

Command = TypeVar("Command", bound=Callable[..., Any])
PATH = click.Path(path_type=Path)
ANNOTATORS = "spacy:PIPELINE_OR_FOLDER, stanza:LANGUAGE or conllu:FILE; default: an installed spaCy pipeline."
FORMATS = ("table", "json", "markdown", "latex", "tsv")
TOKENIZE_HELP = "auto: Moses, unless the text is tokenized already or alignments or tags count its words."


def json_option(command: Command) -> Command:
    return click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout, nothing else.")(command)


def format_options(command: Command) -> Command:
    """--format, and --json as the short way to --format json."""
    choice = click.Choice(FORMATS)
    option = click.option("--format", "format", type=choice, default="table", show_default=True, help="How to print.")
    return json_option(option(command))


def part_options(command: Command) -> Command:
    """--limit, or --sample and --seed: score a part of a suite."""
    options: list[Callable[[Command], Command]] = [
        click.option("--limit", type=click.IntRange(1), help="Score only the first N examples."),
        click.option("--sample", type=click.IntRange(1), help="Score a random sample of N examples."),
        click.option(
            "--seed", type=click.IntRange(0), default=12345, show_default=True, help="Seed of the random sample."
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


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


def sampling_options(*, test: str) -> Callable[[Command], Command]:
    """--test, --confidence, --samples and --seed, with the defaults of the command."""
    options: list[Callable[[Command], Command]] = [
        click.option(
            "--test",
            type=click.Choice(["bootstrap", "randomisation"]),
            default=test,
            show_default=True,
            help="Whose p-value is shown. JSON has both.",
        ),
        click.option("--confidence", type=Share(0, 1, True, True), default=0.95, show_default=True),
        click.option("--samples", type=click.IntRange(100), default=10_000, show_default=True),
        click.option("--seed", type=click.IntRange(0), default=12345, show_default=True),
    ]

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def text_options(command: Command) -> Command:
    """--tokenize and --no-normalize, the same in every command that divides text into words."""
    normalize = click.option(
        "--normalize/--no-normalize",
        default=True,
        help="Make one of ’ ' &apos; &#39;, of no-break and other spaces, of full-width signs (the default), or not.",
    )
    return tokenize_option(normalize(command))


def tokenize_option(command: Command) -> Command:
    choice = click.Choice(TOKENIZERS)
    return click.option("--tokenize", type=choice, default=DEFAULT, show_default=True, help=TOKENIZE_HELP)(command)
