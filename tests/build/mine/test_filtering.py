"""The steps of ContraPro §3.1, each with what it finds or why not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anaphora.annotate.document import Document, Mention, Sentence, Token
from anaphora.build.mine.filtering import (
    Antecedents,
    WordLinks,
    aligned,
    antecedents,
    contrast,
    disagreement,
    load_swap,
    other_case,
    target_pronoun,
)
from anaphora.core.errors import AnaphoraError
from anaphora.coref import Link
from anaphora.languages.swap import Swap, Variant

Parsed = Callable[[str], Sentence]

IT, ES = Mention(1, 0, 1, 0), Mention(1, 0, 1, 0)
HOUSE, HAUS = Mention(0, 0, 2, 1), Mention(0, 3, 5, 4)  # aligned to each other below
GARDEN, GARTEN = Mention(0, 3, 5, 4), Mention(0, 0, 2, 1)
WORDS = WordLinks([((1, 4), (4, 1)), ((0, 0),)])


@pytest.fixture
def german(parsed: Parsed) -> Document:
    first = "Der/DET/2/det Garten/NOUN/3/nsubj/Gender=Masc hat/VERB/0/root ein/DET/5/det Haus/NOUN/3/obj/Gender=Neut"
    return Document((parsed(first), parsed("Es/PRON/3/nsubj ist/AUX/3/cop alt/ADJ/0/root")))


def test_word_links() -> None:
    words = WordLinks([((0, 1), (0, 2)), ()])
    assert words.targets((0, 0)) == [(0, 1), (0, 2)]
    assert words.sources((0, 2)) == [(0, 0)]
    assert words.targets((1, 0)) == words.sources((7, 7)) == []


@pytest.mark.parametrize(
    ("alignment", "candidates", "expected"),
    [
        (((0, 0),), [0, 2], 0),
        (((0, 0), (0, 1)), [0, 2], 0),  # 1 is no pronoun
        (((0, 0),), [], "no target pronoun"),
        (((0, 1),), [0, 2], "not aligned to a pronoun"),
        ((), [0], "not aligned to a pronoun"),
        (((0, 0), (0, 2)), [0, 2], "aligned to several"),
        (((0, 0), (2, 0)), [0, 2], "aligned to several"),  # from another pronoun, too
        (((0, 0), (1, 0)), [0, 2], 0),  # from a verb, too
    ],
)
def test_the_pronoun_that_translates_another(
    parsed: Parsed, alignment: tuple[tuple[int, int], ...], candidates: list[int], expected: int | str
) -> None:
    source = parsed("It/PRON/2/nsubj saw/VERB/0/root it/PRON/2/obj")
    assert target_pronoun((0, 0), source, candidates, WordLinks([alignment])) == expected


def chain(*nouns: Mention, earlier: Mention | None = None) -> Link:
    return Link(IT, next(iter(nouns), None), nouns=nouns, earlier=earlier)


def test_chains_are_taken_at_their_word(german: Document) -> None:
    actual = antecedents(chain(HOUSE), chain(HAUS), WORDS, german)
    assert actual == Antecedents(HOUSE, HAUS, 1.0)
    # the last noun phrase that is aligned; an earlier one, if the last is not
    assert antecedents(chain(GARDEN, HOUSE), chain(HAUS), WORDS, german) == actual
    assert antecedents(chain(GARDEN, HOUSE), chain(GARTEN, HAUS), WORDS, german) == Antecedents(GARDEN, GARTEN, 1.0)


def test_why_chains_are_not_enough(german: Document) -> None:
    assert antecedents(chain(), chain(HAUS), WORDS, german) == "no source antecedent"
    assert antecedents(chain(HOUSE), chain(), WORDS, german) == "no target antecedent"
    assert antecedents(chain(HOUSE), chain(GARTEN), WORDS, german) == "antecedents not aligned"


def test_the_neuter_rule(german: Document) -> None:
    """Without the target's link, the noun that the source's is aligned to."""
    assert antecedents(chain(HOUSE), None, WORDS, german) == Antecedents(HOUSE, HAUS, 1.0)
    assert antecedents(chain(), None, WORDS, german) == "no source antecedent"
    lost = WordLinks([((1, 2),), ()])  # to a verb
    assert antecedents(chain(HOUSE), None, lost, german) == "antecedents not aligned"


def test_the_fallback_of_chains_without_a_noun(german: Document) -> None:
    ours, theirs = chain(earlier=Mention(1, 0, 1, 0)), chain(earlier=Mention(1, 0, 1, 0))
    assert antecedents(ours, theirs, WORDS, german) == "no source antecedent"
    actual = antecedents(ours, theirs, WORDS, german, fallback=True)
    assert isinstance(actual, Antecedents)
    assert actual.fallback
    apart = chain(earlier=Mention(0, 0, 1, 0))
    assert antecedents(ours, apart, WORDS, german, fallback=True) == "antecedents not aligned"
    assert antecedents(chain(HOUSE), chain(HAUS), WORDS, german, fallback=True) == Antecedents(HOUSE, HAUS, 1.0)
    noun = chain(HOUSE, earlier=Mention(1, 0, 1, 0))
    assert antecedents(noun, theirs, WORDS, german, fallback=True) == "no target antecedent"
    assert antecedents(ours, noun, WORDS, german, fallback=True) == "no source antecedent"


def weighed(first: Mention, probability: float, second: Mention | None = None) -> Link:
    candidates = ((first, probability), *(((second, 0.9 - probability),) if second else ()))
    return Link(IT, first if probability > 0.5 else None, probability, candidates)


def test_probabilities_are_pooled(german: Document) -> None:
    actual = antecedents(weighed(HOUSE, 0.6, GARDEN), weighed(GARTEN, 0.1, HAUS), WORDS, german)
    assert isinstance(actual, Antecedents)
    assert (actual.source, actual.target) == (HOUSE, HAUS)
    assert 0.5 < actual.confidence < 1
    doubted = antecedents(weighed(HOUSE, 0.6, GARDEN), weighed(GARTEN, 0.1, HAUS), WORDS, german, clausal=True)
    assert isinstance(doubted, Antecedents)
    assert doubted.confidence < actual.confidence


def test_a_chain_together_with_probabilities(german: Document) -> None:
    actual = antecedents(chain(HOUSE), weighed(HAUS, 0.5), WORDS, german)
    assert isinstance(actual, Antecedents)
    assert (actual.source, actual.target) == (HOUSE, HAUS)


def test_why_probabilities_are_not_enough(german: Document) -> None:
    assert antecedents(weighed(HOUSE, 0.02), weighed(HAUS, 0.02), WORDS, german) == "no source antecedent"
    nowhere = WordLinks([(), ()])
    assert antecedents(weighed(HOUSE, 0.51), weighed(HAUS, 0.02), nowhere, german) == "no target antecedent"
    by = {"non-referential": 5.0}
    assert antecedents(weighed(HOUSE, 0.9), weighed(HAUS, 0.9), WORDS, german, by=by) == "antecedents not aligned"


def test_alignment_of_phrases() -> None:
    assert aligned(HOUSE, HAUS, WORDS)
    assert not aligned(HOUSE, GARTEN, WORDS)
    assert aligned(HOUSE, HAUS, WordLinks([((1, 3),)]))  # the head to any word of the other
    assert aligned(HOUSE, HAUS, WordLinks([((0, 4),)]))  # and the other way
    assert not aligned(HOUSE, HAUS, WordLinks([((0, 3),)]))  # articles do not count
    assert not aligned(HOUSE, Mention(1, 3, 5, 4), WORDS)


@pytest.mark.parametrize(
    ("relation", "case", "cases", "expected"),
    [
        ("nsubj", "Acc", {"Nom", "Acc"}, True),  # den sie braucht
        ("obj", "Nom", {"Nom", "Acc"}, True),
        ("nsubj", "Nom", {"Nom", "Acc"}, False),
        ("obl", "Acc", {"Nom", "Acc"}, False),
        ("nsubj:pass", "Acc", {"Nom", "Acc"}, False),  # it is called: man nennt es
        ("obj", "Nom", {"Nom"}, False),  # er: the form tells
    ],
)
def test_the_case_by_the_other_side(relation: str, case: str, cases: set[str], expected: bool) -> None:
    assert other_case(Token("it", relation=relation), case, frozenset(cases)) is expected


@pytest.mark.parametrize(
    ("features", "reason"),
    [
        ({"Gender": "Neut", "Number": "Sing"}, None),
        ({"Gender": "Neut"}, None),
        ({"Gender": "Fem", "Number": "Sing"}, "gender does not agree"),
        ({"Gender": "Neut", "Number": "Plur"}, "number does not agree"),
        ({"Number": "Sing"}, "gender unknown"),
    ],
)
def test_agreement(features: dict[str, str], reason: str | None) -> None:
    assert disagreement(Token("Haus", features=features), frozenset({"Neut", "Masc"}), "Sing") == reason


# Variants of a sentence with other pronouns: they differ, keep capitals, and are refused where rules do not reach.


def test_german(parsed: Parsed) -> None:
    sentence = parsed("Sie/PRON/2/nsubj verlor/VERB/0/root ihre/DET/4/det:poss Farbe/NOUN/2/obj/Gender=Fem")
    swap = load_swap("german", "de")(sentence, 0)
    assert swap == Swap(
        "Nom",
        frozenset({"Nom", "Acc"}),
        frozenset({"Fem"}),
        "Sing",
        {"Masc": Variant("Er", "Er verlor seine Farbe"), "Neut": Variant("Es", "Es verlor seine Farbe")},
    )


def test_variants_that_are_alike_are_one(parsed: Parsed) -> None:
    sentence = parsed("mit/ADP/2/case ihr/PRON/0/root/Case=Dat")
    swap = load_swap("german", "de")(sentence, 1)
    assert isinstance(swap, Swap)
    swap = contrast(sentence, swap)
    assert isinstance(swap, Swap)
    assert swap.variants == {"Masc": Variant("ihm", "mit ihm")}


def test_german_refusals_have_their_reasons(parsed: Parsed) -> None:
    assert load_swap("german", "de")(parsed("es/PRON/0/root"), 0) == "case unclear"


def test_other_languages_by_data(parsed: Parsed) -> None:
    swap = load_swap("agreement", "fr")(parsed("Elles/PRON/2/nsubj dorment/VERB/0/root"), 0)
    assert swap == Swap("Nom", frozenset({"Nom"}), frozenset({"Fem"}), "Plur", {"Masc": Variant("Ils", "Ils dorment")})
    assert load_swap("agreement", "es")(parsed("Él/PRON/0/root"), 0) == "case unclear"


def test_nothing_that_is_no_contrast(parsed: Parsed) -> None:
    sentence = parsed("Er/PRON/2/nsubj schläft/VERB/0/root")
    assert contrast(sentence, Swap("Nom", frozenset({"Nom"}), frozenset({"Masc"}), "Sing", {})) == "no other form"
    same = Swap("Nom", frozenset({"Nom"}), frozenset({"Masc"}), "Sing", {"Fem": Variant("Er", "Er schläft")})
    assert contrast(sentence, same) == "variants do not differ"


def test_wrong_languages() -> None:
    with pytest.raises(AnaphoraError, match="for German, not 'fr'"):
        load_swap("german", "fr")
    with pytest.raises(AnaphoraError, match=r"unknown swap 'germn'.*did you mean german"):
        load_swap("germn", "de")
