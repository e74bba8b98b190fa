"""Agrees, disagrees, not found, unclear: a pronoun and the noun that the system itself wrote for its antecedent."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.align.alignment import Alignment
from anaphora.align.tokenize import Tokenization
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.evaluation import own_antecedent as own
from anaphora.evaluation.own_antecedent import AGREES, DISAGREES, NOT_FOUND, UNCLEAR, Judge, Verdict
from anaphora.languages import agreement
from anaphora.suites.example import Example
from anaphora.suites.readers.contrapro import read_rebuilt
from anaphora.suites.suite import Header, suite_of

LANGUAGES = ("de", "fr", "es")
BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "own_antecedent.py"


@pytest.fixture(autouse=True)
def no_lexicon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Determiners alone, whether or not german-nouns is installed, and without waiting for it."""
    monkeypatch.setattr(agreement, "LEXICONS", {})


def header(language: str) -> Header:
    return Header("small", "en", language)


def example(context: str, current: str, antecedent: str, **tags: Any) -> Example:
    source = (context, current) if context else (current,)
    return Example("1", source, (source,), None, {"source_antecedent": antecedent, **tags})


def word_by_word(source: Sequence[Sequence[str]], target: Sequence[Sequence[str]]) -> list[Alignment]:
    """An aligner of translations that have a word for each word."""
    return [tuple((k, k) for k in range(min(len(s), len(t)))) for s, t in zip(source, target, strict=True)]


def verdict(language: str, item: Example, *translation: str) -> Verdict:
    """On one example; texts are divided at blanks and aligned word by word."""
    words = Tokenization("none", True, ("en", language))
    (actual,) = own.judge_suite(header(language), {0: item}, [translation], {}, word_by_word, (words, words))
    return actual


BAT = example("He took the bat .", "It is old .", "the bat")

CASES = [
    ("de", BAT, ("Er nahm den Schläger .", "Er ist alt ."), AGREES),
    ("de", BAT, ("Er nahm den Schläger .", "Sie ist alt ."), DISAGREES),
    ("de", BAT, ("Er nahm die Fledermaus .", "Sie ist alt ."), AGREES),
    ("de", BAT, ("Er nahm die Fledermaus .", "Er ist alt ."), DISAGREES),
    ("de", BAT, ("Er nahm das Tier .", "Es ist alt ."), AGREES),
    ("de", BAT, ("Er nahm ein Tier .", "Es ist alt ."), UNCLEAR),  # ein: masculine or neuter
    ("de", BAT, ("Er nahm ein Tier .", "Sie ist alt ."), DISAGREES),  # but not feminine
    ("de", BAT, ("Er nahm den Schläger .", "Das ist alt ."), UNCLEAR),
    ("de", BAT, ("Er nahm den Schläger .", "Ja , alt ."), NOT_FOUND),
    ("fr", BAT, ("Il prit la batte .", "Elle est vieille ."), AGREES),
    ("fr", BAT, ("Il prit la batte .", "Il est vieux ."), DISAGREES),
    ("fr", BAT, ("Il prit le bâton .", "Il est vieux ."), AGREES),
    ("fr", BAT, ("Il prit mon arme .", "Elle est vieille ."), AGREES),  # mon before a vowel: by the list of nouns
    ("fr", BAT, ("Il prit mon urubu .", "Il est vieux ."), UNCLEAR),
    ("fr", BAT, ("Il prit les bâtons .", "Il est vieux ."), DISAGREES),
    ("fr", BAT, ("Il prit la batte .", "C' est vieux ."), UNCLEAR),
    ("fr", BAT, ("Il prit la batte .", "L' avait vieille ."), UNCLEAR),  # l' has the number, but shows no gender
    ("fr", BAT, ("Il prit la batte .", "Les avait vieilles ."), DISAGREES),
    ("es", BAT, ("Él tomó el bate .", "Le gusta viejo ."), UNCLEAR),
    ("es", BAT, ("Él tomó el bate .", "Él es viejo ."), AGREES),
    ("es", BAT, ("Él tomó el bate .", "Ella es vieja ."), DISAGREES),
    ("es", BAT, ("Él tomó el hacha .", "Ella es vieja ."), AGREES),  # feminine in spite of its article
    ("es", BAT, ("Él tomó esta raqueta .", "Él es viejo ."), DISAGREES),
    ("es", BAT, ("Él tomó nuestros bates .", "Ellos son viejos ."), AGREES),
]


