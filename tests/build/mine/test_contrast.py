"""Variants of a sentence with other pronouns: they differ, keep capitals, and are refused where rules do not reach."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anaphora.annotate.document import Sentence
from anaphora.build.mine.contrast import Contrast, Variant, checked, load_swap
from anaphora.core.errors import AnaphoraError

Parsed = Callable[[str], Sentence]


def test_german(parsed: Parsed) -> None:
    sentence = parsed("Sie/PRON/2/nsubj verlor/VERB/0/root ihre/DET/4/det:poss Farbe/NOUN/2/obj/Gender=Fem")
    contrast = load_swap("german", "de")(sentence, 0)
    assert contrast == Contrast(
        "Nom",
        frozenset({"Nom", "Acc"}),
        frozenset({"Fem"}),
        "Sing",
        {"Masc": Variant("Er", "Er verlor seine Farbe"), "Neut": Variant("Es", "Es verlor seine Farbe")},
    )


def test_variants_that_are_alike_are_one(parsed: Parsed) -> None:
    contrast = load_swap("german", "de")(parsed("mit/ADP/2/case ihr/PRON/0/root/Case=Dat"), 1)
    assert isinstance(contrast, Contrast)
    assert contrast.variants == {"Masc": Variant("ihm", "mit ihm")}


def test_german_refusals_have_their_reasons(parsed: Parsed) -> None:
    assert load_swap("german", "de")(parsed("es/PRON/0/root"), 0) == "case unclear"


def test_other_languages_by_data(parsed: Parsed) -> None:
    contrast = load_swap("agreement", "fr")(parsed("Elles/PRON/2/nsubj dorment/VERB/0/root"), 0)
    assert contrast == Contrast(
        "Nom", frozenset({"Nom"}), frozenset({"Fem"}), "Plur", {"Masc": Variant("Ils", "Ils dorment")}
    )
    assert load_swap("agreement", "es")(parsed("Él/PRON/0/root"), 0) == "case unclear"


def test_nothing_that_is_no_contrast(parsed: Parsed) -> None:
    sentence = parsed("Er/PRON/2/nsubj schläft/VERB/0/root")
    assert checked(sentence, Contrast("Nom", frozenset({"Nom"}), frozenset({"Masc"}), "Sing", {})) == "no other form"
    same = Contrast("Nom", frozenset({"Nom"}), frozenset({"Masc"}), "Sing", {"Fem": Variant("Er", "Er schläft")})
    assert checked(sentence, same) == "variants do not differ"


def test_wrong_languages() -> None:
    with pytest.raises(AnaphoraError, match="for German, not 'fr'"):
        load_swap("german", "fr")
    with pytest.raises(AnaphoraError, match=r"unknown swap 'germn'.*did you mean german"):
        load_swap("germn", "de")
