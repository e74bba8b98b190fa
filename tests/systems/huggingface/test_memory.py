"""Memory that runs out: any batch that fails is halved, and what is found is the same whatever fails."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from anaphora.core.errors import AnaphoraError  # noqa: E402
from anaphora.systems.huggingface import memory  # noqa: E402
from anaphora.systems.huggingface.memory import in_halves, out_of_memory  # noqa: E402


def quick(score: Callable[[Sequence[int]], list[int]], batch: list[int], tokens: Callable[[int], int]) -> list[int]:
    """In halves, but nothing is collected, which takes a while each time and changes no result."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "gc", SimpleNamespace(collect=lambda: None))
        return in_halves(score, batch, tokens)


@given(st.lists(st.integers(), min_size=1, max_size=40), st.data())
def test_whatever_fails_the_result_is_the_same(batch: list[int], data: st.DataObject) -> None:
    scored: list[int] = []

    def score(part: Sequence[int]) -> list[int]:
        assert part
        if len(part) > 1 and data.draw(st.booleans(), label=f"{len(part)} are too many"):
            raise MemoryError
        scored.extend(part)
        return [2 * item for item in part]

    assert quick(score, batch, abs) == [2 * item for item in batch]
    assert scored == batch  # each once, in order


@given(st.lists(st.integers(1, 50), min_size=1, max_size=20))
def test_what_does_not_fit_even_alone_is_named_by_its_size(sizes: list[int]) -> None:
    def score(part: Sequence[int]) -> list[int]:
        if sum(part) > 40:
            raise MemoryError
        return list(part)

    large = next((size for size in sizes if size > 40), None)
    if large is None:
        assert quick(score, sizes, lambda size: size) == sizes
    else:
        with pytest.raises(AnaphoraError) as caught:
            quick(score, sizes, lambda size: 1000 * size)
        assert str(caught.value) == (
            f"out of memory on a single example of {large},000 tokens. Use less --context, or a smaller model"
        )


def test_what_a_failed_attempt_held_is_let_go_before_the_next() -> None:
    """Else there would be even less memory for the halves."""

    class Tensor:
        itself: Tensor

    held: list[weakref.ref[Tensor]] = []

    def score(part: Sequence[int]) -> list[int]:
        assert all(tensor() is None for tensor in held)
        if len(part) == 1:
            return list(part)
        large = Tensor()
        large.itself = large  # models have such cycles
        held.append(weakref.ref(large))
        raise RuntimeError("CUDA out of memory")

    assert in_halves(score, [1, 2, 3, 4], abs) == [1, 2, 3, 4]
    assert len(held) == 3  # of four, and twice of two


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("no more"),
        RuntimeError("CUDA error: out of memory"),
        RuntimeError("MPS backend out of memory (MPS allocated: 9 GB)"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:118] err == 0. DefaultCPUAllocator: can't allocate memory: you …"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:114] data. DefaultCPUAllocator: not enough memory: you tried …"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
    ],
    ids=lambda error: str(error)[:30],
)
def test_texts_that_mean_it(error: Exception) -> None:
    assert out_of_memory(error)


@pytest.mark.parametrize(
    "error", [RuntimeError("shapes do not fit"), RuntimeError(), RuntimeError("CUBLAS_STATUS_NOT_INITIALIZED")]
)
def test_any_other_error_is_raised_as_it_is(error: Exception) -> None:
    tried: list[int] = []

    def score(part: Sequence[int]) -> list[int]:
        tried.append(len(part))
        raise error

    with pytest.raises(RuntimeError) as caught:
        in_halves(score, [1, 2, 3, 4], abs)
    assert caught.value is error
    assert tried == [4]
