"""The exceptions for bad input, raised deep and printed once by the command line, and hints at names that exist."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar


class AnaphoraError(Exception):
    """An error that the user can correct. The message is one line: what is wrong, where, and what to do."""


class OutputMisaligned(AnaphoraError):  # noqa: N818
    """Scores can no longer be assigned to their inputs, so that earlier ones are in doubt as well."""


class BadInput(AnaphoraError):  # noqa: N818  (it reads well where it is raised)
    """An error in a file, with its path and line.

    >>> str(BadInput("scores.txt", "not a number: 'abc'", line=7, remedy="Write one score per line."))
    "scores.txt: line 7: not a number: 'abc'. Write one score per line."
    """

    def __init__(self, path: Path | str, problem: str, *, line: int | None = None, remedy: str = "") -> None:
        self.path, self.problem, self.line, self.remedy = str(path), problem, line, remedy
        location = f"{path}: line {line:,}" if line is not None else f"{path}"
        end = "" if problem.endswith((".", "?", "!")) else "."
        super().__init__(f"{location}: {problem}{end} {remedy}".rstrip() if remedy else f"{location}: {problem}")


class CannotWrite(BadInput):
    """A file or folder that cannot be written: a full disk, a quota, no permission. The command line adds what is kept.

    >>> str(CannotWrite("runs/opus/run.jsonl", OSError(28, "No space left on device")))
    'runs/opus/run.jsonl: cannot be written: no space left on device'
    """

    def __init__(self, path: Path | str, error: OSError) -> None:
        super().__init__(path, f"cannot be written: {(error.strerror or str(error)).lower()}")


def did_you_mean(word: str, known: Iterable[str], cutoff: float = 0.55) -> str:
    """' (did you mean X?)' where a known word is near, else the empty string. cutoff: 1 is equal, 0 is anything"""
    near = difflib.get_close_matches(word, list(known), n=2, cutoff=cutoff)
    return f" (did you mean {' or '.join(near)}?)" if near else ""


def check_name(what: str, name: str, known: Iterable[str], of: str = "") -> None:
    """Raise an error that lists the known names unless this is one of them. of: what it belongs to

    >>> check_name("format", "contrapo", ("contrapro", "lopes"))
    Traceback (most recent call last):
    anaphora.core.errors.AnaphoraError: unknown format 'contrapo' (did you mean contrapro?). Known: contrapro, lopes
    """
    names = list(known)
    if name not in names:
        belongs = f" of {of}" if of else ""
        near = did_you_mean(name, names)
        raise AnaphoraError(f"unknown {what} {name!r}{belongs}{near}. Known: {', '.join(names)}")


P = ParamSpec("P")
R = TypeVar("R")


def named(function: Callable[P, R]) -> Callable[P, R]:
    """The function, whose TypeError for an unknown keyword says which keywords it takes."""
    parameters = inspect.signature(function).parameters
    known = [name for name, parameter in parameters.items() if parameter.kind is not parameter.VAR_POSITIONAL]

    @wraps(function)
    def call(*arguments: P.args, **keywords: P.kwargs) -> R:
        for name in keywords:
            if name not in known:
                near = did_you_mean(name, known)
                raise TypeError(f"{function.__name__}() has no parameter {name!r}{near}. It takes: {', '.join(known)}")
        return function(*arguments, **keywords)

    return call
