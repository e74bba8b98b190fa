"""Patterns and template files: what they say, and errors with the line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.build.templates.template import (
    Draw,
    PatternError,
    Slot,
    editions,
    parse_pattern,
    read_templates,
    switched,
)
from anaphora.core.errors import BadInput


def test_text_and_slots() -> None:
    assert parse_pattern("{animal: the} ate {food: the accusative}.") == (
        Slot("animal", features=("the",)),
        " ate ",
        Slot("food", features=("the", "accusative")),
        ".",
    )
    assert parse_pattern("It rained.") == ("It rained.",)
    assert parse_pattern("{it}") == (Slot("it"),)


def test_agreement_with_one_slot_or_several() -> None:
    assert parse_pattern("{size: like it}") == (Slot("size", like=("it",)),)
    assert parse_pattern("{feeling: comparative like animal+human}") == (
        Slot("feeling", features=("comparative",), like=("animal", "human")),
    )
    assert parse_pattern("{'mangé': like it}") == (Slot(None, word="mangé", like=("it",)),)


def test_a_slot_depends_on_itself_and_its_controllers() -> None:
    (own, word) = parse_pattern("{size: like it}{'est': like animal}")
    assert isinstance(own, Slot)
    assert isinstance(word, Slot)
    assert (own.names, word.names) == (("size", "it"), ("animal",))


@pytest.mark.parametrize(
    "text", ["{animal", "animal}", "{{animal}}", "{animal {food}}", "{}", "{a b}", "{: the}", "{'x}"]
)
def test_an_invalid_pattern_is_an_error(text: str) -> None:
    with pytest.raises(PatternError, match=r"brace|is not a slot"):
        parse_pattern(text)


@pytest.mark.parametrize("text", ["{a: like b c}", "{a: like b+}", "{a: like b the}"])
def test_like_stands_last_and_names_slots(text: str) -> None:
    with pytest.raises(PatternError, match="'like' names slots, and stands last"):
        parse_pattern(text)


def test_two_slots_change_places() -> None:
    pattern = parse_pattern("{animal: the} and {human} {'was': like animal+human}, {size}.")
    assert switched(pattern, "animal", "human") == parse_pattern(
        "{human: the} and {animal} {'was': like human+animal}, {size}."
    )
    assert switched(switched(pattern, "animal", "human"), "animal", "human") == pattern


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="{}"), max_size=20)
NAME = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)


@given(st.lists(st.tuples(TEXT, NAME, st.lists(NAME.filter(lambda n: n != "like"), max_size=3)), max_size=5), TEXT)
def test_whatever_is_written_is_read(parts: list[tuple[str, str, list[str]]], end: str) -> None:
    text = "".join(f"{before}{{{name}: {' '.join(features)}}}" for before, name, features in parts) + end
    expected: list[str | Slot] = []
    for before, name, features in parts:
        expected += [before, Slot(name, features=tuple(features))]
    assert list(parse_pattern(text)) == [piece for piece in [*expected, end] if piece != ""]


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_any_text_is_a_pattern_or_a_pattern_error(text: str) -> None:
    try:
        pattern = parse_pattern(text)
    except PatternError:
        return
    assert all(isinstance(piece, Slot) or not set("{}") & set(piece) for piece in pattern)


# The file of templates.


SMALL = """
[[template]]
id = "small"
step = "priors"
slots = { animal = "animal", size = { class = "size", every = 2, take = 3, translations = "first" } }
antecedent = "animal"
source = ["{animal: the} came.", "It was {size}."]
target = ["{animal: the} kam.", "{it} war {size}."]

[template.editions.release]
slots = { size = "size" }
pair = true
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "templates.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_template(tmp_path: Path) -> None:
    (template,) = read_templates(write(tmp_path, SMALL))
    (variant,) = template.variants
    assert (template.id, template.step, template.pair) == ("small", "priors", False)
    assert variant.slots == {"animal": Draw("animal"), "size": Draw("size", 2, 3, "first")}
    assert variant.antecedent == "animal"
    assert variant.target == ((Slot("animal", features=("the",)), " kam."), (Slot("it"), " war ", Slot("size"), "."))


