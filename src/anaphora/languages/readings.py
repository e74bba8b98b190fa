"""What a pronoun can mean (person, number, gender, role …), and in what two of them differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.parsing import read_toml
from anaphora.languages.pronouns import normalise

# a dimension and its values; a reading that says nothing of a dimension agrees with every value of it
DIMENSIONS = {
    "kind": ("demonstrative", "relative"),
    "person": ("1", "2", "3"),
    "number": ("sg", "pl"),
    "gender": ("m", "f", "n"),
    "animacy": ("animate", "inanimate"),
    "role": ("subject", "object", "determiner", "possessive", "reflexive"),
}
DIMENSION_OF = {value: dimension for dimension, values in DIMENSIONS.items() for value in values}
CLASSES = ("number", "gender", "animacy", "role")  # error classes by precedence; everything else is "other"
OTHER = "other"

Reading = Mapping[str, str]


@dataclass(frozen=True)
class Readings:
    """The pronouns of a language.

    readings: pronoun, in lower case → what it can mean; capital: those that are always written with a capital (I)
    """

    language: str
    readings: Mapping[str, tuple[Reading, ...]]
    capital: frozenset[str] = frozenset()

    @cached_property
    def pronouns(self) -> frozenset[str]:
        return frozenset(self.readings)

    def differ_in(self, one: str, other: str) -> tuple[str, ...]:
        """The dimensions in which two pronouns differ, in the readings that are nearest to each other."""
        found = [
            tuple(d for d in DIMENSIONS if d in first and d in second and first[d] != second[d])
            for first in self.readings[one]
            for second in self.readings[other]
        ]
        return min(found, key=len)

    def error_class(self, one: str, other: str) -> str:
        """gender (he → it), number (they → it), animacy (who → which), role (he → him), or other (§3.2).

        Pronouns of another kind or person are other; where several things differ, the first of `CLASSES` counts.
        """
        differing = self.differ_in(one, other)
        if "kind" in differing or "person" in differing:
            return OTHER
        return next((name for name in CLASSES if name in differing), OTHER)


def known_languages() -> list[str]:
    return sorted(entry.name.removesuffix(".toml") for entry in _data().iterdir() if entry.name.endswith(".toml"))


def load_readings(language: str, path: Path | None = None) -> Readings:
    """The pronouns of a language, or those of a file of the same form."""
    if path is not None:
        return _parse(read_toml(path), path, language)
    if language not in known_languages():
        known = ", ".join(known_languages())
        raise AnaphoraError(
            f"no list of pronouns for language {language!r}. There are lists for {known}; supply your own with "
            "--pronouns FILE.toml (docs/measure.md shows one)"
        )
    return _parse(read_toml(_data() / f"{language}.toml"), Path(f"{language}.toml"), language)


def _data() -> Any:
    return resources.files("anaphora.languages") / "data" / "readings"


def _parse(raw: dict[str, Any], path: Path, language: str) -> Readings:
    table, capital = raw.get("readings"), raw.get("capital", [])
    if not isinstance(table, dict) or not table or not isinstance(capital, list):
        raise BadInput(path, "no table [readings]", remedy='Write lines such as he = ["3 sg m subject"] in it.')
    readings = {normalise(word): _readings(word, values, path) for word, values in table.items()}
    return Readings(language, readings, frozenset(normalise(str(word)) for word in capital))


def _readings(word: str, values: Any, path: Path) -> tuple[Reading, ...]:
    if not isinstance(values, list) or not values or not all(isinstance(value, str) for value in values):
        raise BadInput(path, f"{word}: a list of readings is expected", remedy='Such as ["3 sg m subject"].')
    return tuple(_reading(word, value, path) for value in values)


def _reading(word: str, text: str, path: Path) -> Reading:
    found: dict[str, str] = {}
    for value in text.split():
        dimension = DIMENSION_OF.get(value)
        if dimension is None:
            raise BadInput(path, f"{word}: unknown {value!r}", remedy=f"Known: {', '.join(DIMENSION_OF)}.")
        found[dimension] = value
    return found if "kind" in found else {"kind": "personal", **found}
