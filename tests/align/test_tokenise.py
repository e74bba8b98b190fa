"""Text is tokenised already, or as Moses does it."""

from __future__ import annotations

import sys

import pytest

from anaphora.align.tokenise import tokenise
from anaphora.errors import AnaphoraError


def test_text_that_is_tokenised_is_divided_at_white_space() -> None:
    assert tokenise(["l' homme  est , là .", "", " \t"], "none") == [["l'", "homme", "est", ",", "là", "."], [], []]


@pytest.mark.parametrize(
    ("language", "line", "words"),
    [
        ("fr", "C'est l'eau, qu'il boit.", ["C'", "est", "l'", "eau", ",", "qu'", "il", "boit", "."]),
        ("en", "It doesn't, Mr. Fox & co.", ["It", "doesn", "'t", ",", "Mr.", "Fox", "&", "co", "."]),
        ("de", "Er sagt: „Ja!“ [1|2]", ["Er", "sagt", ":", "„", "Ja", "!", "“", "[", "1", "|", "2", "]"]),
    ],
)
def test_moses_divides_by_language_and_escapes_nothing(language: str, line: str, words: list[str]) -> None:
    pytest.importorskip("sacremoses")
    assert tokenise([line, ""], "moses", language) == [words, []]


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AnaphoraError, match="depends on the language: say which"):
        tokenise([], "moses")
    with pytest.raises(AnaphoraError, match=r"unknown tokenisation 'mose' \(did you mean moses\?\)"):
        tokenise([], "mose", "en")
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    with pytest.raises(AnaphoraError, match=r"needs sacremoses, .*pip install \"anaphora\[align\]\""):
        tokenise([], "moses", "en")