def test_an_edition_overrides_what_it_names(tmp_path: Path) -> None:
    path = write(tmp_path, SMALL)
    (template,) = read_templates(path, "release")
    assert template.pair
    assert template.variants[0].slots == {"animal": Draw("animal"), "size": Draw("size")}
    assert editions(path) == {"paper", "release"}


def test_variants_share_context_and_slots_and_add_their_own(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        [[template]]
        id = "two"
        slots = { animal = "animal" }
        context.source = "{animal: the} came."
        context.target = "{animal: the} kam."
        [[template.variants]]
        name = "one"
        antecedent = "animal"
        source = "It sat."
        target = "{it} saß."
        [[template.variants]]
        slots = { size = "size" }
        gold = "n"
        source = "It was {size}."
        target = "{it} war {size}."
        """,
    )
    one, other = read_templates(path)[0].variants
    assert (one.name, other.name) == ("one", None)
    assert (list(one.slots), list(other.slots)) == (["animal"], ["animal", "size"])
    assert one.source == ((Slot("animal", features=("the",)), " came."), ("It sat.",))
    assert len(other.target) == 2
    assert (one.antecedent, one.gold, other.antecedent, other.gold) == ("animal", None, None, "n")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("{it} war {size}", "{it} war {sise}", r"line 8: template small: unknown slot 'sise' \(did you mean size\?\)"),
        ("{it} war {size}", "{it} war {size: like sise}", r"line 8: template small: unknown slot 'sise'"),
        ('antecedent = "animal"', 'antecedent = "beast"', r"line 6: template small: unknown slot 'beast'"),
        ('step = "priors"', 'switch = ["animal", "man"]', r"line 4: template small: unknown slot 'man'"),
        ('step = "priors"', 'switch = ["animal"]', r"line 4: template small: switch has 1 slots"),
        ('step = "priors"', 'stop = "priors"', r"line 4: template small: unknown key 'stop' \(did you mean step"),
        ('step = "priors"', "step = 3", r"line 4: template small: step is 3"),
        ('step = "priors"', 'different_gender = "animal"', r"line 4: template small: different_gender is 'animal'"),
        ('step = "priors"', 'variants = ["x"]', r"line 4: template small: variants is \['x'\]"),
        ("every = 2", "every = 0", r"slot 'size' cannot be drawn\. every and take are 1 or more"),
        ("take = 3", "take = -1", r"slot 'size' cannot be drawn"),
        ('"first"', '"some"', r"slot 'size' cannot be drawn.*translations is"),
        ("every = 2", "evry = 2", r"unknown key 'evry' \(did you mean every\?\)"),
        ('class = "size", ', "", r"slot 'size' names no class"),
        ('antecedent = "animal"', "", r"line 3: template small: one of antecedent, gold and choices is needed"),
        ('antecedent = "animal"', 'gold = "n"\nchoices = "genders"', r"one of antecedent, gold and choices is needed"),
        ('"It was {size}."]', "]", r"source and target have different numbers of sentences"),
        ("{it} war", "{it war", r"line 8: template small: a brace without its partner"),
        ('id = "small"', "name = 3", r"templates\.toml: no \[\[template\]\], or one without an id"),
        ("[[template]]", "[[templates]]", r"templates\.toml: no \[\[template\]\]"),
        ("[[template]]", "[[template]", r"templates\.toml: line 2: not TOML"),
    ],
)
def test_an_invalid_template_is_an_error_with_its_position(tmp_path: Path, old: str, new: str, problem: str) -> None:
    assert old in SMALL
    with pytest.raises(BadInput, match=problem) as error:
        read_templates(write(tmp_path, SMALL.replace(old, new, 1)))
    assert "\n" not in str(error.value)


def test_the_line_is_that_of_the_template_in_question(tmp_path: Path) -> None:
    second = SMALL.replace('"small"', '"other"').replace("{it} war {size}", "{it} war {sise}")
    with pytest.raises(BadInput, match=r"templates\.toml: line 20: template other: unknown slot 'sise'"):
        read_templates(write(tmp_path, SMALL + second))
    first = SMALL.replace('step = "priors"', 'step = "beast"')
    second = SMALL.replace('"small"', '"other"').replace('antecedent = "animal"', 'antecedent = "beast"')
    with pytest.raises(BadInput, match=r"templates\.toml: line 18: template other: unknown slot 'beast'"):
        read_templates(write(tmp_path, first + second))
