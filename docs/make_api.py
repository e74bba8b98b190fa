"""Write docs/api.md from the docstrings of the public names: `python docs/make_api.py`. A test keeps it current."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anaphora
from anaphora.api import Reported
from anaphora.evaluation.compare import Comparison, Difference, Pair
from anaphora.evaluation.result import Figure, Result, Settings
from anaphora.metrics.apt.result import AptResult
from anaphora.suites.suite import Header
from anaphora.systems.options import Options
from anaphora.systems.run import Run

FUNCTIONS = ("load_suite", "load_system", "score", "evaluate", "compare", "apt", "report")
RETURNED = (Result, Figure, Settings, Comparison, Pair, Difference, AptResult, Run, Options, Reported, Header)
OTHERS = ("Example", "Suite", "AnaphoraError", "BadInput")


def reference() -> str:
    """The whole page."""
    parts = [
        "# Python API",
        "",
        "Written by `python docs/make_api.py`. `import anaphora` imports nothing heavy; every name is found there,",
        "or is what its functions return. Functions take and return typed, frozen values, never print, and raise",
        "`AnaphoraError` with the next step in its message.",
        "",
    ]
    for name in FUNCTIONS:
        parts += _entry(f"anaphora.{name}", getattr(anaphora, name))
    for found in (*(getattr(anaphora, name) for name in OTHERS), *RETURNED):
        parts += _class(found)
    return "\n".join(parts).rstrip() + "\n"


def _entry(name: str, function: Any) -> Iterator[str]:
    yield from (f"## `{name}`", "", "```python", _call(name, function), "```", "", _said(function), "")


def _call(name: str, function: Any) -> str:
    """The signature, a line per argument; annotations are texts, as written."""
    found = inspect.signature(function)
    lines, keyword_only = [], False
    for argument in found.parameters.values():
        if argument.kind is argument.VAR_POSITIONAL:
            keyword_only = True
        if argument.kind is argument.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            lines.append("    *,")
        stars = {argument.VAR_POSITIONAL: "*", argument.VAR_KEYWORD: "**"}.get(argument.kind, "")
        default = "" if argument.default is argument.empty else f" = {argument.default!r}"
        lines.append(f"    {stars}{argument.name}: {argument.annotation}{default},")
    return "\n".join([f"{name}(", *lines, f") -> {found.return_annotation}"])


def _class(found: type) -> Iterator[str]:
    yield from (f"## `{found.__name__}`", "", _said(found), "")
    for name, member in vars(found).items():
        if name.startswith("_") or not (callable(member) or isinstance(member, property)):
            continue
        target = member.fget if isinstance(member, property) else member
        if target is None or not inspect.getdoc(target):
            continue
        call = "" if isinstance(member, property) else "()"
        yield f"- `.{name}{call}`: {_said(target).splitlines()[0]}"
    yield ""


def _said(thing: Any) -> str:
    """A docstring; the lines that explain arguments become a list."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    return "\n".join(re.sub(r"^(\w[\w, ]*): ", r"- *\1*: ", line) for line in lines)


if __name__ == "__main__":
    Path(__file__).with_name("api.md").write_text(reference(), encoding="utf-8")
