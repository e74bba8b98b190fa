"""From templates and words to items."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from anaphora.build.templates.make import examples
from anaphora.build.templates.template import read_templates
from anaphora.build.templates.vocabulary import Entry
from anaphora.core.errors import AnaphoraError
from anaphora.languages.grammar import load_grammar
from anaphora.suites.example import Example

ANIMALS = [Entry(word, word, german, g, g) for word, german, g in (("lion", "Löwe", "m"), ("cat", "Katze", "f"))]
FOODS = [Entry(word, word, german, g, g) for word, german, g in (("apple", "Apfel", "m"), ("egg", "Ei", "n"))]
SIZES = [Entry("big", "big", "groß"), Entry("small", "small", "klein")]
WORDS = {"animal": ANIMALS, "food": FOODS, "size": SIZES}

Make = Callable[[str], list[Example]]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """The items of one template for English–German."""

    def made(text: str) -> list[Example]:
        path = tmp_path / "templates.toml"
        path.write_text(f'[[template]]\nid = "t"\nstep = "s"\n{text}', encoding="utf-8")
        return list(examples(read_templates(path), WORDS, load_grammar("en"), load_grammar("de")))

    return made


EATING = """
slots = { animal = "animal", food = "food" }
different_gender = ["animal", "food"]
source = ["{animal: the} ate {food: the}.", "It was there."]
target = ["{animal: the} aß {food: the accusative}.", "{it} war da."]
"""


def test_an_item_with_an_antecedent(make: Make) -> None:
    first, *others = make(EATING + 'antecedent = "food"')
    assert first == Example(
        id="t/lion/egg",
        source=("The lion ate the egg.", "It was there."),
        candidates=tuple(("Der Löwe aß das Ei.", f"{pronoun} war da.") for pronoun in ("Er", "Sie", "Es")),
        gold=2,
        tags={
            "template": "t",
            "step": "s",
            "candidate_genders": ["m", "f", "n"],
            "reference_gender": "neuter",
            "antecedent": "food",
            "source_antecedent": "egg",
            "target_antecedent": "Ei",
        },
    )
    assert [other.id for other in others] == ["t/cat/apple", "t/cat/egg"]


def test_a_prior_says_what_each_choice_means(make: Make) -> None:
    items = make(EATING + "choices = { subject = 'animal', object = 'food' }")
    assert [(item.gold, item.tags["choices"]) for item in items] == [
        (None, ["subject", "neither", "object"]),
        (None, ["object", "subject", "neither"]),
        (None, ["neither", "subject", "object"]),
    ]
    assert not any("reference_gender" in item.tags for item in items)


def test_a_prior_over_genders(make: Make) -> None:
    (item, *_) = make(EATING + 'choices = "genders"')
    assert item.tags["choices"] == ["masculine", "feminine", "neuter"]


def test_a_gold_gender_without_antecedent(make: Make) -> None:
    (item, *_) = make(EATING + 'gold = "n"')
    assert (item.gold, item.tags["reference_gender"]) == (2, "neuter")
    assert "antecedent" not in item.tags


def test_two_slots_change_places_in_the_context(make: Make) -> None:
    one, other, *_ = make(
        EATING.replace("different", 'switch = ["animal", "food"]\ndifferent') + 'antecedent = "animal"'
    )
    assert (one.id, other.id) == ("t/lion/egg", "t/egg/lion")
    assert other.source[0] == "The egg ate the lion."
    assert other.candidates[0] == ("Das Ei aß den Löwen.", "Er war da.")
    assert (one.gold, other.gold) == (0, 0)
    assert (one.tags["order"], other.tags["order"]) == ("animal food", "food animal")


SIZED = """
slots = { animal = "animal", size = "size" }
antecedent = "animal"
source = ["I saw {animal: a}.", "It was {size}."]
target = ["Ich sah {animal: a accusative}.", "{it} war {size}."]
"""


def test_a_slot_can_name_the_variant(make: Make) -> None:
    items = make(SIZED + 'variant = "size"')
    assert [(item.id, item.tags["variant"]) for item in items][:2] == [("t/big/lion", "big"), ("t/small/lion", "small")]
    assert items[0].candidates[0] == ("Ich sah einen Löwen.", "Er war groß.")


def test_variants_by_name(make: Make) -> None:
    items = make(
        SIZED.replace('antecedent = "animal"\n', "")
        + """
        [[template.variants]]
        name = "one"
        antecedent = "animal"
        [[template.variants]]
        name = "other"
        gold = "n"
        """
    )
    assert [item.id for item in items[::4]] == ["t/one/lion/big", "t/other/lion/big"]
    assert [item.gold for item in items[::4]] == [0, 2]


def test_pairs_have_the_same_words(make: Make) -> None:
    items = make(
        """
        slots = { first = "animal", second = "animal" }
        choices = { first = "first", second = "second" }
        pair = true
        source = ["{first: the} and {second: the} came.", "It sat."]
        target = ["{first: the} und {second: the} kamen.", "{it} saß."]
        """
    )
    assert [item.id for item in items] == ["t/lion/cat", "t/cat/lion"]
    assert items[0].tags["pair"] == items[1].tags["pair"] == "and came cat it lion sat the the"


def test_other_candidates_than_the_genders_of_the_language(make: Make) -> None:
    (item, *_) = make(EATING + 'gold = "n"\ncandidates = ["n", "m"]')
    assert [candidate[1] for candidate in item.candidates] == ["Es war da.", "Er war da."]
    assert (item.gold, item.tags["candidate_genders"]) == (0, ["n", "m"])


def test_candidates_that_do_not_differ_are_an_error(make: Make) -> None:
    with pytest.raises(AnaphoraError, match=r"t/lion/egg: candidates do not differ: Der Löwe aß das Ei\. Man war da\."):
        make(EATING.replace("{it} war", "man war") + 'antecedent = "food"')


def test_an_id_that_occurs_twice_is_an_error(make: Make) -> None:
    with pytest.raises(AnaphoraError, match=r"two items have the id t/lion/egg\. Give one of the words another id"):
        make(EATING + "[[template.variants]]\ngold = 'n'\n[[template.variants]]\ngold = 'm'")


def test_words_of_two_classes_may_have_the_same_id(tmp_path: Path) -> None:
    path = tmp_path / "templates.toml"
    path.write_text(
        """
        [[template]]
        id = "t"
        slots = { thing = "animal" }
        antecedent = "thing"
        source = ["I saw {thing: a}.", "It sat."]
        target = ["Ich sah {thing: a accusative}.", "{it} saß."]
        [[template]]
        id = "u"
        slots = { thing = "tool" }
        antecedent = "thing"
        source = ["I saw {thing: a}.", "It sat."]
        target = ["Ich sah {thing: a accusative}.", "{it} saß."]
        """,
        encoding="utf-8",
    )
    words = {
        "animal": [Entry("crane", "crane", "Kranich", "m", "m")],
        "tool": [Entry("crane", "crane", "Kran", "m", "m")],
    }
    animal, tool = examples(read_templates(path), words, load_grammar("en"), load_grammar("de"))
    assert [item.candidates[0][0] for item in (animal, tool)] == ["Ich sah einen Kranich.", "Ich sah einen Kran."]
