"""Possessive extension: an owner for the antecedent, in good German; and how far it is what was released."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.build.attacks.attack import Antecedent, find
from anaphora.build.attacks.determiners import determiners_of
from anaphora.build.attacks.possessive import (
    Owner,
    Possessive,
    extended,
    own_possessive,
    possessive_extension,
    possessive_preset,
)
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.attack_presets import built_in
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite

Make = Callable[..., Example]
MakeSuite = Callable[..., Suite]
# the contract: INTERFACE names these
NAMES = """
    woman man mother father dog cat doctor_male doctor_female best_friend government company
    maria lisa bolsena peter robert david
"""


def attack(suite: Suite, name: str = "maria", **options: Any) -> list[Example]:
    return list(possessive_extension(suite, [possessive_preset(name)], **options))


@pytest.mark.parametrize(
    ("name", "english", "german"),
    [  # Table 5 and data/contracat/README.md; the paper's "the doctor's", not the release's "the doctors's"
        ("woman", "he wears the woman's hat.", "er trägt den Hut von der Frau."),
        ("man", "he wears the man's hat.", "er trägt den Hut vom Mann."),
        ("mother", "he wears my mother's hat.", "er trägt den Hut von meiner Mutter."),
        ("father", "he wears my father's hat.", "er trägt den Hut von meinem Vater."),
        ("dog", "he wears the dog's hat.", "er trägt den Hut vom Hund."),
        ("cat", "he wears the cat's hat.", "er trägt den Hut von der Katze."),
        ("doctor_male", "he wears the doctor's hat.", "er trägt den Hut vom Arzt."),
        ("doctor_female", "he wears the doctor's hat.", "er trägt den Hut von der Ärztin."),
        (
            "best_friend",
            "he wears the hat of my best friend's mother.",
            "er trägt den Hut von der Mutter meines besten Freundes.",
        ),
        ("government", "he wears the government's hat.", "er trägt den Hut der Regierung."),
        ("company", "he wears the company's hat.", "er trägt den Hut des Unternehmens."),
        ("maria", "he wears Maria's hat.", "er trägt Marias Hut."),
        ("david", "he wears David's hat.", "er trägt Davids Hut."),
    ],
)
def test_presets(example: Make, suite: MakeSuite, name: str, english: str, german: str) -> None:
    (new,) = attack(suite(example()), name)
    assert new.source == (english, "it is old.")
    assert [c[0] for c in new.candidates] == [german] * 3
    assert [c[1] for c in new.candidates] == ["Er ist alt.", "Sie ist alt.", "Es ist alt."]
    assert (new.id, new.tags["attacked"]) == (f"possessive-extension/{name}/1", "1")
    assert new.tags["attack"] == f"possessive-extension/{name}"


def test_every_row_of_table_5_has_a_preset() -> None:
    assert list(built_in("possessive")) == NAMES.split()
    assert all({"en", "de"} == set(possessive_preset(name).owners) for name in NAMES.split())


@pytest.mark.parametrize(
    ("phrase", "before", "after"),
    [
        ("den Hut", "Marias Hut", "den Hut von der Frau"),
        ("deine Hand", "Marias Hand", "die Hand von der Frau"),
        ("meinem alten Hut", "Marias altem Hut", "dem alten Hut von der Frau"),
        ("der alte Hut", "Marias alter Hut", "der alte Hut von der Frau"),
        ("Mein alter Hut", "Marias alter Hut", "ein alter Hut von der Frau"),
        ("einer Sache", "Marias Sache", "einer Sache von der Frau"),
        ("Diese  Höhle", "Marias  Höhle", "diese  Höhle von der Frau"),
        ("die Smith Wesson", "Marias Smith Wesson", "die Smith Wesson von der Frau"),
    ],
)
def test_a_german_noun_phrase_with_an_owner(phrase: str, before: str, after: str) -> None:
    german = determiners_of("de")
    assert extended(phrase, Owner("Marias", "before"), german) == before
    assert extended(phrase, Owner("von der Frau", "after"), german) == after


def test_an_english_possessive_gives_way_to_the_article_where_the_owner_follows() -> None:
    owner = Owner("of my best friend's mother", "after")
    english = determiners_of("en")
    assert extended("your hand", owner, english) == "the hand of my best friend's mother"
    assert extended("a gun", owner, english) == "a gun of my best friend's mother"


def test_an_antecedent_in_the_current_sentence_is_changed_in_every_candidate(example: Make, suite: MakeSuite) -> None:
    within = example(
        source=("look.", "the hat is here, but it is old."),
        contexts=("sieh.",) * 3,
        targets=tuple(f"Der Hut ist da, aber {word} ist alt." for word in ("er", "sie", "es")),
        target_antecedent="Der Hut",
        distance=0,
    )
    (new,) = attack(suite(within), "woman", truecased=True)
    assert new.source == ("look.", "the woman's hat is here, but it is old.")
    assert [c[1] for c in new.candidates] == [
        f"der Hut von der Frau ist da, aber {word} ist alt." for word in ("er", "sie", "es")
    ]


def test_in_cased_text_the_first_letter_of_a_sentence_stays_large(example: Make, suite: MakeSuite) -> None:
    cased = example(
        source=("Look. Your hat is here.", "It is old."),
        contexts=("Sieh. Ihr Hut ist da.",) * 3,
        source_antecedent="Your hat",
        target_antecedent="Ihr Hut",
    )
    (new,) = attack(suite(cased), "woman")
    assert (new.source[0], new.candidates[0][0]) == (
        "Look. The woman's hat is here.",
        "Sieh. Ein Hut von der Frau ist da.",
    )
    polite = example(
        source=("I see your hat.", "It is old."),
        contexts=("Ich sehe Ihren Hut.",) * 3,
        source_antecedent="your hat",
        target_antecedent="Ihren Hut",
    )
    (new,) = attack(suite(polite), "woman", truecased=False)
    assert new.candidates[0][0] == "Ich sehe den Hut von der Frau."


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"distance": None}, "no antecedent known"),
        ({"distance": 2}, "the antecedent is before the context"),
        ({"source_antecedent": "his old hat"}, "antecedents of different length in the two languages"),
        ({"target_antecedent": "Alfred Hitchcock"}, "the target antecedent has no determiner"),
        ({"source_antecedent": "one hat"}, "the source antecedent is not determiner (adjective) noun"),
        ({"source_antecedent_head_pos": "NNS"}, "the source antecedent is not determiner (adjective) noun"),
        ({"source_antecedent": "the cap"}, "the antecedent's words are not in its sentence"),
        (
            {"contexts": ("er trägt den Hut.", "er trägt ihn.", "er trägt den Hut.")},
            "the antecedent's words are not in",
        ),
    ],
)
def test_what_is_left_alone_and_why(example: Make, suite: MakeSuite, changes: dict[str, Any], why: str) -> None:
    heard: list[str] = []
    attacked = attack(suite(example("1", **changes), example("2")), tell=heard.append)
    assert [e.tags["attacked"] for e in attacked] == ["2"]
    assert len(heard) == 1
    assert heard[0].startswith(why)


def test_antecedents_and_tags_may_come_from_elsewhere(example: Make, suite: MakeSuite) -> None:
    bare = example(source_antecedent=None)
    found = Antecedent(1, "the hat", "den Hut")
    (new,) = attack(suite(bare), antecedents=lambda _: found)
    assert new.source[0] == "he wears Maria's hat."
    asked: list[Antecedent] = []

    def tagger(example: Example, antecedent: Antecedent) -> Any:
        asked.append(antecedent)
        return [frozenset({"DT"}), frozenset({"VB"})] if example.id == "1" else None  # None: closed classes decide

    assert [e.tags["attacked"] for e in attack(suite(example("1"), example("2")), tagger=tagger)] == ["2"]
    assert asked == [found, found]


def test_several_owners_make_one_suite(example: Make, suite: MakeSuite) -> None:
    both = [possessive_preset("maria"), possessive_preset("dog")]
    attacked = possessive_extension(suite(example("1"), example("2")), both)
    assert attacked.header.name == "small-possessive-extension"
    assert [e.id.partition("/")[2] for e in attacked] == ["maria/1", "maria/2", "dog/1", "dog/2"]


def test_own_owners(example: Make, suite: MakeSuite) -> None:
    king = own_possessive("king", ("en", "de"), ("the king's", "vom König"))
    assert king == Possessive("king", {"en": Owner("the king's", "before"), "de": Owner("vom König", "after")})
    (new,) = possessive_extension(suite(example()), [king])
    assert (new.source[0], new.candidates[0][0]) == ("he wears the king's hat.", "er trägt den Hut vom König.")
    for phrases, places in [
        (("of the king", "des Königs"), ("after", "after")),
        (("Anna's", "Annas"), ("before", "before")),
        (("my sister's", "meiner Schwester"), ("before", "after")),
    ]:
        owners = own_possessive("x", ("en", "de"), phrases).owners
        assert (owners["en"].place, owners["de"].place) == places


# bad input


def test_a_suite_without_antecedents_says_what_to_do(example: Make, suite: MakeSuite) -> None:
    with pytest.raises(
        BadInput, match=r"small\.jsonl: no example has the tags .* --annotate-source and --annotate-target"
    ):
        attack(suite(example(distance=None)))


def test_languages_that_are_not_known(example: Make, suite: MakeSuite) -> None:
    with pytest.raises(AnaphoraError, match="the determiners of 'cs' are not known"):
        attack(suite(example(), languages=("en", "cs")))
    only_english = Possessive("x", {"en": Owner("the king's", "before")})
    with pytest.raises(AnaphoraError, match=r"the owner 'x' has no phrase for 'de' \(it has: en\)\. Give it in both"):
        possessive_extension(suite(example()), [only_english])


@pytest.mark.parametrize("text", ['[x]\nen = "a"\n', "[x.en]\nup = 'a'\n", "[x.en]\nbefore = 1\n", "[x.en]\n"])
def test_a_preset_that_is_none(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r'mine\.toml: x\.en is not an owner\. Write .* en\.before = "…" or en\.after'):
        possessive_preset("x", file)


# the release


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("maria", {"adjective": 50, "elsewhere": 4}),
        ("david", {"adjective": 50, "elsewhere": 4}),
        ("woman", {"determiner": 81, "elsewhere": 13, "inside": 1}),
        ("doctor_male", {"determiner": 81, "elsewhere": 13, "inside": 1}),
    ],
)
def test_the_released_attack(
    contrapro: Suite, released: Callable[[str], dict[str, Example]], name: str, kinds: dict[str, int]
) -> None:
    """The target: 95 % of its items attacked, 95 % of the common texts identical, the rest explained."""
    theirs = released(f"possessive_extension/{name}")
    ours = {str(example.tags["attacked"]): example for example in attack(contrapro, name)}
    common = ours.keys() & theirs.keys()
    assert len(common) >= 0.985 * len(theirs)
    assert len(ours.keys() - theirs.keys()) <= 12  # signs at the end of the phrase, a record of another item
    different = [key for key in common if text(ours[key]) != text(theirs[key])]
    assert len(different) <= 0.03 * len(common)
    assert Counter(kind(ours[key], theirs[key]) for key in different) == kinds
    for key in common:
        assert (ours[key].id, ours[key].gold) == (theirs[key].id, theirs[key].gold)


def text(example: Example) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    return tuple(s.replace("doctors's", "doctor's") for s in example.source), example.candidates


def kind(ours: Example, theirs: Example) -> str:
    """What a difference is: where the release is not German, or changed other words than those of the antecedent."""
    place = len(theirs.source) - 1 - int(str(theirs.tags["distance"]))
    sides = [(str(theirs.tags["source_antecedent"]), theirs.source[place])]
    sides += [(str(theirs.tags["target_antecedent"]), candidate[place]) for candidate in theirs.candidates]
    pairs = zip(ours.candidates[0][place].split(), theirs.candidates[0][place].split(), strict=False)
    words = [(one, other) for one, other in pairs if one != other]
    if words in ([("ein", "die")], [("dem", "einem")], [("den", "einen")], [("einer", "der")]):
        return "determiner"  # dein → "die", meinem → "einem", euren → "einen", einer → "der"
    if len(words) == 1 and words[0][1].startswith(words[0][0][:-2]):
        return "adjective"  # "Marias alte Hut" instead of Marias alter Hut
    if any(find(antecedent, sentence) for antecedent, sentence in sides):
        return "elsewhere"  # "o-the-r maps", the first noun of that form: the antecedent itself is as it was
    return "inside"  # the owner within the name: "der Buru von der Frau Buru"
