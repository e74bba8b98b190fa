"""The case of antecedents: from ContraPro's tag, and from an annotation where there is one."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import pytest

from anaphora.annotate.document import Document
from anaphora.build.attacks.synonym import (
    OFTEN,
    Synonyms,
    Unsure,
    Usage,
    candidate_genders,
    case_by_tag,
    cases_by_annotation,
    count_it,
    followed,
    phrase_in,
    replaced,
    synonym_replacement,
)
from anaphora.core.errors import AnaphoraError
from anaphora.languages.german import CASES, Noun
from anaphora.languages.thesaurus import OPENTHESAURUS
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite, suite_of

TAGS = {"source_antecedent": "my hat", "target_antecedent": "meine Kappe", "distance": 1}


def example(identifier: str, **tags: Any) -> Example:
    return Example(identifier, ("My hat.", "It."), (("Ich mag meine Kappe", "Sie."),), 0, {**TAGS, **tags})


@pytest.mark.parametrize(
    ("morpho", "cases"), [("Fem|Nom|Sg", ["Nom"]), ("Fem|_|Sg", []), ("", []), (None, []), ("Nom", [])]
)
def test_the_tag(morpho: str | None, cases: list[str]) -> None:
    assert case_by_tag(example("a", target_antecedent_head_morpho=morpho)) == cases


def test_tag_tagger_and_role_are_opinions(suite: Callable[..., Suite], parsed: Callable[[str], Any]) -> None:
    sentence = parsed(
        "Ich/PRON/2/nsubj/Case=Nom mag/VERB/0/root meine/DET/4/det/Case=Acc Kappe/NOUN/2/obj/Case=Nom",
    )
    seen: list[list[str]] = []

    def annotate(documents: Any) -> Any:
        for lines in documents:
            seen.append(list(lines))
            yield Document((sentence,))

    whole = suite(
        example("a", target_antecedent_head_morpho="Fem|Acc|Sg", target_antecedent_head="Kappe"),
        example("b"),
        example("far", distance=7),
        Example("none", ("", "It."), (("", "Sie."),), 0),
    )
    actual = cases_by_annotation(whole, SimpleNamespace(annotate=annotate))  # type: ignore[arg-type]
    assert actual == {"a": ["Acc", "Nom", "Acc"], "b": ["Nom", "Acc"]}
    assert seen == [["Ich mag meine Kappe"]] * 2


# Synonyms that all resources agree on, with resources made of a few nouns.

GENDERS = {"Hut": "Masc", "Kappe": "Fem", "Tuch": "Neut", "Zylinder": "Masc", "Strohhut": "Fem", "Hütchen": "Neut"}


class Table:
    def noun(self, lemma: str) -> Noun | None:
        gender = GENDERS.get(lemma)
        return Noun(lemma, gender, dict.fromkeys(CASES, (lemma,))) if gender else None


class Book:
    """A thesaurus and a dictionary: senses by noun, English words by noun."""

    def __init__(self, senses: Mapping[str, Sequence[str]], words: Mapping[str, str] | None = None) -> None:
        self._senses, self._words = senses, {noun: set(text.split()) for noun, text in (words or {}).items()}

    def senses(self, noun: str) -> list[tuple[str, ...]]:
        return [tuple(sense.split()) for sense in self._senses.get(noun, ())]

    def translations(self, word: str) -> frozenset[str]:
        return frozenset(noun for noun, words in self._words.items() if word in words)

    def words(self, noun: str) -> frozenset[str]:
        return frozenset(self._words.get(noun, ()))


class Net:
    def first_sense(self, noun: str) -> tuple[str, ...]:
        return ("hat", "lid") if noun == "hat" else ()


HAT = Table().noun("Hut")
assert HAT is not None


def chosen(synonyms: Synonyms, source: str = "hat") -> list[str]:
    return [noun.lemma for noun in synonyms.of(HAT, source)]


def make(senses: Sequence[str], words: Mapping[str, str] | None = None, **more: object) -> Synonyms:
    book = Book({"Hut": senses, "Kappe": ["Hut"], "Tuch": ["Hut", "Lappen"]}, words)
    return Synonyms(Table(), book, book if words is not None else None, **more)  # type: ignore[arg-type]


def test_without_a_dictionary_both_nouns_have_one_sense() -> None:
    assert chosen(make(["Kappe Tuch"])) == ["Kappe"]
    assert chosen(make(["Kappe", "Tuch"])) == []


def test_gender_compounds_diminutives_and_unknown_nouns() -> None:
    words = dict.fromkeys([*GENDERS, "Unwort"], "hat")
    assert chosen(make(["Zylinder Strohhut Hütchen Unwort Kappe"], words)) == ["Kappe"]


def test_both_nouns_translate_the_english_one() -> None:
    senses = ["Kappe Tuch"]
    assert chosen(make(senses, {"Hut": "hat", "Kappe": "cap", "Tuch": "hat"})) == ["Tuch"]
    assert chosen(make(senses, {"Hut": "guard", "Kappe": "hat guard", "Tuch": "hat guard"})) == []


def test_or_another_word_of_its_first_sense() -> None:
    words = {"Hut": "lid top", "Kappe": "lid top"}
    assert chosen(make(["Kappe"], words)) == []
    assert chosen(make(["Kappe"], words, wordnet=Net())) == ["Kappe"]


def test_most_translations_in_common_first_and_few_are_not_enough() -> None:
    words = {"Hut": "hat a b", "Kappe": "hat c d e", "Tuch": "hat a"}
    assert chosen(make(["Kappe Tuch"], words)) == ["Tuch"]  # 1 of 6, 2 of 3
    assert chosen(make(["Kappe Tuch"], words, least=0.1)) == ["Tuch", "Kappe"]


@pytest.fixture
def text(suite: Callable[..., Suite]) -> Callable[..., Usage]:
    """The usage of a text, from pairs of sentences."""

    def usage(*pairs: tuple[str, str]) -> Usage:
        return Usage(suite(*(Example(str(k), (en,), ((de,),), 0) for k, (en, de) in enumerate(pairs))))

    return usage


def test_a_noun_that_is_used_otherwise_is_no_synonym(text: Callable[..., Usage]) -> None:
    words = {"Hut": "hat", "Kappe": "hat", "Tuch": "hat"}
    other = [(f"A cloth, {k}.", f"Da ist ein Tuch, {k}.") for k in range(OFTEN)]
    assert chosen(make(["Kappe Tuch"], words, usage=text(*other))) == ["Kappe"]
    assert chosen(make(["Kappe Tuch"], words, usage=text(*other[1:]))) == ["Tuch", "Kappe"]  # not often enough
    used = [*other, ("Two hats.", "Dann ein Tuch.")]
    assert chosen(make(["Kappe Tuch"], words, usage=text(*used))) == ["Tuch", "Kappe"]


def test_what_the_text_uses_for_the_word_may_share_less(text: Callable[..., Usage]) -> None:
    words = {"Hut": "hat a b", "Kappe": "hat c d"}
    assert chosen(make(["Kappe"], words)) == []  # 1 of 5
    assert chosen(make(["Kappe"], words, usage=text(("My hat.", "Meine Kappe.")))) == ["Kappe"]


def test_words_count_once_per_pair_and_not_at_the_beginning(text: Callable[..., Usage]) -> None:
    usage = text(("My hat.", "Mein Hut."), ("My hat.", "Mein Hut."), ("Guard it.", "Hut ab."), ("No.", "Kein Hut da."))
    assert usage.counts(HAT, "hat") == (2, 1)


# Synonym replacement: the source stays, the antecedent gets another gender, and gold moves to its pronoun.

GENDERS_SYNONYM = {"Vorhang": "Masc", "Gardine": "Fem", "Tuch": "Neut"}
NOUNS = {lemma: Noun(lemma, gender, dict.fromkeys(CASES, (lemma,))) for lemma, gender in GENDERS_SYNONYM.items()}
TAGS_SYNONYM = {
    "source_antecedent": "the curtain",
    "target_antecedent": "der Vorhang",
    "distance": 1,
    "source_pronoun": "it",
    "reference_pronoun": "er",
    "pronoun_pair": "it:er",
    "candidate_pronouns": ["er", "sie", "es"],
}


class NounTable:
    def noun(self, lemma: str) -> Noun | None:
        return NOUNS.get(lemma)

    of_form = noun


class SenseBook:
    def __init__(self, **senses: str) -> None:
        self._senses = senses

    def senses(self, noun: str) -> list[tuple[str, ...]]:
        return [tuple(self._senses[noun].split())] if noun in self._senses else []


SYNONYMS = Synonyms(NounTable(), SenseBook(Vorhang="Gardine", Gardine="Vorhang", Tuch="Vorhang"))  # type: ignore[arg-type]


def curtain(context: str = "der Vorhang geht hoch.", rest: str = "geht hoch.", **changes: Any) -> Example:
    source = changes.pop("source", ("the curtain rises.", "it rises."))
    targets = changes.pop("targets", [f"{word} {rest}" for word in ("Er", "Sie", "Es")])
    tags = {key: value for key, value in {**TAGS_SYNONYM, **changes}.items() if value is not None}
    return Example("7", source, tuple((context, target) for target in targets), 0, tags)


@pytest.fixture
def attack(suite: Callable[..., Suite]) -> Callable[..., Example | str]:
    """The attacked example, or why it is left alone."""

    def one(example: Example, synonyms: Synonyms = SYNONYMS) -> Example | str:
        why: list[str] = []
        attacked = list(synonym_replacement(suite(example), synonyms, on_skip=why.append))
        return attacked[0] if attacked else why[0]

    return one


def test_the_example_of_the_paper(attack: Callable[..., Any]) -> None:
    attacked = attack(curtain())
    assert attacked.id == "synonym-replacement/7"
    assert attacked.source == ("the curtain rises.", "it rises.")
    assert [candidate[0] for candidate in attacked.candidates] == ["die Gardine geht hoch."] * 3
    assert attacked.candidates[attacked.gold][-1] == "Sie geht hoch."
    assert attacked.tags["attacked"] == "7"
    expected = {"synonym": "Gardine", "synonym_gender": "Fem", "replaced": "Vorhang", "replaced_gender": "Masc"}
    expected |= {"reference_pronoun": "sie", "replaced_pronoun": "er", "pronoun_pair": "it:sie"}
    expected |= {"target_antecedent": "die Gardine"}
    assert {key: attacked.tags[key] for key in expected} == expected
    assert "target_antecedent_head" not in attacked.tags


def test_tags_of_the_head_are_those_of_the_new_noun(attack: Callable[..., Any]) -> None:
    head = {"target_antecedent_head": "Vorhang", "target_antecedent_head_lemma": "Vorhang"}
    more = {"target_antecedent_head_gender": "Masc", "target_antecedent_head_morpho": "Masc|Nom|Sg"}
    tags = attack(curtain(**head, **more)).tags
    assert (tags["target_antecedent_head"], tags["target_antecedent_head_gender"]) == ("Gardine", "Fem")
    assert "target_antecedent_head_morpho" not in tags


def test_an_antecedent_in_the_sentence_itself(attack: Callable[..., Any]) -> None:
    targets = [f"Der Vorhang ist alt, aber {word} hält." for word in ("er", "sie", "es")]
    source = ("", "The curtain is old, but it lasts.")
    attacked = attack(curtain("", source=source, targets=targets, distance=0))
    assert attacked.candidates[1] == ("", "Die Gardine ist alt, aber sie hält.")
    assert (attacked.gold, attacked.candidates[0][1]) == (1, "Die Gardine ist alt, aber er hält.")


def test_pronouns_of_the_context_go_with_it(attack: Callable[..., Any]) -> None:
    attacked = attack(
        curtain("der Vorhang ist alt, ich mag ihn.", source=("the curtain is old, I like it.", "it rises."))
    )
    assert {candidate[0] for candidate in attacked.candidates} == {"die Gardine ist alt, ich mag sie."}


def test_a_possessive_goes_with_the_new_pronoun_only(attack: Callable[..., Any]) -> None:
    attacked = attack(curtain(rest="verliert seine Farbe.", source=("the curtain rises.", "it loses its color.")))
    assert [candidate[-1] for candidate in attacked.candidates] == [
        "Er verliert seine Farbe.",
        "Sie verliert ihre Farbe.",
        "Es verliert seine Farbe.",
    ]


@pytest.mark.parametrize(
    ("example", "why"),
    [
        (curtain(target_antecedent=None), "no antecedent known"),
        (curtain(distance=5), "the antecedent is before the context"),
        (curtain("der Vorhang! der alte Vorhang!"), "the noun is there again"),
        (curtain("der Vorhang und die Gardine."), "no synonym of another gender"),
        (
            curtain(candidate_pronouns=["sie", "er", "es"]),
            "the right pronoun does not have the gender of the antecedent",
        ),
        (curtain(candidate_pronouns=["er", "er", "es"]), "no candidate has the pronoun of the new gender"),
        (
            curtain(targets=["Er mag ihn.", "Sie mag sie.", "Es mag es."]),
            "the candidates differ in more than what stands for it",
        ),
        (curtain(rest="geht hoch, sagt er."), "another pronoun may take it up"),
        (curtain(rest="ist der beste."), "a demonstrative or relative pronoun may take it up"),
    ],
)
def test_what_is_left_alone(
    attack: Callable[..., Any], suite: Callable[..., Suite], example: Example, why: str
) -> None:
    left: Counter[str] = Counter()
    attacked = list(synonym_replacement(suite(curtain(), example), SYNONYMS, on_skip=lambda w: left.update([w])))
    assert (len(attacked), list(left)) == (1, [why])


def test_the_next_synonym_is_tried(attack: Callable[..., Any]) -> None:
    """Masculine would need the case, neuter does not."""
    example = curtain(
        "die Gardine gefällt mir.",
        targets=["Sie hält.", "Er hält.", "Es hält."],
        target_antecedent="die Gardine",
        candidate_pronouns=["sie", "er", "es"],
    )
    assert attack(example) == "the case is not clear"
    book = SenseBook(Gardine="Vorhang Tuch", Vorhang="Gardine", Tuch="Gardine")
    attacked = attack(example, Synonyms(NounTable(), book))  # type: ignore[arg-type]
    assert (attacked.gold, attacked.candidates[2][0]) == (2, "das Tuch gefällt mir.")
    assert attack(curtain(**{"target_antecedent_head_morpho": "Masc|Nom|Sg"})).gold == 1


def test_genders_of_candidates_without_the_tag() -> None:
    assert candidate_genders(curtain(candidate_pronouns=None)) == ["Masc", "Fem", "Neut"]
    assert candidate_genders(curtain(candidate_pronouns=None, targets=["Hoch.", "Da."])) == [None, None]


def test_other_languages_and_suites_without_antecedents(suite: Callable[..., Suite]) -> None:
    with pytest.raises(AnaphoraError, match="en-fr, but synonyms are replaced in en-de only"):
        synonym_replacement(suite(curtain(), languages=("en", "fr")), SYNONYMS)
    with pytest.raises(AnaphoraError, match="no example has the tags"):
        synonym_replacement(suite(curtain(distance=None)), SYNONYMS)


@pytest.mark.skipif(find_spec("german_nouns") is None, reason="german-nouns is not installed: pip install german-nouns")
@pytest.mark.skipif(not OPENTHESAURUS.is_file(), reason="OpenThesaurus is not here: apt-get install mythes-de")
def test_contrapro_with_openthesaurus(contrapro: Suite) -> None:
    """What holds of every attacked item, on a part of the real suite."""
    from anaphora.languages.german import noun_table
    from anaphora.languages.thesaurus import load_thesaurus

    known = [example for example in contrapro if "target_antecedent" in example.tags][:1500]
    part = suite_of(contrapro.header, lambda: iter(known))
    originals = {example.id: example for example in known}
    table = noun_table()
    attacked = list(synonym_replacement(part, Synonyms(table, load_thesaurus(f"mythes:{OPENTHESAURUS}"))))
    assert len(attacked) > 30
    for example in attacked:
        original = originals[str(example.tags["attacked"])]
        assert example.source == original.source
        assert example.gold != original.gold
        assert example.tags["reference_pronoun"] != original.tags["reference_pronoun"]
        new = table.noun(str(example.tags["synonym"]))
        assert new is not None
        text = [" ".join(candidate) for candidate in example.candidates]
        assert all(any(form in t for form in itertools.chain(*new.forms.values())) for t in text)
        assert candidate_genders(example)[example.gold or 0] == new.gender


# A sentence with another noun: the phrase, its relative clause, what takes it up; refused where it is not sure


SENTENCE_GENDERS = {"Hut": "Masc", "Kappe": "Fem", "Tuch": "Neut", "Frau": "Fem"}
SENTENCE_NOUNS = {
    lemma: Noun(lemma, gender, dict.fromkeys(CASES, (lemma,))) for lemma, gender in SENTENCE_GENDERS.items()
}


class SentenceTable:
    def of_form(self, form: str) -> Noun | None:
        return SENTENCE_NOUNS.get(form)


def changed(sentence: str, antecedent: str, new: str, opinions: Sequence[str] = (), head: str | None = None) -> str:
    phrase = phrase_in(sentence, antecedent, SentenceTable(), head)  # type: ignore[arg-type]
    return replaced(sentence, phrase, SENTENCE_NOUNS[new], opinions)[0]


@pytest.mark.parametrize(
    ("sentence", "antecedent", "new", "expected"),
    [
        ("Da ist mein alter Hut.", "mein alter Hut", "Kappe", "Da ist meine alte Kappe."),
        ("Der Hut der Frau ist alt.", "Der Hut der Frau", "Tuch", "Das Tuch der Frau ist alt."),
        ("wir reden vom Hut.", "Hut", "Kappe", "wir reden von der Kappe."),
        ("Es liegt in der Kappe.", "der Kappe", "Hut", "Es liegt im Hut."),
        ("In der Kappe ist es.", "der Kappe", "Hut", "Im Hut ist es."),
        ("Es liegt in dem Hut.", "dem Hut", "Tuch", "Es liegt in dem Tuch."),
        ("ich habe eine Kappe.", "eine Kappe", "Hut", "ich habe einen Hut."),
        ("Wo ist die Kappe?", "die Kappe", "Hut", "Wo ist der Hut?"),
        ("Der Hut, der da liegt.", "Der Hut", "Kappe", "Die Kappe, die da liegt."),
        ("Der Hut, mit dem ich kam.", "Der Hut", "Kappe", "Die Kappe, mit der ich kam."),
        ("Der Hut, um zu gehen.", "Der Hut", "Kappe", "Die Kappe, um zu gehen."),
    ],
)
def test_the_noun_phrase_changes(sentence: str, antecedent: str, new: str, expected: str) -> None:
    assert changed(sentence, antecedent, new) == expected


@pytest.mark.parametrize(
    ("sentence", "antecedent", "new", "why"),
    [
        ("Kein Wort.", "der Hut", "Kappe", "not in its sentence"),
        ("Der Hut ist der Hut.", "Der Hut", "Kappe", "there twice"),
        ("Der Helm ist da.", "Der Helm", "Kappe", "is not known"),
        ("Marias Hut ist da.", "Marias Hut", "Kappe", "is not known"),
        ("Hut ab.", "Hut", "Kappe", "no determiner"),
        ("der, Hut.", "Hut", "Kappe", "no determiner"),
        ("Der alten Hut.", "Der alten Hut", "Kappe", "do not agree"),
        ("Die Kappe gefällt mir.", "Die Kappe", "Hut", "the case is not clear"),
        ("Das ist die Kappe, die ich mag.", "die Kappe", "Hut", "a relative pronoun is not clear"),
        ("Der Hut, der Mantel.", "Der Hut", "Kappe", "a relative pronoun is not clear"),
    ],
)
def test_what_is_not_sure_is_refused(sentence: str, antecedent: str, new: str, why: str) -> None:
    with pytest.raises(Unsure, match=why):
        changed(sentence, antecedent, new)


def test_opinions_decide_where_forms_do_not() -> None:
    assert changed("Die Kappe gefällt mir.", "Die Kappe", "Hut", ["Nom", "Nom"]) == "Der Hut gefällt mir."
    for opinions in (["Nom", "Acc"], ["Dat"]):
        with pytest.raises(Unsure, match="case"):
            changed("Die Kappe gefällt mir.", "Die Kappe", "Hut", opinions)
    with pytest.raises(Unsure, match="case"):  # the clause says accusative
        changed("Ich mag die Kappe.", "die Kappe", "Hut", ["Nom"])


def test_a_known_head_is_looked_for() -> None:
    assert changed("Die Frau mit dem Hut.", "Die Frau mit dem Hut", "Kappe", head="Hut") == "Die Frau mit der Kappe."


@pytest.mark.parametrize(
    ("text", "source", "genders", "alone", "expected"),
    [
        ("ich mag ihn.", "I like it.", ("Masc", "Fem"), 0, "ich mag sie."),
        ("mit seinem Band.", "with its band.", ("Masc", "Fem"), 0, "mit ihrem Band."),
        ("Ihr Band ist rot.", "its band is red.", ("Fem", "Neut"), 0, "Sein Band ist rot."),
        ("ich helfe ihr.", "I help it.", ("Fem", "Masc"), 0, "ich helfe ihm."),
        ("er mag das.", "he likes that.", ("Masc", "Fem"), 0, "er mag das."),
        ("Sie kennen das.", "you know it.", ("Fem", "Masc"), 0, "Sie kennen das."),
        ("sie mag es nicht.", "they like it.", ("Fem", "Neut"), 1, "sie mag es nicht."),
        ("nichts davon.", "it is not.", ("Masc", "Fem"), 0, "nichts davon."),
    ],
)
def test_what_takes_it_up(text: str, source: str, genders: tuple[str, str], alone: int, expected: str) -> None:
    assert followed(text, source, genders, 0, alone=alone) == expected


@pytest.mark.parametrize(
    ("text", "source", "genders", "why"),
    [
        ("sie gefällt mir.", "I like it.", ("Fem", "Masc"), "another pronoun"),  # er or ihn
        ("er mag ihn.", "he likes it.", ("Masc", "Fem"), "another pronoun"),
        ("er ist da.", "the man is there.", ("Masc", "Fem"), "another pronoun"),
        ("es regnet.", "it rains.", ("Neut", "Fem"), "another pronoun"),
        ("den mag ich.", "that one I like.", ("Masc", "Fem"), "a demonstrative"),
    ],
)
def test_what_may_take_it_up_is_refused(text: str, source: str, genders: tuple[str, str], why: str) -> None:
    with pytest.raises(Unsure, match=why):
        followed(text, source, genders, 0, alone=0)


def test_the_pronoun_of_the_relative_clause_is_no_other_mention() -> None:
    text = "Das ist eine Frau, der ich helfe."
    end = text.index(",")
    assert followed(text, "", ("Masc", "Fem"), end, alone=0) == text
    with pytest.raises(Unsure, match="demonstrative"):
        followed("Der Hut da, der ist alt, der.", "", ("Masc", "Fem"), 7, alone=0)


def test_it_is_counted() -> None:
    assert count_it("It's its own, isn’t it? Italy.") == 3
