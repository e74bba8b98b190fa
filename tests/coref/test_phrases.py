"""Noun phrases are read off the dependencies: their words, their role, their article."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anaphora.annotate.document import Document, Sentence
from anaphora.coref.phrases import Phrase, phrases, predicate_of, role_of, verb_of, violates_binding

Parsed = Callable[[str], Sentence]

CATS = (
    "The/DET/3/det/Definite=Def old/ADJ/3/amod cat/NOUN/8/nsubj/Gender=Fem,Number=Sing of/ADP/6/case "
    "my/PRON/6/nmod:poss/Poss=Yes aunt/NOUN/3/nmod ,/PUNCT/8/punct ate/VERB/0/root mice/NOUN/8/obj/Number=Plur "
    "in/ADP/11/case Berlin/PROPN/8/obl"
)


def phrases_of(parsed: Parsed, text: str) -> dict[str, Phrase]:
    document = Document((parsed(text),))
    return {document.text(phrase.mention): phrase for phrase in phrases(document, 0)}


def test_phrases_of_a_sentence(parsed: Parsed) -> None:
    cat, aunt, mice, berlin = phrases_of(parsed, CATS).values()
    assert (cat.lemma, cat.role, cat.article, cat.gender, cat.plural, cat.name) == (
        "cat",
        "subject",
        "definite",
        "Fem",
        False,
        False,
    )
    assert (aunt.role, aunt.article) == ("modifier", "possessive")
    assert (mice.role, mice.article, mice.plural) == ("object", "bare", True)
    assert (berlin.role, berlin.article, berlin.name) == ("oblique", "name", True)


def test_the_words_of_a_phrase(parsed: Parsed) -> None:
    assert list(phrases_of(parsed, CATS)) == ["The old cat of my aunt", "my aunt", "mice", "Berlin"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # without the relative clause
        ("the/DET/2/det dog/NOUN/0/root that/PRON/4/nsubj barks/VERB/2/acl:relcl", ["the dog"]),
        # without what is joined to it
        ("a/DET/2/det dog/NOUN/0/root and/CCONJ/5/cc a/DET/5/det cat/NOUN/2/conj", ["a dog", "a cat"]),
        # the owner belongs to it; the mark is the whole's, not the owner's
        ("Maria/PROPN/3/nmod:poss 's/PART/1/case dog/NOUN/0/root", ["Maria", "Maria 's dog"]),
        # a name is one phrase, and so is a compound
        ("Angela/PROPN/0/root Merkel/PROPN/1/flat", ["Angela Merkel"]),
        ("the/DET/3/det car/NOUN/3/compound door/NOUN/0/root", ["the car door"]),
        # a predicate without its copula and subject
        ("It/PRON/4/nsubj is/AUX/4/cop a/DET/4/det dog/NOUN/0/root", ["a dog"]),
        ("dog/NOUN/0/root ,/PUNCT/1/punct", ["dog"]),
        # without a gap: what is torn off is left out
        ("big/ADJ/3/amod barks/VERB/0/root dog/NOUN/2/nsubj", ["dog"]),
        ("dog/NOUN/2/nsubj barks/VERB/0/root of/ADP/4/case mine/NOUN/1/nmod", ["dog", "mine"]),
    ],
)
def test_what_belongs_to_a_phrase(parsed: Parsed, text: str, words: list[str]) -> None:
    assert list(phrases_of(parsed, text)) == words


@pytest.mark.parametrize(
    ("word", "article"),
    [
        ("a/DET/2/det/Definite=Ind", "indefinite"),
        ("this/DET/2/det/PronType=Dem", "demonstrative"),
        ("some/DET/2/det", "quantified"),
        ("two/NUM/2/nummod", "quantified"),
        ("seine/DET/2/det:poss", "possessive"),
        ("im/ADP/2/case/Definite=Def", "definite"),
        ("in/ADP/2/case", "bare"),
    ],
)
def test_articles(parsed: Parsed, word: str, article: str) -> None:
    (phrase,) = phrases_of(parsed, f"{word} house/NOUN/0/root").values()
    assert phrase.article == article


def test_roles_of_conjuncts_and_predicates(parsed: Parsed) -> None:
    sentence = parsed(
        "Dogs/NOUN/5/nsubj and/CCONJ/3/cc cats/NOUN/1/conj are/AUX/5/cop friends/NOUN/0/root "
        "and/CCONJ/7/cc sleep/VERB/5/conj"
    )
    assert role_of(sentence, 0) == ("subject", False)
    assert role_of(sentence, 2) == ("subject", True)
    assert role_of(sentence, 4) == ("predicate", False)
    assert role_of(parsed("Fire/NOUN/0/root !/PUNCT/1/punct"), 0) == ("other", False)


def test_joined_phrases_are_a_plural(parsed: Parsed) -> None:
    dog, cat = phrases_of(parsed, "a/DET/2/det dog/NOUN/0/root and/CCONJ/5/cc a/DET/5/det cat/NOUN/2/conj").values()
    assert (dog.plural, cat.plural) == (True, False)
    assert cat.conjunct


def test_the_predicate_of_a_word(parsed: Parsed) -> None:
    sentence = parsed(
        "She/PRON/2/nsubj said/VERB/0/root that/SCONJ/6/mark the/DET/5/det cat/NOUN/6/nsubj slept/VERB/2/ccomp "
        "on/ADP/9/case the/DET/9/det roof/NOUN/6/obl"
    )
    assert predicate_of(sentence, 8) == 5
    assert predicate_of(sentence, 0) == 1
    assert predicate_of(sentence, 5) == 5
    assert verb_of(sentence, 4) == "slept"
    assert verb_of(sentence, 5) == "said"
    assert verb_of(sentence, 1) == "said"


# Grammar rules antecedents out: fellow arguments, shared subjects, phrases around the pronoun.


# candidate and pronoun are marked by their place
CASES = [
    ("the dog saw it", "dog/NOUN/2/nsubj saw/VERB/0/root it/PRON/2/obj", 0, 2, True),
    ("the dog slept, and it woke", "dog/NOUN/2/nsubj slept/VERB/0/root it/PRON/4/nsubj woke/VERB/2/conj", 0, 2, False),
    ("she came and saw it", "she/PRON/2/nsubj came/VERB/0/root saw/VERB/2/conj it/PRON/3/obj", 0, 3, True),
    ("the dog wants to eat it", "dog/NOUN/2/nsubj wants/VERB/0/root eat/VERB/2/xcomp it/PRON/3/obj", 0, 3, True),
    (
        "the dog says she saw it",
        "dog/NOUN/2/nsubj says/VERB/0/root she/PRON/4/nsubj saw/VERB/2/ccomp it/PRON/4/obj",
        0,
        4,
        False,
    ),
    ("dogs and cats saw it", "dogs/NOUN/3/nsubj cats/NOUN/1/conj saw/VERB/0/root it/PRON/3/obj", 1, 3, True),
    ("the owner of it", "owner/NOUN/0/root it/PRON/1/nmod", 0, 1, True),
    (
        "a generation that played when it was young",
        "generation/NOUN/0/root played/VERB/1/acl:relcl it/PRON/4/nsubj young/ADJ/2/advcl",
        0,
        2,
        False,
    ),
    ("a dog that it saw", "dog/NOUN/0/root it/PRON/3/nsubj saw/VERB/1/acl:relcl", 0, 1, True),
    ("Singapore, if it grows", "Singapore/PROPN/0/root it/PRON/3/nsubj grows/VERB/1/advcl", 0, 1, False),
    ("it is alone", "dog/NOUN/0/root it/PRON/0/root", 0, 1, False),
]


@pytest.mark.parametrize(("words", "text", "candidate", "pronoun", "ruled_out"), CASES, ids=[c[0] for c in CASES])
def test_what_grammar_rules_out(
    parsed: Callable[[str], Sentence], words: str, text: str, candidate: int, pronoun: int, ruled_out: bool
) -> None:
    sentence = parsed(text)
    noun = sentence[candidate].upos != "PRON"
    assert violates_binding(sentence, candidate, pronoun, noun=noun, possessive=False) is ruled_out


def test_a_possessive_may_refer_to_the_subject_not_its_possession(parsed: Callable[[str], Sentence]) -> None:
    sentence = parsed("dog/NOUN/2/nsubj lost/VERB/0/root its/PRON/4/nmod:poss bone/NOUN/2/obj")
    assert not violates_binding(sentence, 0, 2, noun=True, possessive=True)
    assert violates_binding(sentence, 3, 2, noun=True, possessive=True)
