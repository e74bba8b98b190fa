"""The standard streams of the process, which its caller may have closed, or may no longer read."""

from __future__ import annotations

import contextlib
import io
import os
import re
import select
import sys
from pathlib import Path
from typing import IO

import click

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def open_closed_streams() -> None:
    """Open the streams that the caller has closed (`>&-`) as /dev/null.

    Otherwise the next file that is opened gets the number of such a stream, and what libraries print goes into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest number that is free, which is this one
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w" if number else "r", encoding="utf-8"))  # noqa: SIM115


def echo(text: str) -> None:
    """Print on stdout."""
    click.echo(visible(text))


def say(message: str) -> None:
    """Print on stderr. A reader that has gone or a full disk does not end the command: the rest is discarded."""
    try:
        click.echo(visible(message), err=True)
    except OSError:
        discard(sys.stderr)


def visible(text: str) -> str:
    """Return a text whose control characters are written out, as in JSON: a name from a file must not steer a terminal.

    Line breaks and tabs stay.
    """
    return CONTROL.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def discard(stream: IO[str]) -> None:
    """Discard what is printed from now on, so that nothing fails again when the interpreter exits."""
    with contextlib.suppress(io.UnsupportedOperation):  # a stream in memory
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def is_unread(stream: IO[str]) -> bool:
    """Return whether a stream is a pipe, or a socket, whose reader has gone."""
    poll = select.poll()
    poll.register(stream.fileno(), 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
