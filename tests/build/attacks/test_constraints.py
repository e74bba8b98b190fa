"""Part-of-speech constraints: the seven sequences of the release, from closed classes or from an annotation."""

from __future__ import annotations

import pytest

from anaphora.annotate.document import Token
from anaphora.build.attacks.constraints import by_annotation, by_closed_classes, fits
from anaphora.build.attacks.determiners import determiners_of

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
