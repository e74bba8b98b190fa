"""Padding on the right, and nothing lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from anaphora.nmt.batch import make_batch
from anaphora.scoring.padded import pad

rows = st.lists(st.lists(st.integers(3, 9), min_size=1, max_size=5).map(tuple), min_size=1, max_size=4)


@given(rows)
def test_padding(sequences: list[tuple[int, ...]]) -> None:
    padded = pad(sequences, 0)
    assert [tuple(row[:n].tolist()) for row, n in zip(padded.ids, padded.lengths, strict=True)] == sequences
    assert padded.mask.tolist() == (padded.ids != 0).tolist()


def test_a_batch() -> None:
    batch = make_batch([((5, 0), (0,)), ((6, 7, 0), (8, 0))], [(3, 0), (4, 4, 0)], start=1, padding=2)
    assert [x.ids.tolist() for x in batch.inputs] == [[[5, 0, 2], [6, 7, 0]], [[0, 2], [8, 0]]]
    assert batch.read.ids.tolist() == [[1, 3, 2], [1, 4, 4]]
    assert batch.predict.ids.tolist() == [[3, 0, 2], [4, 4, 0]]
    assert batch.tokens == 5
    assert batch.predict[torch.tensor([1])].ids.tolist() == [[4, 4, 0]]
