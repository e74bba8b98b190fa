"""Pronouns that stand for no noun, told by rules alone: pleonastic ones (it rains) and those for events (do it)."""

from __future__ import annotations

from anaphora.annotate.document import Sentence
from anaphora.languages.pronouns import normalise
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
ANNOUNCING = frozenset({"object with predicate", "opener ahead"})  # make it easier to …
EVENT = frozenset({"do it", "say it"})


# what leaves no doubt; of German pronouns the verbs of doing do not tell as much (es schaffen)
SURE = frozenset({"impersonal verb", "is time", "worth it"})


def nothing_by_rule(sentence: Sentence, index: int, language: Language) -> str | None:
    """`pleonastic`, `event`, or None where no rule says so (which does not mean that there is a noun)."""
    found = _found(sentence, index, language)
    if found & PLEONASTIC or found >= ANNOUNCING:
        return "pleonastic"
    return "event" if found & EVENT else None


def surely_nothing(sentence: Sentence, index: int, language: Language, *, doing: bool = False) -> str | None:
    """The same by the rules alone that leave no doubt. doing: also that of what is done (do it)."""
    found = _found(sentence, index, language)
    if found & SURE or found >= ANNOUNCING:
        return "pleonastic"
    return "event" if doing and "do it" in found else None


def _found(sentence: Sentence, index: int, language: Language) -> set[str]:
    form = normalise(sentence[index].text)
    role = pronoun_role(sentence, index, language)
    pronoun = Pronoun(0, index, form, role, verb_of(sentence, index), language.genders(form))
    return set(nothing_features(sentence, pronoun, language))
