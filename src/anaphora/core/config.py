"""Typed configuration files: TOML documents as dataclasses, with overrides and errors that name the key.

A configuration is a dataclass whose fields are sections, which are dataclasses again, or plain values. Values are
strings, numbers, truth values and tuples of them.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from anaphora.core.errors import AnaphoraError, BadInput, did_you_mean
from anaphora.core.parsing import NAMES, is_a, parse_toml, shown

Config = TypeVar("Config")


def typed_config(kind: type[Config], document: Mapping[str, Any], path: Path, section: str = "") -> Config:
    """Return the configuration that a TOML document holds; keys that are left out have their default.

    An unknown section or key, or a value of another type, is a BadInput that names it, and so is what the dataclasses
    refuse when they are created. section: the name of the section, if it is not the whole document
    """
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for name, value in document.items():
        key = f"{section}.{name}" if section else name
        if name not in hints:
            problem = f"unknown {f'key {key}' if section else f'section {name!r}'}{did_you_mean(name, hints)}"
            raise BadInput(path, problem, remedy=f"Known: {', '.join(hints)}.")
        if not dataclasses.is_dataclass(hints[name]):
            values[name] = _typed_value(hints[name], value, key, path)
        elif isinstance(value, Mapping):
            values[name] = typed_config(hints[name], value, path, key)
        else:
            raise BadInput(path, f"{key} must be a section", remedy=f"Write [{key}] and its keys below it.")
    try:
        return kind(**values)
    except BadInput:
        raise
    except AnaphoraError as error:
        raise BadInput(path, str(error)) from None


def _typed_value(kind: Any, value: Any, key: str, path: Path) -> Any:
    """Return the value as its field has it: a whole number is a number, a single value is a tuple of one."""
    if get_origin(kind) is tuple:
        values = value if isinstance(value, list | tuple) else [value]
        return tuple(_typed_value(get_args(kind)[0], one, key, path) for one in values)
    if not is_a(value, kind):
        raise BadInput(path, f"{key} must be {NAMES[kind]}, not {shown(value)}")
    return float(value) if kind is float else value


# Documents before they are typed


def merge_documents(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return one document over another; sections are merged key by key."""
    result = dict(under)
    for key, value in over.items():
        before = result.get(key)
        both = isinstance(value, Mapping) and isinstance(before, Mapping)
        result[key] = merge_documents(before, value) if both else value  # type: ignore[arg-type]
    return result


def parse_overrides(overrides: Mapping[str, str], example: str) -> dict[str, Any]:
    """Return the document that `--set` options make: section.key → value as TOML; anything else is a string.

    example: an option that is right, for the error message
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


def rename_keys(document: Mapping[str, Any], aliases: Mapping[str, str], path: Path) -> dict[str, Any]:
    """Return the document with the earlier names of keys replaced by the present ones.

    aliases: section.earlier → the present name of the key
    """
    result = dict(document)
    for alias, name in aliases.items():
        section, _, earlier = alias.partition(".")
        values = result.get(section)
        if not isinstance(values, Mapping) or earlier not in values:
            continue
        if name in values:
            raise BadInput(path, f"{alias} is the earlier name of {section}.{name}", remedy="Give only one of them.")
        result[section] = {name if key == earlier else key: value for key, value in values.items()}
    return result


# Writing


def write_toml(config: Any, left_out: Collection[str] = ()) -> str:
    """Return a configuration as TOML. left_out: keys (section.key) that are not written"""
    plain, sections = [], []
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if not dataclasses.is_dataclass(value):
            plain.append(f"{field.name} = {toml_value(value)}")
            continue
        sections += ["", f"[{field.name}]"]
        keys = ((key.name, getattr(value, key.name)) for key in dataclasses.fields(value))
        sections += [f"{key} = {toml_value(one)}" for key, one in keys if f"{field.name}.{key}" not in left_out]
    return "\n".join([*plain, *sections]) + "\n"


def toml_value(value: Any) -> str:
    """Return a string, a number, a truth value, or a list of them as TOML."""
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else repr(value)  # as in JSON
