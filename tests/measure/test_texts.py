"""Words and their positions, lines of parallel files, and passages as the model reads them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.core.errors import (
    AnaphoraError,
    BadInput,
)
from anaphora.languages.pronouns import load_readings
from anaphora.measure.config import Model
from anaphora.measure.texts import (
    Line,
    candidate_texts,
    pairs_of,
    plain_text,
    pronoun_indices,
    read_lines,
    replace_pronoun,
    text_of,
    words_of,
)
from anaphora.suites.example import Example

# Words, and the replacement of a pronoun with its case kept.

ENGLISH = load_readings("en")


def swap(text: str, old: str, new: str) -> str:
    words = words_of(text, ENGLISH)
    position = next(n for n in pronoun_indices(words, ENGLISH.pronouns) if words[n].text == old)
    return replace_pronoun(text, words, position, new, ENGLISH)


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("He's here.", "He", "it", "It's here."),
        ("Then he left.", "he", "It", "Then it left."),
        ("I think so.", "I", "we", "We think so."),
        ("Now I think so.", "I", "we", "Now we think so."),
        ("Now he thinks so.", "he", "i", "Now I thinks so."),
        ('Ah. "I know."', "I", "he", 'Ah. "He know."'),
        ("i know him", "him", "I", "i know i"),  # all of it is in lower case
        ("he left Rome.", "he", "it", "it left Rome."),
        ("Praise Him!", "Him", "it", "Praise It!"),
        ("I  saw\tit .", "it", "them", "I  saw\tthem ."),  # blanks stay as they are
    ],
)
def test_one_pronoun_is_exchanged_and_all_else_stays(text: str, old: str, new: str, expected: str) -> None:
    assert swap(text, old, new) == expected


def test_a_small_i_is_no_pronoun_in_ordinary_text() -> None:
    def pronouns_in(text: str) -> list[str]:
        words = words_of(text, ENGLISH)
        return [words[n].text for n in pronoun_indices(words, ENGLISH.pronouns)]

    assert pronouns_in("It, i.e. he.") == ["It", "he"]
    assert pronouns_in("yes i know him") == ["i", "him"]


@given(st.text())
def test_words_are_where_they_say(text: str) -> None:
    words = words_of(text)
    assert all(text[word.start : word.end] == word.text for word in words)
    assert "".join(word.text for word in words) == "".join(text.split())
    assert [word.start for word in words] == sorted(word.start for word in words)


# Lines of parallel files with their context.


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_context_stays_in_its_document(tmp_path: Path) -> None:
    reference = write(tmp_path / "r", "A.\nB.\nC.\nD.\n\nE.\n")
    system = write(tmp_path / "s", "a.\nb.\n\nd.\n\ne.\n")  # an empty translation is not the end of a document
    lines = list(read_lines(reference, [system]))
    assert [line.reference for line in lines] == [
        ("", "", "A."),
        ("", "A.", "B."),
        ("A.", "B.", "C."),
        ("B.", "C.", "D."),
        ("", "", "E."),
    ]
    assert lines[3].systems == (("b.", "", "d."),)
    assert [(line.number, line.document) for line in lines] == [(1, "1"), (2, "1"), (3, "1"), (4, "1"), (6, "2")]
    assert all(line.source is None for line in lines)


def test_docids_and_sources(tmp_path: Path) -> None:
    reference = write(tmp_path / "r", "x\tA.\nx\tB.\ny\tC.\n")
    source = write(tmp_path / "q", "x\tÄ.\nx\tÖ.\ny\tÜ.\n")
    lines = list(read_lines(reference, [], source, context=1, docids=True))
    assert lines[1] == Line(2, "x", ("A.", "B."), (), ("Ä.", "Ö."))
    assert lines[2] == Line(3, "y", ("", "C."), (), ("", "Ü."))


def test_no_context(tmp_path: Path) -> None:
    lines = list(read_lines(write(tmp_path / "r", "A.\nB.\n"), [], context=0))
    assert [line.reference for line in lines] == [("A.",), ("B.",)]


def test_files_of_other_lengths_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"1 lines, but .* has 2"):
        list(read_lines(write(tmp_path / "r", "A.\nB.\n"), [write(tmp_path / "s", "a.\n")]))


def test_a_line_without_a_docid_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="line 2: no tab"):
        list(read_lines(write(tmp_path / "r", "x\tA.\nB.\n"), [], docids=True))


def test_a_line_d_between_documents(tmp_path: Path) -> None:
    paths = [write(tmp_path / name, "One.\n<d>\nTwo.\n") for name in ("r", "s")]
    lines = list(read_lines(paths[0], paths[1:], context=1))
    assert [(line.document, line.reference) for line in lines] == [("1", ("", "One.")), ("2", ("", "Two."))]


def test_signs_are_made_one_and_counted(tmp_path: Path) -> None:
    """Otherwise a measure learns by the apostrophes which text is the reference."""
    reference = write(tmp_path / "r", "It's here.\n")
    system = write(tmp_path / "s", "It’s\u00a0here.\n")
    signs: dict[str, Counter[str]] = {}
    (line,) = read_lines(reference, [system], context=0, signs=signs)
    assert line.reference == line.systems[0] == ("It's here.",)
    assert signs == {str(reference): {}, str(system): {"’": 1, "\u00a0": 1}}


# Passages: pronouns of the last sentence, the three settings of context.

PAIR = Example("x", ("", "", ""), (("R2.", "R1.", "He left."), ("S2.", "S1.", "It left.")), 0, {"kind": "system"})


def test_pronouns_are_those_of_the_current_sentence() -> None:
    text = text_of(("", "She came.", "He saw her and I."), ENGLISH)
    assert text.whole == "She came. He saw her and I."
    assert text.begin == 3
    assert [text.words[n] for n in text.pronouns] == ["he", "her", "i"]
    assert [text.whole[start:end] for start, end in text.spans][3:5] == ["He", "saw"]


def test_sentences_of_one_token_and_of_none() -> None:
    assert text_of(("It",), ENGLISH).pronouns == (0,)
    empty = text_of(("",), ENGLISH)
    assert (empty.words, empty.pronouns, empty.whole) == ((), (), "")


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("NC", ["He left.", "It left."]),
        ("RC", ["R2. R1. He left.", "S2. S1. It left."]),
        ("CRC", ["R2. R1. He left.", "R2. R1. It left."]),
    ],
)
def test_settings_of_context(context: str, expected: list[str]) -> None:
    assert [text.whole for text in candidate_texts(PAIR, Model(context=context), ENGLISH)] == expected


def test_so_many_sentences() -> None:
    assert candidate_texts(PAIR, Model(context="RC", sentences=1), ENGLISH)[1].whole == "S1. It left."


def test_pairs_of_a_kind() -> None:
    model = Model()
    assert len(pairs_of([PAIR], model, ENGLISH)) == len(pairs_of([PAIR], model, ENGLISH, "system")) == 1
    assert pairs_of([PAIR], model, ENGLISH, "noisy") == []
    untagged = Example("y", ("",), (("It left.",), ("He left.",), ("She left.",)), 1)
    actual = pairs_of([untagged], model, ENGLISH, "noisy")
    assert [(pair.better.sentence, pair.worse.sentence) for pair in actual] == [
        ("He left.", "It left."),
        ("He left.", "She left."),
    ]
    with pytest.raises(AnaphoraError, match="example 'z' is not a pair"):
        pairs_of([Example("z", ("",), (("a",), ("b",)), None)], model, ENGLISH)


def test_plain_text_is_as_the_annotated_pairs() -> None:
    assert plain_text("\"It's Jenner's,\" he said – at 3.5 %!") == "it s jenner s he said at 3.5 !"
    assert text_of(("He's IN.",), ENGLISH, plain=True).words == ("he", "s", "in", ".")


@given(st.text(max_size=40), st.text(max_size=40))
def test_spans_point_at_the_words(before: str, current: str) -> None:
    text = text_of((before, current), ENGLISH)
    assert len(text.spans) == len(text.words) >= text.begin
    assert all(position >= text.begin for position in text.pronouns)
    assert all(not piece.isspace() and piece for piece in (text.whole[a:b] for a, b in text.spans))


def test_texts_do_not_depend_on_how_signs_are_written() -> None:
    for written in ("He’s in.", "He&#39;s\u00a0in.", "He&amp;apos;s in."):
        for plain in (False, True):
            assert text_of((written,), ENGLISH, plain=plain) == text_of(("He's in.",), ENGLISH, plain=plain)
