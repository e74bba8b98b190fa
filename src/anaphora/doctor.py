"""`anaphora doctor`: which optional dependencies are installed. Nothing heavy is imported to find out."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from anaphora import __version__
from anaphora.core.workers import processor_count
from anaphora.languages.thesaurus import OPENTHESAURUS, WORDNET_FOLDER
from anaphora.suites.catalog import catalog
from anaphora.suites.get import home, suite_path
from anaphora.systems import kinds

OWN = "anaphora"
NAME, EXTRA = re.compile(r"[\w.-]+"), re.compile(r"extra == ['\"]([\w-]+)")
BELOW = re.compile(r"python_version *< *['\"]([\d.]+)")


@dataclass(frozen=True, slots=True)
class Finding:
    """One dependency. fine: None where nothing depends on it; found: what is installed; remedy: how to install it."""

    area: str
    name: str
    fine: bool | None
    found: str
    remedy: str = ""

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


def check_installation() -> list[Finding]:
    """Check which optional dependencies are installed and how to install the missing ones."""
    return [*_machine(), *_extras(), *_systems(), *_suites(), *_programs()]


def _machine() -> Iterator[Finding]:
    yield Finding("machine", OWN, True, __version__)
    yield Finding("machine", "Python", True, f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    yield Finding("machine", "processors", True, str(processor_count()))
    folder = home()
    known = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(known).free / 2**30
    writable = os.access(known, os.W_OK)
    remedy = "" if writable else "Set ANAPHORA_HOME to a folder that can be written to"
    yield Finding("machine", "home", writable, f"{folder}, {free:,.0f} GiB free", remedy)


def _extras() -> Iterator[Finding]:
    """Each extra of the project, with those of its packages that are missing."""
    for extra, packages in extras().items():
        missing = [name for name in packages if _version(name) is None]
        installed = ", ".join(f"{name} {_version(name)}" for name in packages if name not in missing)
        state = f"missing: {', '.join(missing)}" if missing else installed
        yield Finding("extras", extra, not missing, state, f'pip install "anaphora[{extra}]"' if missing else "")


def extras() -> dict[str, tuple[str, ...]]:
    """The packages of each extra on this Python, as the installed project declares them: `x>=1; extra == "hf"`."""
    packages: dict[str, list[str]] = {}
    try:
        declared = requires(OWN) or []
    except PackageNotFoundError:  # run from a checkout that is not installed
        return {}
    for line in declared:
        name, extra, below = NAME.match(line), EXTRA.search(line), BELOW.search(line)
        if name is None or extra is None or name[0] == OWN or extra[1] in ("all", "dev"):
            continue
        if below is None or sys.version_info[:2] < tuple(map(int, below[1].split("."))):
            packages.setdefault(extra[1], []).append(name[0])
    return {extra: tuple(names) for extra, names in packages.items()}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _systems() -> Iterator[Finding]:
    for kind in kinds():
        state = f"missing: {', '.join(kind.missing)}" if kind.missing else kind.what
        yield Finding("systems", f"{kind.kind}:", not kind.missing, state, kind.install or "")


def _suites() -> Iterator[Finding]:
    here = [name for name in catalog() if suite_path(name).is_file()]
    for name in here:
        yield Finding("suites", name, True, str(suite_path(name)))
    more = len(catalog()) - len(here)
    if more:
        known = f"{more} of the catalog are not on this machine"
        yield Finding("suites", "others", None, known, "anaphora suites list, anaphora suites get NAME")


def _programs() -> Iterator[Finding]:
    """Programs and data of the system that some commands use."""
    for name, purpose, path, package in (
        ("WordNet", "METEOR's English synonyms", WORDNET_FOLDER, "wordnet-base"),
        ("thesaurus", "the synonym attack in German", OPENTHESAURUS, "mythes-de"),
        ("Chromium", "tests of pages", shutil.which("chromium"), "chromium"),
    ):
        exists = path is not None and Path(path).exists()
        yield Finding("programs", name, exists or None, purpose, "" if exists else f"Debian: apt-get install {package}")
