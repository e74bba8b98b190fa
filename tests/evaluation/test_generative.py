"""Correct, wrong, not found: what a translation makes of the pronoun."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.evaluation.generative import CORRECT, NOT_FOUND, WRONG, Outcome, contrast, count, judge
from anaphora.languages.forms import pronoun_forms
from anaphora.suites.example import Example

GERMAN, FRENCH = pronoun_forms("de"), pronoun_forms("fr")
SOURCE = ["The", "cup", "fell", "and", "it", "broke", "."]
CANDIDATES = [f"Die Tasse fiel und {p} zerbrach .".split() for p in ("sie", "er", "es")]
DIAGONAL = [[i] for i in range(7)]


def outcome(translation: str, links: list[list[int]] | None = None, gold: int = 0) -> Outcome:
    """Of a translation of SOURCE that is aligned word by word unless told otherwise."""
    words = translation.split()
    example = Example("1", (" ".join(SOURCE),), tuple((" ".join(c),) for c in CANDIDATES), gold)
    given = [[j for j in row if j < len(words)] for row in (links or DIAGONAL)]
    return judge(
        example,
        SOURCE,
        CANDIDATES,
        words,
        gold_links=[[0], [1], [2], [3], [4], [5], [6]],
        links=given,
        forms=GERMAN,
        is_source=lambda _, word: word == "it",
        pronouns=frozenset({"das"}),
    )


def test_by_a_link() -> None:
    assert outcome("Die Tasse fiel und sie zerbrach .") == Outcome("1", CORRECT, "link", "sie", 4, 4)
    assert outcome("Die Tasse fiel und er zerbrach .").outcome == WRONG
    assert outcome("Die Tasse fiel und das zerbrach .") == Outcome("1", NOT_FOUND, "link", "das", 4, 4)


def test_any_case_of_the_right_gender_is_correct() -> None:
    assert outcome("Die Tasse fiel und ihr geschah nichts").outcome == CORRECT
    assert outcome("Die Tasse fiel und ihm geschah nichts").outcome == WRONG  # of er and es
    assert outcome("Die Tasse fiel und ihm geschah nichts", gold=1).outcome == CORRECT


def test_the_polite_address_is_no_pronoun() -> None:
    example = Example("1", ("",), (("",), ("",)), 0)
    candidates = [["Nehmen", "Sie", "es"], ["Nehmen", "Sie", "sie"]]
    found = judge(
        example,
        ["take", "it"],
        candidates,
        ["Nehmen", "Sie", "es"],
        gold_links=[[0], [1, 2]],
        links=[[0], [1, 2]],
        forms=GERMAN,
        is_source=lambda _, word: word == "it",
        polite=frozenset({"Sie"}),
    )
    assert (found.outcome, found.found, found.place) == (CORRECT, "es", 2)


def test_a_lost_link_is_rescued() -> None:
    links = [[0], [1], [2], [3], [], [5], [6]]
    assert outcome("Die Tasse fiel und SIE zerbrach .", links) == Outcome("1", CORRECT, "rescue", "sie", 4, 4)
    assert outcome("Die Tasse fiel und die zerbrach .", links).outcome == NOT_FOUND
    assert outcome("Kaputt .", [[], [], [], [], [], [0], [1]]).outcome == NOT_FOUND


def test_an_empty_translation_is_not_found() -> None:
    assert outcome("", [[]] * 7) == Outcome("1", NOT_FOUND, "rescue", source=4)


def test_of_two_source_pronouns_the_one_aligned_to_the_reference() -> None:
    source = ["it", "said", "that", "it", "broke"]
    example = Example("1", ("",), (("",), ("",)), 0)
    candidates = [["es", "hieß", "dass", "sie", "brach"], ["es", "hieß", "dass", "er", "brach"]]
    links = [[0], [1], [2], [3], [4]]
    for gold_links, expected in ((links, 3), ([[]] * 5, 3)):
        found = judge(
            example,
            source,
            candidates,
            ["es", "hieß", "dass", "sie", "brach"],
            gold_links=gold_links,
            links=links,
            forms=GERMAN,
            is_source=lambda _, word: word == "it",
        )
        assert (found.source, found.outcome) == (expected, CORRECT)


def test_what_tells_candidates_apart() -> None:
    told = contrast(CANDIDATES, 0, GERMAN)
    assert (told.position, told.pronouns) == (4, True)
    assert told.gold == {"sie", "ihr"}
    assert told.others == {"er", "ihn", "ihm", "es", "'s"}
    capital = contrast([["Er", "brach"], ["Sie", "brach"]], 0, GERMAN)
    assert capital.gold == {"er", "ihn", "ihm"}
    french = contrast([["je", "la", "tuerai"], ["je", "le", "tuerai"]], 0, FRENCH)
    assert "l'" in french.gold
    assert "l'" not in french.others


def test_lexical_choice_is_judged_by_words() -> None:
    example = Example("1", ("Is this crazy ?",), (("C'est dingue ?",), ("C'est fou ?",)), 0)
    candidates = [["C'est", "dingue", "?"], ["C'est", "fou", "?"]]

    def found(translation: str) -> tuple[str, str]:
        words = translation.split()
        judged = judge(
            example,
            ["Is", "this", "crazy", "?"],
            candidates,
            words,
            gold_links=[[]] * 4,
            links=[[]] * 4,
            forms=FRENCH,
            is_source=lambda _, word: word == "it",
        )
        assert judged.how == "words"
        return judged.outcome, judged.found

    assert found("Est-ce dingue ?") == (CORRECT, "dingue")
    assert found("Est-ce fou ?") == (WRONG, "fou")
    assert found("Est-ce dingue ou fou ?") == (NOT_FOUND, "")
    assert found("Quoi ?") == (NOT_FOUND, "")


def test_counts_keep_what_is_not_found_in_the_denominator() -> None:
    kinds = [CORRECT, CORRECT, WRONG, NOT_FOUND, NOT_FOUND]
    tags = ["er", "sie", "er", "er", None]
    outcomes = [
        (Example(str(n), ("",), (("",),), 0, {"pronoun": tag} if tag else {}), Outcome(str(n), kind, "link"))
        for n, (kind, tag) in enumerate(zip(kinds, tags, strict=True))
    ]
    overall, groups = count(outcomes, ["pronoun"])
    assert (overall.correct, overall.wrong, overall.not_found, overall.total) == (2, 1, 2, 5)
    assert overall.accuracy == pytest.approx(0.4)
    assert overall.among_found == pytest.approx(2 / 3)
    assert {group: figure.total for group, figure in groups["pronoun"].items()} == {"er": 3, "sie": 1}
    assert count([], ["pronoun"])[0].accuracy is None


words = st.lists(st.sampled_from(["er", "sie", "es", "ihm", "Haus", "das", "."]), min_size=1, max_size=6)


@given(words, words, words, st.data())
def test_never_correct_without_a_word_that_speaks_for_gold(
    gold: list[str], other: list[str], translation: list[str], data: st.DataObject
) -> None:
    source = ["it", "was", "it"]
    link = st.lists(st.integers(0, len(translation) - 1), max_size=2)
    links = data.draw(st.lists(link, min_size=3, max_size=3))
    example = Example("1", ("",), (("",), ("",)), 0)
    found = judge(
        example,
        source,
        [gold, other],
        translation,
        gold_links=[[]] * 3,
        links=links,
        forms=GERMAN,
        is_source=lambda _, word: word == "it",
    )
    told = contrast([gold, other], 0, GERMAN)
    speaking = {word.lower() for word in translation}
    if found.outcome == CORRECT:
        assert told.gold & speaking
    if found.outcome == WRONG:
        assert told.others & speaking
