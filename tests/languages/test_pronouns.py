"""Pronoun lists answer what APT asks of a word: is it a pronoun, which one, is it as good as another?"""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages import names_with
from anaphora.languages.pronouns import (
    CLASSES,
    OTHER,
    PronounLists,
    addressed,
    load_readings,
    normalize_word,
    polite_forms,
    pronoun_forms,
    pronoun_in,
    pronoun_lists,
    same_class,
    to_toml,
)

LISTS = PronounLists(
    "en-fr",
    pronouns=("it",),
    target=("il", "ce", "c'", "ça", "elle"),
    identical=(("ce", "c'"), ("ça", "cela")),
    equivalent=(("ce", "il"), ("c'", "ça", "on")),
    translations={"it": ("il", "ce", "lequel")},
)


@pytest.mark.parametrize("word", ["C'", "c’", "c&apos;", "C&apos;"])
def test_words_have_one_form(word: str) -> None:
    assert normalize_word(word) == "c'"


def test_accents_are_composed() -> None:
    assert normalize_word(unicodedata.normalize("NFD", "ÇA")) == "ça"


def test_identical_forms_have_the_first_as_their_name() -> None:
    assert [LISTS.canonical(word) for word in ("c'", "ce", "cela", "il")] == ["ce", "ce", "ça", "il"]


def test_equivalents_hold_for_all_forms_and_orders_but_not_transitively() -> None:
    assert LISTS.are_equivalent("c'", "il")
    assert LISTS.are_equivalent("il", "ce")
    assert LISTS.are_equivalent("cela", "c'")
    assert LISTS.are_equivalent("on", "ça")
    assert not LISTS.are_equivalent("il", "ça")
    assert not LISTS.are_equivalent("ce", "c'")  # the same, not equivalent
    assert not LISTS.are_equivalent("il", "elle")


def test_likely_translations_have_all_their_forms_and_are_pronouns() -> None:
    assert LISTS.likely("it") == {"il", "ce", "c'", "lequel"}
    assert LISTS.likely("they") is None
    assert LISTS.target_pronouns == {"il", "ce", "c'", "ça", "elle", "lequel"}


def test_a_pronoun_can_be_a_part_of_a_word() -> None:
    pronouns = frozenset({"il", "elle", "celui-ci"})
    assert pronoun_in("il", pronouns) == "il"
    assert pronoun_in("est-il", pronouns) is None
    assert pronoun_in("purifie-t-il", pronouns, "-") == "il"
    assert pronoun_in("celui-ci", pronouns, "-") == "celui-ci"
    assert pronoun_in("peut-être", pronouns, "-") is None
    assert pronoun_in("qu'il", pronouns, "-'") == "il"


def test_the_digest_is_of_the_content() -> None:
    other = PronounLists("x-y", sources=("somebody",), **{k: getattr(LISTS, k) for k in ("pronouns", "target")})
    same = PronounLists("en-fr", pronouns=LISTS.pronouns, target=LISTS.target)
    assert other.digest == same.digest
    assert same.digest != LISTS.digest


# Pronoun lists are data files: one per language pair, with sources; users lay their own over them.


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_the_pairs_that_are_promised_are_there() -> None:
    assert names_with("apt") == ["en-de", "en-es", "en-fr", "es-en", "x-en"]


@pytest.mark.parametrize("pair", names_with("apt"))
def test_built_in_lists_are_sound(pair: str) -> None:
    lists = pronoun_lists(pair)
    assert lists.sources, "where do they come from?"
    assert len(set(lists.target)) == len(lists.target) > 10
    for group in (*lists.identical, *lists.equivalent, *lists.translations.values()):
        assert set(group) <= lists.target_pronouns, group
        assert len(group) == len(set(group)) > 0
    for words in (lists.pronouns, lists.target, lists.reference_side):
        assert all(word == normalize_word(word) for word in words)
    assert pair == "x-en" or set(lists.pronouns) <= set(lists.translations)


def test_french_is_table_2_of_the_paper() -> None:
    lists = pronoun_lists("en-fr")
    assert lists.pronouns == ("it", "they")
    assert lists.identical == (("ce", "c'"), ("ça", "ç'", "cela"))
    assert lists.equivalent == (("ce", "il"), ("ce", "ça"))
    assert {"il", "l'"} <= (lists.likely("it") or set())  # Table 1


def test_any_language_into_english_has_the_english_side() -> None:
    lists = pronoun_lists("zh-en")
    assert (lists.pair, lists.pronouns) == ("zh-en", ())
    assert lists.target == pronoun_lists("x-en").target == pronoun_lists("es-en").target
    assert len(lists.reference_side) == 19


