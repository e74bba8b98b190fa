"""The patterns of a template: text with slots in braces. `{animal: the accusative}`, `{'mangé': like it}`, `{it}`.

{NAME}                the word that fills the slot; `it` is the pronoun of the candidate
{NAME: FEATURE …}     with an article, in a case, in a form of the grammar or of the vocabulary
{NAME: like OTHER}    agreeing with what fills another slot, or with several: like animal+human
{'WORD': like OTHER}  a word of the template that agrees
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PRONOUN = "it"
SLOT = re.compile(r"\{([^{}]*)\}")
INSIDE = re.compile(r"\s*(?:'(?P<word>[^']+)'|(?P<name>[\w-]+))\s*(?::(?P<features>.*))?$")


class PatternError(ValueError):
    """What is wrong with a pattern; the reader of the file adds the place."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One pair of braces.

    name: the slot, or None for a word of the template, which is then in `word`
    features: what is asked of it, in order; like: the slots it agrees with
    """

    name: str | None
    word: str = ""
    features: tuple[str, ...] = ()
    like: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All slots whose words this one depends on."""
        return self.like if self.name is None else (self.name, *self.like)


Pattern = tuple[str | Slot, ...]


def parse_pattern(text: str) -> Pattern:
    """A sentence of a template as pieces of text and slots."""
    pieces: list[str | Slot] = []
    end = 0
    for match in SLOT.finditer(text):
        pieces += [text[end : match.start()], _slot(match[1])]
        end = match.end()
    pieces.append(text[end:])
    if any(isinstance(piece, str) and ("{" in piece or "}" in piece) for piece in pieces):
        raise PatternError(f"a brace without its partner in {text!r}. Write slots as {{name: features}}.")
    return tuple(piece for piece in pieces if piece != "")


def switched(pattern: Pattern, one: str, other: str) -> Pattern:
    """The same sentence with two slots in each other's place."""
    swap = {one: other, other: one}

    def turned(slot: Slot) -> Slot:
        like = tuple(swap.get(name, name) for name in slot.like)
        return Slot(swap.get(slot.name, slot.name) if slot.name else None, slot.word, slot.features, like)

    return tuple(turned(piece) if isinstance(piece, Slot) else piece for piece in pattern)


def _slot(inside: str) -> Slot:
    match = INSIDE.match(inside)
    if match is None:
        raise PatternError(f"{{{inside}}} is not a slot. Write {{name}}, {{name: features}} or {{'word': like name}}.")
    features, _, like = f" {match['features'] or ''} ".partition(" like ")
    likes = tuple(name.strip() for name in like.split("+")) if like.strip() else ()
    if any(not re.fullmatch(r"[\w-]+", name) for name in likes):
        raise PatternError(f"{{{inside}}}: 'like' names slots, and stands last. Write: like animal+human.")
    return Slot(match["name"], match["word"] or "", tuple(features.split()), likes)
