"""Every example once an epoch, within the budget, in an order that seed and epoch alone decide."""

from __future__ import annotations

from itertools import islice

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anaphora.nmt.batching import Position, batches_of_epoch, in_order, updates

sizes = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), max_size=60)


def array(lengths: list[tuple[int, int]]) -> np.ndarray:
    return np.array(lengths, np.int64).reshape(-1, 2)


@given(sizes, st.integers(1, 100), st.integers(0, 3), st.integers(0, 3))
def test_every_example_once_within_the_budget(
    lengths: list[tuple[int, int]], tokens: int, seed: int, epoch: int
) -> None:
    for found in (batches_of_epoch(array(lengths), tokens, seed, epoch), in_order(array(lengths), tokens)):
        assert sorted(int(n) for batch in found for n in batch) == list(range(len(lengths)))
        for batch in found:
            padded = max(max(lengths[n]) for n in batch) * len(batch)
            assert padded <= tokens or len(batch) == 1


@given(sizes, st.integers(1, 100), st.integers(1, 9))
def test_a_batch_has_at_most_its_number_of_sentences(
    lengths: list[tuple[int, int]], tokens: int, sentences: int
) -> None:
    found = batches_of_epoch(array(lengths), tokens, 1, 0, sentences)
    assert sorted(int(n) for batch in found for n in batch) == list(range(len(lengths)))
    assert all(len(batch) <= sentences for batch in found)
    unlimited = batches_of_epoch(array(lengths), 10_000, 1, 0, sentences)  # 80 sentences, whatever their tokens
    assert sum(len(batch) < sentences for batch in unlimited) <= 1


def test_epochs_and_seeds_differ_and_repeat() -> None:
    lengths = array([(n % 7 + 1, n % 5 + 1) for n in range(200)])

    def order(seed: int, epoch: int) -> list[int]:
        return [int(n) for batch in batches_of_epoch(lengths, 40, seed, epoch) for n in batch]

    assert order(1, 0) == order(1, 0)
    assert order(1, 0) != order(1, 1) != order(2, 1)


@given(sizes.filter(lambda s: len(s) > 0), st.integers(1, 4), st.integers(0, 40))
def test_from_any_position_it_goes_on_as_it_would_have(
    lengths: list[tuple[int, int]], together: int, stop: int
) -> None:
    def take(start: Position, number: int) -> list[tuple[list[list[int]], Position]]:
        stream = updates(array(lengths), 50, 3, together, start)
        return [([batch.tolist() for batch in part], position) for part, position in islice(stream, number)]

    whole = take(Position(), stop + 5)
    resumed = whole[stop - 1][1] if stop else Position()
    assert take(resumed, 5) == whole[stop:]


def test_bucketing_saves_padding() -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(5, 60, (3000, 1)).repeat(2, 1)
    found = batches_of_epoch(lengths, 1000, 1, 0)
    padded = sum(int(lengths[batch].max()) * len(batch) for batch in found)
    assert padded < 1.05 * int(lengths[:, 0].sum())
