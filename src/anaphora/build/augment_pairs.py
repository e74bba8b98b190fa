"""Which German pronoun translates English *it*: by a word alignment, or where there is only one that can."""

from __future__ import annotations

from collections.abc import Sequence

from anaphora.align.alignment import Alignment
from anaphora.annotate.document import Sentence
from anaphora.languages.german import FORMS
from anaphora.languages.german_swap import case_of
from anaphora.link.language import Language
from anaphora.link.pronouns import is_singular_pronoun

OTHERS = frozenset({"he", "him", "she", "her"})  # German er, ihn, sie … may as well translate these


def translations(sentence: Sentence, german: Language) -> list[int]:
    """The German pronouns of the third person singular in a sentence."""
    return [
        index
        for index, token in enumerate(sentence)
        if token.text.lower() in FORMS and is_singular_pronoun(sentence, index, german)
    ]


def aligned_pronoun(
    source: Sentence, it: int, target: Sentence, candidates: Sequence[int], points: Alignment
) -> int | None:
    """The one candidate in a word that the word of *it* is aligned to."""
    words = {j for i, j in points if i == source.words[it]}
    found = [index for index in candidates if target.words[index] in words]
    return found[0] if len(found) == 1 else None


def only_pronoun(source: Sentence, it: int, target: Sentence, candidates: Sequence[int]) -> int | None:
    """The only candidate, where *it* is the only pronoun that it can translate, and both have a like role."""
    words = [token.text.lower() for token in source]
    if len(candidates) != 1 or words.count("it") != 1 or OTHERS.intersection(words):
        return None
    subject = source[it].role in ("nsubj", "expl")
    return candidates[0] if (case_of(target, candidates[0]) == "Nom") == subject else None
