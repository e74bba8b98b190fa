"""Templates as their file tells them."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.build.templates.pattern import Slot
from anaphora.build.templates.template import Draw, editions, read_templates
from anaphora.core.errors import BadInput

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
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, old: str, new: str, problem: str) -> None:
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
