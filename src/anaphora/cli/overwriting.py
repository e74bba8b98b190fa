"""Outputs that a command may not replace: what it reads, a slip of the pen, and what another process is writing."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from anaphora.core.errors import AnaphoraError
from anaphora.core.lock import refuse_in_use

# options with files to write
OUTPUTS = (
    *("output", "details", "tokens", "plot", "score_file", "items", "save"),
    *("pairs", "judgments", "annotations", "human_scores"),  # of `study export`; elsewhere these are no options
)
# what is read of a run or a study, where the folder is named
INSIDE = ("run.jsonl", "run.jsonl.gz", "study.json", "links.json", "answers.sqlite")


class Command(click.Command):
    """A command that refuses to write what it reads, what another process writes, or two outputs into one file."""

    def invoke(self, ctx: click.Context) -> Any:
        written = {p.name for p in self.params if isinstance(p, click.Option) and p.name in OUTPUTS}
        outputs = [path for name in written for path in _texts(ctx.params.get(name))]
        values = [value for name, value in ctx.params.items() if name not in written for value in _texts(value)]
        inputs = [file for value in values for file in _files(value)]
        for output in outputs:
            if any(file.samefile(output) for file in inputs if _is_file(output)):
                raise AnaphoraError(f"{output} is an input of this command. Choose another file to write")
            if sum(os.path.realpath(output) == os.path.realpath(other) for other in outputs) > 1:
                raise AnaphoraError(f"{output} is named twice. Choose a file of its own for each output")
            with contextlib.suppress(OSError, ValueError):  # what is no name is refused where it is written
                refuse_in_use(Path(output))
        return super().invoke(ctx)


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts and paths among the values of a parameter; those that can be no names are left out."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str | Path) and "\0" not in str(value):
        yield str(value)


def _files(value: str) -> Iterator[Path]:
    """Yield the files that an input names and that exist: a file, a run, a study, or `conllu:FILE`, `NAME=FILE`."""
    names = {value, value.partition(":")[2], *re.split("[:=?&]", value)}
    names |= {os.path.join(value, name) for name in INSIDE} if value else set()  # noqa: PTH118
    yield from (Path(name) for name in names if _is_file(name))


def _is_file(name: str) -> bool:
    return os.path.isfile(name)  # noqa: PTH113 (Path("") is the current folder)


def refuse_other_kind(path: Path, beginning: bytes, kind: str) -> None:
    """Refuse to replace a file that does not begin as files of a kind do, in any case."""
    with contextlib.suppress(OSError):
        if path.is_file():
            with path.open("rb") as stream:
                start = stream.read(len(beginning))
            if start and start.lower() != beginning:
                raise AnaphoraError(f"{path} exists and is no {kind}. Choose another file to write")
