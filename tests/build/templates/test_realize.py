"""Slots are filled with every allowed combination, and patterns become sentences."""

from __future__ import annotations

import pytest

from anaphora.build.templates.realize import Realizer, drawn, fillings
from anaphora.build.templates.template import Draw, Template, Variant, parse_pattern
from anaphora.build.templates.vocabulary import Entry
from anaphora.languages.grammar import load_grammar

ANIMALS = [Entry(word, word, word, gender) for word, gender in (("dog", "m"), ("cat", "f"), ("cow", "f"), ("pig", "n"))]
SIZES = [Entry(word, word, word) for word in ("big", "small")]
WORDS = {"animal": ANIMALS, "size": SIZES}


def filled(template: Template, **slots: str) -> list[str]:
    variant = Variant(None, {name: Draw(word_class) for name, word_class in slots.items()}, (), (), None, None, None)
    return [" ".join(entry.id for entry in actual.values()) for actual in fillings(template, variant, WORDS)]


def test_every_word_of_every_class_in_their_order() -> None:
    assert filled(Template("x", "", ()), animal="animal", size="size")[:3] == ["dog big", "dog small", "cat big"]


def test_two_slots_of_one_class_never_hold_the_same_word() -> None:
    actual = filled(Template("x", "", ()), first="animal", second="animal")
    assert len(actual) == len(set(actual)) == 4 * 3
    assert "dog cat" in actual
    assert "cat dog" in actual
    assert "dog dog" not in actual


def test_different_genders() -> None:
    template = Template("x", "", (), different_gender=("first", "second"))
    actual = filled(template, first="animal", second="animal")
    assert len(actual) == 4 * 3 - 2  # all but cat cow and cow cat
    assert "cat cow" not in actual


