"""Configs of measures as TOML: sections [data], [model], [training]; every key has a default."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, get_type_hints

from anaphora.core.errors import AnaphoraError, BadInput, did_you_mean
from anaphora.core.parsing import parse_toml, read_toml
from anaphora.measure.config import Config

SECTIONS = {name: kind for name, kind in get_type_hints(Config).items() if name != "description"}
EXPECTED = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def read_config(path: Path, overrides: Mapping[str, str] | None = None) -> Config:
    """A config file; overrides are keys (`training.epochs`) with values as TOML or plain text."""
    return parse_config(read_toml(path), path, overrides)


def parse_config(document: Mapping[str, Any], path: Path, overrides: Mapping[str, str] | None = None) -> Config:
    """A config from its document; what is unknown or of another type is an error with its key."""
    sections: dict[str, dict[str, Any]] = {}
    for name, values in document.items():
        if name == "description":
            continue
        if name not in SECTIONS or not isinstance(values, Mapping):
            problem = f"unknown section {name!r}{did_you_mean(name, SECTIONS)}"
            raise BadInput(path, problem, remedy=f"Known: {', '.join(SECTIONS)}.")
        sections[name] = dict(values)
    for key, text in (overrides or {}).items():
        section, dot, name = key.partition(".")
        if not dot or section not in SECTIONS:
            raise AnaphoraError(f"--set {key}={text}: write section.key=value, for example training.epochs=5")
        sections.setdefault(section, {})[name] = _value(text)
    try:
        found = {name: _section(name, values, path) for name, values in sections.items()}
        return Config(description=str(document.get("description", "")), **found)
    except BadInput:
        raise
    except AnaphoraError as error:
        raise BadInput(path, str(error)) from None


def presets() -> dict[str, Config]:
    """The configs that come with the program: the eight experiments of Table 4."""
    folder = resources.files("anaphora.measure") / "presets"
    found = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".toml")), key=lambda entry: entry.name)
    return {entry.name.removesuffix(".toml"): parse_config(read_toml(entry), Path(entry.name)) for entry in found}


def _section(name: str, values: Mapping[str, Any], path: Path) -> Any:
    kind = SECTIONS[name]
    hints = get_type_hints(kind)
    found = {}
    for key, value in values.items():
        if key not in hints:
            problem = f"unknown key {name}.{key}{did_you_mean(key, hints)}"
            raise BadInput(path, problem, remedy=f"Known: {', '.join(hints)}.")
        found[key] = _typed(hints[key], value, f"{name}.{key}", path)
    return kind(**found)


def _typed(kind: Any, value: Any, key: str, path: Path) -> Any:
    if kind == tuple[str, ...]:
        values = value if isinstance(value, list | tuple) else [value]
        return tuple(_typed(str, one, key, path) for one in values)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BadInput(path, f"{key}: {EXPECTED[kind]} is expected, not {value!r}")
    return value


def _value(text: str) -> Any:
    try:
        return parse_toml(f"value = {text}", "--set")["value"]
    except BadInput:
        return text


def as_document(config: Config) -> dict[str, Any]:
    """The config as plain values, every key of it."""
    return dataclasses.asdict(config)
