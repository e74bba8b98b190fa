"""Printing: tables, JSON, notes on stderr, and progress bars that stay off stdout."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anaphora.cli.streams import echo, say
from anaphora.core.finite import json_text
from anaphora.table import RENDERERS, Table

if TYPE_CHECKING:
    from anaphora.align.tokenize import Treatment


def show(table: Table, document: dict[str, Any], format: str, as_json: bool) -> None:
    """Print a result in the format asked for."""
    if as_json or format == "json":
        echo_json(document)
    else:
        echo(RENDERERS[format](table))


def echo_json(document: Any) -> None:
    echo(json_text(document, "the result", indent=2))


def note(message: str) -> None:
    """Print a remark on stderr, unless -q was given."""
    if not quiet():
        say(message)


def quiet() -> bool:
    """Return whether -q was given: then neither remarks nor progress bars are printed."""
    return os.environ.get("ANAPHORA_QUIET", "") not in ("", "0")


@contextlib.contextmanager
def download_progress() -> Iterator[Callable[[str, int, int | None], None] | None]:
    """A bar on a terminal; nothing where stderr is a file or a pipe."""
    if quiet() or not sys.stderr.isatty():
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
    if quiet() or not sys.stderr.isatty():
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


def show_all(tables: Sequence[Table], document: dict[str, Any], format: str, as_json: bool) -> None:
    """Print several tables in the format asked for, or the one JSON document."""
    if as_json or format == "json":
        echo_json(document)
    else:
        echo("\n\n".join(table.render(format) for table in tables))


def note_texts(treatments: Mapping[str, Treatment], *, normalized: bool = True) -> None:
    """Warn of words that carry punctuation, and say what was normalized where no table does."""
    from anaphora.align.tokenize import notes, warnings

    note_all([*warnings(treatments), *(notes(treatments) if normalized else ())])


def note_all(messages: Iterable[str]) -> None:
    for message in messages:
        note(message)


def write_examples(kind: str, folder: Path, as_json: bool) -> None:
    """Write the example files of a command, and print their names."""
    from anaphora.metrics import write_example

    echo_examples(write_example(kind, folder), as_json)


def echo_examples(files: Iterable[Path], as_json: bool) -> None:
    names = [str(path) for path in files]
    if as_json:
        echo_json({"files": names})
    else:
        note(f"invented examples: {', '.join(names)}")


def write_plot(path: Path, svg: str, *, quiet: bool = False) -> None:
    """Write a chart, and print its name."""
    from anaphora.reports.charts import write_chart

    write_chart(path, svg)
    if not quiet:
        note(f"chart: {path}")
