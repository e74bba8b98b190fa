"""The texts of what was scored: runs hold none; the suite is looked for, and must be the one that was scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anaphora.core.errors import BadInput
from anaphora.runs import Run, RunHeader
from anaphora.suites.catalogue import catalogue
from anaphora.suites.contexts import select
from anaphora.suites.example import Example
from anaphora.suites.get import resolve, suite_path
from anaphora.suites.suite import Suite, read_native


@dataclass(frozen=True, slots=True)
class Texts:
    """The examples of a suite by id. file: the name of the file they came from; None if it is the catalogue's."""

    languages: tuple[str, str]
    examples: dict[str, Example]
    file: str | None


@dataclass(frozen=True, slots=True)
class Missing:
    """A suite whose texts are not in the report. remedy: what to do about it, as a sentence."""

    suite: str
    remedy: str


def texts_of(run: Run, named: Sequence[str | Path]) -> Texts | Missing:
    """The texts of a run's suite: from what is named (files, or names of the catalogue), else from the catalogue.

    A suite of that name that was not scored is an error where it is named, as its texts are not those of the scores.
    """
    header, other = run.header, None
    for name in named:
        suite = read_native(resolve(name))
        examples = scored_part(suite, header)
        if examples is not None:
            return _found(suite, examples, None if str(name) in catalogue() else Path(name).name)
        if suite.header.name == header.suite:
            other = Path(name)
    if other is not None:
        problem = f"not the suite that was scored: {run.path} has {header.suite}@{header.sha256[:6]}"
        raise BadInput(other, problem, remedy="Name the file that was given to anaphora score.")
    known = suite_path(header.suite)
    if known.is_file():
        suite = read_native(known)
        examples = scored_part(suite, header)
        if examples is not None:
            return _found(suite, examples, None)
        changed = f"the {header.suite} of this machine is another one now: add --suite FILE, the file that was scored"
        return Missing(header.suite, changed)
    if header.suite in catalogue():
        return Missing(header.suite, f"get them with anaphora suites get {header.suite}, or add --suite FILE")
    return Missing(header.suite, "add --suite FILE, the file that was scored")


def file_of(run: Run, named: Sequence[str | Path]) -> str | None:
    """The name of the file that a run has scored, where it is among those that are named."""
    for name in named:
        if str(name) not in catalogue() and scored_part(read_native(resolve(name)), run.header) is not None:
            return Path(name).name
    return None


def scored_part(suite: Suite, header: RunHeader) -> list[Example] | None:
    """The examples that a run has scored; None if they are not in this suite.

    A run of a part (`score --limit`, `--sample`) has the hash of that part, and says how many examples it has.
    """
    sample, _, seed = str(header.settings.get("sample") or "").partition("@")
    chosen = {"sample": int(sample), "seed": int(seed)} if sample else {"limit": header.settings.get("limit")}
    selection = select(suite, **chosen)
    return selection.examples if selection.sha256 == header.sha256 else None


def _found(suite: Suite, examples: Sequence[Example], file: str | None) -> Texts:
    about = suite.header
    return Texts((about.source_language, about.target_language), {e.id: e for e in examples}, file)
