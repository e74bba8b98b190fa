"""Lopes et al. 2020: a large EN-FR set from OpenSubtitles as line files, two lines per item, the right one first, and
context files with n lines for each of those lines."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest

from anaphora.core.errors import BadInput
from anaphora.suites.example import Example
from anaphora.suites.readers.lopes import read

FILES = {
    "X.current.src": ["It is red.", "It is red.", "They sleep.", "They sleep."],
    "X.current.trg": ["Elle est rouge.", "Il est rouge.", "Ils dorment.", "Elles dorment."],
    "X.c1.context.src": ["A car.", "A car.", "", ""],
    "X.c1.context.trg": ["Une auto.", "Une auto.", "", ""],
    "X.c2.context.src": ["Look!", "A car."] * 2 + ["", ""] * 2,
    "X.c2.context.trg": ["Regarde !", "Une auto."] * 2 + ["", ""] * 2,
}


def folder(tmp_path: Path, **changes: list[str] | None) -> Path:
    """The files above; a keyword changes or (None) leaves out one: c1_context_src stands for X.c1.context.src."""
    for name, lines in (FILES | {f"X.{key.replace('_', '.')}": lines for key, lines in changes.items()}).items():
        if lines is not None:
            (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tmp_path


def test_two_lines_are_one_item_the_right_one_first(tmp_path: Path) -> None:
    suite = read(folder(tmp_path), context=1)
    assert (suite.header.name, suite.header.languages) == ("lopes-en-fr-1", "en-fr")
    assert list(suite) == [
        Example(
            "0",
            ("A car.", "It is red."),
            (("Une auto.", "Elle est rouge."), ("Une auto.", "Il est rouge.")),
            0,
            {"source_pronoun": "it", "reference_pronoun": "elle", "pronoun_pair": "it:elle"},
        ),
        Example(
            "1",
            ("", "They sleep."),
            (("", "Ils dorment."), ("", "Elles dorment.")),
            0,
            {"source_pronoun": "they", "reference_pronoun": "ils", "pronoun_pair": "they:ils"},
        ),
    ]


def test_names_of_files_are_no_patterns(tmp_path: Path) -> None:
    for name, lines in FILES.items():
        (tmp_path / name.replace("X", "(X[")).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert [example.source for example in read(tmp_path)][1] == ("", "", "They sleep.")


def test_the_context_is_the_largest_there_is_by_default(tmp_path: Path) -> None:
    folder(tmp_path)
    assert [e.source for e in read(tmp_path)] == [("Look!", "A car.", "It is red."), ("", "", "They sleep.")]
    assert [e.source for e in read(tmp_path, context=2)] == [e.source for e in read(tmp_path)]
    assert [e.source for e in read(tmp_path, context=0)] == [("It is red.",), ("They sleep.",)]
    assert [read(tmp_path, context=n).header.name for n in (0, 1, 2)] == [f"lopes-en-fr-{n}" for n in (0, 1, 2)]


def test_sizes_are_numbers_not_names(tmp_path: Path) -> None:
    """c10 is more than c2."""
    ten = ["x"] * 40
    suite = read(folder(tmp_path, c10_context_src=ten, c10_context_trg=ten))
    assert suite.header.name == "lopes-en-fr-10"
    assert next(iter(suite)).context_size == 10


def test_without_context_files_there_is_none(tmp_path: Path) -> None:
    gone = {f"c{n}_context_{side}": None for n in (1, 2) for side in ("src", "trg")}
    assert [e.source for e in read(folder(tmp_path, **gone))] == [("It is red.",), ("They sleep.",)]


def test_a_context_that_is_not_there_says_which_are(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no files with 5 sentences of context \(found: 1, 2\)\. Choose --context"):
        read(folder(tmp_path), context=5)


def test_the_pronoun_is_found_although_other_words_agree_with_it(tmp_path: Path) -> None:
    agreeing = ["Vertes, elles sont là.", "Verts, ils sont là.", "Qu'il soit grand.", "Qu'elle soit grande."]
    examples = read(folder(tmp_path, current_trg=agreeing), context=0)
    assert [example.tags["pronoun_pair"] for example in examples] == ["they:elles", "it:il"]


def test_an_item_whose_pronoun_is_not_found_has_no_tags(tmp_path: Path) -> None:
    other = ["La voiture est rouge.", "Le camion est rouge.", "Ils dorment.", "Elles dorment."]
    assert [len(e.tags) for e in read(folder(tmp_path, current_trg=other), context=0)] == [0, 3]


def test_files_may_be_gzipped(tmp_path: Path) -> None:
    for name, lines in FILES.items():
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
    assert next(iter(read(tmp_path))).source == ("Look!", "A car.", "It is red.")


# what does not fit together


def test_two_lines_of_an_item_share_source_and_context(tmp_path: Path) -> None:
    suite = read(folder(tmp_path, current_src=["It is red.", "It is red.", "They sleep.", "They slept."]), context=0)
    with pytest.raises(BadInput, match=r"X\.current\.src: line 3: the two lines of an item must have the same source"):
        list(suite)
    suite = read(folder(tmp_path, c1_context_src=["A car.", "A bus.", "", ""]), context=1)
    with pytest.raises(BadInput, match=r"X\.current\.src: line 1: the two lines of an item must have the same source"):
        list(suite)


def test_an_odd_line_is_an_error(tmp_path: Path) -> None:
    suite = read(folder(tmp_path, current_src=["a", "a", "b"], current_trg=["il", "elle", "il"]), context=0)
    with pytest.raises(BadInput, match=r"X\.current\.src: an odd number of lines"):
        list(suite)


@pytest.mark.parametrize("name", ["current_src", "current_trg"])
def test_sides_of_different_lengths_are_an_error(tmp_path: Path, name: str) -> None:
    suite = read(folder(tmp_path, **{name: FILES[f"X.{name.replace('_', '.')}"][:2]}), context=0)
    with pytest.raises(BadInput, match=rf"X\.{name.replace('_', '.')}(: 2 lines, but | has 2)"):
        list(suite)


def test_a_context_that_ends_too_early_is_an_error(tmp_path: Path) -> None:
    short = ["Look!", "A car."] * 2
    suite = read(folder(tmp_path, c2_context_src=short, c2_context_trg=short), context=2)
    with pytest.raises(BadInput, match=r"X\.c2\.context\.src: ends before line 3 of X\.current\.src"):
        list(suite)


def test_a_context_that_is_too_long_is_an_error(tmp_path: Path) -> None:
    long = ["x"] * 10
    suite = read(folder(tmp_path, c2_context_src=long, c2_context_trg=long), context=2)
    with pytest.raises(BadInput, match=r"X\.c2\.context\.src: has more than 2 lines for each line of X\.current\.src"):
        list(suite)


def test_a_context_that_ends_within_an_item_is_an_error(tmp_path: Path) -> None:
    ragged = ["x"] * 7
    suite = read(folder(tmp_path, c2_context_src=ragged, c2_context_trg=ragged), context=2)
    with pytest.raises(BadInput, match=r"X\.c2\.context\.src: line 7: 7 lines are not a multiple of 2"):
        list(suite)


def test_a_missing_side_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"X\.c1\.context\.trg \(or .*\) is missing here"):
        read(folder(tmp_path, c1_context_trg=None), context=1)


def test_another_folder_says_what_to_name(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(
            BadInput, match=r"\*\.current\.src is missing here\. Name the folder of the extracted files"
        ):
            read(path)


# the real set: 14,000 items, with 1 or 3 sentences of context (data/lopes-en-fr/README.md)


def lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().split("\n")[:-1]


@pytest.mark.parametrize("size", [1, 3])
def test_the_real_set_with_its_contexts(data, size: int) -> None:
    folder = data("lopes-en-fr")
    source, target = (lines(folder / f"OpenSubs.current.{side}.gz") for side in ("src", "trg"))
    befores = [lines(folder / f"OpenSubs.c{size}.context.{side}.gz") for side in ("src", "trg")]
    count = 0
    for number, example in enumerate(read(folder, context=size)):
        count += 1
        right, wrong = 2 * number, 2 * number + 1
        assert example.source == (*befores[0][right * size : right * size + size], source[right])
        assert example.candidates == (
            (*befores[1][right * size : right * size + size], target[right]),
            (*befores[1][wrong * size : wrong * size + size], target[wrong]),
        )
    assert count == 14_000


def test_the_four_pronouns_are_as_frequent(data) -> None:
    """Lopes et al. 2020: 3,500 each of il, elle (it) and ils, elles (they)."""
    examples = list(read(data("lopes-en-fr"), context=0))
    assert Counter(e.tags["reference_pronoun"] for e in examples) == dict.fromkeys(
        ("il", "elle", "ils", "elles"), 3_500
    )
    assert Counter(e.tags["source_pronoun"] for e in examples) == {"it": 7_000, "they": 7_000}


def test_three_sentences_are_what_there_is_most_of_here(data) -> None:
    assert read(data("lopes-en-fr")).header.name == "lopes-en-fr-3"
