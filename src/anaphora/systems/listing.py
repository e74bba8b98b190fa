"""The kinds of systems there are, and whether what each needs is installed: found out without importing it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import entry_points
from importlib.util import find_spec, resolve_name
from pathlib import Path

from anaphora.systems import GROUP, KINDS


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of system.

    missing: packages that it imports and that are not installed, else modules that its own package lacks
    install: the command that brings them
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
        install = f"pip install {' '.join(missing)}" if missing and "." not in missing[0] else None
        found.append(Kind(name, brought, missing, install))
    return found


def missing_packages(module: str) -> tuple[str, ...]:
    """What keeps a module from being imported. Read from the source: importing torch only to say that it is there
    would take seconds."""
    missing = {name for name in _needs(module, set()) if _find(name) is None}
    return tuple(sorted(name for name in missing if "." not in name) or sorted(missing))


def _needs(module: str, seen: set[str]) -> Iterator[str]:
    """The packages that a module imports, itself or through modules of its own package; that which is not there."""
    seen.add(module)
    package, own, spec = module.rpartition(".")[0], module.partition(".")[0], _find(module)
    if package and package not in seen:
        yield from _needs(package, seen)
    if spec is None:
        yield module if _find(own) else own
    for name in _imports(spec) if spec else ():
        if name.partition(".")[0] != own:
            yield name.partition(".")[0]
        elif name not in seen:
            yield from _needs(name, seen)


def _imports(spec: ModuleSpec) -> Iterator[str]:
    """The modules that a module imports when it is imported, by their full names."""
    if spec.origin is None or not spec.origin.endswith(".py"):
        return
    try:
        body = ast.parse(Path(spec.origin).read_bytes()).body
    except (SyntaxError, ValueError):  # who loads it is told
        return
    for node in body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level <= spec.name.count(".") + 1:
            name = resolve_name("." * node.level + (node.module or ""), spec.parent)
            yield name
            if name.partition(".")[0] == spec.name.partition(".")[0]:  # what is imported from it may be modules, too
                yield from (inner for alias in node.names if _find(inner := f"{name}.{alias.name}"))


def _find(module: str) -> ModuleSpec | None:
    """Where a module is; unlike `find_spec` it imports none of the packages around it."""
    first, *inner = module.split(".")
    spec = find_spec(first)
    for name in inner:
        if spec is None or spec.submodule_search_locations is None:
            return None
        spec = PathFinder.find_spec(f"{spec.name}.{name}", spec.submodule_search_locations)
    return spec
