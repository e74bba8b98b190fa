"""The kinds of systems there are, and whether what each needs is installed: found out without importing it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from anaphora.systems import GROUP, KINDS


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of system.

    missing: packages that it imports and that are not installed; install: the command that brings them
    """

    kind: str
    what: str
    missing: tuple[str, ...] = ()
    install: str | None = None


def kinds() -> list[Kind]:
    """Ours, and those that other packages bring; a package may replace one of ours."""
    foreign = {point.name: point for point in entry_points(group=GROUP)}
    found = []
    for name, (target, extra, what) in KINDS.items():
        if name not in foreign:
            missing = missing_packages(target.partition(":")[0])
            found.append(Kind(name, what, missing, f'pip install "anaphora[{extra}]"' if missing and extra else None))
    for name, point in foreign.items():
        brought = f"brought by {point.dist.name} {point.dist.version}" if point.dist else point.value
        missing = missing_packages(point.module)
        found.append(Kind(name, brought, missing, f"pip install {' '.join(missing)}" if missing else None))
    return found


def missing_packages(module: str) -> tuple[str, ...]:
    """What keeps a module from being imported. Read from the source: importing torch only to say that it is there
    would take seconds."""
    return tuple(sorted({name for name in _needs(module, set()) if find_spec(name) is None}))


def _needs(module: str, seen: set[str]) -> Iterator[str]:
    """The packages that a module imports, itself or through modules of its own package."""
    seen.add(module)
    own = module.partition(".")[0]
    spec = find_spec(module) if find_spec(own) else None
    if spec is None:
        yield own
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return
    for node in ast.parse(Path(spec.origin).read_bytes()).body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        for name in names:
            if name.partition(".")[0] != own:
                yield name.partition(".")[0]
            elif name not in seen:
                yield from _needs(name, seen)
