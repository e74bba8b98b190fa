"""Gap filling: which word is hidden, which options a language has, and gaps from the details of APT."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.study.create import Design, make_study
from anaphora.study.gaps import gap_forms, gap_items, gap_options, suite_of_details
from anaphora.study.model import Item, Study
from anaphora.study.plain_text import find_word, plain_text
from anaphora.suites.example import Example

PLACE = Path("gaps.jsonl")


def item(text: str, **tags: Any) -> Any:
    (found,) = gap_items([Example("x", ("It.",), ((text,),), 0, tags)], PLACE)
    return found


def test_options_of_the_shared_task() -> None:
    # APT §3.1: il, elle, ils, elles, ce, on, ça/cela; other and bad translation are always there
    assert gap_options("fr", "en-fr") == ("il", "elle", "ils", "elles", "ce", "on", "cela")
    assert gap_options("es", "en-es")[0] == "él"
    assert gap_options("fr", "en-fr", ("Il", " elle ", "il")) == ("il", "elle")
    with pytest.raises(AnaphoraError, match="'other' is always an option"):
        gap_options("fr", "en-fr", ("il", "other"))
    with pytest.raises(AnaphoraError, match="no pronoun lists for en-zz"):
        gap_options("zz", "en-zz")


def test_forms_of_an_option() -> None:
    forms = gap_forms("fr", "en-fr", gap_options("fr", "en-fr"))
    assert (forms["ça"], forms["c'"]) == ("cela", "ce")
    assert "il" not in forms
    assert gap_forms("fr", "en-fr", ("il", "ça"))["cela"] == "ça"


def test_the_gap() -> None:
    assert item("Elle est là.", pronoun="elle").marks == (((0, 4),),)
    found = item("Il dit qu'il dort.", pronoun="il", pronoun_start=10, system="a", sentence=3, position=1)
    assert found.marks == (((10, 12),),)
    assert (found.system, found.sentence, found.position) == ("a", "3", "1")


def test_what_is_refused() -> None:
    with pytest.raises(BadInput, match=r"'x' has no tag pronoun"):
        item("Elle est là.")
    with pytest.raises(BadInput, match=r"'il' is not in the translation"):
        item("Elle est là.", pronoun="il")
    with pytest.raises(BadInput, match=r"'il' is 2 times in the translation. Say where it begins"):
        item("Il dit qu'il dort.", pronoun="il")
    with pytest.raises(BadInput, match=r"'il' is not at character 4"):
        item("Il dit qu'il dort.", pronoun="il", pronoun_start=4)


def test_several_translations_of_one_pronoun() -> None:
    tags = {"pronoun": ["Elle", "Il"], "systems": ["a", "b"], "sentence": 7}
    example = Example("x", ("It.",), (("Elle dort.",), ("Il dort.",)), 0, tags)
    first, second = gap_items([example], PLACE)
    assert (first.id, first.system, first.pronoun) == ("x#0", "a", "Elle")
    assert (second.id, second.system, second.pronoun) == ("x#1", "b", "Il")


def test_a_study_of_gaps(make_gaps: Callable[..., Study]) -> None:
    study = make_gaps()
    assert study.mode == "gaps"
    assert study.choices == ("il", "elle", "ils", "elles", "ce", "on", "cela", "other", "bad")
    assert len(study.items) == 6


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    texts = {
        "src": "I had a key .\nIt was here .\nThey left .\n",
        "a": "J'avais une clé .\nElle était ici .\nPartis .\n",
        "b": "J'avais une clé .\nC' était ici , dit-il .\nIls sont partis .\n",
        "details": "system\tsentence\tposition\tcandidate_position\tcandidate\n"
        "a\t1\t0\t0\telle\na\t2\t0\t\t\nb\t1\t0\t4\til\nb\t2\t0\t0\tils\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return {name: tmp_path / name for name in texts}


def test_gaps_of_apt(files: dict[str, Path]) -> None:
    suite = suite_of_details(files["details"], files["src"], [files["a"], files["b"]], ["a", "b"], "en-fr")
    study = make_study(suite, Design(annotators=("anna",), mode="gaps"))
    assert [one.id for one in study.items] == ["a/1.0", "b/1.0", "b/2.0"]  # a has no word for the other pronoun
    first, second, third = study.items
    assert first.candidates == (("", "J'avais une clé.", "Elle était ici."),)  # as people write it
    assert hidden(second) == "il"  # a part of dit-il
    assert second.candidates[0][-1] == "C'était ici, dit-il."
    assert third.source == ("I had a key.", "It was here.", "They left.")
    assert (third.system, third.sentence, third.position, third.pronoun) == ("b", "2", "0", "Ils")


def test_gaps_of_apt_with_other_texts_are_refused(files: dict[str, Path]) -> None:
    with pytest.raises(BadInput, match=r"line 2: 'elle' is not word 0 of line 1"):
        list(suite_of_details(files["details"], files["src"], [files["b"], files["a"]], ["a", "b"], "en-fr"))
    with pytest.raises(BadInput, match=r"no translation of the system 'b'"):
        list(suite_of_details(files["details"], files["src"], [files["a"]], ["a"], "en-fr"))


def hidden(found: Item) -> str:
    ((span,),) = found.marks
    return found.candidates[0][-1][slice(*span)]


SENTENCES = {
    # English, and French as it is written and as it is tokenized; the pronoun and its place among the words
    "J’ai dit qu’il dort, et il dort.": ("J’ ai dit qu’ il dort , et il dort .", 8, "il", 24),
    "J'ai dit qu'il dort, et il dort.": ("J' ai dit qu' il dort , et il dort .", 4, "il", 12),
    "Oui, c'est vrai.": ("Oui , c&apos; est vrai .", 2, "c'", 5),
    "« C'est vrai ? » dit-elle.": ("« C' est vrai ? » dit-elle .", 1, "c'", 2),
}


@pytest.mark.parametrize("plain", SENTENCES)
@pytest.mark.parametrize("texts", ["plain", "tokenized"])
def test_gaps_are_shown_as_people_write(tmp_path: Path, plain: str, texts: str) -> None:
    """Whether the texts are plain, and apt tokenized them, or were tokenized before: the gap is on the right word."""
    tokenized, place, pronoun, start = SENTENCES[plain]
    files = {
        "src": ["He sleeps, isn't it?" if texts == "plain" else "He sleeps , is n't it ?"],
        "fr": [plain if texts == "plain" else tokenized],
        "details": [
            "system\tsentence\tposition\tcandidate_position\tcandidate",
            f"a\t0\t0\t{place}\t{pronoun}",
        ],
    }
    for name, lines in files.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    suite = suite_of_details(tmp_path / "details", tmp_path / "src", [tmp_path / "fr"], ["a"], "en-fr")
    (found,) = make_study(suite, Design(annotators=("anna",), mode="gaps")).items
    assert found.candidates[0][-1] == plain
    assert found.source[-1] == "He sleeps, isn't it?"
    assert found.marks == (((start, start + len(pronoun)),),)
    assert hidden(found).lower() == pronoun


WORDS = st.lists(
    st.sampled_from(["il", "Il", "dit", ",", ".", "(", ")", "qu'", "l'", '"', "?", "elle", "a-t-il", "3", "%"])
)


@settings(derandomize=True, deadline=None)
@given(before=WORDS, after=WORDS)
def test_the_gap_stays_on_its_word(before: list[str], after: list[str]) -> None:
    """However a sentence is put together again, what is hidden is the word that was to be hidden, and that very one."""
    words = [*before, "ELLE", *after]
    shown = plain_text([" ".join(words)], "fr", tokenized=True)[0]
    start, end = find_word(shown, words, len(before), 0, 4)
    assert shown[start:end] == "ELLE"


def test_gaps_of_plain_text_count_moses_words(tmp_path: Path) -> None:
    """`apt` tokenizes plain text; annotators see the text itself."""
    pytest.importorskip("sacremoses")
    texts = {
        "s.en": "It broke, I think.\n",
        "a.fr": "Oui, je crois qu’il s&apos;est cassé.\n",
        "details": "system\tsentence\tposition\tcandidate_position\tcandidate\na\t0\t0\t5\til\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    suite = suite_of_details(tmp_path / "details", tmp_path / "s.en", [tmp_path / "a.fr"], ["a"], "en-fr")
    (item,) = make_study(suite, Design(annotators=("anna",), mode="gaps")).items
    assert item.candidates[0][-1] == "Oui, je crois qu’il s'est cassé."
    assert item.candidates[0][-1][slice(*item.marks[0][0])] == "il"
