"""What commands that read text share: --tokenize and --no-normalize, and what is said of the texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import click

from anaphora.align.tokenize import DEFAULT, TOKENIZERS
from anaphora.cli.output import Command, note

if TYPE_CHECKING:
    from anaphora.align.tokenize import Treatment

TOKENIZE_HELP = "auto: Moses, unless the text is tokenized already or alignments or tags count its words."


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


def tell_texts(treatments: Mapping[str, Treatment], *, normalized: bool = True) -> None:
    """Warn of words that carry punctuation, and say what was normalized where no table does."""
    from anaphora.align.tokenize import notes, warnings

    tell([*warnings(treatments), *(notes(treatments) if normalized else ())])


def tell(messages: Iterable[str]) -> None:
    for message in messages:
        note(message)
