"""How a run was made: the command that makes it again, its settings in words. No path of this machine is in it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anaphora.runs import FILE, Run
from anaphora.suites.catalogue import catalogue

CONTEXT = re.compile(r"(?P<source>\d+)\+(?P<target>\d+)(?P<produced>p?)")
# a path from the root or from the home folder, at the beginning or after what can stand before a path in a spec
PATH = re.compile(r"""(?P<before>^|[:,=\s"'“(])(?P<folder>(?:~[\w.-]*)?/(?!/)|[A-Za-z]:\\)(?P<rest>[^\s,?&"']*)""")
OPTIONS = ("separator", "margins_only", "truncate", "plain", "limit", "sample", "focus")  # of score, said by it
FLAGS = {"margins_only": "--margins-only", "truncate": "--truncate", "plain": "--plain"}


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a run was made: what a reader needs to make it again.

    suite: what was scored, with its hash; notes: what the command needs to run
    """

    name: str
    suite: str
    command: str
    signature: str
    settings: str
    notes: tuple[str, ...] = ()


def provenance(
    run: Run, *, spec: str, name: str, signature: str, file: str | None = None, unanswered: str = ""
) -> Provenance:
    """The provenance of a run.

    spec: the system as it was given to `score`; name: what the report calls it
    file: the name of the suite's file, where it is known and not one of the catalogue
    unanswered: how many examples have no answer, if any
    """
    header = run.header
    suite, notes = _suite(header.suite, file)
    shown = without_folders(spec)
    if shown != spec or file is not None:
        notes.append("Paths are cut to their last part: run it where these files are.")
    if unanswered:
        notes.append(f"Without an answer, and counted as wrong: {unanswered} examples.")
    focus = header.settings.get("focus", "candidate")
    if focus != "candidate":
        notes.append(f"Scored by anaphora context-usage, which asks for the {focus} part of a candidate.")
    words = ["anaphora", "score", suite, "--system", shown, *_options(header.context, header.settings)]
    folder = run.path.parent.name if run.path.name.startswith(FILE) else run.path.name
    command = shlex.join([*words, "-o", f"runs/{folder}"])
    about = f"{header.suite} {header.languages.replace('-', '→')}, SHA-256 {header.sha256[:12]}…"
    return Provenance(name, about, command, without_folders(signature), in_words(header.settings), tuple(notes))


def _suite(name: str, file: str | None) -> tuple[str, list[str]]:
    if file is not None:
        return file, []
    if name in catalogue():
        return name, [f"Get the suite first, if it is not on your machine: anaphora suites get {name}"]
    return f"{name}.jsonl", [f"{name}.jsonl stands for the suite's file."]


def _options(context: str | None, settings: Mapping[str, Any]) -> Iterator[str]:
    """The options of `score` that are not what they are by default."""
    found = CONTEXT.fullmatch(context or "")
    if found is not None:
        sentences = max(int(found["source"]), int(found["target"]))
        yield from ("--context", str(sentences))
        if found["produced"]:
            yield from ("--target-context", "produced")
        elif sentences and not int(found["target"]):
            yield from ("--target-context", "none")
    if settings.get("separator", " ") != " ":
        yield from ("--separator", str(settings["separator"]))
    if settings.get("limit") is not None:
        yield from ("--limit", str(settings["limit"]))
    sample, sign, seed = str(settings.get("sample") or "").partition("@")
    if sign:
        yield from ("--sample", sample, "--seed", seed)
    for key, option in FLAGS.items():
        if settings.get(key):
            yield option


def in_words(settings: Mapping[str, Any]) -> str:
    """What a system says of itself, as `name value` with semicolons between; what the command says is left out."""
    parts = _parts({key: value for key, value in settings.items() if key not in OPTIONS})
    return "; ".join(without_folders(part) for part in parts)


def _parts(settings: Mapping[str, Any], before: str = "") -> Iterator[str]:
    for key, value in settings.items():
        name = f"{before}{key}".replace("_", " ")
        if isinstance(value, Mapping):
            yield from _parts(value, f"{name}: ")
        elif value is True:
            yield name
        elif isinstance(value, Sequence) and not isinstance(value, str):
            if value:
                yield f"{name} {', '.join(map(str, value))}"
        elif value is not None and value is not False and value != "":
            yield f"{name} {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"“{value}”" if isinstance(value, str) and (value != value.strip() or " " in value) else str(value)


def without_folders(text: str) -> str:
    """A text in which every path from the root or the home folder is cut to its last part."""
    return PATH.sub(lambda found: found["before"] + re.split(r"[/\\]", found["rest"].rstrip("/\\"))[-1], text)