@pytest.mark.parametrize(("language", "item", "translation", "expected"), CASES)
def test_verdicts_in_three_languages(language: str, item: Example, translation: tuple[str, str], expected: str) -> None:
    assert verdict(language, item, *translation).verdict == expected


LEFT_OUT = [  # the subject of a Spanish sentence; each word of the source is linked to the one at its place
    ("Él tomó el bate .", "Y es viejo .", AGREES),
    ("Él tomó el bate .", "Y es vieja .", DISAGREES),
    ("Él tomó mi raqueta .", "Y es vieja .", AGREES),  # by the usual ending of the noun
    ("Él tomó mi mapa .", "Y es vieja .", DISAGREES),  # and a noun with another one
    ("Él tomó el bate .", "Y es muy vieja .", DISAGREES),
    ("Él tomó las llaves .", "Y son viejas .", AGREES),
    ("Él tomó mi bate .", "Y es vieja .", UNCLEAR),
    ("Él tomó el bate .", "Y es una ruina .", NOT_FOUND),  # what a noun is, it is by itself
    ("Él tomó el bate .", "Y está esperando .", NOT_FOUND),
    ("Él tomó el bate .", "Y está abajo .", NOT_FOUND),
    ("Él tomó el bate .", "Y es grande .", NOT_FOUND),
    ("Él tomó el bate .", "Y rompe roca .", NOT_FOUND),
]


@pytest.mark.parametrize(("context", "current", "expected"), LEFT_OUT)
@pytest.mark.parametrize("change", [str, str.upper])
def test_predicates_decide_where_subjects_are_left_out(
    context: str, current: str, expected: str, change: Callable[[str], str]
) -> None:
    actual = verdict("es", BAT, change(context), change(current))
    assert actual.verdict == expected
    if expected in (AGREES, DISAGREES):
        assert (actual.reason, actual.pronoun) == (own.PREDICATE, current.lower().split()[-2])


def test_a_predicate_belongs_to_the_clause_of_the_pronoun() -> None:
    item = example("He took the bat .", "Take it , the water is cold .", "the bat")
    assert verdict("es", item, "Él tomó el bate .", "Toma ya , el agua es fría .").verdict == NOT_FOUND
    assert verdict("es", BAT, "Él tomó el bate .", "Y es María .").verdict == NOT_FOUND  # a name
    assert verdict("fr", BAT, "Il prit la batte .", "Et est vieux .").verdict == NOT_FOUND  # French has no such data


@pytest.mark.parametrize(
    ("noun", "expected"),
    [
        ("les étudiants", {"m.pl"}),
        ("les solutions", {"f.pl"}),
        ("des voitures", {"f.pl"}),
        ("l' image", {"f.sg"}),  # a word of the list, in spite of -age
        ("des musées", {"m.pl"}),
        ("le chance", {"m.sg"}),  # the determiner tells
        ("les profondeurs", {"f.pl"}),
        ("les vainqueurs", {"m.pl", "f.pl"}),  # -eur has both genders
        ("avantage", {"m.sg", "f.sg", "m.pl", "f.pl"}),  # without a determiner it may be no noun
    ],
)
def test_usual_endings_where_a_determiner_shows_no_gender(noun: str, expected: set[str]) -> None:
    words = noun.split()
    assert agreement.load_agreement("fr").noun_classes(words, len(words) - 1) == expected


@pytest.mark.parametrize(("language", "item", "translation", "expected"), CASES)
@pytest.mark.parametrize("change", [str.lower, str.upper, str.title])
def test_letter_case_does_not_matter(
    language: str, item: Example, translation: tuple[str, str], expected: str, change: Callable[[str], str]
) -> None:
    assert verdict(language, item, *map(change, translation)).verdict == expected


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("Er nahm es mit .", NOT_FOUND),  # "mit" is linked, and is no noun
        ("er nahm es mit .", UNCLEAR),  # a system without capitals: it could be one
        ("Er wollte Schläger gutheißen .", NOT_FOUND),
        ("Er nahm den alten Schläger .", AGREES),  # what is linked is next to the noun
        ("er nahm den schläger .", AGREES),
    ],
)
def test_german_nouns_have_a_capital(context: str, expected: str) -> None:
    assert verdict("de", BAT, context, "Er ist alt .").verdict == expected


