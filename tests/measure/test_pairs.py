"""Pairs from references and systems: Figure 1 of the paper, duplicates, contexts, the filter."""

from __future__ import annotations

from typing import Any

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.languages.pronouns import load_readings
from anaphora.measure.pair_list import Judged
from anaphora.measure.pairs import PairMaker, Settings
from anaphora.measure.texts import Line
from anaphora.suites.example import Example

ENGLISH = load_readings("en")
FIGURE_1 = {
    "source": "Il était créatif, généreux, drôle, affectueux et talentueux, et il va beaucoup me manquer.",
    "reference": "He was creative, generous, funny, loving and talented, and I will miss him dearly.",
    "system": "It was creative, generous, funny, affectionate and talented, and we will greatly miss.",
}


def made(lines: list[Line], systems: int = 1, **settings: Any) -> tuple[list[Example], PairMaker]:
    maker = PairMaker(ENGLISH, [f"s{k}" for k in range(systems)], Settings(**settings))
    return list(maker.pairs(lines)), maker


def line(reference: str, *systems: str, number: int = 1) -> Line:
    return Line(number, "1", ("Before.", reference), tuple((f"Own {k}.", text) for k, text in enumerate(systems)), None)


def test_figure_1() -> None:
    texts = [(FIGURE_1[name],) for name in ("reference", "system", "source")]
    examples, _ = made([Line(1, "1", texts[0], (texts[1],), texts[2])])
    assert [example.candidates[1][-1] for example in examples] == [
        "It was creative, generous, funny, loving and talented, and I will miss him dearly.",
        "He was creative, generous, funny, loving and talented, and we will miss him dearly.",
        FIGURE_1["system"],
    ]
    assert {example.candidates[0] for example in examples} == {(FIGURE_1["reference"],)}
    assert {example.source for example in examples} == {(FIGURE_1["source"],)}
    assert [example.tags["kind"] for example in examples] == ["noisy", "noisy", "system"]
    assert [example.tags.get("error") for example in examples] == ["gender", "number", None]
    assert examples[2].tags["pronoun_pairs"] == ["he:it", "i:we"]
    assert all(example.gold == 0 for example in examples)
    assert len({example.id for example in examples}) == 3


def test_contexts() -> None:
    noisy, system = made([line("He left.", "It left.")])[0]
    assert noisy.candidates == (("Before.", "He left."), ("Before.", "It left."))
    assert system.candidates == (("Before.", "He left."), ("Own 0.", "It left."))
    assert system.source == ("", "")
    _, common = made([line("He left.", "It left.")], own_context=False)[0]
    assert common.candidates[1] == ("Before.", "It left.")


def test_what_systems_do_alike_is_one_pair() -> None:
    lines = [line("He left.", "It left.", "It left.", "It  gone left."), line("He left.", "It left.", "", "", number=2)]
    examples, maker = made(lines, systems=3)
    noisy = [example for example in examples if example.tags["kind"] == "noisy"]
    assert len(noisy) == 1
    assert noisy[0].tags["systems"] == ["s0", "s1"]
    assert maker.statistics.duplicates == {"noisy": 2, "system": 2}  # the second line repeats the first
    assert maker.statistics.pairs == {"noisy": 1, "system": 1}
    assert maker.statistics.to_dict()["pronoun_pairs"] == {"he:it": 1}


def test_only_pairs_that_people_agree_on() -> None:
    judged = {"he:it": Judged(0.9, 9, 1, 0), "i:we": Judged(0.7, 9, 1, 0), "she:he": Judged(1.0, 0, 5, 0)}
    lines = [line("He left and I stayed and she slept.", "It left and we stayed and he slept.")]
    noisy, system = made(lines, judged=judged)[0]
    assert noisy.tags["pronoun_pair"] == "he:it"
    assert (noisy.tags["human_agreement"], noisy.tags["human_reference"], noisy.tags["human_system"]) == (0.9, 9, 1)
    assert system.tags["pronoun_pair"] == "he:it"
    _, maker = made(lines, judged=judged)
    assert (maker.statistics.differing, maker.statistics.left_out) == (3, 2)
    assert made(lines, judged={"they:it": Judged(1.0, 1, 0, 0)})[0] == []


def test_kinds_and_years() -> None:
    lines = [line("He left.", "It left.")]
    (noisy,), _ = made(lines, kind="noisy", year="2013")
    assert (noisy.tags["kind"], noisy.tags["year"], noisy.id) == ("noisy", "2013", "2013/1/noisy/0-he-it")
    (system,), _ = made(lines, kind="system")
    assert system.tags["kind"] == "system"
    with pytest.raises(AnaphoraError, match="unknown kind of pairs 'x'"):
        Settings(kind="x")


def test_links_of_an_aligner_decide_alone_if_asked() -> None:
    def found(aligner: str) -> list[str]:
        maker = PairMaker(ENGLISH, ["s"], Settings(kind="noisy", aligner=aligner), [[[(0, 2)]]])
        lines = [line("He left town.", "It left she.")]
        return [str(example.tags["pronoun_pair"]) for example in maker.pairs(lines)]

    assert found("statistical") == ["he:she"]
    assert found("rescued") == ["he:it"]  # which the edit distance finds by itself
