"""Synonyms and translations of nouns, from resources that a user has: OpenThesaurus, Ding, GermaNet, OdeNet.

None of them is part of this package: they are read where they are, named by a spec such as `mythes:FILE`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, cast

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.registry import Registry

__all__ = [
    "OPENTHESAURUS",
    "Dictionary",
    "Sense",
    "Thesaurus",
    "default_thesaurus",
    "load_dictionary",
    "load_thesaurus",
]

Sense = tuple[str, ...]  # nouns that mean the same, in the order of the resource
OPENTHESAURUS = Path("/usr/share/mythes/th_de_DE_v2.dat")  # where Debian's mythes-de has it

READERS = Registry(
    "thesaurus",
    {
        "mythes": "anaphora.languages.thesaurus.mythes:MyThes",
        "ding": "anaphora.languages.thesaurus.ding:Ding",
        "germanet": "anaphora.languages.thesaurus.germanet:GermaNet",
        "odenet": "anaphora.languages.thesaurus.odenet:OdeNet",
    },
)
DICTIONARIES = ("ding", "germanet")


class Thesaurus(Protocol):
    """What means the same as a noun."""

    def senses(self, noun: str) -> Sequence[Sense]:
        """The synonyms of each sense of a noun, without itself; none where the noun is not known."""
        ...


class Dictionary(Protocol):
    """What a foreign noun is in the language of the thesaurus."""

    def translations(self, word: str) -> frozenset[str]:
        """The nouns that translate a word."""
        ...

    def words(self, noun: str) -> frozenset[str]:
        """The words that a noun translates."""
        ...


def load_thesaurus(spec: str) -> Thesaurus:
    """A thesaurus by its spec: mythes:FILE, ding:FILE, germanet:FOLDER, odenet:FILE."""
    kind, path = _parts(spec, tuple(READERS))
    return cast(Thesaurus, READERS.load(kind)(path))


def load_dictionary(spec: str) -> Dictionary:
    """A dictionary by its spec: ding:FILE, germanet:FOLDER; a path alone is a file of Ding."""
    kind, path = _parts(spec if _kind(spec) in READERS else f"ding:{spec}", DICTIONARIES)
    return cast(Dictionary, READERS.load(kind)(path))


def default_thesaurus() -> str:
    """OpenThesaurus, where Debian puts it."""
    if not OPENTHESAURUS.is_file():
        remedy = "Install OpenThesaurus (apt-get install mythes-de), or name a thesaurus: --thesaurus mythes:FILE"
        raise BadInput(OPENTHESAURUS, "no thesaurus is here", remedy=remedy)
    return f"mythes:{OPENTHESAURUS}"


def _kind(spec: str) -> str:
    return spec.partition(":")[0]


def _parts(spec: str, kinds: Sequence[str]) -> tuple[str, Path]:
    kind, _, path = spec.partition(":")
    if kind not in kinds or not path:
        known = ", ".join(f"{k}:PATH" for k in kinds)
        raise AnaphoraError(f"{spec!r} names no resource that can be read. Write one of: {known}")
    return kind, Path(path)
