"""The new suite: every example names its original, and what was left alone is said."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.annotate.document import Token
from anaphora.build.attacks.attack import (
    Antecedent,
    Skipped,
    antecedent_of,
    attacked_suite,
    begins_sentence,
    by_annotation,
    by_closed_classes,
    capitalized,
    check_tags,
    determiners_of,
    find,
    fits,
    from_tags,
    is_truecased,
    lowered,
)
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite


def shout(example: Example) -> Example | Skipped:
    if example.id == "no":
        return Skipped("it will not")
    if example.id == "same":
        return Skipped("nothing to do", kept=True)
    return replace(example, source=tuple(s.upper() for s in example.source), tags={**example.tags, "new": 1})


def test_ids_and_tags(example: Callable[..., Example], suite: Callable[..., Suite]) -> None:
    heard: list[str] = []
    whole = suite(example("a"), example("no"), example("same"))
    attacked = attacked_suite(whole, [("loud/shout", shout)], heard.append)
    assert (attacked.header.name, attacked.header.breakdowns) == ("small-loud-shout", ("reference_pronoun",))
    first, last = attacked
    assert heard == ["it will not", "nothing to do"]
    assert (first.id, first.source[1]) == ("loud/shout/a", "IT IS OLD.")
    assert first.tags == {**example("a").tags, "new": 1, "attack": "loud/shout", "attacked": "a"}
    assert (last.id, last.source[1], last.tags["attacked"]) == ("loud/shout/same", "it is old.", "same")
    assert [e.id for e in attacked] == [first.id, last.id]  # once more


@pytest.mark.parametrize(
    ("attacks", "name"),
    [
        (["phrase-addition/he_said"], "small-phrase-addition-he_said"),
        (["phrase-addition/he_said", "phrase-addition/she_said"], "small-phrase-addition"),
        (["no-context"], "small-no-context"),
    ],
)
def test_names(suite: Callable[..., Suite], attacks: list[str], name: str) -> None:
    assert attacked_suite(suite(), [(attack, shout) for attack in attacks]).header.name == name


# Part-of-speech constraints: the seven sequences of the release, from closed classes or from an annotation.

ENGLISH = determiners_of("en")


@pytest.mark.parametrize(
    ("words", "tag", "fit"),
    [
        ("the hat", "NN", True),
        ("my hat", None, True),
        ("the Codex", "NNP", True),
        ("my Codex", "NNP", False),  # PRP$ NNP is none of the sequences
        ("the old hat", None, True),
        ("the Smith Wesson", "NNP", True),
        ("my old hat", "NN", True),
        ("the hats", "NNS", False),
        ("the one", "CD", False),
        ("hat", None, False),
        ("one elevator", "NN", False),
        ("garbage truck", "NN", False),
        ("the very old hat", "NN", False),
        ("", None, False),
    ],
)
def test_closed_classes(words: str, tag: str | None, fit: bool) -> None:
    assert fits(by_closed_classes(words.split(), ENGLISH, tag)) is fit


def token(text: str, upos: str, **features: str) -> Token:
    return Token(text, upos=upos, features=features)


THE = token("the", "DET", Definite="Def", PronType="Art")
MY = token("my", "PRON", Poss="Yes", PronType="Prs")
OLD = token("old", "ADJ", Degree="Pos")
HAT = token("hat", "NOUN", Number="Sing")
HATS = token("hats", "NOUN", Number="Plur")
CODEX = token("Codex", "PROPN", Number="Sing")
WEARS = token("wears", "VERB", Number="Sing")


@pytest.mark.parametrize(
    ("tokens", "fit"),
    [
        ([MY, HAT], True),
        ([THE, HAT], True),
        ([THE, CODEX], True),
        ([THE, OLD, HAT], True),
        ([THE, HAT, HAT], True),
        ([MY, OLD, HAT], True),
        ([THE, CODEX, CODEX], True),
        ([token("deine", "DET", Poss="Yes"), HAT], True),
        ([MY, HAT, HAT], False),
        ([MY, CODEX], False),
        ([THE, HATS], False),
        ([THE, WEARS], False),
        ([THE, OLD], False),
        ([THE, OLD, OLD, HAT], False),
        ([token("it", "PRON"), HAT], False),
        ([HAT], False),
        ([], False),
    ],
)
def test_annotation(tokens: list[Token], fit: bool) -> None:
    assert fits(by_annotation(tokens)) is fit


# Antecedents: from the tags of ContraPro and of mined items, and where their words are.

Make = Callable[..., Example]


def test_from_tags(example: Make) -> None:
    assert from_tags(example()) == Antecedent(1, "the hat", "den Hut", None)
    tagged = example(source_antecedent_head_pos="NN", source_antecedent="The bullet--", target_antecedent="die Kugel .")
    assert from_tags(tagged) == Antecedent(1, "The bullet", "die Kugel", "NN")


@pytest.mark.parametrize("missing", ["source_antecedent", "target_antecedent", "distance"])
def test_all_three_tags_are_needed(example: Make, missing: str) -> None:
    assert from_tags(example(**{missing: None})) is None


@pytest.mark.parametrize("bad", [{"distance": "1"}, {"source_antecedent": ["the", "hat"]}])
def test_tags_of_another_kind_are_none(example: Make, bad: dict[str, Any]) -> None:
    assert from_tags(example(**bad)) is None


def test_one_example_with_tags_is_enough(example: Make, suite: Callable[..., Suite]) -> None:
    check_tags(suite(example(distance=None), example("2")), "…")
    with pytest.raises(BadInput, match=r"small\.jsonl: no example has the tags source_antecedent, .* Do this\."):
        check_tags(suite(example(distance=None)), "Do this.")


@pytest.mark.parametrize(("distance", "index"), [(0, 2), (1, 1), (2, 0), (3, None), (-1, None)])
def test_the_sentence_is_counted_from_the_current_one(example: Make, distance: int, index: int | None) -> None:
    three = replace(example(), source=("a", "b", "c"))
    antecedent = Antecedent(distance, "x", "y")
    expected = Skipped("the antecedent is before the context") if index is None else (antecedent, index)
    assert antecedent_of(three, lambda _: antecedent) == expected


@pytest.mark.parametrize(
    ("words", "sentence", "position"),
    [
        ("The hat", "look, the hat.", (6, 13)),  # truecased text, records that are not
        ("the map", "in contrast to other maps, the map shows", (27, 34)),  # the release takes "o-the-r maps"
        ("a hat", "an extra hat, a hat", (14, 19)),
        ("my garden 's", "my garden's dying", (0, 11)),
        ("die Karte", "die Karten, die Karte", (12, 21)),
        ("the hat", "the hat and the hat", (0, 7)),
        ("the hat", "the old hat", None),
        ("the ( hat", "the (hat", (0, 8)),
        ("", "the hat", None),
    ],
)
def test_find(words: str, sentence: str, position: tuple[int, int] | None) -> None:
    actual = find(words, sentence)
    assert (actual.span() if actual else None) == position


@given(st.lists(st.from_regex(r"[a-zäöü]{1,6}", fullmatch=True), min_size=1, max_size=4), st.text(), st.text())
def test_words_that_are_there_are_found(words: list[str], before: str, after: str) -> None:
    phrase = " ".join(words)
    actual = find(phrase, f"{before} {phrase} {after}")
    assert actual is not None
    assert re.sub(r"\s", "", actual.group()).lower() == "".join(words).lower()


# Capital letters: what a suite does, and where a sentence begins.

MakeSuite = Callable[..., Suite]


def one(*source: str) -> Example:
    return Example("1", source, (source,), 0)


@pytest.mark.parametrize(
    ("sentences", "truecased"),
    [
        (("there it is.", "I saw it.", '"it is old."'), True),
        (("There it is.", "I saw it.", "it is old."), False),
        (("- No.", "...", "", "42"), False),
        (("♪ la la", "1. it"), True),
        (("it.", "It."), False),
    ],
)
def test_what_most_sentences_begin_with(suite: MakeSuite, sentences: tuple[str, ...], truecased: bool) -> None:
    assert is_truecased(suite(one(*sentences))) is truecased


def test_without_a_source_the_target_decides(suite: MakeSuite) -> None:
    assert is_truecased(suite(Example("1", ("", ""), (("es regnet.", "es ist nass."),), 0)))


def test_contrapro_is_truecased(contrapro: Suite) -> None:
    assert is_truecased(contrapro)


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("|Der Hut", True),
        ("- |Der Hut", True),
        ('"|Der Hut', True),
        ("Sieh da! |Der Hut", True),
        ("Er sagte: „|Der Hut", True),
        ("Sieh |Der Hut", False),
        ("Sieh, |Der Hut", False),
    ],
)
def test_where_a_sentence_begins(text: str, begins: bool) -> None:
    assert begins_sentence(text.replace("|", ""), text.index("|")) is begins


def test_first_letters() -> None:
    assert (capitalized("ein Hut"), lowered("Ein Hut"), capitalized(""), lowered("")) == ("Ein Hut", "ein Hut", "", "")


# Determiners.


GERMAN, ENGLISH = determiners_of("de"), determiners_of("en")


@pytest.mark.parametrize("stem", ["mein", "dein", "sein", "ihr", "unser", "euer", "eur"])
@pytest.mark.parametrize(
    ("ending", "article"), [("e", "die"), ("en", "den"), ("em", "dem"), ("er", "der"), ("es", "des")]
)
def test_a_possessive_becomes_the_definite_article_of_its_form(stem: str, ending: str, article: str) -> None:
    assert GERMAN.article(stem + ending) == article
    assert GERMAN.article((stem + ending).capitalize()) == article
    assert GERMAN.is_possessive(stem + ending)


@pytest.mark.parametrize("form", ["mein", "dein", "Ihr", "unser", "euer"])
def test_without_an_ending_it_becomes_the_indefinite_one(form: str) -> None:
    """No definite article has this form: mein alter Hut → ein alter Hut, mein altes Haus → ein altes Haus."""
    assert GERMAN.article(form) == "ein"


def test_short_forms() -> None:
    assert (GERMAN.article("unsern"), GERMAN.article("unserm"), GERMAN.article("unsre")) == ("den", "dem", "die")


@pytest.mark.parametrize("form", ["der", "Die", "einer", "eine", "diesem", "keinen", "jeder"])
def test_other_determiners_stay(form: str) -> None:
    assert form in GERMAN
    assert GERMAN.article(form) == form


def test_english() -> None:
    assert [ENGLISH.article(word) for word in ("my", "Your", "this", "a")] == ["the", "the", "this", "a"]
    assert "the" in ENGLISH
    assert "The" in ENGLISH
    for word in ("one", "dog", "only", ""):
        assert word not in ENGLISH


@pytest.mark.parametrize("word", ["Alfred", "nur", "alter", "Also", "von", "dann", "ihnen"])
def test_what_is_no_determiner(word: str) -> None:
    assert word not in GERMAN


@pytest.mark.parametrize(
    ("determiner", "adjective", "strong"),
    [  # der alte Hut, dem alten Hut, der alten Uhr, das alte Haus … after a genitive: Marias alter Hut, altem Hut …
        ("der", "alte", "alter"),
        ("Dieser", "alte", "alter"),
        ("das", "alte", "altes"),
        ("dieses", "alte", "altes"),
        ("den", "alten", "alten"),
        ("dem", "alten", "altem"),
        ("einem", "alten", "altem"),
        ("der", "alten", "alter"),
        ("meiner", "alten", "alter"),
        ("des", "alten", "alten"),
        ("eines", "alten", "alten"),
        ("die", "alte", "alte"),
        ("eine", "alte", "alte"),
        ("ein", "alter", "alter"),
        ("unser", "alter", "alter"),
        ("mein", "altes", "altes"),
        ("die", "alten", "alte"),
        ("der", "rosa", "rosa"),
        ("der", "Wutai", "Wutai"),
        ("der", "Kunde", "Kunde"),
    ],
)
def test_an_adjective_without_its_determiner_is_strong(determiner: str, adjective: str, strong: str) -> None:
    assert GERMAN.strong(determiner, adjective) == strong


def test_english_adjectives_stay() -> None:
    assert ENGLISH.strong("the", "orange") == "orange"


def test_an_unknown_language_says_which_are_known() -> None:
    with pytest.raises(AnaphoraError, match=r"the determiners of 'cs' are not known.*Known languages: de, en"):
        determiners_of("cs")
