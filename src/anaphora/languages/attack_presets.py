"""Presets of attacks: phrases and owners in each language, as TOML files; a new one needs no code."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError, BadInput, check_name
from anaphora.core.parsing import read_toml

DATA = Path(__file__).parent / "data" / "attacks"
Table = Mapping[str, Any]


@cache
def built_in(kind: str) -> dict[str, Any]:
    """Return the built-in presets of a kind."""
    return read_toml(DATA / f"{kind}.toml")


def preset(kind: str, name: str, file: Path | None = None) -> Table:
    """Return a preset by its name, from the user's file or from those of the papers.

    kind: `phrase`, `possessive` or `distractor`
    """
    presets = {**built_in(kind), **(read_toml(file) if file else {})}
    check_name("preset", name, presets)
    table = presets[name]
    if not isinstance(table, dict):
        raise BadInput(preset_file(kind, name, file), f"{name} must be a table", remedy=f"Begin it with [{name}].")
    return table


def preset_file(kind: str, name: str, file: Path | None) -> Path:
    """Return the file that a preset comes from, for errors."""
    return file if file is not None and name in read_toml(file) else DATA / f"{kind}.toml"


def for_languages(texts: Mapping[str, Any], source: str, target: str, what: str) -> tuple[Any, Any]:
    """Return the texts of a preset in the two languages of a suite; none may be missing."""
    for language in (source, target):
        if language not in texts:
            has = ", ".join(texts) or "no language"
            raise AnaphoraError(
                f"{what} has no phrase for {language!r} (it has: {has}). "
                f"Give it in both languages: --source-phrase TEXT --target-phrase TEXT, or in a file: --presets FILE"
            )
    return texts[source], texts[target]
