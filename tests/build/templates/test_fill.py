"""Filling slots: all combinations that the constraints allow."""

from __future__ import annotations

from anaphora.build.templates.fill import drawn, fillings
from anaphora.build.templates.template import Draw, Template, Variant
from anaphora.build.templates.vocabulary import Entry

ANIMALS = [Entry(word, word, word, gender) for word, gender in (("dog", "m"), ("cat", "f"), ("cow", "f"), ("pig", "n"))]
SIZES = [Entry(word, word, word) for word in ("big", "small")]
WORDS = {"animal": ANIMALS, "size": SIZES}


def filled(template: Template, **slots: str) -> list[str]:
    variant = Variant(None, {name: Draw(word_class) for name, word_class in slots.items()}, (), (), None, None, None)
    return [" ".join(entry.id for entry in found.values()) for found in fillings(template, variant, WORDS)]


def test_every_word_of_every_class_in_their_order() -> None:
    assert filled(Template("x", "", ()), animal="animal", size="size")[:3] == ["dog big", "dog small", "cat big"]


def test_two_slots_of_one_class_never_hold_the_same_word() -> None:
    found = filled(Template("x", "", ()), first="animal", second="animal")
    assert len(found) == len(set(found)) == 4 * 3
    assert "dog cat" in found
    assert "cat dog" in found
    assert "dog dog" not in found


def test_different_genders() -> None:
    template = Template("x", "", (), different_gender=("first", "second"))
    found = filled(template, first="animal", second="animal")
    assert len(found) == 4 * 3 - 2  # all but cat cow and cow cat
    assert "cat cow" not in found


def test_a_pair_in_one_order_only_which_every_other_word_turns_round() -> None:
    """Three animals of different gender and two sizes: three pairs, each once per size, in both orders."""
    template = Template("x", "", (), different_gender=("first", "second"), once=("first", "second"), turn="size")
    found = filled(template, first="animal", second="animal", size="size")
    assert sorted(found) == sorted(
        [
            *("dog cat big", "dog cow big", "dog pig big", "cat pig big", "cow pig big"),
            *("cat dog small", "cow dog small", "pig dog small", "pig cat small", "pig cow small"),
        ]
    )
    straight = Template("x", "", (), once=("first", "second"))
    assert filled(straight, first="animal", second="animal") == [
        *("dog cat", "dog cow", "dog pig", "cat cow", "cat pig", "cow pig"),
    ]


def test_what_a_slot_draws() -> None:
    def ids(draw: Draw) -> list[str]:
        return [entry.id for entry in drawn(draw, ANIMALS)]

    assert ids(Draw("animal")) == ["dog", "cat", "cow", "pig"]
    assert ids(Draw("animal", every=2)) == ["dog", "cow"]
    assert ids(Draw("animal", take=3)) == ["dog", "cat", "cow"]
    assert ids(Draw("animal", every=2, take=1)) == ["dog"]


def test_the_first_translation_of_each_word() -> None:
    persons = [Entry("i", "I", "ich"), Entry("you", "you", "du"), Entry("you-2", "you", "ihr"), Entry("he", "he", "er")]
    assert [e.target for e in drawn(Draw("p", translations="first"), persons)] == ["ich", "du", "er"]
    assert [e.target for e in drawn(Draw("p"), persons)] == ["ich", "du", "ihr", "er"]
