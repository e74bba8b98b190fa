"""Capital letters: what a suite does, and where a sentence begins."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anaphora.build.attacks.letters import begins_sentence, capitalised, is_truecased, lowered
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite

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
    assert (capitalised("ein Hut"), lowered("Ein Hut"), capitalised(""), lowered("")) == ("Ein Hut", "ein Hut", "", "")
