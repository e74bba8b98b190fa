"""The jobs of the stages on a shard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from anaphora.align import Aligner, Settings
from anaphora.annotate import Line
from anaphora.annotate.document import Document, Mention, Sentence, Token
from anaphora.build.mine.jobs import (
    LONGEST,
    MODEL,
    Clean,
    Sample,
    annotate_in_order,
    draw,
    lowercase,
    sample_limit,
    token_links,
    train,
)
from anaphora.build.mine.shards import (
    Piece,
    Stage,
    open_stage,
    pack_documents,
    pack_pieces,
    unpack,
    unpack_documents,
    unpack_pieces,
)
from anaphora.core.errors import AnaphoraError


def test_cleaning_is_counted_by_side_and_keeps_every_sentence() -> None:
    pieces = [
        Piece("d", 0, 0, 0, ("- It.", "[SIGHS]", "No."), ("Es.", "(seufzt)", "- <i>Nein.</i>")),
        Piece("d", 2, 2, 1, ("- No.", "- Yes."), ("- Nein.", "Ja.")),  # the first one is repeated
    ]
    data = Clean("subtitles")([pack_pieces(pieces)])
    first, second = unpack_pieces(data)
    assert (first.source, first.target) == (("It.", "", "No."), ("Es.", "", "Nein."))
    assert (second.source, second.target, second.first) == (("No.", "Yes."), ("Nein.", "Ja."), 1)
    counts = next(unpack(data))["cleaned"]
    changed = {side: {rule: n for rule, n in rules.items() if n} for side, rules in counts.items()}
    assert changed == {"source": {"dashes": 2, "directions": 1}, "target": {"directions": 1, "dashes": 1, "tags": 1}}


def test_words_as_aligners_take_them() -> None:
    assert lowercase(["It", "WAS", "ÄÖ"]) == ["it", "was", "äö"]
    assert lowercase(["1 000", "", "a\u00a0b", "X"]) == ["1_000", "_", "a_b", "x"]
    assert lowercase([]) == []


# Precomputed annotation is read along with the text, each line once, though pieces repeat lines.


class Ready:
    """Annotates each line by itself, with a chain from the first to the last of what it is given."""

    language = "en"
    needs_all = True

    def __init__(self) -> None:
        self.seen: list[list[str]] = []
        self.ended = False

    def settings(self) -> Mapping[str, Any]:
        return {}

    def annotate(self, documents: Iterable[Sequence[Line]]) -> Iterator[Document]:
        for lines in documents:
            self.seen.append([str(line) for line in lines])
            sentences = tuple(Sentence((Token(str(line)),)) for line in lines)
            yield Document(sentences, ((Mention(0, 0, 1, 0), Mention(len(lines) - 1, 0, 1, 0)),))
        self.ended = True


@pytest.fixture
def stages(tmp_path: Path) -> tuple[Stage, Stage]:
    text, annotated = (open_stage(tmp_path, name, {}) for name in ("read", "annotate"))
    one = Piece("a", 0, 0, 0, ("a", "b", "c"), ("A", "B", "C"))
    two = Piece("a", 1, 1, 2, ("b", "c", "d", "e"), ("B", "C", "D", "E"))
    three = Piece("f", 0, 5, 0, ("f",), ("F",))
    text.write(0, pack_pieces([one]))
    text.write(1, pack_pieces([two, three]))
    return text, annotated


def test_each_line_once(stages: tuple[Stage, Stage]) -> None:
    text, annotated = stages
    ready = Ready()
    steps: list[tuple[int, int | None]] = []
    annotate_in_order(annotated, text, ready, "target", [3, 3], lambda done, total: steps.append((done, total)))
    assert ready.seen == [["A", "B", "C"], ["D", "E"], ["F"]]
    assert ready.ended  # it was asked whether it has more than the corpus
    assert steps == [(3, 6), (6, 6)]
    documents = [d for number in (0, 1) for d in unpack_documents(annotated.read(number))]
    assert [[s.text for s in d.sentences] for d in documents] == [["A", "B", "C"], ["B", "C", "D", "E"], ["F"]]
    assert [[m.sentence for m in (d.chains or ())[0]] for d in documents] == [[0, 2], [2, 3], [0, 0]]


def test_nothing_is_read_where_all_is_there(stages: tuple[Stage, Stage]) -> None:
    text, annotated = stages
    annotate_in_order(annotated, text, Ready(), "source", [3, 3])
    again = Ready()
    annotate_in_order(annotated, text, again, "source", [3, 3])
    assert not again.seen
    annotated.path(0).unlink()
    annotate_in_order(annotated, text, again, "source", [3, 3])
    assert len(again.seen) == 3


# The aligner is trained on a sample that does not depend on shards.


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
    sample = Sample(1, sample_limit(1, 60, 20))
    train(tmp_path / "one", FAST, [sample(shard(lines, 0, 0))])
    once = list(trained)
    assert len(once) == 20
    cut = [shard(lines[:23], 0, 0), shard(lines[20:41], 20, 3), shard(lines[41:], 41, 0)]
    train(tmp_path / "two", FAST, map(sample, cut))
    assert trained[20:] == once


def test_the_limit_is_the_largest_of_the_smallest_draws() -> None:
    draws = sorted(draw(7, number) for number in range(50))
    assert sample_limit(7, 50, 10) == draws[9]
    assert sample_limit(7, 50, 50) is None
    assert draws != sorted(draw(8, number) for number in range(50))


def test_a_model_that_can_be_applied(tmp_path: Path) -> None:
    lines = ["red house", "red book", "blue house", "blue book"] * 5
    train(tmp_path, FAST, [Sample(1, None)(shard(lines, 0, 0))])
    assert Aligner.load(tmp_path / MODEL).align([["blue", "red"]], [["blue", "red"]]) == [((0, 0), (1, 1))]


# Given alignments.


def document(*lines: str) -> Document:
    """Tokens with `|` between those of one word."""
    sentences = []
    for line in lines:
        tokens = []
        for word in line.split():
            *parts, last = word.split("|")
            kinds = [(part, False) for part in parts] + [(last, True)]
            tokens += [
                Token(text, upos="X" if text.isalnum() or "'" in text else "PUNCT", space_after=space)
                for text, space in kinds
            ]
        sentences.append(Sentence(tuple(tokens)))
    return Document(tuple(sentences))


def test_a_word_passes_its_links_to_tokens_but_not_punctuation() -> None:
    source, target = document("It|'s here|, now !"), document("Er ist hier|. !")
    piece = Piece("d", 0, 0, 0, ("It's here, now !",), ("Er ist hier. !",), (((0, 0), (0, 1), (1, 2), (3, 3)),))
    assert token_links(piece, source, target) == [((0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (5, 4))]


def test_empty_lines_have_no_links() -> None:
    piece = Piece("d", 0, 0, 0, ("", "a"), ("", ""), ((), ()))
    assert token_links(piece, document("", "a"), document("", "")) == [(), ()]


def test_annotation_of_other_words() -> None:
    piece = Piece("d", 4, 0, 0, ("a b",), ("A B",), ((),))
    with pytest.raises(
        AnaphoraError, match=r"sentence 5 of document d: its annotation has 3 words, but the line has 2"
    ):
        token_links(piece, document("a b c"), document("A B"))
