"""ParCorFull's records as documents in both languages: beads become lines, mentions and links go along."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.annotate.document import Document, Mention, Sentence
from anaphora.build.mine.gold import GoldMention, languages_of, read_gold
from anaphora.core.errors import BadInput

Parsed = Callable[[str], Sentence]


def mention(sentence: int, start: int, end: int, kind: str, chain: str | None) -> dict[str, Any]:
    return {"sent": sentence, "start": start, "end": end, "type": kind, "chain": chain, "attributes": {}, "text": ""}


RECORD: dict[str, Any] = {
    "doc": "talk",
    "langs": ["en", "de"],
    "alignment": [[[0, 1], [0]], [[2], []], [[3], [1]]],
    "en": {
        "sentences": [["The", "dog"], ["It", "slept"], ["Hm"], ["It", "is", "fun", "."]],
        "mentions": [
            mention(1, 0, 1, "pronoun", "a"),
            mention(0, 0, 2, "np", "a"),
            mention(3, 0, 1, "pronoun", None),
            mention(3, 2, 9, "np", "b"),  # crosses the end
            mention(3, 1, 2, "np", "a"),  # after the pronoun
        ],
    },
    "de": {
        "sentences": [["Der", "Hund", "schlief"], ["Es", "ist", "lustig"]],
        "mentions": [mention(0, 0, 2, "np", "x"), mention(1, 0, 1, "pronoun", "x")],
    },
    "word_alignment": [
        [[0, 1], [0, 1], "i"],
        [[1, 1], [0, 2], "f"],
        [[3, 0], [1, 0], "i"],
        [[3, 0], [0, 0], "i"],  # of different lines
    ],
}


def write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_beads_become_lines(tmp_path: Path) -> None:
    (pair,) = read_gold(write(tmp_path / "gold.jsonl", RECORD), "en", "de")
    assert pair.name == "talk"
    assert pair.source.lines == (("The", "dog", "It", "slept"), ("Hm",), ("It", "is", "fun", "."))
    assert pair.target.lines == (("Der", "Hund", "schlief"), (), ("Es", "ist", "lustig"))
    assert pair.alignments == (((1, 1), (3, 2)), (), ((0, 0),))


def test_mentions_and_chains(tmp_path: Path) -> None:
    (pair,) = read_gold(write(tmp_path / "gold.jsonl", RECORD), "en", "de")
    dog, first = GoldMention((0, 0, 2), True, "a"), GoldMention((0, 2, 3), False, "a")
    nothing, fun = GoldMention((2, 0, 1), False, None), GoldMention((2, 2, 4), True, "b")
    later = GoldMention((2, 1, 2), True, "a")
    assert pair.source.mentions == (dog, first, nothing, later, fun)
    assert pair.source.chains == {"a": (dog, first, later), "b": (fun,)}
    assert pair.source.words == {(0, 2): first, (2, 0): nothing}
    assert pair.source.nouns_before((0, 2)) == [dog]
    assert pair.source.nouns_before((2, 0)) == []  # no chain
    assert pair.source.nouns_before((0, 0)) == []  # no pronoun
    assert [m.span for m in pair.target.nouns_before((2, 0))] == [(0, 0, 2)]


def test_chains_of_people_in_an_annotation(tmp_path: Path, parsed: Parsed) -> None:
    (pair,) = read_gold(write(tmp_path / "gold.jsonl", RECORD), "en", "de")
    lines = (
        parsed("The/DET/2/det dog/NOUN/4/nsubj It/PRON/4/nsubj slept/VERB/0/root"),
        parsed("Hm/INTJ/0/root"),
        parsed("It/PRON/3/expl is/AUX/3/cop fun/NOUN/0/root ./PUNCT/3/punct"),
    )
    chained = pair.source.annotated(Document(lines))
    assert chained.sentences is lines
    assert chained.chains == ((Mention(0, 0, 2, 1), Mention(0, 2, 3, 2), Mention(2, 1, 2, 1)),)  # b is alone


def test_the_languages_of_a_file(tmp_path: Path) -> None:
    assert languages_of(write(tmp_path / "gold.jsonl", RECORD)) == ("en", "de")
    with pytest.raises(BadInput, match="the file has no documents"):
        languages_of(write(tmp_path / "empty.jsonl"))
    with pytest.raises(BadInput, match="line 1: not a record"):
        languages_of(write(tmp_path / "bad.jsonl", {"langs": ["en"]}))


def test_other_languages_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "gold.jsonl", RECORD)
    with pytest.raises(BadInput, match="line 1: a record of en-de, not en-fr"):
        list(read_gold(path, "en", "fr"))


@pytest.mark.parametrize("record", [{"doc": "x"}, [1], "text", RECORD | {"word_alignment": [[0, 1]]}])
def test_what_is_no_record(tmp_path: Path, record: object) -> None:
    path = write(tmp_path / "gold.jsonl", RECORD, record)
    with pytest.raises(BadInput, match="line 2: not a record of ParCorFull"):
        list(read_gold(path, "en", "de"))


@pytest.mark.parametrize(("target", "documents", "lines"), [("de", 29, 2298), ("fr", 10, 1733)])
def test_the_real_files(data: Callable[[str], Path], target: str, documents: int, lines: int) -> None:
    pairs = list(read_gold(data("parcorfull") / f"parcorfull.en-{target}.jsonl.gz", "en", target))
    assert len(pairs) == documents
    assert sum(len(pair.source.lines) for pair in pairs) == lines
    for pair in pairs:
        assert len(pair.source.lines) == len(pair.target.lines) == len(pair.alignments)
        for ours, theirs, links in zip(pair.source.lines, pair.target.lines, pair.alignments, strict=True):
            assert all(i < len(ours) and j < len(theirs) for i, j in links)
