"""Outputs that a command may not replace: what it reads, a slip of the pen, and what another process is writing."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from anaphora.core.errors import AnaphoraError
from anaphora.core.lock import refuse_in_use

# options with files to write
OUTPUTS = ("output", "details", "tokens", "plot", "score_file", "items", "save")


class Command(click.Command):
    """A command that refuses to write a file that it also reads, or that another process is writing."""

    def invoke(self, ctx: click.Context) -> Any:
        written = {p.name for p in self.params if isinstance(p, click.Option) and p.name in OUTPUTS}
        outputs = [file for name in written for file in _files(ctx.params.get(name))]
        inputs = [file for name, value in ctx.params.items() if name not in written for file in _files(value)]
        for output in outputs:
            if any(output.samefile(file) for file in inputs):
                raise AnaphoraError(f"{output} is an input of this command. Choose another file to write")
        for output in (path for name in written for path in _paths(ctx.params.get(name))):
            with contextlib.suppress(OSError, ValueError):  # what is no name is refused where it is written
                refuse_in_use(output)
        return super().invoke(ctx)


def _files(value: Any) -> Iterator[Path]:
    """Yield the files that exist among the values of a parameter."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from _files(item)
    elif isinstance(value, str | Path):
        with contextlib.suppress(OSError, ValueError):  # a text that cannot be a name: too long, or with a NUL byte
            if os.path.isfile(value):  # noqa: PTH113 (Path("") is the current folder)
                yield Path(value)


def _paths(value: Any) -> Iterator[Path]:
    for item in value if isinstance(value, list | tuple) else (value,):
        if isinstance(item, Path):
            yield item


def refuse_other_kind(path: Path, beginning: bytes, kind: str) -> None:
    """Refuse to replace a file that does not begin as files of a kind do, in any case."""
    with contextlib.suppress(OSError):
        if path.is_file():
            with path.open("rb") as stream:
                start = stream.read(len(beginning))
            if start and start.lower() != beginning:
                raise AnaphoraError(f"{path} exists and is no {kind}. Choose another file to write")
