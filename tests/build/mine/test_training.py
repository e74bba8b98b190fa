"""The aligner is trained on a sample that does not depend on shards, and is there when it is whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.align import Aligner, Settings
from anaphora.annotate.document import Document, Sentence, Token
from anaphora.build.mine.annotation import pack_documents
from anaphora.build.mine.jobs import LONGEST, Sample, draw
from anaphora.build.mine.piece import Piece, pack_pieces
from anaphora.build.mine.training import MODEL, limit, train

FAST = Settings(model="ibm1")


def shard(lines: list[str], number: int, first: int) -> list[bytes]:
    piece = Piece("d", number, number, first, tuple(lines), tuple(lines))
    document = Document(tuple(Sentence(tuple(Token(word) for word in line.split())) for line in lines))
    return [pack_pieces([piece]), pack_documents([document]), pack_documents([document])]


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What the aligner is given to learn from."""
    given: list[list[str]] = []

    def learn(
        aligner: Aligner, source: object, target: object, *, corpus: list[tuple[list[str], list[str]]], progress: object
    ) -> None:
        assert all(one == other for one, other in corpus)
        given.extend(one for one, _ in corpus)

    monkeypatch.setattr(Aligner, "train", learn)
    monkeypatch.setattr(Aligner, "save", lambda aligner, folder: folder.mkdir(parents=True))
    return given


def test_each_sentence_once_in_lower_case(tmp_path: Path, trained: list[list[str]]) -> None:
    long = " ".join(["x"] * (LONGEST + 1))
    shards = [shard(["A b", "", long], 0, 0), shard([long, "C", "D e"], 2, 1)]
    train(tmp_path, FAST, map(Sample(1, None), shards))
    assert trained == [["a", "b"], ["c"], ["d", "e"]]
    train(tmp_path, FAST, map(Sample(1, None), shards))  # it is there
    assert len(trained) == 3


def test_a_sample_does_not_depend_on_shards(tmp_path: Path, trained: list[list[str]]) -> None:
    lines = [f"w{n}" for n in range(60)]
    sample = Sample(1, limit(1, 60, 20))
    train(tmp_path / "one", FAST, [sample(shard(lines, 0, 0))])
    once = list(trained)
    assert len(once) == 20
    cut = [shard(lines[:23], 0, 0), shard(lines[20:41], 20, 3), shard(lines[41:], 41, 0)]
    train(tmp_path / "two", FAST, map(sample, cut))
    assert trained[20:] == once


def test_the_limit_is_the_largest_of_the_smallest_draws() -> None:
    draws = sorted(draw(7, number) for number in range(50))
    assert limit(7, 50, 10) == draws[9]
    assert limit(7, 50, 50) is None
    assert draws != sorted(draw(8, number) for number in range(50))


def test_a_model_that_can_be_applied(tmp_path: Path) -> None:
    lines = ["red house", "red book", "blue house", "blue book"] * 5
    train(tmp_path, FAST, [Sample(1, None)(shard(lines, 0, 0))])
    assert Aligner.load(tmp_path / MODEL).align([["blue", "red"]], [["blue", "red"]]) == [((0, 0), (1, 1))]
