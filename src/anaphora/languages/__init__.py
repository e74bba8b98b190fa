"""All that Anaphora knows of a language: one data file per language and per language pair, in `data/`.

A file is TOML with a table for each use; `docs/extending.md` lists them. Files in the folder ANAPHORA_LANGUAGES add
languages and pairs, and replace tables of the built-in ones.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

from anaphora.core.parsing import read_toml

DATA = Path(__file__).with_name("data")
VARIABLE = "ANAPHORA_LANGUAGES"
# the genders and numbers of the data files, and those of Universal Dependencies in annotated text
GENDERS = {"m": "Masc", "f": "Fem", "n": "Neut"}
NUMBERS = {"sg": "Sing", "pl": "Plur"}


def table(name: str, key: str) -> dict[str, Any] | None:
    """Return a table of the data file of a language (de) or a pair (en-de); None if there is no such file or table."""
    content = _read(name, _folders()).get(key)
    return dict(content) if isinstance(content, dict) else None


def top_value(name: str, key: str, default: Any = None) -> Any:
    """Return a value at the top of a data file."""
    return _read(name, _folders()).get(key, default)


def names_with(key: str) -> list[str]:
    """Return the languages or pairs whose data files have a table, in alphabetical order."""
    folders = _folders()
    names = sorted({file.stem for folder in folders for file in folder.glob("*.toml")})
    return [name for name in names if key in _read(name, folders)]


def _folders() -> tuple[Path, ...]:
    own = os.environ.get(VARIABLE)
    return (DATA, Path(own)) if own else (DATA,)


@cache
def _read(name: str, folders: tuple[Path, ...]) -> dict[str, Any]:
    files = (folder / f"{name}.toml" for folder in folders)
    return {key: content for file in files if file.is_file() for key, content in read_toml(file).items()}


def match_case(word: str, like: str) -> str:
    """Return a word with capital letters as in another one: all, the first, or none."""
    if len(like) > 1 and like.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if like[:1].isupper() else word
