"""Several processes that train one model: each takes its share of an update's batches, and gradients are added up.

Started by torchrun (or Accelerate), which sets RANK, WORLD_SIZE and where the processes meet. As every process knows
all batches of an update, a share is divided by the tokens of all, and the sum is what one process would compute.
"""

from __future__ import annotations

import os
from typing import Any

import torch
import torch.distributed


class Ranks:
    """This process among those that train together; alone unless the environment says otherwise."""

    def __init__(self) -> None:
        self.rank = int(os.environ.get("RANK", 0))
        self.size = int(os.environ.get("WORLD_SIZE", 1))
        if torch.cuda.is_available():
            self.device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
        else:
            self.device = torch.device("cpu")
        if self.size > 1 and not torch.distributed.is_initialized():
            torch.distributed.init_process_group("nccl" if self.device.type == "cuda" else "gloo")

    @property
    def first(self) -> bool:
        """Whether this process is the one that writes."""
        return self.rank == 0

    def add_gradients(self, model: Any) -> None:
        """Every gradient becomes the sum over all processes."""
        if self.size == 1:
            return
        for parameter in model.parameters():
            if parameter.requires_grad:
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
                torch.distributed.all_reduce(parameter.grad)

    def add(self, value: float) -> float:
        """The sum of a number over all processes."""
        if self.size == 1:
            return value
        total = torch.tensor(value, dtype=torch.float64, device=self.device)
        torch.distributed.all_reduce(total)
        return float(total)

    def from_first(self, value: float) -> float:
        """What the first process has."""
        if self.size == 1:
            return value
        shared = torch.tensor(value, dtype=torch.float64, device=self.device)
        torch.distributed.broadcast(shared, 0)
        return float(shared)

    def wait(self) -> None:
        """Until all processes are here."""
        if self.size > 1:
            torch.distributed.barrier()

    def close(self) -> None:
        if self.size > 1 and torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
