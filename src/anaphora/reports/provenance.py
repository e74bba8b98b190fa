"""What the runs of a report are called and how they were made: names of systems, commands and settings."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anaphora.core.errors import AnaphoraError
from anaphora.runs import FILE, Run
from anaphora.suites.catalog import catalog

# Names: short, and distinct within a report.


def names_of(runs: Sequence[Run], given: Sequence[str] = ()) -> list[str]:
    """Return a name for the system of each run: the given one, else the shortest distinct end of its spec.

    given: one for each run; runs of the same system have the same name
    """
    if given:
        if len(given) != len(runs):
            raise AnaphoraError(
                f"{len(given)} names for {len(runs)} runs. Give --name once for each run, in order; a system of a "
                "--result is renamed with --name OLD=NEW"
            )
        return list(given)
    keys = [(run.header.system, run.header.context) for run in runs]
    short = {key: _shortest(key[0], [other for other, _ in keys]) for key in keys}
    taken = list(short.values())
    named = {
        key: name if taken.count(name) == 1 else f"{name} ({key[1] or 'unknown'} context)"
        for key, name in short.items()
    }
    return [named[key] for key in keys]


def split_names(given: Sequence[str], in_results: Collection[str]) -> tuple[list[str], dict[str, str]]:
    """Separate names of runs from OLD=NEW names of systems in results; `=` in any other name is part of it."""
    renamed = {}
    for name in given:
        old, sign, new = name.partition("=")
        if sign and old in in_results:
            renamed[old] = new
    return [name for name in given if name.partition("=")[0] not in renamed], renamed


def run_called(name: str, runs: Sequence[Run], names: Sequence[str]) -> str:
    """Return the name of the run that a result belongs to; a short form of its own name where no single run fits.

    A result names a system by its spec, or by the file of its translations: `out/baseline.de` is `baseline`.
    names: those of the runs
    """
    wanted = _forms(name, {part for run in runs for part in run.header.languages.split("-")})
    exact: set[str] = set()
    loose: set[str] = set()
    for run, shown in zip(runs, names, strict=True):
        folder = run.path.parent.name if run.path.name.startswith(FILE) else run.path.name.partition(".jsonl")[0]
        exact |= {shown} if wanted & {run.header.system, shown} else set()
        loose |= {shown} if wanted & {short_name(run.header.system), folder} else set()
    for matches in (exact, loose):
        if len(matches) == 1:
            return matches.pop()
    return short_name(name)


def _forms(name: str, languages: Collection[str]) -> set[str]:
    """Return a name, its last word, and the last word without the extensions of translation files."""
    endings = {*languages, "txt", "gz", "out", "hyp", "tok", "translation"}
    forms = {name, last := name.replace("\\", "/").rpartition("/")[2]}
    while (stem := last.rpartition("."))[0] and stem[2] in endings:
        last = stem[0]
        forms.add(last)
    return forms | {short_name(name)}


def short_name(spec: str) -> str:
    """Return the last word of a spec: the name of a model without its folder."""
    return _shortest(spec, ())


def _words(spec: str) -> list[str]:
    return [word for word in re.split(r"[/:]", spec) if word]


def _shortest(spec: str, all_specs: Sequence[str]) -> str:
    """Return the last words of a spec that no other spec ends in; the whole spec where there are none."""
    words = _words(spec)
    others = {other for other in all_specs if other != spec}
    for count in range(1, len(words) + 1):
        if all(_words(other)[-count:] != words[-count:] for other in others):
            return re.sub(r"\.(scores|txt|gz)$", "", "/".join(words[-count:]))
    return spec


# Provenance: the command that makes a run again, and its settings in words. It holds no path of this machine.

CONTEXT = re.compile(r"(?P<source>\d{1,9})\+(?P<target>\d{1,9})(?P<produced>p?)")
# a path from the root or from the home folder, at the beginning or after what can stand before a path in a spec
PATH = re.compile(r"""(?P<before>^|[:,=\s"'“(])(?P<folder>(?:~[\w.-]*)?/(?!/)|[A-Za-z]:\\)(?P<rest>[^\s,?&"']*)""")
OPTIONS = ("separator", "margins_only", "truncate", "plain", "limit", "sample", "focus")  # of score
FLAGS = {"margins_only": "--margins-only", "truncate": "--truncate", "plain": "--no-prefix-tree"}


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a run was made, so that a reader can make it again.

    suite: name, languages and hash; notes: what the command needs to run
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
    """Return the provenance of a run.

    spec: the system as it was given to `score`; name: its name in the report
    file: the name of the suite's file, where it is known and not a suite of the catalog
    unanswered: number of examples without an answer, if any
    """
    header = run.header
    suite, notes = file or header.suite, []
    if file is None and header.suite in catalog():
        notes.append(f"Get the suite first, if it is not on your machine: anaphora suites get {header.suite}")
    elif file is None:
        suite = f"{header.suite}.jsonl"
        notes.append(f"{suite} stands for the suite's file.")
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


def _options(context: str | None, settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield the options of `score` that differ from their defaults."""
    sizes = CONTEXT.fullmatch(context or "")
    if sizes is not None:
        sentences = max(int(sizes["source"]), int(sizes["target"]))
        yield from ("--context", str(sentences))
        if sizes["produced"]:
            yield from ("--target-context", "produced")
        elif sentences and not int(sizes["target"]):
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
    """Return settings as `name value`, separated by semicolons, without those that are options of the command."""
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
    """Return a text in which every path from the root or the home folder is cut to its last part."""
    return PATH.sub(lambda path: path["before"] + re.split(r"[/\\]", path["rest"].rstrip("/\\"))[-1], text)
