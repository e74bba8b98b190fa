"""What the readers of line files share. Files that go line by line together must stay together to the end: one lost
line would silently pair every sentence behind it with the wrong translation."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.core.errors import BadInput
from anaphora.suites.readers.lines import differing_pronoun, differing_words, groups_of, parallel_lines


def files(tmp_path: Path, *texts: str) -> list[Path]:
    paths = [tmp_path / f"{number}.txt" for number, _ in enumerate(texts)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def test_files_are_read_side_by_side(tmp_path: Path) -> None:
    paths = files(tmp_path, "a\nb\n", "1\n2", "x\n\n")
    assert list(parallel_lines(*paths)) == [("a", "1", "x"), ("b", "2", "")]


def test_one_file_and_empty_files(tmp_path: Path) -> None:
    assert list(parallel_lines(*files(tmp_path, "a\nb\n"))) == [("a",), ("b",)]
    assert list(parallel_lines(*files(tmp_path, "", ""))) == []


@pytest.mark.parametrize(("short", "long"), [(0, 1), (1, 0), (2, 0)])
def test_the_file_that_ends_first_is_named_and_one_that_goes_on(tmp_path: Path, short: int, long: int) -> None:
    texts = ["a\nb\nc\n"] * 3
    texts[short] = "a\nb\n"
    paths = files(tmp_path, *texts)
    rows = parallel_lines(*paths)
    assert [next(rows), next(rows)] == [("a",) * 3, ("b",) * 3]
    with pytest.raises(BadInput) as caught:
        next(rows)
    assert str(caught.value) == (
        f"{paths[short]}: ends after line 2, but {paths[long]} goes on. The files must have the same number of lines."
    )


def test_an_empty_file_beside_a_full_one_is_short(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"1\.txt: ends after line 0"):
        list(parallel_lines(*files(tmp_path, "a\n", "")))


def test_rows_come_in_groups_and_a_rest_is_an_error() -> None:
    rows = [(str(number),) for number in range(5)]
    assert list(groups_of(rows[:4], 2, Path("f"))) == [rows[:2], rows[2:4]]
    assert list(groups_of([], 3, Path("f"))) == []
    groups = groups_of(rows, 2, Path("f"))
    assert [next(groups), next(groups)] == [rows[:2], rows[2:4]]
    with pytest.raises(BadInput, match="f: line 5: 5 lines are not a multiple of 2"):
        next(groups)


def test_words_that_differ_are_found_lowercased_with_punctuation_as_words() -> None:
    assert differing_words("Sie ist weich.", "Er ist weich.") == [("sie", "er")]
    assert differing_words("Parce qu'il dort, il ronfle.", "Parce qu'elle dort, elle ronfle.") == [
        ("il", "elle"),
        ("il", "elle"),
    ]
    assert differing_words("Wohin?", "Wohin!") == [("?", "!")]


def test_equal_sentences_and_other_numbers_of_words_have_no_words_that_differ() -> None:
    assert differing_words("Es  regnet .", "es regnet.") == []
    assert differing_words("Es regnet.", "Es regnet sehr.") == []


def test_the_pronoun_is_found_among_words_that_agree_with_it() -> None:
    pronouns = ("il", "elle", "ils", "elles")
    assert differing_pronoun("Il est grand.", "Elle est grande.", pronouns) == "il"
    assert differing_pronoun("Fatiguées, elles dorment.", "Fatigués, ils dorment.", pronouns) == "elles"


def test_a_pronoun_replaced_by_another_word_is_not_the_one_meant() -> None:
    pronouns = ("il", "elle")
    assert differing_pronoun("Il voit qu'elle dort.", "On voit qu'il dort.", pronouns) == "elle"
    assert differing_pronoun("Il dort.", "Jean dort.", pronouns) is None
    assert differing_pronoun("Il dort.", "Il dort.", pronouns) is None


def test_pronouns_may_come_from_an_iterator() -> None:
    assert differing_pronoun("Tout va ; il dort.", "Tout va ; elle dort.", iter(["il", "elle"])) == "il"