def test_an_unknown_pair_error_lists_known_pairs_and_remedy() -> None:
    with pytest.raises(AnaphoraError, match=r"no pronoun lists for en-ru.*en-de, en-es, en-fr, es-en, x-en.*--lists"):
        pronoun_lists("en-ru")
    with pytest.raises(AnaphoraError, match="not a language pair: 'french'"):
        pronoun_lists("french")


def test_lists_of_a_user_extend_the_built_in_ones(tmp_path: Path) -> None:
    path = write(tmp_path / "my.toml", 'equivalent = [["ON", "il"]]\n[translations]\nit = ["Il"]\nhe = ["lui"]\n')
    lists, builtin = pronoun_lists("en-fr", path), pronoun_lists("en-fr")
    assert lists.equivalent == (("on", "il"),)
    assert lists.likely("it") == {"il"}
    assert lists.likely("he") == {"lui"}
    assert (lists.target, lists.identical, lists.likely("they")) == (
        builtin.target,
        builtin.identical,
        builtin.likely("they"),
    )
    assert lists.digest != builtin.digest


def test_lists_for_a_pair_of_ones_own(tmp_path: Path) -> None:
    path = write(tmp_path / "ru.toml", 'pronouns = ["it"]\ntarget = ["он", "она", "оно"]\nsource_separators = "-"\n')
    lists = pronoun_lists("en-ru", path)
    assert (lists.pronouns, lists.target, lists.source_separators) == (("it",), ("он", "она", "оно"), "-")
    path = write(tmp_path / "less.toml", 'pronouns = ["it"]\n')
    with pytest.raises(BadInput, match=r"less\.toml: no list 'target'"):
        pronoun_lists("en-ru", path)
    path = write(tmp_path / "based.toml", 'base = "x-en"\npronouns = ["er"]\n')
    assert pronoun_lists("de-en", path).pronouns == ("er",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("target = [", "not TOML"),
        ("targets = []", "unknown key 'targets'"),
        ("target = 'il'", "target has to be a list of words"),
        ("target = ['il', 3]", "target has to be a list of words"),
        ("target = ['il', '']", "target has to be a list of words"),
        ("identical = 'ce'", "identical is a list of lists"),
        ("identical = ['ce']", "identical has to be a list of words"),
        ("identical = [['ce', 'c\\''], ['ce', 'ça']]".replace("'c\\''", '"c\'"'), "'ce' is in two lists of identical"),
        ("translations = ['il']", "translations is a table"),
        ("separators = ['-']", "separators is a text"),
        ("base = 'en-ru'", "no built-in lists 'en-ru'"),
    ],
)
def test_what_is_wrong_with_a_file_is_reported(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message) as refused:
        pronoun_lists("en-fr", write(tmp_path / "wrong.toml", text + "\n"))
    assert "wrong.toml" in str(refused.value)


CHARACTERS = st.characters(blacklist_categories=("Cs", "Cc", "Zs", "Zl", "Zp"))
# a soft hyphen alone is no word: nothing is left of it
WORDS = st.text(CHARACTERS, min_size=1, max_size=6).map(normalize_word).filter(str.strip)
GROUPS = st.lists(st.lists(WORDS, min_size=1, max_size=3, unique=True), max_size=3)


@settings(derandomize=True)
@given(
    target=st.lists(WORDS, min_size=1, unique=True),
    groups=GROUPS,
    it=st.lists(WORDS, unique=True),
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, target: list[str], groups: list[list[str]], it: list[str]
) -> None:
    text = to_toml({"target": target, "equivalent": groups, "separators": "-\"'", "translations": {"it s": it}})
    lists = pronoun_lists("en-ru", write(tmp_path_factory.mktemp("lists") / "x.toml", text))
    assert lists.target == tuple(target)
    assert lists.equivalent == tuple(map(tuple, groups))
    assert lists.separators == "-\"'"
    assert lists.translations == {"it s": tuple(it)}


# Forms of one gender and number, whatever their case.


def of(word: str, *others: str, language: str = "de") -> set[str]:
    return set(same_class(word, frozenset(others), pronoun_forms(language)))


def test_case_does_not_matter() -> None:
    assert of("er", "sie", "es") == of("ihn", "sie", "es") == {"er", "ihn", "ihm"}
    assert of("es", "er", "sie") == {"es", "'s", "ihm"}


