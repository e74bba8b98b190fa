"""The published test sets by name: facts from `catalog.toml` (where they are, which bytes), never their data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from anaphora.core.errors import AnaphoraError, did_you_mean
from anaphora.core.parsing import read_toml

CATALOG = Path(__file__).with_name("catalog.toml")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file of a published set.

    path: where it goes below the suite's download folder
    url: None where it is not published in this form, or lies in an archive
    sha256, size: of the plain (decompressed) bytes; None where the file could not be had to compute them
    copies: names of the same data in another form that `--from-path` accepts instead, with their SHA-256
    """

    path: str
    url: str | None = None
    sha256: str | None = None
    size: int | None = None
    copies: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RemoteArchive:
    """A tar.gz or zip that holds files of a published set.

    sha256: None where the server does not promise the same bytes each time, as GitHub does not
    strip: how many leading folders of its members to drop
    members: what to take, as prefixes of the stripped paths; nothing named means everything
    """

    url: str
    sha256: str | None = None
    strip: int = 0
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A published test set: what it measures, whom to cite, how to fetch it and which reader understands it.

    page: where people find the set
    breakdowns: what its reader declares, as `evaluate --by` takes it
    input, format, options: what the reader is given, below the download folder; its name; its options
    notes: known defects and limits, for the person who is about to report numbers
    """

    name: str
    title: str
    source_language: str
    target_language: str
    examples: int
    phenomena: tuple[str, ...]
    paper: str
    citation: str
    licence: str
    page: str
    format: str
    breakdowns: tuple[str, ...]
    input: str
    notes: str
    files: tuple[RemoteFile, ...]
    archive: RemoteArchive | None = None
    candidates: int | None = None
    options: Mapping[str, str | int] = field(default_factory=dict)

    @property
    def languages(self) -> str:
        return f"{self.source_language}-{self.target_language}"

    @property
    def downloadable(self) -> bool:
        """Whether everything is published; else a local copy is needed (`--from-path`)."""
        return self.archive is not None or all(file.url is not None for file in self.files)


@cache
def catalog() -> Mapping[str, Entry]:
    """All entries by name, in the order of the file. Read on first use, so that importing stays light."""
    return MappingProxyType({name: _entry(name, facts) for name, facts in _facts()["suites"].items()})


def citation(paper: str) -> str:
    """The BibTeX of a paper, by its key in the file."""
    text: str = _facts()["citations"][paper]
    return text.strip()


@cache
def _facts() -> dict[str, Any]:
    return read_toml(CATALOG)


def find(name: str) -> Entry:
    """The entry of this name, or an error that names near ones."""
    entries = catalog()
    if name not in entries:
        near = did_you_mean(name, entries)
        raise AnaphoraError(f"no suite in the catalog is called {name!r}{near}. See them with: anaphora suites list")
    return entries[name]


def _entry(name: str, facts: dict[str, Any]) -> Entry:
    packed = facts.get("archive")
    return Entry(
        **{
            **facts,
            "name": name,
            "citation": citation(facts["citation"]),
            "phenomena": tuple(facts["phenomena"]),
            "breakdowns": tuple(facts["breakdowns"]),
            "files": tuple(RemoteFile(**row) for row in facts["files"]),
            "archive": RemoteArchive(**{**packed, "members": tuple(packed["members"])}) if packed else None,
            "options": MappingProxyType(facts.get("options", {})),
        }
    )
