"""Configs as TOML files: read into typed settings, with errors that name the key; presets to build on."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, get_type_hints

from anaphora.core.errors import AnaphoraError, BadInput, did_you_mean
from anaphora.core.files import decode
from anaphora.nmt.config import Config, problem_of
from anaphora.nmt.config_unused import unused, with_defaults

LAPTOP = "laptop"  # the preset that makes others small


def read_config(path: Path, overrides: Mapping[str, str] | None = None, strict: bool = True) -> Config:
    """A config file; `base = "NAME"` takes over a preset, whose keys the file's own go before.

    overrides: section.key → value as TOML (a word without quotes is a string)
    strict: a key that means nothing with the others is an error, not left out
    """
    return parse_config(_read(path), path, overrides, strict)


def parse_config(
    document: Mapping[str, Any], path: Path, overrides: Mapping[str, str] | None = None, strict: bool = True
) -> Config:
    """A config from what a TOML file holds."""
    given = _merged(document, _overriding(overrides or {}))
    config = _typed_config(_inherited(given, path), path)
    if problem := problem_of(config):
        raise BadInput(path, problem)
    reasons = unused(config)
    for key, why in reasons.items() if strict else ():
        section, _, name = key.partition(".")
        if name in given.get(section, {}):
            raise BadInput(path, f"{key} is not used: {why}", remedy="Leave it out.")
    return with_defaults(config, list(reasons))


def _typed_config(document: Mapping[str, Any], path: Path) -> Config:
    known = {f.name: f for f in fields(Config)}
    found: dict[str, Any] = {}
    for name, value in document.items():
        if name not in known:
            raise BadInput(path, f"unknown section {name!r}{did_you_mean(name, known)}", remedy=_known(known))
        if name == "description":
            found[name] = str(value)
            continue
        if not isinstance(value, Mapping):
            raise BadInput(path, f"[{name}] is a section", remedy=f"Write [{name}] and its keys below it.")
        found[name] = _section(get_type_hints(Config)[name], name, value, path)
    return Config(**found)


def presets() -> dict[str, Config]:
    """The presets by name, in alphabetical order."""
    return {name: parse_config({"base": name}, Path(f"{name}.toml")) for name in sorted(_presets())}


@cache
def _presets() -> dict[str, dict[str, Any]]:
    """What the project's preset files hold: each table is a preset, and is there in laptop size as well.

    A table NAME-laptop holds what is different in this one of the small models.
    """
    found: dict[str, dict[str, Any]] = {}
    for file in (files("anaphora.nmt") / "presets").iterdir():
        if file.name.endswith(".toml"):
            found |= tomllib.loads(file.read_text(encoding="utf-8"))
    size = found.pop(LAPTOP)
    own = {name: found.pop(name) for name in list(found) if name.endswith(f"-{LAPTOP}")}
    small = {f"{name}-{LAPTOP}": {"base": name, **size} for name in found}
    return found | {name: _merged(document, own.get(name, {})) for name, document in small.items()}


def _inherited(document: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The document over its base, and that over its own."""
    own = dict(document)
    base = own.pop("base", None)
    if base is None:
        return own
    if base not in _presets():
        names = _presets()
        raise BadInput(
            path, f"no preset {base!r}{did_you_mean(str(base), names)}", remedy="See: anaphora train --list."
        )
    return _merged(_inherited(_presets()[base], path), own)


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(under)
    for key, value in over.items():
        before = result.get(key)
        both = isinstance(value, Mapping) and isinstance(before, Mapping)
        result[key] = _merged(before, value) if both else value  # type: ignore[arg-type]
    return result


def _overriding(overrides: Mapping[str, str]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for key, text in overrides.items():
        section, dot, name = key.partition(".")
        if not dot:
            raise AnaphoraError(f"--set {key}={text}: write section.key=value, for example training.updates=600")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text
        document.setdefault(section, {})[name] = value
    return document


def _section(kind: Any, name: str, values: Mapping[str, Any], path: Path) -> Any:
    hints = get_type_hints(kind)
    found = {}
    for key, value in values.items():
        if key not in hints:
            problem = f"unknown key {name}.{key}{did_you_mean(key, hints)}"
            raise BadInput(path, problem, remedy=_known(hints))
        found[key] = _typed(hints[key], value, f"{name}.{key}", path)
    return kind(**found)


def _typed(kind: Any, value: Any, key: str, path: Path) -> Any:
    """The value as its field has it: whole numbers are numbers, one word is a list of one."""
    if kind in (tuple[str, ...], tuple[float, ...]):
        item = str if kind == tuple[str, ...] else float
        values = value if isinstance(value, list | tuple) else [value]
        return tuple(_typed(item, one, key, path) for one in values)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        expected = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}[kind]
        raise BadInput(path, f"{key}: {expected} is expected, not {value!r}")
    return value


def write_config(config: Config) -> str:
    """The config as TOML, every key of it that means something."""
    left_out = unused(config)
    lines = [f"description = {_toml(config.description)}"]
    for section in fields(Config)[1:]:
        lines += ["", f"[{section.name}]"]
        values = dataclasses.asdict(getattr(config, section.name))
        lines += [f"{key} = {_toml(value)}" for key, value in values.items() if f"{section.name}.{key}" not in left_out]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        return f'"{quoted}"'
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    return repr(value)


def _read(path: Path) -> dict[str, Any]:
    try:
        text = decode(path.read_bytes(), path, 1)
    except OSError as error:
        raise BadInput(path, (error.strerror or "cannot be read").lower()) from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(path, f"not TOML: {error}") from None


def _known(names: Any) -> str:
    return f"Known: {', '.join(names)}."
