"""Running out of memory is no reason to stop: the batch is halved and tried again."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import TypeVar

import torch

from anaphora.core.errors import AnaphoraError

Item = TypeVar("Item")
Found = TypeVar("Found")
# Of CUDA and others, the processor's on Linux and on Windows, cuBLAS and cuDNN
OUT_OF_MEMORY = ("out of memory", "can't allocate", "not enough memory", "_alloc_failed")


def in_halves(
    score: Callable[[Sequence[Item]], list[Found]], batch: Sequence[Item], tokens: Callable[[Item], int]
) -> list[Found]:
    """What `score` finds for a batch; where memory does not suffice, for its two halves.

    tokens: how large an item is, to say so where even one is too large
    """
    try:
        return score(batch)
    except (MemoryError, RuntimeError) as error:
        if not out_of_memory(error):
            raise
    # Only here, behind the except block, is what the failed attempt held let go.
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    if len(batch) == 1:
        raise AnaphoraError(
            f"out of memory on a single example of {tokens(batch[0]):,} tokens. Use less --context, or a smaller model"
        )
    half = len(batch) // 2
    return in_halves(score, batch[:half], tokens) + in_halves(score, batch[half:], tokens)


def out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory did not suffice; libraries have few classes for it, and many texts."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    text = str(error).lower()
    return any(words in text for words in OUT_OF_MEMORY)
