"""A study from a suite: what is shown of an example, which pairs are known, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.study.create import Design, make_study
from anaphora.study.model import Study
from anaphora.suites.example import Example
from anaphora.suites.formats import read_suite
from anaphora.suites.suite import Header, suite_of

Make = Callable[..., Study]
HEADER = Header("made-up", "de", "en")


def study_of(*examples: Example, **design: Any) -> Study:
    design.setdefault("annotators", ("anna",))
    return make_study(suite_of(HEADER, lambda: examples), Design(**design))


def example(identifier: str, *sentences: str, gold: int | None = 0, **tags: Any) -> Example:
    return Example(identifier, ("", "Quelle."), tuple(("Before.", s) for s in sentences), gold, tags)


def test_a_pair(make: Make) -> None:
    study = make()
    item = study.by_id["p0"]
    assert item.pair == ("he", "it")
    assert item.candidates[0] == ("", "Sentence 0 comes before.", "Then he saw 0.")
    assert item.marks == (((5, 7),), ((5, 7),))
    assert (study.overlap, len(study.items), study.source_language) == (3, 6, "de")
    assert study.suite.startswith("small@")


def test_the_reference_need_not_be_the_first() -> None:
    item = study_of(example("x", "It was old.", "He was old.", gold=1)).items[0]
    assert (item.gold, item.pair) == (1, ("he", "it"))


def test_tags_name_the_pronouns() -> None:
    tags = {"reference_pronoun": "His", "system_pronoun": "its"}
    assert study_of(example("x", "his own house", "its house", **tags)).items[0].pair == ("his", "its")
    assert study_of(example("x", "his own house", "its house")).items[0].pair is None


def test_of_several_candidates_the_reference_and_another_are_shown() -> None:
    examples = [example(f"x{k}", "He is.", "She is.", "It is.", gold=1) for k in range(40)]
    study = study_of(*examples)
    shown = {item.candidates[1 - item.gold][-1] for item in study.items}
    assert shown == {"He is.", "It is."}
    assert all(item.candidates[item.gold][-1] == "She is." for item in study.items)


def test_the_context_is_cut_and_the_sample_is_drawn(make: Make) -> None:
    assert len(make(context=0).items[0].candidates[0]) == 1
    assert len(make(context=1).items[0].source) == 2
    sample = make(30, sample=10)
    assert len(sample.items) == 10
    assert [item.id for item in sample.items] == [item.id for item in make(30, sample=10).items]
    assert [item.id for item in sample.items] != [item.id for item in make(30, sample=10, seed=2).items]


def test_studies_differ_in_their_ids_only(make: Make) -> None:
    first, second = make(), make()
    assert first.id != second.id
    assert first.items == second.items
    assert first.annotators == second.annotators


def test_what_is_refused(make: Make) -> None:
    with pytest.raises(BadInput, match=r"example 'x' has not two candidates that differ"):
        study_of(example("x", "He is.", "He is."))
    with pytest.raises(BadInput, match=r"the id 'x' is there twice"):
        study_of(example("x", "He is.", "It is."), example("x", "He was.", "It was."))
    with pytest.raises(BadInput, match="no examples"):
        study_of()
    with pytest.raises(AnaphoraError, match="an overlap of 4 is not possible with 3 annotator"):
        make(overlap=4)
    with pytest.raises(AnaphoraError, match="names must differ"):
        make(annotators=("anna", "anna"))
    with pytest.raises(AnaphoraError, match="name is empty"):
        make(annotators=("anna", "be\nn"))


def test_the_published_pairs(data: Callable[[str], Path]) -> None:
    path = data("eval-anaphora") / "test_data_german.jsonl.gz"
    study = make_study(read_suite(path, "eval-anaphora"), Design(annotators=("a", "b")))
    assert len(study.items) == 500  # as each participant of the published study annotated
    assert sum(item.pair is not None for item in study.items) > 480
    assert all(item.marks[0] and item.marks[1] for item in study.items)
    assert all(len(candidate) <= 3 for item in study.items for candidate in item.candidates)