def test_one_word_for_two_numbers_takes_that_of_the_others() -> None:
    assert of("sie", "er", "es") == {"sie", "ihr"}
    assert of("sie") == {"sie", "ihr", "ihnen"}
    assert of("les", "il", language="fr") >= {"ils", "elles"}
    assert of("elle", "il", language="fr") == {"elle", "la", "l'", "lui", "celle-ci", "celle-là"}


def test_a_word_that_is_no_pronoun_is_its_own_class() -> None:
    assert of("Haus") == {"Haus"}


def test_languages() -> None:
    assert names_with("forms") == ["de", "en", "es", "fr"]
    assert pronoun_forms("de-AT") is not None
    assert not pronoun_forms("xx")


@pytest.mark.parametrize("language", ["de", "en", "es", "fr"])
def test_files_are_in_lower_case(language: str) -> None:
    for words in pronoun_forms(language).values():
        assert words
        assert all(word == word.lower() for word in words)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Nehmen Sie es", [1]),
        ("Sie nimmt es", []),
        ("Ja . Sie nimmt es", []),
        ("Er sagt : Sie nimmt es", []),
        ("dass Sie sie Ihnen geben", [1, 3]),
        ("„ Sie nimmt es", []),
    ],
)
def test_a_capital_inside_of_a_sentence_is_polite(sentence: str, expected: list[int]) -> None:
    actual = addressed(sentence.split(), polite_forms("de"))
    assert [position for position, special in enumerate(actual) if special] == expected
    assert not any(addressed(sentence.split(), polite_forms("fr")))


# Error classes of pronouns: the paper's examples, ambiguous forms, and files of one's own.


@pytest.mark.parametrize(
    ("reference", "system", "expected"),
    [
        ("he", "it", "gender"),  # the examples of Jwalapuram et al. 2019, §3.2
        ("she", "it", "gender"),
        ("they", "it", "number"),
        ("who", "which", "animacy"),
        ("he", "him", "role"),
        ("i", "we", "number"),
        ("his", "it", "gender"),  # also the role; gender comes first
        ("this", "these", "number"),
        ("it", "that", "other"),  # a demonstrative
        ("he", "i", "other"),  # another person
        ("who", "that", "other"),  # they do not differ in anything that is known
        ("her", "his", "gender"),  # her is also an object, but his is not
        ("her", "she", "role"),
        ("you", "your", "role"),
    ],
)
def test_classes_of_errors(reference: str, system: str, expected: str) -> None:
    assert load_readings("en").error_class(reference, system) == expected


def test_what_differs_is_reported() -> None:
    english = load_readings("en")
    assert english.differ_in("his", "it") == ("gender", "role")
    assert english.differ_in("you", "we") == ("person",)


def test_english_has_the_pronouns_of_the_paper() -> None:
    assert len(load_readings("en").pronouns) == 42


def test_a_form_with_several_readings_takes_the_nearest() -> None:
    german = load_readings("de")
    assert german.error_class("er", "sie") == "gender"
    assert german.error_class("ihren", "sie") == "role"  # of both the feminine or the plural
    assert german.error_class("ihnen", "sie") == "other"  # both can be the object in the plural
    assert load_readings("fr").error_class("il", "elle") == "gender"


@pytest.mark.parametrize("language", names_with("readings"))
def test_every_two_pronouns_have_a_class(language: str) -> None:
    readings = load_readings(language)
    actual = {readings.error_class(a, b) for a in readings.pronouns for b in readings.pronouns if a != b}
    assert actual <= {*CLASSES, OTHER}
    assert {"gender", "number"} <= actual
    assert all(readings.differ_in(word, word) == () for word in readings.pronouns)


def test_a_list_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "nl.toml"
    path.write_text('capital = []\n[readings]\nHij = ["3 sg m subject"]\nzij = ["3 sg f subject"]\n')
    assert load_readings("nl", path).error_class("hij", "zij") == "gender"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("x = ", "not TOML"),
        ("[other]\n", "no table [readings]"),
        ('[readings]\nhe = "3 sg"\n', "he: a list of readings is expected"),
        ('[readings]\nhe = ["3 singular"]\n', "he: unknown 'singular'"),
    ],
)
def test_a_broken_list_is_an_error(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "nl.toml"
    path.write_text(content)
    with pytest.raises(BadInput) as error:
        load_readings("nl", path)
    assert problem in str(error.value)
    assert str(path) in str(error.value)


def test_an_unknown_language_is_an_error() -> None:
    with pytest.raises(AnaphoraError, match=r"no list of pronouns for language 'xx'\. There are lists for de, en, fr"):
        load_readings("xx")
