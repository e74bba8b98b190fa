"""bfloat16 where the hardware computes it, and nowhere else: on other processors it is many times slower."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import torch

from anaphora.core.errors import AnaphoraError

SIZE, TIMES = 512, 5


def autocast(dtype: str, device: torch.device) -> Callable[[], AbstractContextManager[object]]:
    """What a forward pass is computed under."""
    if dtype == "float32":
        return nullcontext
    slower = 1.0 if device.type == "cuda" and torch.cuda.is_bf16_supported() else measure_bfloat16(device)
    if slower > 1.0:
        raise AnaphoraError(
            f"training.dtype: a product in bfloat16 takes {slower:.1f} times as long as in float32 on this machine. "
            'Use dtype = "float32"'
        )
    return lambda: torch.autocast(device.type, dtype=torch.bfloat16)


def measure_bfloat16(device: torch.device) -> float:
    """How much longer a product of matrices takes in bfloat16 than in float32."""
    seconds = {}
    for dtype in (torch.float32, torch.bfloat16):
        one = torch.ones(SIZE, SIZE, device=device, dtype=dtype)
        one @ one
        best = float("inf")
        for _ in range(TIMES):
            began = time.perf_counter()
            one @ one
            best = min(best, time.perf_counter() - began)
        seconds[dtype] = best
    return seconds[torch.bfloat16] / seconds[torch.float32]
