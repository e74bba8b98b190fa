"""Templates, vocabulary and grammar must fit each other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from anaphora.build.templates.check import check
from anaphora.build.templates.template import read_templates
from anaphora.build.templates.vocabulary import Entry, WordClass
from anaphora.core.errors import BadInput
from anaphora.languages.grammar import load_grammar

GOOD = """
[[template]]
id = "t"
slots = { animal = "animal", size = "size", person = "person" }
antecedent = "animal"
source = ["{animal: the} came.", "It was {size: comparative} for {person}."]
target = ["{animal: the} est arrivé.", "{it} était {size: comparative like it} pour {person: stressed}."]
"""
LION = Entry("lion", "lion", "lion", "m", "m", line=2)
CLASSES = {
    "animal": WordClass("animal", Path("animal.tsv"), (LION, Entry("cow", "cow", "vache", "f", "f", line=3))),
    "size": WordClass("size", Path("size.tsv"), (Entry("big", "big", "{grand}", line=2),)),
    "person": WordClass("person", Path("person.tsv"), (Entry("i", "I", "je", line=2),), frozenset({"short"})),
}


@pytest.fixture
def checked(tmp_path: Path) -> Callable[..., None]:
    def run(text: str = GOOD, **classes: WordClass) -> None:
        path = tmp_path / "templates.toml"
        path.write_text(text, encoding="utf-8")
        check(path, read_templates(path), {**CLASSES, **classes}, load_grammar("en"), load_grammar("fr"))

    return run


def test_what_fits_is_not_mentioned(checked: Callable[..., None]) -> None:
    checked()
    checked(GOOD.replace("{person: stressed}", "{person: short}"))  # a column of the vocabulary


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            '"size", person',
            '"sice", person',
            r"line 4: template t: slot 'size' draws on an unknown class 'sice'",
        ),
        (
            "{animal: the} est",
            "{animal: teh} est",
            r"line 7: template t: unknown feature 'teh' of 'animal' \(did",
        ),
        (
            "{animal: the} came",
            "{animal: nominativ} came",
            r"line 6: .*feature 'nominativ'.*must be in en\.toml",
        ),
        ("{it} était", "{it: the} était", r"unknown feature 'the' of 'it'"),
        ("{person: stressed}", "{person: shirt}", r"unknown feature 'shirt' of 'person' \(did you mean short\?\)"),
        (
            'antecedent = "animal"',
            'gold = "n"',
            r"line 5: template t: gold is 'n', but the candidates are m, f\.",
        ),
        (
            "like it}",
            "like person}",
            r"person\.tsv: line 2: nothing is known of how words agree with 'I'",
        ),
    ],
)
def test_what_does_not_is_said_with_its_place(checked: Callable[..., None], old: str, new: str, problem: str) -> None:
    assert old in GOOD
    with pytest.raises(BadInput, match=problem):
        checked(GOOD.replace(old, new, 1))


def test_other_candidates_make_another_gold_possible(checked: Callable[..., None]) -> None:
    checked(GOOD.replace('antecedent = "animal"', 'gold = "n"\ncandidates = ["m", "f", "n"]'))


@pytest.mark.parametrize(
    "use",
    [
        'antecedent = "animal"',
        'choices = { subject = "animal" }',
        'gold = "m"\ndifferent_gender = ["animal"]',
        'gold = "m"',  # it has an article
    ],
)
def test_words_that_need_a_gender_must_have_one(checked: Callable[..., None], use: str) -> None:
    nameless = WordClass("animal", Path("animal.tsv"), (LION, Entry("cow", "cow", "vache", line=3)))
    with pytest.raises(BadInput, match=r"animal\.tsv: line 3: 'cow' has no gender\. Give it one of m, f\."):
        checked(GOOD.replace('antecedent = "animal"', use), animal=nameless)


def test_words_that_need_none_may_have_none(checked: Callable[..., None]) -> None:
    nameless = WordClass("animal", Path("animal.tsv"), (Entry("cow", "cow", "vache", line=3),))
    bare = GOOD.replace('antecedent = "animal"', 'gold = "m"').replace("{animal: the} est", "{animal} est")
    checked(bare, animal=nameless)
