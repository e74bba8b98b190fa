"""Pronoun lists are data files: one per language pair, with sources; users lay their own over them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.pronoun_files import known_pairs, pronoun_lists, to_toml
from anaphora.languages.pronouns import normalise


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_the_pairs_that_are_promised_are_there() -> None:
    assert known_pairs() == ["en-de", "en-es", "en-fr", "es-en", "x-en"]


@pytest.mark.parametrize("pair", known_pairs())
def test_built_in_lists_are_sound(pair: str) -> None:
    lists = pronoun_lists(pair)
    assert lists.sources, "where do they come from?"
    assert len(set(lists.target)) == len(lists.target) > 10
    for group in (*lists.identical, *lists.equivalent, *lists.translations.values()):
        assert set(group) <= lists.target_pronouns, group
        assert len(group) == len(set(group)) > 0
    for words in (lists.pronouns, lists.target, lists.reference_side):
        assert all(word == normalise(word) for word in words)
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


def test_an_unknown_pair_says_which_exist_and_how_to_supply_lists() -> None:
    with pytest.raises(AnaphoraError, match=r"no pronoun lists for en-ru.*en-de, en-es, en-fr, es-en, x-en.*--lists"):
        pronoun_lists("en-ru")
    with pytest.raises(AnaphoraError, match="not a language pair: 'french'"):
        pronoun_lists("french")


def test_lists_of_a_user_are_laid_over_the_built_in_ones(tmp_path: Path) -> None:
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
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message) as refused:
        pronoun_lists("en-fr", write(tmp_path / "wrong.toml", text + "\n"))
    assert "wrong.toml" in str(refused.value)


WORDS = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=6)
GROUPS = st.lists(st.lists(WORDS.map(normalise), min_size=1, max_size=3, unique=True), max_size=3)


@settings(derandomize=True, deadline=None)
@given(
    target=st.lists(WORDS.map(normalise), min_size=1, unique=True),
    groups=GROUPS,
    it=st.lists(WORDS.map(normalise), unique=True),
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
