"""What mining leaves: a suite with its history in the header, and ContraPro's JSON, which our reader reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anaphora.build.mine.balance import Find, Place
from anaphora.build.mine.contrapro import record
from anaphora.build.mine.output import examples, write_suite
from anaphora.build.mine.piece import Piece, pack_pieces
from anaphora.build.mine.result import Statistics
from anaphora.build.mine.stage import Stage, open_stage
from anaphora.core.errors import AnaphoraError
from anaphora.suites.example import Example
from anaphora.suites.readers import contrapro
from anaphora.suites.suite import Header, read_native


@pytest.fixture
def text(tmp_path: Path) -> Stage:
    stage = open_stage(tmp_path, "read", {})
    source, target = tuple(f"s{k}" for k in range(6)), tuple(f"t{k}" for k in range(6))
    stage.write(0, pack_pieces([Piece("a", 0, 0, 0, source, target)]))
    stage.write(1, pack_pieces([Piece("b", 3, 6, 3, source, target), Piece("c", 0, 9, 0, ("x",), ("y",))]))
    return stage


def find(piece: int, sentence: int, number: int, document: str, **tags: Any) -> Find:
    about = {"document": document, "sentence": number, **tags}
    return {
        "piece": piece,
        "sentence": sentence,
        "label": "er",
        "number": 1,
        "right": "er!",
        "wrong": ["sie!", "es!"],
        "tags": about,
    }


def test_passages_and_names(text: Stage) -> None:
    finds: list[tuple[Place, Find]] = [
        ((0, 0), find(0, 1, 2, "a")),
        ((0, 1), {**find(0, 1, 2, "a"), "number": 3}),
        ((0, 2), find(0, 1, 2, "a")),
        ((1, 0), find(0, 4, 8, "b")),
        ((1, 1), find(1, 0, 1, "c")),
    ]
    first, third, other, late, alone = [example for _, example in examples(finds, text, 2)]
    assert [e.id for e in (first, third, late, alone)] == ["a:2:er", "a:2:er:3", "b:8:er", "c:1:er"]
    assert other.id == "a:2:er#2"  # of another document with this name
    assert first.source == ("s0", "s1")  # fewer, where a document begins
    assert first.candidates == (("t0", "er!"), ("t0", "sie!"), ("t0", "es!"))
    assert late.source == ("s2", "s3", "s4")
    assert late.candidates[0] == ("t2", "t3", "er!")
    assert alone.source == ("x",)
    assert first.gold == 0


TAGS: dict[str, Any] = {
    "source_pronoun": "it",
    "reference_pronoun": "er",
    "pronoun_pair": "it:er",
    "candidate_pronouns": ["er", "sie", "es"],
    "location": "external",
    "distance": 2,
    "source_antecedent": "the cup",
    "target_antecedent": "der Becher",
    "document": "d",
    "sentence": 7,
}


def test_contrapro_is_read_back(tmp_path: Path) -> None:
    made = [
        Example(f"d:{k}:er", ("before", f"It {k}."), (("davor", "Er."), ("davor", "Sie."), ("davor", "Es.")), 0, TAGS)
        for k in range(3)
    ]
    header = Header("mined", "en", "de", ("reference_pronoun",), licence="free")
    sha = write_suite(tmp_path / "s.jsonl", tmp_path / "c.json", header, made, {"seed": 1})
    suite = read_native(tmp_path / "s.jsonl")
    assert (list(suite), suite.sha256(), suite.header) == (made, sha, header)
    assert json.loads((tmp_path / "s.jsonl").read_text().splitlines()[0])["mined"] == {"seed": 1}
    read = list(contrapro.read(tmp_path / "c.json"))
    assert [(e.source, e.candidates, e.tags) for e in read] == [
        ((e.source[-1],), tuple((c[-1],) for c in e.candidates), TAGS) for e in made
    ]


def test_contrapro_of_nothing_and_of_what_it_cannot_hold(tmp_path: Path) -> None:
    write_suite(None, tmp_path / "c.json", Header("mined", "en", "de"), [], {})
    assert json.loads((tmp_path / "c.json").read_text()) == []
    with pytest.raises(AnaphoraError, match="example 'x' has no tag 'candidate_pronouns'"):
        record(Example("x", ("It.",), (("Er.",),), 0, {"source_pronoun": "it"}))


def test_classes_by_distance() -> None:
    statistics = Statistics()
    for label, distance in [("er", 0), ("er", 1), ("es", 1), ("er", 3), ("es", 4), ("es", 40), ("es", None)]:
        tags: dict[str, Any] = {"distance": distance, "source_pronoun": "it"}
        statistics.add(label, Example("x", ("s",), (("t",),), 0, tags))
    assert statistics.to_dict() == {
        "classes": {"er": 3, "es": 4},
        "distances": {
            "0": {"er": 1, "es": 0},
            "1": {"er": 1, "es": 1},
            "3": {"er": 1, "es": 0},
            ">3": {"er": 0, "es": 2},
        },
    }
    assert statistics.sources == {"it": 7}
