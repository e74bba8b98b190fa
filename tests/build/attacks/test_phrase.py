"""Phrase addition: where the phrase goes, what becomes of the punctuation; and the released attacks, line by line."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.build.attacks.phrase import Phrase, phrase_addition, phrase_preset, without_end
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.attack_presets import built_in
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite

Make = Callable[..., Example]
MakeSuite = Callable[..., Suite]
# the contract: INTERFACE names these
NAMES = """
    he_said she_said true_colon true_colon_quot true_separate and_it_true and_that_true but_sure but_sure_sep
    but_point but_point_sep but_catch but_catch_sep but_why but_why_sep
"""


def contexts(suite: Suite) -> list[tuple[str, ...]]:
    """The attacked sentence of each example: English, then of each candidate."""
    return [(e.source[-2], *(c[-2] for c in e.candidates)) for e in suite]


@pytest.mark.parametrize(
    ("name", "english", "german"),
    [  # the settings of the release (data/contracat/README.md), and Table 4 for the others
        ("he_said", 'he said: "he wears the hat."', 'er sagte: "er trägt den Hut."'),
        ("she_said", 'she said: "he wears the hat."', 'sie sagte: "er trägt den Hut."'),
        ("true_colon", "it is true: he wears the hat.", "es ist wahr: er trägt den Hut."),
        ("true_colon_quot", 'it is true: "he wears the hat."', 'es ist wahr: "er trägt den Hut."'),
        ("true_separate", "he wears the hat. it is true.", "er trägt den Hut. es ist wahr."),
        ("and_it_true", "he wears the hat and it is true.", "er trägt den Hut und es ist wahr."),
        ("and_that_true", "he wears the hat and that is true.", "er trägt den Hut und das ist wahr."),
        ("but_sure", "he wears the hat but he wasn't sure.", "er trägt den Hut, aber er war sich nicht sicher."),
        ("but_sure_sep", "he wears the hat. but he wasn't sure.", "er trägt den Hut. aber er war sich nicht sicher."),
        ("but_point", "he wears the hat but that's not the point.", "er trägt den Hut, aber darum geht es nicht."),
        ("but_catch_sep", "he wears the hat. but there is a catch.", "er trägt den Hut. aber es gibt einen Haken."),
        ("but_why", "he wears the hat but why.", "er trägt den Hut, aber warum."),
    ],
)
def test_presets(example: Make, suite: MakeSuite, name: str, english: str, german: str) -> None:
    attacked = phrase_addition(suite(example()), [phrase_preset(name)])
    assert contexts(attacked) == [(english, german, german, german)]


def test_every_row_of_table_4_has_a_preset() -> None:
    assert list(built_in("phrase")) == NAMES.split()
    for name in NAMES.split():
        phrase = phrase_preset(name)
        assert {"en", "de"} <= set(phrase.texts)
        assert phrase.quoted is (name in ("he_said", "she_said", "true_colon_quot"))
        assert (phrase.place == "sentence") is (name == "true_separate" or name.endswith("_sep"))


def test_other_fields_are_unchanged_and_the_original_is_named(example: Make, suite: MakeSuite) -> None:
    original = example("7")
    attacked = phrase_addition(suite(original), [phrase_preset("true_colon")])
    assert attacked.header.name == "small-phrase-addition-true_colon"
    (new,) = attacked
    assert new.id == "phrase-addition/true_colon/7"
    assert new.tags == {**original.tags, "attack": "phrase-addition/true_colon", "attacked": "7"}
    assert (new.source[-1], [c[-1] for c in new.candidates], new.gold) == (
        original.source[-1],
        [c[-1] for c in original.candidates],
        original.gold,
    )


def test_only_the_previous_sentence_is_attacked(suite: MakeSuite) -> None:
    longer = Example("1", ("a.", "b.", "c."), (("x.", "y.", "z."), ("x.", "y.", "w.")), 0)
    (new,) = phrase_addition(suite(longer), [phrase_preset("true_colon")], truecased=True)
    assert new.source == ("a.", "it is true: b.", "c.")
    assert new.candidates[1] == ("x.", "es ist wahr: y.", "w.")


def test_an_example_without_a_previous_sentence_stays_as_it_is(example: Make, suite: MakeSuite) -> None:
    heard: list[str] = []
    first = example("1", source=("", "it is old."), contexts=("",) * 3)
    attacked = list(phrase_addition(suite(first, example("2")), [phrase_preset("he_said")], on_skip=heard.append))
    assert (attacked[0].source, attacked[0].tags["attacked"]) == (first.source, "1")
    assert attacked[1].source[0].startswith("he said:")
    assert heard == ["no sentence before the current one"]


def test_several_phrases_make_one_suite(example: Make, suite: MakeSuite) -> None:
    attacked = phrase_addition(suite(example("1"), example("2")), [phrase_preset("he_said"), phrase_preset("but_why")])
    assert attacked.header.name == "small-phrase-addition"
    assert [e.id for e in attacked] == [f"phrase-addition/{n}/{k}" for n in ("he_said", "but_why") for k in (1, 2)]


@pytest.mark.parametrize(
    ("sentence", "stem", "end"),
    [
        ("Hut.", "Hut", "."),
        ("merciful...", "merciful..", "."),
        ("Hut", "Hut", ""),
        ("Lied ♪", "Lied ♪", ""),
        ("Hut!“", "Hut!", "“"),
        ("chapeau !", "chapeau", " !"),
        ('once! "', "once! ", '"'),
        ("3", "3", ""),
        ("", "", ""),
    ],
)
def test_the_last_mark_is_one_character(sentence: str, stem: str, end: str) -> None:
    assert without_end(sentence) == (stem, end)


@given(st.text(min_size=1).filter(str.strip), st.sampled_from(["before", "after", "sentence"]), st.booleans())
def test_nothing_of_the_sentence_is_lost(sentence: str, position: str, quoted: bool) -> None:
    added = Phrase("x", {}, position, quoted).added_to(sentence, "zzz")
    assert added.count("zzz") == 1 + sentence.count("zzz")
    stem, end = without_end(sentence)
    assert stem in added
    assert added.endswith(end) or position == "sentence" or quoted


# capital letters: where the suite's sentences have them, a new beginning has one, too


def test_in_cased_text_a_new_beginning_takes_the_capital(example: Make, suite: MakeSuite) -> None:
    cased = example(source=("He wears the hat.", "It is old."), contexts=("Er trägt den Hut.",) * 3)
    for name, english, german in [
        ("true_colon", "It is true: He wears the hat.", "Es ist wahr: Er trägt den Hut."),
        ("true_separate", "He wears the hat. It is true.", "Er trägt den Hut. Es ist wahr."),
        ("but_sure", "He wears the hat but he wasn't sure.", "Er trägt den Hut, aber er war sich nicht sicher."),
    ]:
        assert contexts(phrase_addition(suite(cased), [phrase_preset(name)]))[0][:2] == (english, german)
    small = phrase_addition(suite(cased), [phrase_preset("true_colon")], truecased=True)
    assert contexts(small)[0][0] == "it is true: He wears the hat."


# phrases of the user's


def test_own_phrases_in_other_languages_and_places(suite: MakeSuite) -> None:
    french = Example("1", ("I saw a hat!", "It is old."), (("J'ai vu un chapeau !", "Il est vieux."),) * 2, 0)
    phrase = Phrase("maybe", {"en": "perhaps", "fr": ", peut-être"}, "after")
    assert contexts(phrase_addition(suite(french, languages=("en", "fr")), [phrase]))[0][:2] == (
        "I saw a hat perhaps!",
        "J'ai vu un chapeau, peut-être !",
    )
    quoted = Phrase("maybe", {"en": "they said", "fr": "ont-ils dit"}, "after", quoted=True)
    assert (
        contexts(phrase_addition(suite(french, languages=("en", "fr")), [quoted]))[0][0] == '"I saw a hat!" they said'
    )


def test_presets_of_the_users_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[so_they_say]\nplace = "before"\nen = "so they say:"\nde = "so heißt es:"\n', encoding="utf-8")
    phrase = phrase_preset("so_they_say", file)
    assert phrase == Phrase("so_they_say", {"en": "so they say:", "de": "so heißt es:"}, "before")
    assert phrase_preset("he_said", file).texts["de"] == "er sagte:"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[x]\nplace = "before"\n', r"mine\.toml: x needs phrases and a place\. Write place = "),
        ('[x]\nplace = "up"\nen = "a"\n', r"mine\.toml: x needs phrases and a place"),
        ('[x]\nplace = "after"\nen = 7\n', r"mine\.toml: x: 'en' is not a phrase"),
        ('[x]\nplace = "after"\nen = " "\n', r"mine\.toml: x: 'en' is not a phrase"),
        ("x = 1\n", r"mine\.toml: x must be a table"),
        ("[x\ny = 1\n", r"mine\.toml: line 1: not TOML"),
    ],
)
def test_a_preset_that_is_none(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=problem):
        phrase_preset("x", file)


def test_an_unknown_preset_says_which_are_known() -> None:
    with pytest.raises(
        AnaphoraError, match=r"unknown preset 'he_sad' \(did you mean he_said.*\)\. Known: he_said, she_said"
    ):
        phrase_preset("he_sad")


def test_a_phrase_that_lacks_a_language(example: Make, suite: MakeSuite) -> None:
    with pytest.raises(
        AnaphoraError, match=r"the phrase 'he_said' has no phrase for 'cs' .* --source-phrase TEXT --target-phrase TEXT"
    ):
        phrase_addition(suite(example(), languages=("en", "cs")), [phrase_preset("he_said")])


def test_an_unknown_place() -> None:
    with pytest.raises(AnaphoraError, match=r"unknown place 'up'\. Known: before, after, sentence"):
        Phrase("x", {}, "up")


def test_a_suite_without_context_cannot_be_attacked(example: Make, suite: MakeSuite) -> None:
    alone = replace(example(), source=("it is old.",), candidates=(("Er ist alt.",), ("Sie ist alt.",)))
    with pytest.raises(AnaphoraError, match=r"small\.jsonl: no example has a sentence before .* --context 1"):
        phrase_addition(suite(alone), [phrase_preset("he_said")])


# the release


@pytest.mark.parametrize("name", ["he_said", "true_colon"])
def test_the_released_attacks_line_by_line(
    contrapro: Suite, released: Callable[..., dict[str, Example]], name: str
) -> None:
    theirs = released(f"phrase_addition/{name}")
    ours = list(phrase_addition(contrapro, [phrase_preset(name)]))
    assert len(ours) == len(theirs) == 12_000
    for example in ours:
        other = theirs[str(example.tags["attacked"])]
        assert (example.id, example.source, example.candidates) == (other.id, other.source, other.candidates)


def test_but_sure_as_released_in_english(contrapro: Suite, data: Callable[[str], Path]) -> None:
    """All 36,031 lines; the release has no German for it. A line is `C <SEP> ` and the sentence with its own spaces."""
    path = data("contracat/attacks") / "phrase_addition" / "but_sure" / "en.txt.gz"
    theirs = gzip.decompress(path.read_bytes()).decode("utf-8").split("\n")[:-1]
    attacked = phrase_addition(contrapro, [phrase_preset("but_sure")])
    ours = [tuple(e.source) for e in attacked for _ in e.candidates]
    assert len(theirs) == len(ours) == 36_031
    assert [tuple(part.strip() for part in line.split("<SEP>")) for line in theirs] == ours
