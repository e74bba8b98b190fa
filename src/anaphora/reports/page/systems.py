"""How systems are called and drawn: a short name that tells them apart, a colour and a shape, the same everywhere."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from anaphora.core.errors import AnaphoraError
from anaphora.runs import Run
from anaphora.svg import BLUE, GREEN, ORANGE, PURPLE

# Okabe and Ito 2008, in an order in which neighbours differ in lightness, too; one shape each for those without colour
COLOURS = (BLUE, "#D55E00", GREEN, PURPLE, ORANGE, "#56B4E9")
SHAPES = ("circle", "square", "triangle", "diamond", "cross", "wedge")


@dataclass(frozen=True, slots=True)
class Look:
    """A system as the report shows it."""

    name: str
    colour: str
    shape: str


def looks(names: Sequence[str]) -> dict[str, Look]:
    """A colour and a shape for each system; after six of them the shapes tell the colours apart."""
    return {
        name: Look(name, COLOURS[k % len(COLOURS)], SHAPES[(k + k // len(COLOURS)) % len(SHAPES)])
        for k, name in enumerate(names)
    }


def names_of(runs: Sequence[Run], given: Sequence[str] = ()) -> list[str]:
    """A name for the system of each run: what is given, else the end of its spec with as much as tells systems apart.

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
    specs = {key: _words(key[0]) for key in keys}
    short = {key: _shortest(key[0], [other for other, _ in specs]) for key in specs}
    taken = list(short.values())
    named = {
        key: name if taken.count(name) == 1 else f"{name} ({key[1] or 'unknown'} context)"
        for key, name in short.items()
    }
    return [named[key] for key in keys]


def split_names(given: Sequence[str], of_results: Collection[str]) -> tuple[list[str], dict[str, str]]:
    """The names of runs, and by OLD=NEW those of systems of results; a `=` in any other name is part of it."""
    renamed = {}
    for name in given:
        old, sign, new = name.partition("=")
        if sign and old in of_results:
            renamed[old] = new
    return [name for name in given if name.partition("=")[0] not in renamed], renamed


def run_called(name: str, runs: Sequence[Run], names: Sequence[str]) -> str:
    """The name of the run's system that a result is about; where no run or several fit, a short form of its own name.

    A result calls a system by its spec, or by the file of its translations: `out/baseline.de` is `baseline`.
    names: of the systems of the runs
    """
    wanted = _forms(name, {part for run in runs for part in run.header.languages.split("-")})
    for keys in (_spec_keys, _loose_keys):
        found = {shown for run, shown in zip(runs, names, strict=True) if wanted & keys(run, shown)}
        if len(found) == 1:
            return found.pop()
    return short_name(name)


def _spec_keys(run: Run, name: str) -> set[str]:
    return {run.header.system, name}


def _loose_keys(run: Run, name: str) -> set[str]:
    folder = run.path.parent.name if run.path.name.startswith("run.jsonl") else run.path.name.partition(".jsonl")[0]
    return {short_name(run.header.system), folder}


def _forms(name: str, languages: Collection[str]) -> set[str]:
    """A name, its last word, and that without endings that files of translations have."""
    endings = {*languages, "txt", "gz", "out", "hyp", "tok", "translation"}
    forms = {name, last := name.replace("\\", "/").rpartition("/")[2]}
    while (stem := last.rpartition("."))[0] and stem[2] in endings:
        last = stem[0]
        forms.add(last)
    return forms | {short_name(name)}


def short_name(spec: str) -> str:
    """The last word of a spec: the name of a model without its folder."""
    return _shortest(spec, ())


def _words(spec: str) -> list[str]:
    return [word for word in re.split(r"[/:]", spec) if word]


def _shortest(spec: str, all_specs: Sequence[str]) -> str:
    """The last words of a spec that no other spec ends in; the whole where there are none."""
    words = _words(spec)
    others = {other for other in all_specs if other != spec}
    for count in range(1, len(words) + 1):
        if all(_words(other)[-count:] != words[-count:] for other in others):
            return re.sub(r"\.(scores|txt|gz)$", "", "/".join(words[-count:]))
    return spec
