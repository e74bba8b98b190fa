"""What commands that compare systems by resampling share: options, and several tables in one output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from anaphora.cli.evaluate import Share
from anaphora.cli.output import Command, echo_json
from anaphora.table import Table


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


def show_all(tables: Sequence[Table], document: dict[str, Any], format: str, as_json: bool) -> None:
    """Print several tables in the format asked for, or the one JSON document."""
    if as_json or format == "json":
        echo_json(document)
    else:
        click.echo("\n\n".join(table.render(format) for table in tables))
