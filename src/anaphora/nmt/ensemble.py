"""One or more models that decode together: their log-probabilities are averaged, as Nematus does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from anaphora.scoring.padded import Padded


class Ensemble:
    """Models with the same vocabulary and inputs. Memory and state are tuples of theirs."""

    def __init__(self, models: Sequence[Any]) -> None:
        self.models = tuple(models)

    @property
    def device(self) -> torch.device:
        found: torch.device = next(self.models[0].parameters()).device
        return found

    def encode(self, inputs: tuple[Padded, ...]) -> tuple[Any, ...]:
        return tuple(model.encode(inputs) for model in self.models)

    def start(self, memory: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(model.start(part) for model, part in zip(self.models, memory, strict=True))

    def step(self, memory: tuple[Any, ...], state: tuple[Any, ...], tokens: Tensor) -> tuple[Tensor, tuple[Any, ...]]:
        """Read tokens (b,); give the log-probabilities (b, vocabulary) of what follows, and the next state.

        The mean of log-probabilities is not normalised again: so a translation's score is the mean of the models' own.
        """
        total, states = None, []
        for model, part, before in zip(self.models, memory, state, strict=True):
            output, after = model.step(part, before, tokens)
            values = torch.log_softmax(model.project(output).float(), dim=1)
            total = values if total is None else total + values
            states.append(after)
        assert total is not None
        return total / len(self.models), tuple(states)

    def select(self, structure: tuple[Any, ...], rows: Tensor) -> tuple[Any, ...]:
        return tuple(model.select(part, rows) for model, part in zip(self.models, structure, strict=True))
