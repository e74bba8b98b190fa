"""Typed configurations in TOML: a frozen dataclass per section, checked key by key, with overrides."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from anaphora.core.errors import AnaphoraError, BadInput, did_you_mean
from anaphora.core.parsing import parse_toml

T = TypeVar("T")
EXPECTED = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def typed_config(kind: type[T], document: Mapping[str, Any], path: Path) -> T:
    """Return the configuration that a document describes; an unknown key or a value of another type is an error.

    kind: a dataclass with a text `description` and a dataclass per section
    path: named in errors
    """
    sections = get_type_hints(kind)
    values: dict[str, Any] = {}
    for name, value in document.items():
        if name not in sections:
            problem = f"unknown section {name!r}{did_you_mean(name, sections)}"
            raise BadInput(path, problem, remedy=known_names(sections))
        if name == "description":
            values[name] = str(value)
            continue
        if not isinstance(value, Mapping):
            raise BadInput(path, f"[{name}] is a section", remedy=f"Write [{name}] and its keys below it.")
        values[name] = _section(sections[name], name, value, path)
    return kind(**values)


def _section(kind: Any, name: str, values: Mapping[str, Any], path: Path) -> Any:
    hints = get_type_hints(kind)
    arguments = {}
    for key, value in values.items():
        if key not in hints:
            problem = f"unknown key {name}.{key}{did_you_mean(key, hints)}"
            raise BadInput(path, problem, remedy=known_names(hints))
        arguments[key] = _typed(hints[key], value, f"{name}.{key}", path)
    return kind(**arguments)


def _typed(kind: Any, value: Any, key: str, path: Path) -> Any:
    """Return the value in the type of its field: a whole number may be a float, a single value a list of one."""
    if kind in (tuple[str, ...], tuple[float, ...], tuple[int, ...]):
        item = get_args(kind)[0]
        values = value if isinstance(value, list | tuple) else [value]
        return tuple(_typed(item, one, key, path) for one in values)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BadInput(path, f"{key}: {EXPECTED[kind]} is expected, not {value!r}")
    return value


def parse_overrides(overrides: Mapping[str, str], example: str) -> dict[str, Any]:
    """Return the document of `--set section.key=value` options, whose values are TOML or plain text.

    example: a key with a value, for the error
    """
    document: dict[str, Any] = {}
    for key, text in overrides.items():
        section, dot, name = key.partition(".")
        if not dot:
            raise AnaphoraError(f"--set {key}={text}: write section.key=value, for example {example}")
        try:
            value = parse_toml(f"value = {text}", "--set")["value"]
        except BadInput:
            value = text
        document.setdefault(section, {})[name] = value
    return document


def merge_documents(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with the values of another one in place of its own, section by section."""
    result = dict(under)
    for key, value in over.items():
        before = result.get(key)
        both = isinstance(value, Mapping) and isinstance(before, Mapping)
        result[key] = merge_documents(before, value) if both else value  # type: ignore[arg-type]
    return result


def as_document(config: Any) -> dict[str, Any]:
    """Return a configuration as plain values, with every key."""
    return dataclasses.asdict(config)


def known_names(names: Iterable[str]) -> str:
    """Return a remedy that lists the names that exist."""
    return f"Known: {', '.join(names)}."
