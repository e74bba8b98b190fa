"""What the experiments with engines count as right."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("zstandard")

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    for folder in (EXPERIMENTS, EXPERIMENTS / "engines"):  # as run.py has it
        monkeypatch.syspath_prepend(str(folder))
    return lambda name: runpy.run_path(str(EXPERIMENTS / "engines" / name))


def test_a_chinese_sentence_with_one_pronoun_becomes_an_example(module: Any) -> None:
    contrast = module("opus.py")["contrast"]
    example = contrast(7, "她 病 了 。", "She is ill.")
    assert example.candidates == (("She is ill.",), ("He is ill.",), ("It is ill.",))
    assert example.tags == {"reference_pronoun": "she", "source_pronoun": "她"}


@pytest.mark.parametrize(
    ("chinese", "english"),
    [
        ("他们 来 了 。", "It is they."),  # they
        ("其他 人 来 了 。", "He came."),  # the others
        ("他 和 她 来 了 。", "He came."),  # two pronouns
        ("他 来 了 。", "He said he came."),
        ("他 来 了 。", "He and his dog came."),  # his would have to change, too
        ("他 来 了 。", "The man came."),
    ],
)
def test_sentences_that_ask_something_else_are_left_out(module: Any, chinese: str, english: str) -> None:
    assert module("opus.py")["contrast"](0, chinese, english) is None


def test_chinese_is_split_into_characters_and_pronouns(module: Any) -> None:
    words = module("opus.py")["WORDS"].findall("她们在2021年买了它和其他书。")
    assert words == ["她们", "在", "2021", "年", "买", "了", "它", "和", "其他", "书", "。"]


@pytest.mark.parametrize(
    ("portuguese", "links", "gender"),
    [
        ("A médica falou .", {(1, 1)}, "female"),
        ("Falei com o médico .", {(1, 3)}, "male"),
        ("A boa médica falou .", {(1, 2)}, "female"),  # an adjective in between
        ("Médica falou .", {(1, 0)}, None),
        ("A médica falou .", set(), None),
    ],
)
def test_the_article_tells_the_gender_of_a_person(
    module: Any, portuguese: str, links: set[tuple[int, int]], gender: str | None
) -> None:
    actual = module("bergamot.py")["gender"]("The doctor", ["The", "doctor", "spoke", "."], portuguese.split(), links)
    assert actual == gender


def test_pronouns_after_translation_to_portuguese_and_back(module: Any) -> None:
    before = ["He came.", "It rains.", "She and he came.", "She left.", "They sang."]
    after = ["He came.", "Rain.", "She came.", "He left.", "They said they sang."]
    actual = module("bergamot.py")["kept"](before, after)
    counts = {word: {name: n for name, n in of.items() if n} for word, of in actual.items()}
    assert counts == {"he": {"same": 1}, "it": {"none": 1}, "she": {"other": 1}, "they": {"several": 1}}
