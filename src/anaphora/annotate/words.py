"""From the syntactic words of UD to the tokens of a text: `im` is two words there, and one token here.

spaCy has one token for such a contraction, Stanza and treebanks have two words. Here it is one token with the
annotation of its first word and the features of the others, unless the words put together are what is written
(`do` `n't`), which stay apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from anaphora.annotate.document import Sentence, Token


@dataclass(frozen=True, slots=True)
class Contraction:
    """Words from first to last (included) that are written as one."""

    first: int
    last: int
    text: str
    space_after: bool


def contracted(words: Sequence[Token], contractions: Sequence[Contraction]) -> tuple[Sentence, list[int]]:
    """The sentence of tokens, and for each word its token."""
    spaced = list(words)
    merged: dict[int, Contraction] = {}
    for c in contractions:
        parts = spaced[c.first : c.last + 1]
        if "".join(part.text for part in parts) == c.text:
            for i in range(c.first, c.last + 1):
                spaced[i] = replace(spaced[i], space_after=c.space_after if i == c.last else False)
        else:
            merged[c.first] = c
    place: list[int] = []
    kept: list[Token] = []
    for i, word in enumerate(spaced):
        if len(place) > i:  # within a contraction
            continue
        if whole := merged.get(i):
            parts = spaced[i : whole.last + 1]
            features = {key: value for part in reversed(parts) for key, value in part.features.items()}
            outer = next((p for p in parts if p.head is None or not i <= p.head <= whole.last), word)
            word = replace(
                word,
                text=whole.text,
                features=features,
                head=outer.head,
                relation=outer.relation,
                space_after=whole.space_after,
            )
            place += [len(kept)] * len(parts)
        else:
            place.append(len(kept))
        kept.append(word)
    heads = (None if word.head is None else place[word.head] for word in kept)
    return Sentence(tuple(replace(w, head=h) for w, h in zip(kept, heads, strict=True))), place
