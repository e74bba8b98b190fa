"""Which antecedents can be extended: short noun phrases with a determiner, by part-of-speech tags (ContraCAT §5.2.2).

The release has Penn's tags; here a word is what an annotation says of it, in Universal Dependencies, or, without one,
what closed classes tell: determiners are known by their form, the noun by the tag of the suite or because *it* refers
to something singular, and a word between the two is taken to be an adjective or a noun.
"""

from __future__ import annotations

from collections.abc import Sequence

from anaphora.annotate.document import Token
from anaphora.build.attacks.determiners import Determiners

# the sequences of the release
SEQUENCES = tuple(
    tuple(sequence.split())
    for sequence in ("PRP$ NN", "DT NN", "DT NNP", "DT JJ NN", "DT NN NN", "PRP$ JJ NN", "DT NNP NNP")
)
Tags = frozenset[str]  # the tags that a word may have
BETWEEN = frozenset({"JJ", "NN", "NNP"})
SINGULAR = frozenset({"NN", "NNP"})


def fits(words: Sequence[Tags]) -> bool:
    """Whether the words can be one of the sequences.

    >>> fits([frozenset({"DT"}), BETWEEN, SINGULAR])
    True
    """
    return any(
        len(words) == len(sequence) and all(tag in tags for tag, tags in zip(sequence, words, strict=True))
        for sequence in SEQUENCES
    )


def by_closed_classes(words: Sequence[str], determiners: Determiners, head_tag: str | None = None) -> list[Tags]:
    """The tags that words may have, without annotation.

    head_tag: the Penn tag of the last word, where the suite has it
    """
    tags = [BETWEEN] * len(words)
    if words:
        first = words[0]
        known = {"PRP$"} if determiners.is_possessive(first) else {"DT"} if first in determiners else set()
        tags[-1] = frozenset({head_tag}) if head_tag else SINGULAR
        tags[0] = frozenset(known)
    return tags


def by_annotation(tokens: Sequence[Token]) -> list[Tags]:
    """The Penn tag of each token, from its universal tag and features."""
    return [frozenset({_penn(token)}) for token in tokens]


def _penn(token: Token) -> str:
    plural = token.features.get("Number") == "Plur"
    if token.upos in ("DET", "PRON") and token.features.get("Poss") == "Yes":
        return "PRP$"
    if token.upos in ("NOUN", "PROPN"):
        return ("NN" if token.upos == "NOUN" else "NNP") + ("S" if plural else "")
    return {"DET": "DT", "ADJ": "JJ"}.get(token.upos, token.upos)
