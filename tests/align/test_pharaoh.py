"""Alignments that another program wrote are merged and checked like our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.align import Aligner, Settings
from anaphora.core.errors import AnaphoraError, BadInput

SOURCE, TARGET = [["a", "b"], [], ["c"]], [["A", "B", "C"], ["X"], ["C"]]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    one, other = tmp_path / "forward", tmp_path / "backward"
    one.write_text("0-0 1-1 1-2\n\n0-0\n\n")  # an empty line too many
    other.write_text("0-0 1-1\n\n\n")
    return one, other


def test_two_directions_are_merged(files: tuple[Path, Path]) -> None:
    def merged(heuristic: str) -> list[tuple[tuple[int, int], ...]]:
        settings = Settings(backend="pharaoh", forward=files[0], backward=files[1], symmetrize=heuristic)
        return Aligner(settings).train(SOURCE, TARGET)

    assert merged("intersection") == [((0, 0), (1, 1)), (), ()]
    assert merged("grow-diag") == [((0, 0), (1, 1), (1, 2)), (), ()]
    assert merged("grow-diag-final") == [((0, 0), (1, 1), (1, 2)), (), ((0, 0),)]


def test_one_file_is_taken_as_merged(files: tuple[Path, Path]) -> None:
    found = Aligner(Settings(backend="pharaoh", forward=files[0])).train(SOURCE, TARGET)
    assert found == [((0, 0), (1, 1), (1, 2)), (), ((0, 0),)]


def test_what_does_not_fit_the_sentences(files: tuple[Path, Path]) -> None:
    aligner = Aligner(Settings(backend="pharaoh", forward=files[0]))
    with pytest.raises(BadInput, match=r"forward: 3 lines, but there are 2 sentence pairs"):
        aligner.train(SOURCE[:2], TARGET[:2])
    with pytest.raises(BadInput, match=r"forward: 4 lines, but there are 5 sentence pairs"):
        aligner.train([["a"]] * 5, [["b"]] * 5)
    with pytest.raises(BadInput, match="forward: line 1: point 1-2 is outside the sentences of 2 and 2 words"):
        aligner.train([["a", "b"], [], ["c"]], [["A", "B"], [], ["C"]])
    with pytest.raises(BadInput, match="forward: line 3: point 0-0 is outside the sentences of 0 and 1 words"):
        aligner.train([*SOURCE[:2], []], TARGET)


def test_there_is_nothing_to_learn_or_save(files: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match="name the file"):
        Aligner(Settings(backend="pharaoh"))
    aligner = Aligner(Settings(backend="pharaoh", forward=files[0]))
    aligner.train(SOURCE, TARGET)
    with pytest.raises(AnaphoraError, match="nothing was learned"):
        aligner.save(tmp_path / "model")
    with pytest.raises(AnaphoraError, match="no use for a corpus"):
        aligner.train(SOURCE, TARGET, corpus=[(["a"], ["b"])])
