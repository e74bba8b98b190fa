"""Each language pair has its data file."""

from __future__ import annotations

import pytest

from anaphora.build.mine.filtering import SWAPS
from anaphora.build.mine.pronoun_data import known_pairs, pair_data
from anaphora.core.errors import AnaphoraError
from anaphora.coref.pronouns import language


def test_there_are_three_pairs() -> None:
    assert known_pairs() == ["en-de", "en-es", "en-fr"]


@pytest.mark.parametrize("name", known_pairs())
def test_each_data_file(name: str) -> None:
    source, target = name.split("-")
    data = pair_data(source, target)
    assert (data.source, data.target) == (source, target)
    assert data.swap in SWAPS
    known = language(target)
    forms = {form for word in {*data.translations, *data.oblique} for form in data.targets(word, oblique=True)}
    assert {*data.translations, *data.oblique} <= {*language(source).pronouns, *language(source).plurals}
    assert data.clausal | data.source_only <= forms
    assert forms <= {*known.pronouns, *known.plurals}
    numbers = ["Sing", *(["Plur"] if known.plurals else [])]
    for number in numbers:
        assert data.label("Masc", number) != data.label("Fem", number)


def test_english_german() -> None:
    data = pair_data("en", "de")
    assert data.targets("it", oblique=False) == {"er", "sie", "es"}
    assert data.targets("it", oblique=True) == {"er", "sie", "es", "ihn", "ihm", "ihr"}
    assert data.targets("he", oblique=True) == frozenset()
    assert [data.label(gender, "Sing") for gender in ("Masc", "Fem", "Neut")] == ["er", "sie", "es"]


def test_an_unknown_pair() -> None:
    with pytest.raises(AnaphoraError, match=r"pronouns of en-xx cannot be mined.*Known: en-de, en-es, en-fr"):
        pair_data("en", "xx")
