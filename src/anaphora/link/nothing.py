"""Pronouns that stand for no noun, told by rules alone: pleonastic ones (it rains) and those for events (do it)."""

from __future__ import annotations

from anaphora.annotate.document import Sentence
from anaphora.link.features import Pronoun, nothing_features
from anaphora.link.language import Language
from anaphora.link.phrases import verb_of
from anaphora.link.pronouns import pronoun_role

PLEONASTIC = frozenset(
    {
        "announces",
        "another subject",
        "clause follows",
        "cleft",
        "expletive",
        "impersonal verb",
        "is time",
        "lasting verb",
        "worth it",
    }
)
EVENT = frozenset({"do it", "say it"})


def nothing_by_rule(sentence: Sentence, index: int, language: Language) -> str | None:
    """`pleonastic`, `event`, or None where no rule says so (which does not mean that there is a noun)."""
    form = sentence[index].text.lower()
    role = pronoun_role(sentence, index, language)
    pronoun = Pronoun(0, index, form, role, verb_of(sentence, index), language.pronouns.get(form, frozenset()))
    found = set(nothing_features(sentence, pronoun, language))
    if found & PLEONASTIC:
        return "pleonastic"
    return "event" if found & EVENT else None
