"""What is known of a suite: from the catalogue, from its file, or from both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anaphora.suites.catalogue import catalogue, find
from anaphora.suites.get import suite_path
from anaphora.suites.suite import read_native


def about(name_or_path: str) -> dict[str, Any]:
    """Facts of a suite by its name in the catalogue or by its file; counts are counted where the file is here."""
    if Path(name_or_path).is_file():
        return _of_file(Path(name_or_path))
    entry = find(name_or_path)
    facts: dict[str, Any] = {
        "name": entry.name,
        "title": entry.title,
        "languages": entry.languages,
        "examples": entry.examples,
        "candidates": entry.candidates,
        "phenomena": list(entry.phenomena),
        "breakdowns": list(entry.breakdowns),
        "paper": entry.paper,
        "licence": entry.licence,
        "page": entry.page,
        "files": [file.url or file.path for file in entry.files],
        "notes": entry.notes,
    }
    here = suite_path(entry.name)
    if here.is_file():
        counted = ("path", "sha256", "examples", "candidates")
        facts |= {key: value for key, value in _of_file(here).items() if key in counted}
    return facts | {"citation": entry.citation}


def _of_file(path: Path) -> dict[str, Any]:
    suite = read_native(path)
    examples = candidates = 0
    tags: set[str] = set()
    for example in suite:
        examples += 1
        candidates += len(example.candidates)
        tags.update(example.tags)
    header = suite.header
    licence = header.licence or (catalogue()[header.name].licence if header.name in catalogue() else "")
    return {
        "name": header.name,
        "path": str(path),
        "languages": header.languages,
        "examples": examples,
        "candidates": candidates,
        "breakdowns": list(header.breakdowns),
        "tags": sorted(tags),
        "licence": licence,
        "sha256": suite.sha256(),
        "citation": header.citation,
    }
