"""What the commands share in printing: the format options, JSON, and a progress bar that stays off stdout."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click

from anaphora.core.finite import json_text
from anaphora.table import RENDERERS, Table

Command = TypeVar("Command", bound=Callable[..., Any])
PATH = click.Path(path_type=Path)
ANNOTATORS = "spacy:PIPELINE_OR_FOLDER, stanza:LANGUAGE or conllu:FILE; default: an installed spaCy pipeline."
FORMATS = ("table", "json", "markdown", "latex", "tsv")


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


def show(table: Table, document: dict[str, Any], format: str, as_json: bool) -> None:
    """Print a result in the format asked for."""
    if as_json or format == "json":
        echo_json(document)
    else:
        click.echo(RENDERERS[format](table))


def echo_json(document: Any) -> None:
    click.echo(json_text(document, "the result", indent=2))


def note(message: str) -> None:
    """Progress and remarks go to stderr."""
    click.echo(message, err=True)


@contextlib.contextmanager
def download_progress() -> Iterator[Callable[[str, int, int | None], None] | None]:
    """A bar on a terminal; nothing where stderr is a file or a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda file, done, total: bar.update(task, description=file, completed=done, total=total)


@contextlib.contextmanager
def progress_bar(unit: str) -> Iterator[Callable[[int, int | None], None] | None]:
    """A bar with rate and, where the total is known, time left; nothing where stderr is a file or a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:,.1f} {unit}/s")

    with Progress(
        BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn(), console=Console(stderr=True)
    ) as bar:
        task = bar.add_task(unit, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