def test_a_pair_in_one_order_is_reversed_every_second_time() -> None:
    """Three animals of different gender and two sizes: three pairs, each once per size, in both orders."""
    template = Template("x", "", (), different_gender=("first", "second"), once=("first", "second"), turn="size")
    actual = filled(template, first="animal", second="animal", size="size")
    assert sorted(actual) == sorted(
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


# Realization.


def realized(language: str, pattern: str, genders: str = "mfn", **filled: Entry) -> list[str]:
    realizer = Realizer(load_grammar(language), is_target=True)
    return list(dict.fromkeys(realizer.sentence(parse_pattern(pattern), tuple(genders)).realize(filled)))


LION = Entry("lion", "lion", "Löwe", "m", "m")
CAT = Entry("cat", "cat", "Katze", "f", "f")
DOG = Entry("dog", "dog", "Hund", "m", "m", {"plural": "Hunde"})


def test_german_articles_nouns_and_pronouns() -> None:
    assert realized("de", "{a: the} sah {b: the accusative}.", a=CAT, b=LION) == ["Die Katze sah den Löwen."]
    assert realized("de", "vor {a: the dative} und {b: a dative}", a=CAT, b=LION) == ["Vor der Katze und einem Löwen"]
    assert realized("de", "{it} war da.") == ["Er war da.", "Sie war da.", "Es war da."]
    assert realized("de", "Ich sah {it: accusative}.") == ["Ich sah ihn.", "Ich sah sie.", "Ich sah es."]


def test_plurals() -> None:
    assert realized("de", "{a: the plural} mit {a: the plural dative}", a=DOG) == ["Die Hunde mit den Hunden"]


def test_the_source_side_has_source_words_and_no_gender() -> None:
    realizer = Realizer(load_grammar("en"), is_target=False)
    ox = Entry("ox", "ox", "Ochse", "m", "m")
    sentence = realizer.sentence(parse_pattern("{a: the} saw {b: a}; it was {c: comparative}."))
    assert sentence.realize({"a": LION, "b": ox, "c": Entry("tired", "tired", "müde")}) == (
        "The lion saw an ox; it was more tired.",
    )


def test_french_participles_agree_with_the_object_before_the_verb() -> None:
    bear = Entry("bear", "bear", "ours", "m", "m")
    assert realized("fr", "{a: the} {it: accusative} a {'mangé': like it}.", "mf", a=bear) == [
        "L'ours l'a mangé.",
        "L'ours l'a mangée.",
    ]


def test_words_in_braces_agree_and_others_do_not() -> None:
    hungry = Entry("x", "was hungry", "était {affamé} et {fatigué}")
    assert realized("fr", "{it} {a: like it}.", "mf", a=hungry) == [
        "Il était affamé et fatigué.",
        "Elle était affamée et fatiguée.",
    ]
    rain = Entry("x", "rained", "pleuvait")
    assert realized("fr", "{it} {a: like it}.", "mf", a=rain) == ["Il pleuvait.", "Elle pleuvait."]
    assert realized("fr", "{a}", "m", a=hungry) == ["Était affamé et fatigué"]  # with nothing: as it is


def test_forms_of_the_vocabulary_go_before_rules() -> None:
    around = Entry("x", "looked around", "regardait autour de lui", forms={"f": "regardait autour d'elle"})
    assert realized("fr", "{it} {a: like it}.", "mf", a=around) == [
        "Il regardait autour de lui.",
        "Elle regardait autour d'elle.",
    ]
    dog = Entry("dog", "dog", "pies", "m", "m", {"accusative": "psa", "instrumental": "psem"})
    cow = Entry("cow", "cow", "krowa", "f", "f")
    assert realized("pl", "Widzę {a: accusative} i {b: accusative}.", a=dog, b=cow) == ["Widzę psa i krowę."]
    strong = Entry("x", "x", "Recke", "m", "m", {"accusative": "Recke"})
    assert realized("de", "Ich sah {a: the accusative}.", a=strong) == ["Ich sah den Recke."]  # whatever the rules say
    assert realized("pl", "Przed {a: instrumental} i {b: instrumental}.", a=dog, b=cow) == ["Przed psem i krową."]


def test_a_form_and_then_agreement() -> None:
    happy = Entry("happy", "happy", "{heureux}")
    assert realized("fr", "{it} est {a: comparative like it}.", "mf", a=happy) == [
        "Il est plus heureux.",
        "Elle est plus heureuse.",
    ]
    hungry = Entry("x", "hungry", "{głodny}", forms={"comparative": "{głodniejszy}", "virile": "głodni"})
    assert realized("pl", "{'był': like it} {a: comparative like it}.", a=hungry) == [
        "Był głodniejszy.",
        "Była głodniejsza.",
        "Było głodniejsze.",
    ]


@pytest.mark.parametrize(("gender", "text"), [("m", "Byli głodni"), ("n", "Były głodne")])
def test_agreement_with_two_things(gender: str, text: str) -> None:
    hungry = Entry("x", "hungry", "{głodny}", forms={"virile": "głodni"})
    animal, actress = Entry("a", "a", "a", gender, gender), Entry("b", "actress", "aktorka", "f", "f")
    pattern = "{'był': like a+b} {c: like a+b}"
    assert realized("pl", pattern, a=animal, b=actress, c=hungry) == [text]


def test_agreement_with_a_person() -> None:
    bought = Entry("x", "bought", "{kupił}")
    forms = {"1sg": "Kupiłem", "2sg": "Kupiłeś", "m": "Kupił", "f": "Kupiła", "1pl": "Kupiliśmy", "3pl": "Kupili"}
    for agreement, form in forms.items():
        person = Entry("p", "p", "p", None, agreement)
        assert realized("pl", "{v: like p} {it: accusative}.", v=bought, p=person) == [
            f"{form} {pronoun}." for pronoun in ("go", "ją", "je")
        ]


def test_a_form_that_is_empty_leaves_no_space() -> None:
    much = Entry("x", "a lot", "beaucoup", forms={"before": "beaucoup", "after": ""})
    fast = Entry("y", "quickly", "vite", forms={"before": "", "after": "vite"})
    pattern = "{it} a {a: before} mangé {a: after}."
    assert realized("fr", pattern, "m", a=much) == ["Il a beaucoup mangé."]
    assert realized("fr", pattern, "m", a=fast) == ["Il a mangé vite."]
    assert realized("es", "{it: impersonal} llovía.") == ["Él llovía.", "Ella llovía.", "Llovía."]


def test_a_sentence_without_pronoun_is_the_same_for_all_candidates() -> None:
    realizer = Realizer(load_grammar("de"), is_target=True)
    assert realizer.sentence(parse_pattern("{a: the}."), ("m", "f", "n")).realize({"a": CAT}) == ("Die Katze.",) * 3
