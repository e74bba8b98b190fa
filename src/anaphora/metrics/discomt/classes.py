"""The pronoun classes of the shared tasks (DiscoMT 2015, WMT 2016, DiscoMT 2017), by target language."""

from __future__ import annotations

from collections.abc import Mapping

from anaphora.languages.pronouns import normalise

OTHER = "other"

# target language → class → the forms that are counted as it. "other" is everything else.
CLASSES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "fr": {
        "il": ("il",),
        "elle": ("elle",),
        "ils": ("ils",),
        "elles": ("elles",),
        "ce": ("ce", "c'"),
        "on": ("on",),
        "cela": ("cela", "ça", "ca", "ç'", "ça/cela"),
    },
    "de": {"er": ("er",), "sie": ("sie",), "es": ("es",), "man": ("man",)},
    "en": {
        "he": ("he",),
        "she": ("she",),
        "it": ("it",),
        "they": ("they",),
        "you": ("you",),
        "this": ("this", "that"),
        "these": ("these", "those"),
        "there": ("there",),
    },
}


def class_of(word: str, language: str) -> str:
    """The class of a pronoun; in a language without a list each word is a class of its own."""
    plain = normalise(word.strip())
    if language not in CLASSES:
        return plain
    return next((name for name, forms in CLASSES[language].items() if plain in forms), OTHER)