CLASSES = sorted(["m.sg", "f.sg", "n.sg", "pl"])


@given(st.sets(st.sampled_from(CLASSES)), st.sets(st.sampled_from(CLASSES), min_size=1))
def test_agreement_is_decided_only_where_all_readings_say_the_same(noun: set[str], pronoun: set[str]) -> None:
    judging = replace(_german(), numbers={})
    agreement = judging.agreement(frozenset(noun), frozenset(pronoun), "it")
    fits = {name in pronoun for name in noun}
    assert agreement == {(True,): AGREES, (False,): DISAGREES}.get(tuple(fits), UNCLEAR)


def _german() -> Judge:
    known = agreement.NounAgreement(frozenset(CLASSES), {}, {})
    return Judge(header("de"), known, {}, {}, frozenset(), frozenset(), frozenset())


def test_the_number_of_the_source_pronoun_decides_between_numbers() -> None:
    them = example("He took the bats .", "They are old .", "the bats")
    assert verdict("de", them, "Er nahm die Schläger .", "Sie sind alt .").verdict == AGREES
    it = verdict("de", BAT, "Er nahm die Schläger .", "Er ist alt .")  # the determiner alone: feminine or plural
    assert (it.verdict, it.classes) == (DISAGREES, ("f.sg", "pl"))


def test_an_antecedent_in_the_same_sentence() -> None:
    item = example("", "He took the bat and it broke .", "the bat", distance=0)
    assert verdict("de", item, "Er nahm den Schläger und er zerbrach .").verdict == AGREES
    assert verdict("de", item, "Er nahm den Schläger und sie zerbrach .").verdict == DISAGREES
    actual = verdict("de", item, "Er nahm die Keule und sie zerbrach .")
    assert (actual.antecedent, actual.noun, actual.pronoun) == ("bat", "keule", "sie")


def test_adjectives_stand_between_determiner_and_noun() -> None:
    old = example("He took the very old bat .", "It is good .", "the very old bat")
    assert verdict("de", old, "Er nahm den sehr alten Schläger .", "Er ist gut .").verdict == AGREES
    small = example("He took the small bat .", "It is good .", "the small bat")
    assert verdict("fr", small, "Il prit la petite batte .", "Elle est bonne .").verdict == AGREES
    assert verdict("es", small, "Él tomó la pequeña raqueta .", "Él es bueno .").verdict == DISAGREES


def test_the_head_of_a_phrase() -> None:
    key = example("I lost the key of the house .", "It is old .", "the key of the house")
    assert verdict("de", key, "Ich verlor den Schlüssel von der Tür .", "Er ist alt .").noun == "schlüssel"
    named = example("I lost the house key .", "It is old .", "the house key", source_antecedent_head="house")
    assert verdict("de", named, "Ich verlor das Haus hier .", "Es ist alt .").antecedent == "house"


def test_what_the_lexicon_knows_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lexicon:
        def genders(self, noun: str) -> frozenset[str]:
            return frozenset({"Masc"} if noun == "schläger" else ())

        def numbers(self, noun: str) -> frozenset[str]:
            return frozenset({"Sing", "Plur"})

    assert verdict("de", BAT, "Er nahm meinen Schläger .", "Es ist alt .").verdict == DISAGREES
    assert verdict("de", BAT, "Er nahm Peters Schläger .", "Er ist alt .").verdict == UNCLEAR
    monkeypatch.setattr(agreement, "LEXICONS", {"de": Lexicon})
    assert verdict("de", BAT, "Er nahm Peters Schläger .", "Er ist alt .").verdict == AGREES
    assert verdict("de", BAT, "Er nahm Peters Schläger .", "Es ist alt .").verdict == DISAGREES
    assert verdict("de", BAT, "Er nahm das Schläger .", "Es ist alt .").verdict == UNCLEAR  # they contradict each other


def test_a_form_of_address_is_not_a_pronoun() -> None:
    item = example("He took the bat .", "Now it is old .", "the bat")
    assert verdict("de", item, "Er nahm die Keule .", "Nun sie ist alt .").verdict == AGREES
    assert verdict("de", item, "Er nahm die Keule .", "Nun Sie ist alt .").verdict == NOT_FOUND


