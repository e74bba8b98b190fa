"""Clean-up of subtitles: each rule by what it changes, and by what looks like it and must stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.build.mine.clean import RULES, Cleaner
from anaphora.core.errors import AnaphoraError


@pytest.mark.parametrize(
    ("rule", "before", "after"),
    [
        ("encoding", "SchÃ¶n, dass du da bist.", "Schön, dass du da bist."),
        ("encoding", "Itâ€™s late.", "It's late."),
        ("encoding", "Ã„rger", "Ärger"),
        ("tags", "<i>Come</i> in.", "Come in."),
        ("tags", '<font color="#fff">Yes.</font>', "Yes."),
        ("tags", "{\\an8}Up here.", "Up here."),
        ("music", "♪ La la la ♪", "La la la"),
        ("music", "# La la la #", "La la la"),
        ("directions", "[DOOR OPENS] Who is it?", "Who is it?"),
        ("directions", "Well (sighs) yes.", "Well yes."),
        ("directions", "(laughs).", ""),
        ("dashes", "- It broke.", "It broke."),
        ("dashes", "- Is it? - Yes.", "Is it? Yes."),
        ("speakers", "JOHN: It broke.", "It broke."),
        ("speakers", "MRS. SMITH: Really?", "Really?"),
        ("ocr", "l'm sure lt's here.", "I'm sure It's here."),
        ("ocr", "lch weiß, aIso wiII er.", "Ich weiß, also will er."),
        ("ocr", "Yes, l know.", "Yes, I know."),
    ],
)
def test_what_a_rule_changes(rule: str, before: str, after: str) -> None:
    clean = Cleaner("subtitles")
    assert clean(before) == after
    assert {name for name, count in clean.counts.items() if count} == {rule}


@pytest.mark.parametrize(
    "line",
    [
        "It broke.",
        "Ein schöner Tag, Müller – Größe zählt.",
        "He said: it broke.",
        "A well-known fact - it broke.",
        "3 < 4 and 5 > 4",
        "Number #1 is here.",
        "World War II ended.",
        "McDonald and iPhone",
        "The USA: a country.",
        "Le château où il était.",
        "All in all, it's fine; let's go.",
        "Âge and Ça va",
    ],
)
def test_what_must_stay(line: str) -> None:
    clean = Cleaner("subtitles")
    assert clean(line) == line
    assert not clean.counts.total()


def test_nothing_is_changed_unless_asked_for() -> None:
    clean = Cleaner("none")
    assert clean("- [MUSIC] <i>lt</i>") == "- [MUSIC] <i>lt</i>"
    with pytest.raises(AnaphoraError, match="unknown clean-up 'films'"):
        Cleaner("films")


def test_counts_are_of_sentences() -> None:
    clean = Cleaner("subtitles")
    for line in ("- Is it? - It is.", "<i>- It</i> <b>is</b>", "It is."):
        clean(line)
    assert dict(clean.counts) == dict.fromkeys(RULES, 0) | {"dashes": 2, "tags": 1}


@given(st.text(st.sampled_from("aIl -–[]()<>i/#♪:.Ã¶'AB?"), max_size=30))
def test_clean_text_is_a_line_that_stays_clean(text: str) -> None:
    line = " ".join(text.split())
    once = Cleaner("subtitles")(line)
    assert once == " ".join(once.split())
    assert len(once) <= len(line)
    slowly = line
    for _, rule in RULES.values():  # without looking for the signs of a rule first
        slowly = " ".join(rule(slowly).split())
    assert once == slowly
