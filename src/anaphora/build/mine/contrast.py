"""Contrastive variants of a target sentence: its pronoun with each other gender, and what agrees with it (§3.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from anaphora.annotate.document import Sentence
from anaphora.core.errors import AnaphoraError
from anaphora.core.registry import Registry

SWAPS = Registry(
    "swap",
    {
        "german": "anaphora.build.mine.contrast:german",
        "agreement": "anaphora.build.mine.contrast:agreement",
    },
)


@dataclass(frozen=True, slots=True)
class Variant:
    """The sentence with another pronoun."""

    pronoun: str
    text: str


@dataclass(frozen=True, slots=True)
class Contrast:
    """A pronoun and what it could have been.

    case: as it is taken to be; cases: those that its form alone may have (sie)
    genders: those that the pronoun may have as it is; variants: by their gender, different from it and each other
    """

    case: str
    cases: frozenset[str]
    genders: frozenset[str]
    number: str
    variants: Mapping[str, Variant]


Swap = Callable[[Sentence, int], Contrast | str]


def load_swap(name: str, language: str) -> Swap:
    """What makes variants, by its name in the data of a language pair."""
    made: Swap = SWAPS.load(name)(language)
    return made


def german(language: str) -> Swap:
    """German has a module of its own."""
    from anaphora.languages.german import cases_of, pronoun
    from anaphora.languages.german_swap import swappable

    if language != "de":
        raise AnaphoraError(f"the swap 'german' is for German, not {language!r}")

    def swap(sentence: Sentence, index: int) -> Contrast | str:
        change = swappable(sentence, index)
        if isinstance(change, str):
            return change
        own = sentence[index].text
        made = {
            gender: Variant(pronoun(gender, change.case, like=own), text) for gender, text in change.others().items()
        }
        return checked(sentence, Contrast(change.case, cases_of(own), change.genders, "Sing", made))

    return swap


def agreement(language: str) -> Swap:
    """Languages whose forms are in a data file, `languages/data/swap/<language>.toml`."""
    from anaphora.languages.swap import load_forms, swappable

    forms = load_forms(language)

    def swap(sentence: Sentence, index: int) -> Contrast | str:
        change = swappable(sentence, index, forms)
        if isinstance(change, str):
            return change
        made = {gender: Variant(word, text) for gender, (word, text) in change.others().items()}
        return checked(
            sentence, Contrast(change.case, frozenset({change.case}), frozenset({change.gender}), change.number, made)
        )

    return swap


def checked(sentence: Sentence, contrast: Contrast) -> Contrast | str:
    """Each variant must differ from the sentence; those that are alike (mit ihm) are one."""
    variants: dict[str, Variant] = {}
    for gender, variant in contrast.variants.items():
        if variant not in variants.values():
            variants[gender] = variant
    if not variants:
        return "no other form"
    if any(variant.text == sentence.text for variant in variants.values()):
        return "variants do not differ"
    return replace(contrast, variants=variants)
