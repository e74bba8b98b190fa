"""SCAT (Yin et al. 2021): EN-FR pronouns, and the words that translators marked as helping them to choose. The marks
were put into the text, sometimes through it: text and marks must come apart again."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import BadInput
from anaphora.suites.example import Example
from anaphora.suites.readers.scat import read, unmark

NAMES = ("context.en", "context.fr", "en", "fr")
LAMP = (
    "I bought a  <hon>lamp<hoff> .",
    "J'ai acheté une  <hon>lampe<hoff> .",
    "Look, <p>it</p> shines.",
    "Regarde, <p>elle</p> brille.",
)


def written(folder: Path, *rows: tuple[str, str, str, str], split: str = "test") -> Path:
    for name, column in zip(NAMES, zip(*rows, strict=True), strict=True):
        text = "".join(f"{line}\n" for line in column)
        (folder / f"highlighted.{split}.{name}").write_text(text, encoding="utf-8")
    return folder


def with_target(target: str) -> tuple[str, str, str, str]:
    return (*LAMP[:3], target)


# marks in a line


@pytest.mark.parametrize(
    ("line", "text", "highlighted"),
    [
        ("Nothing is marked.", "Nothing is marked.", []),
        ("Une  <hon>lampe<hoff>  brille.", "Une lampe brille.", ["lampe"]),
        ("Une  <hon>lampe<hoff> .", "Une lampe.", ["lampe"]),
        ("<hon>La lampe<hoff>  brille.", "La lampe brille.", ["La lampe"]),
        ("Voici la  <hon>lampe.<hoff>", "Voici la lampe.", ["lampe."]),
        ("Voici la  <hon>lampe.<hoff> ", "Voici la lampe.", ["lampe."]),
        ("Un lam <hon>pad<hoff> aire.", "Un lampadaire.", ["pad"]),
        ("La  <hon>lampe<hoff>  et le  <hon>lit<hoff> .", "La lampe et le lit.", ["lampe", "lit"]),
        ("<p>Elle</p> brille.", "Elle brille.", []),
        ("Une  <hon>lampe<hoff>  qu'<p>elle</p> a.", "Une lampe qu'elle a.", ["lampe"]),
        # next to a marked pronoun a single space is the text's own
        ("<p>Elle</p> <hon>brille<hoff> .", "Elle brille.", ["brille"]),
        ("La  <hon>lampe,<hoff> <p>elle</p> brille.", "La lampe, elle brille.", ["lampe,"]),
        # a highlight of nothing is none
        ("Une  <hon><hoff> lampe.", "Une lampe.", []),
    ],
)
def test_text_and_highlights_come_apart(line: str, text: str, highlighted: list[str]) -> None:
    actual, spans, _, whole = unmark(line)
    assert actual == text
    assert [text[start:end] for start, end in spans] == highlighted
    assert whole


def test_marked_pronouns_are_found_by_their_position() -> None:
    text, spans, pronouns, whole = unmark("<p>Il</p> dit qu'<p>il</p> est hab<p>il</p>e.")
    assert (text, spans, whole) == ("Il dit qu'il est habile.", [], True)
    assert pronouns == {(0, 2), (10, 12), (20, 22)}


def test_a_pronoun_inside_a_highlight_is_both() -> None:
    text, spans, pronouns, whole = unmark("La lampe :  <hon><p>elle</p> brille<hoff> .")
    assert (text, whole) == ("La lampe : elle brille.", True)
    assert [text[a:b] for a, b in spans] == ["elle brille"]
    assert [text[a:b] for a, b in pronouns] == ["elle"]


@pytest.mark.parametrize(
    "line",
    [
        "La  <hon> <hon>lam<hoff> pe<hoff>  brille.",
        "La  <hon>lampe  brille.",
        "La lampe<hoff>  brille.",
        "La  <hon>lampe <hof<hoff> f> brille.",
        "La  <hon>lam <hon>pe <ho<hoff> ff>  brille.",
    ],
    ids=["nested", "not closed", "not opened", "cut", "nested and cut"],
)
def test_marks_inside_marks_keep_the_text_but_no_spans(line: str) -> None:
    text, spans, pronouns, whole = unmark(line)
    assert (spans, pronouns, whole) == ([], set(), False)
    assert text == "La lampe brille."


# examples


def test_an_item_with_its_highlights(tmp_path: Path) -> None:
    suite = read(written(tmp_path, LAMP))
    assert (suite.header.name, suite.header.languages) == ("scat-test", "en-fr")
    assert list(suite) == [
        Example(
            "0",
            ("I bought a lamp.", "Look, it shines."),
            (
                ("J'ai acheté une lampe.", "Regarde, elle brille."),
                ("J'ai acheté une lampe.", "Regarde, il brille."),
            ),
            0,
            {
                "reference_pronoun": "elle",
                "contrast": "pronoun",
                "highlights": [
                    {"side": "source", "sentence": 0, "start": 11, "end": 15, "text": "lamp"},
                    {"side": "target", "sentence": 0, "start": 16, "end": 21, "text": "lampe"},
                ],
            },
        )
    ]


def test_highlights_in_the_current_sentences_are_of_sentence_1(tmp_path: Path) -> None:
    row = (
        "A lamp.",
        "Une lampe.",
        "The  <hon>lamp<hoff> , <p>it</p> shines.",
        "La  <hon>lampe<hoff> , <p>elle</p> luit.",
    )
    (example,) = read(written(tmp_path, row))
    assert example.tags["highlights"] == [
        {"side": "source", "sentence": 1, "start": 4, "end": 8, "text": "lamp"},
        {"side": "target", "sentence": 1, "start": 3, "end": 8, "text": "lampe"},
    ]


@pytest.mark.parametrize(
    ("target", "pronoun", "wrong"),
    [
        ("<p>Elle</p> brille.", "elle", "Il brille."),
        ("<p>Ils</p> brillent.", "ils", "Elles brillent."),
        ("Oui, <p>elles</p> brillent.", "elles", "Oui, ils brillent."),
        ("Puisqu'<p>il</p> brille, <p>il</p> chauffe.", "il", "Puisqu'elle brille, elle chauffe."),
        # the letters are marked inside a word, too
        ("<p>Il</p> est diffic<p>il</p>e.", "il", "Elle est difficile."),
        # a pronoun that is not marked is another one
        ("Il voit qu'<p>elle</p> brille.", "elle", "Il voit qu'il brille."),
        # a line that has lost its marks
        ("Elle brille.", "elle", "Il brille."),
    ],
)
def test_without_lopes_the_marked_pronoun_gets_the_other_gender(
    tmp_path: Path, target: str, pronoun: str, wrong: str
) -> None:
    (example,) = read(written(tmp_path, with_target(target)))
    assert example.tags["reference_pronoun"] == pronoun
    assert example.candidates[1][1] == wrong
    assert example.tags["contrast"] == "pronoun"


def test_lines_without_the_pronoun_are_skipped_and_numbers_kept(tmp_path: Path) -> None:
    rows = [LAMP, with_target("Regarde,  <hon>____<hoff>  brille."), with_target("Un uste<p>ils</p>e."), LAMP]
    assert [example.id for example in read(written(tmp_path, *rows))] == ["0", "3"]


def test_highlights_that_cannot_be_recovered_are_reported_as_broken(tmp_path: Path) -> None:
    row = ("A  <hon>lamp<hoff> .", "Une  <hon> <hon>lam<hoff> pe<hoff> .", *LAMP[2:])
    (example,) = read(written(tmp_path, row))
    assert example.tags["highlights_broken"] is True
    assert example.tags["highlights"] == [{"side": "source", "sentence": 0, "start": 2, "end": 6, "text": "lamp"}]


def test_with_lopes_the_wrong_translation_agrees_with_its_pronoun(tmp_path: Path) -> None:
    """The set that SCAT was annotated on has it, found by the text."""
    lopes = tmp_path / "lopes"
    lopes.mkdir()
    source = ["They are green.", "They are green.", "Look, it shines.", "Look, it shines."]
    target = ["Vertes, elles dorment.", "Verts, ils dorment.", "Autre, elle brille.", "Autre, il brille."]
    (lopes / "X.current.src").write_text("".join(f"{line}\n" for line in source), encoding="utf-8")
    (lopes / "X.current.trg").write_text("".join(f"{line}\n" for line in target), encoding="utf-8")
    green = (LAMP[0], LAMP[1], "<p>They</p> are green.", "Vertes, <p>elles</p> dorment.")
    content, unknown = read(written(tmp_path, green, LAMP), contrast_from=lopes)
    assert content.candidates[1] == ("J'ai acheté une lampe.", "Verts, ils dorment.")
    assert (content.tags["contrast"], content.tags["reference_pronoun"]) == ("agreement", "elles")
    assert unknown.candidates[1][1] == "Regarde, il brille."
    assert unknown.tags["contrast"] == "pronoun"


def test_each_split_is_a_suite(tmp_path: Path) -> None:
    written(tmp_path, LAMP, LAMP, split="train")
    suite = read(tmp_path, split="train")
    assert (suite.header.name, len(list(suite))) == ("scat-train", 2)


def test_a_split_that_is_not_there_says_which_are_published(tmp_path: Path) -> None:
    written(tmp_path, LAMP)
    with pytest.raises(BadInput, match=r"highlighted\.dev\.context\.en .*Choose --split train, valid or test"):
        read(tmp_path, split="dev")


def test_files_of_different_lengths_are_an_error(tmp_path: Path) -> None:
    written(tmp_path, LAMP, LAMP)
    (tmp_path / "highlighted.test.context.fr").write_text("Une lampe.\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"context\.fr(: 1 lines, but | has 1)"):
        list(read(tmp_path))


# the real release (data/scat-en-fr/README.md: train 11,471, valid 145, test 1,000)


def lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().split("\n")[:-1]


@pytest.fixture(scope="module")
def splits(data) -> dict[str, tuple[list[Example], list[tuple[str, ...]]]]:
    """For each split the examples, and the lines they come from."""
    folder = data("scat-en-fr")
    return {
        split: (
            list(read(folder, split=split)),
            list(zip(*(lines(folder / f"highlighted.{split}.{name}.gz") for name in NAMES), strict=True)),
        )
        for split in ("train", "valid", "test")
    }


def texts(example: Example) -> tuple[str, ...]:
    """The four texts of an example, in the order of the files."""
    return (example.source[0], example.candidates[0][0], example.source[1], example.candidates[0][1])


@pytest.mark.parametrize(("split", "rows", "left_out"), [("train", 11_471, 15), ("valid", 145, 0), ("test", 1_000, 0)])
def test_the_splits_have_their_sizes(splits: Any, split: str, rows: int, left_out: int) -> None:
    examples, raw = splits[split]
    assert len(raw) == rows
    assert len(examples) == rows - left_out
    kept = {int(example.id) for example in examples}
    lost = [raw[number][3] for number in range(rows) if number not in kept]
    # "______" stands for the pronoun in all but one, where it has run into the next word
    assert sum("_" in line for line in lost) == max(0, left_out - 1)


@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_no_mark_is_left_and_no_letter_lost(splits: Any, split: str) -> None:
    examples, raw = splits[split]
    for example in examples:
        for text, line in zip(texts(example), raw[int(example.id)], strict=True):
            assert not re.search(r"<\s*h|</?p>|o\s*f\s*f\s*>|o\s*n\s*>", text)
            assert re.sub(r"[^\w]", "", text) == re.sub(r"[^\w]", "", without_marks(line))


def without_marks(line: str) -> str:
    """By brute force: take out marks, however they are cut, until none is left."""
    while (shorter := re.sub(r"</?p>|<\s*h\s*o\s*(n|f\s*f)\s*>", "", line)) != line:
        line = shorter
    return line


@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_highlights_are_positions_in_the_text(splits: Any, split: str) -> None:
    examples, raw = splits[split]
    number = 0
    for example in examples:
        for mark in example.tags["highlights"]:
            passage = example.source if mark["side"] == "source" else example.candidates[0]
            assert passage[mark["sentence"]][mark["start"] : mark["end"]] == mark["text"] != ""
            number += 1
        if "highlights_broken" not in example.tags:
            between = [
                re.sub(r"</?p>", "", actual)
                for line in raw[int(example.id)]
                for actual in re.findall(r"<hon>(.*?)<hoff>", line)
            ]
            assert [mark["text"] for mark in example.tags["highlights"]] == [text for text in between if text]
    assert number > 0


def test_the_test_split_has_18_broken_highlights(splits: Any) -> None:
    """Counted in the files: items with a line whose marks do not alternate, or are cut."""
    for split, expected in (("test", 18), ("valid", 0)):
        examples, raw = splits[split]
        bad = set()
        for number, row in enumerate(raw):
            for line in row:
                marks = re.findall(r"<hon>|<hoff>", line)
                rest = re.sub(r"<hon>|<hoff>|</?p>", "", line)
                if marks != ["<hon>", "<hoff>"] * (len(marks) // 2) or re.search(r"[<>]", rest):
                    bad.add(str(number))
        assert {example.id for example in examples if "highlights_broken" in example.tags} == bad
        assert len(bad) == expected


@pytest.fixture(scope="module")
def lopes(data) -> dict[tuple[str, str], str]:
    folder = data("lopes-en-fr")
    source, target = (lines(folder / f"OpenSubs.current.{side}.gz") for side in ("src", "trg"))
    return dict(zip(zip(source[::2], target[::2], strict=True), target[1::2], strict=True))


@pytest.mark.parametrize(("split", "items", "agreeing"), [("test", 1_000, 1_000), ("train", 11_457, 11_453)])
def test_text_and_wrong_translation_come_from_lopes(
    split: str, items: int, agreeing: int, data, lopes: dict[tuple[str, str], str]
) -> None:
    examples = list(read(data("scat-en-fr"), split=split, contrast_from=data("lopes-en-fr")))
    from_lopes = [example for example in examples if example.tags["contrast"] == "agreement"]
    assert (len(examples), len(from_lopes)) == (items, agreeing)
    for example in from_lopes:
        assert example.candidates[1][1] == lopes[example.source[1], example.candidates[0][1]]
    for example in examples:
        for span in example.tags["highlights"]:
            passage = example.source if span["side"] == "source" else example.candidates[0]
            assert passage[span["sentence"]][span["start"] : span["end"]] == span["text"]
    words = Counter(example.tags["reference_pronoun"] for example in examples)
    assert set(words) <= {"il", "elle", "ils", "elles"}


def test_spans_follow_their_letters_when_the_spaces_are_put_right() -> None:
    line = unmark("Qu' <hon>est<hoff> -ce que <hon>la soupe<hoff> fait ?").respaced("Qu'est-ce que la soupe fait ?")
    assert [line.text[a:b] for a, b in line.highlights] == ["est", "la soupe"]
    assert unmark("<hon>Il<hoff>  dort.").respaced("Elle dort.").text == "Il dort."  # other letters: left as it was


def test_all_validation_items_are_recovered_to_the_letter(splits: Any, lopes: dict[tuple[str, str], str]) -> None:
    examples, _ = splits["valid"]
    assert sum((example.source[1], example.candidates[0][1]) in lopes for example in examples) == 145
