"""The suites of ContraCAT's experiment, and its candidates that need no linker."""

from __future__ import annotations

import json
import runpy
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
FOLDER = EXPERIMENTS / "contracat-2020"


def module(name: str) -> dict[str, Any]:
    return runpy.run_path(str(FOLDER / name))


# Suites


def test_a_part_has_the_chosen_items_and_the_header(tmp_path: Path) -> None:
    attacked_suites = module("_attacked.py")
    whole, path = tmp_path / "whole.jsonl", tmp_path / "part.jsonl"
    items = [{"id": str(number), "tags": {}} for number in range(5)]
    whole.write_text("".join(json.dumps(line) + "\n" for line in ({"name": "contrapro"}, *items)))
    attacked_suites["part"](whole, frozenset({"1", "3"}), path)
    assert [json.loads(line).get("id", "header") for line in path.read_text().splitlines()] == ["header", "1", "3"]


def test_the_sample_is_always_the_same() -> None:
    drawn = module("_attacked.py")["drawn"]
    known = [str(number) for number in range(100)]
    assert drawn(known, 10) == drawn(known, 10)
    assert len(drawn(known, 10)) == 10
    assert drawn(known, 1000) == frozenset(known)


# Candidates without a linker


class Morphology(dict[str, list[str]]):
    def get(self, key: str, default: Any = None) -> Any:
        return super().get(key, [] if default is None else default)


@dataclass
class Token:
    text: str
    idx: int
    pos_: str = "X"
    morph: Morphology = field(default_factory=Morphology)


def analysis(text: str, **known: tuple[str, str]) -> list[Token]:
    """Tokens of a text; known: the gender and the case of some."""
    tokens, position = [], 0
    for word in text.split(" "):
        gender, case = known.get(word.strip(".,?").lower(), ("", ""))
        morph = Morphology({"Gender": [gender]} if gender else {}) | ({"Case": [case]} if case else {})
        tokens.append(Token(word, position, "NOUN" if gender and not case else "PRON", Morphology(morph)))
        position += len(word) + 1
    return tokens


@pytest.mark.parametrize(
    ("german", "known", "versions"),
    [
        # nothing near is masculine: any gender could be right
        ("Die Tür ist zu. <SEP> Er ist da.", {"tür": ("Fem", ""), "er": ("", "Nom")}, ["Sie ist da.", "Es ist da."]),
        ("Ja. <SEP> Ich sehe sie.", {"sie": ("", "Acc")}, ["Ich sehe ihn.", "Ich sehe es."]),
        # a noun near has the pronoun's gender
        ("Der Zug ist da. <SEP> Er ist alt.", {"zug": ("Masc", ""), "er": ("", "Nom")}, []),
        # the case is not known
        ("Ja. <SEP> Ich sehe sie.", {}, []),
    ],
)
def test_a_pronoun_without_an_agreeing_noun_takes_any_gender(
    german: str, known: dict[str, tuple[str, str]], versions: list[str]
) -> None:
    context, _ = german.split(" <SEP> ")
    actual = module("_augment.py")["other_genders"](german, analysis(german.replace(" <SEP> ", " "), **known))
    assert actual == [f"{context} <SEP> {version}" for version in versions]


def test_models_are_tuned_with_the_objective_of_their_last_stage() -> None:
    objective = module("_augment.py")["OBJECTIVE"]
    trained = tomllib.loads((EXPERIMENTS / "contrapro-2018/concat22/config.toml").read_text("utf-8"))["training"]
    assert {**objective, "weighted_words": json.loads(objective["weighted_words"])} == {
        key: trained[key] for key in objective
    }
