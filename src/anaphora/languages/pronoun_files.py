"""Pronoun lists on disk: one TOML file per language pair, in `data/`; a user's own file has the same keys."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields
from importlib import resources
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.parsing import read_toml
from anaphora.languages.pronouns import PronounLists, Words, normalise

ANY = "x"  # x-en: from any language into English
KEYS = [f.name for f in fields(PronounLists) if f.name != "pair"]


def known_pairs() -> list[str]:
    """The language pairs that have lists."""
    return sorted(entry.name.removesuffix(".toml") for entry in _data().iterdir() if entry.name.endswith(".toml"))


def pronoun_lists(pair: str, path: Path | None = None) -> PronounLists:
    """The lists of a language pair; those in a file of the user's take the place of the built-in ones, key by key."""
    source, dash, target = pair.partition("-")
    if not (dash and source and target):
        raise AnaphoraError(f"not a language pair: {pair!r}. Write source and target, such as en-fr")
    known = known_pairs()
    builtin = next((name for name in (pair, f"{ANY}-{target}") if name in known), None)
    if builtin is None and path is None:
        pairs = ", ".join(known)
        raise AnaphoraError(
            f"no pronoun lists for {pair}. There are lists for {pairs} ({ANY}: any language); "
            "supply your own with --lists FILE.toml (docs/apt.md shows one)"
        )
    content = _builtin(builtin) if builtin else {}
    if path is not None:
        content = _laid_over(content, _read(path))
        if not content.get("target"):
            raise BadInput(path, f"no list 'target', and {pair} has none built in", remedy="Name the target pronouns.")
    return PronounLists(pair=pair, **content)


def _data() -> Any:
    return resources.files("anaphora.languages") / "data"


def _builtin(pair: str) -> dict[str, Any]:
    return _parse(read_toml(_data() / f"{pair}.toml"), Path(f"{pair}.toml"))


def _read(path: Path) -> dict[str, Any]:
    return _parse(read_toml(path), path)


def _parse(raw: dict[str, Any], path: Path) -> dict[str, Any]:
    base = raw.pop("base", None)
    if base is not None and base not in known_pairs():
        raise BadInput(path, f"no built-in lists {base!r} to build on", remedy=f"There are {', '.join(known_pairs())}.")
    content = {key: _checked(key, value, path) for key, value in raw.items()}
    return _laid_over(_builtin(base), content) if base else content


def _laid_over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Two sets of lists; translations are replaced pronoun by pronoun, sources are those of both."""
    merged = {**below, **above}
    merged["translations"] = {**below.get("translations", {}), **above.get("translations", {})}
    merged["sources"] = (*above.get("sources", ()), *below.get("sources", ()))
    return merged


def _checked(key: str, value: Any, path: Path) -> Any:
    """A value of a list file as it belongs in `PronounLists`."""
    if key not in KEYS:
        raise BadInput(path, f"unknown key {key!r}", remedy=f"Known: {', '.join(['base', *KEYS])}.")
    if key in ("separators", "source_separators"):
        if not isinstance(value, str):
            raise BadInput(path, f"{key} is a text of characters, such as '-'")
        return value
    if key == "translations":
        if not isinstance(value, dict):
            raise BadInput(path, "translations is a table: it = ['il', 'elle']")
        return {normalise(word): _words(f"{key}.{word}", words, path) for word, words in value.items()}
    if key in ("identical", "equivalent"):
        if not isinstance(value, list):
            raise BadInput(path, f"{key} is a list of lists of words")
        groups = tuple(_words(key, group, path) for group in value)
        twice = [word for word, n in Counter(word for group in groups for word in group).items() if n > 1]
        if key == "identical" and twice:
            raise BadInput(path, f"{twice[0]!r} is in two lists of identical forms", remedy="Make them one list.")
        return groups
    words = _words(key, value, path)
    return tuple(value) if key == "sources" else words


def _words(key: str, value: Any, path: Path) -> Words:
    if not isinstance(value, list) or not all(isinstance(word, str) and word.strip() for word in value):
        raise BadInput(path, f"{key} has to be a list of words")
    return tuple(dict.fromkeys(normalise(word.strip()) for word in value))


def to_toml(lists: Mapping[str, Any]) -> str:
    """Lists as a file that `pronoun_lists` reads: words, lists of words, lists of lists."""
    lines = []
    for key, value in lists.items():
        if key == "translations":
            continue
        lines.append(f"{key} = {_toml(value)}")
    if lists.get("translations"):
        lines += ["", "[translations]", *(f"{_toml(k)} = {_toml(v)}" for k, v in lists["translations"].items())]
    return "\n".join([*lines, ""])


def _toml(value: str | Iterable[Any]) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)  # JSON's strings are TOML's
    return f"[{', '.join(_toml(item) for item in value)}]"