def test_missing_context_is_counted() -> None:
    here = example("", "He took the bat and it broke .", "the bat")
    words = Tokenization("none", True, ("en", "de"))
    translations = [("Er ist alt .",), ("Er nahm den Schläger und er zerbrach .",)]
    verdicts = own.judge_suite(header("de"), {0: BAT, 1: here}, translations, {}, word_by_word, (words, words))
    assert [one.verdict for one in verdicts] == [NOT_FOUND, AGREES]
    counted = own.count([BAT, here], verdicts)
    assert counted.reasons == {own.NO_CONTEXT: 1}
    assert (counted.counts.total, counted.counts.decided, counted.counts.agreement) == (2, 1, 1.0)


def test_no_context_at_all_is_an_error() -> None:
    path = Path("mine.de")
    with pytest.raises(BadInput, match=r"^mine\.de: .*suites convert small\.jsonl --to sources --documents"):
        own.check_context(path, Path("small.jsonl"), {0: BAT}, [("Er ist alt .",)])
    own.check_context(path, "small", {0: BAT}, [("Er nahm den Schläger .", "Er ist alt .")])


def test_a_suite_without_antecedents_is_an_error() -> None:
    bare = Example("1", ("It is old .",), (("Es ist alt .",),), 0)
    with pytest.raises(AnaphoraError, match="no example has the tag 'source_antecedent'"):
        own.with_antecedents(suite_of(header("de"), lambda: [bare]))


def test_an_unknown_language_is_an_error() -> None:
    with pytest.raises(AnaphoraError, match=r"determiners of 'cs', which .* are not known.*Known: de, es, fr"):
        verdict("cs", BAT, "x", "y")


@pytest.mark.parametrize(
    ("tags", "sentence"),
    [({}, 1), ({"distance": 1}, 1), ({"distance": 0}, 0), ({"distance": 2}, None), ({"distance": -1}, None)],
)
def test_where_the_antecedent_is(tags: dict[str, int], sentence: int | None) -> None:
    assert own.antecedent_sentence(example("He took the bat.", "It is old.", "the bat", **tags)) == sentence


def test_an_antecedent_that_is_not_in_the_source() -> None:
    assert own.antecedent_sentence(example("He took it.", "It is old.", "the bat")) is None
    lost = verdict("de", example("He took it .", "It is old .", "the bat", distance=1), "Er nahm es .", "Es ist alt .")
    assert (lost.verdict, lost.reason) == (NOT_FOUND, own.NOT_IN_SOURCE)


def test_verdicts_next_to_outcomes_by_the_reference() -> None:
    verdicts = [Verdict("1", AGREES), Verdict("2", DISAGREES), Verdict("3", AGREES)]
    items = [replace(BAT, id=str(n), tags={"gender": "m"}) for n in (1, 2, 3)]
    outcomes = {"1": "wrong", "2": "correct", "3": "correct"}
    counted = own.count(items, verdicts, ["gender"], outcomes=outcomes, untagged=4)
    document = counted.to_dict()
    assert (document["correct"], document["wrong"]) == (2, 1)
    assert (document["wrong_but_agrees"], document["correct_but_disagrees"]) == (1, 1)
    assert (document["agrees"], document["disagrees"], document["without_antecedent"]) == (2, 1, 4)
    assert document["breakdowns"]["gender"]["m"]["agrees"] == 2
    assert document["interval"][0] < document["agreement"] == 2 / 3 < document["interval"][1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_classes_of_determiners_are_those_of_pronouns(language: str) -> None:
    known = agreement.load_agreement(language)
    assert frozenset().union(*known.determiners.values()) == known.classes


@pytest.mark.slow
@pytest.mark.skipif(
    not all(map(find_spec, ("sacremoses", "thot", "german_nouns"))),
    reason="not installed: sacremoses, thot, german_nouns",
)
def test_references_agree_and_contrastive_translations_do_not(
    data: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a sample of ContraPro; benchmarks/own_antecedent.py has the figures of all items."""
    monkeypatch.undo()
    script = runpy.run_path(str(BENCHMARK))
    suite = script["with_records"](read_rebuilt(data("contrapro") / "contrapro_reconstructed.jsonl.gz"), 600)
    actual = script["figures"](script["validate"](suite, tmp_path, aligner="thot:fast_align"))
    assert actual["decided_share"] >= 0.7
    assert actual["right_share"] >= 0.95
