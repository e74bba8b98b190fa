"""Ready annotation is read along with the text, each line once, though pieces repeat lines of those before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from anaphora.annotate import Document, Line, Mention, Sentence, Token
from anaphora.build.mine.annotating import annotate_in_order
from anaphora.build.mine.annotation import unpack_documents
from anaphora.build.mine.piece import Piece, pack_pieces
from anaphora.build.mine.stage import Stage, open_stage


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
