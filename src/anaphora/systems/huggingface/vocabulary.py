"""From a model's last states to log-probabilities, without ever holding the logits of a whole batch."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

ROWS, COLUMNS = 1024, 1024  # of the logits held at a time: a tile that stays in the processor's cache is fastest
GPU_COLUMNS = 1 << 17  # and few large products are there
LEAST = torch.finfo(torch.float32).min


class Vocabulary:
    """The output projection of one model."""

    def __init__(self, model: PreTrainedModel) -> None:
        self._model: Any = model

    def log_probabilities(self, hidden: Tensor, rows: Tensor, tokens: Tensor) -> Any:
        """Of each token at its row of `hidden` (n, size): one projection and one log-sum-exp per row."""
        hidden = hidden * _scale(self._model)
        head = self._model.get_output_embeddings()
        cap = getattr(self._model.config, "final_logit_softcapping", None)
        bias = getattr(self._model, "final_logits_bias", None)
        bias = bias[0] if bias is not None else head.bias
        normalisers = _log_sum_exp(hidden, head.weight, bias, cap)
        chosen = torch.linalg.vecdot(hidden[rows].float(), head.weight[tokens].float())
        if bias is not None:
            chosen = chosen + bias[tokens].float()
        return (_capped(chosen, cap) - normalisers[rows]).double().cpu().numpy()


def _log_sum_exp(hidden: Tensor, weight: Tensor, bias: Tensor | None, cap: float | None) -> Tensor:
    """(n,) from (n, size) and (vocabulary, size), in float32, tile by tile."""
    columns = COLUMNS if hidden.device.type == "cpu" else GPU_COLUMNS
    found = []
    space = hidden.new_empty(min(ROWS, len(hidden)) * min(columns, len(weight)))  # new memory each time takes time
    for part in hidden.split(ROWS):
        sums = []
        for start in range(0, len(weight), columns):
            words = weight[start : start + columns]
            logits = space[: len(part) * len(words)].view(len(part), len(words))
            if bias is None:
                torch.mm(part, words.T, out=logits)
            else:
                torch.addmm(bias[start : start + columns], part, words.T, out=logits)
            wide = _capped(logits.float(), cap)
            top = wide.amax(1, keepdim=True).clamp_(min=LEAST)  # a tile may be impossible as a whole
            sums.append(wide.sub_(top).exp_().sum(1).log_().add_(top[:, 0]))
        found.append(torch.stack(sums).logsumexp(0))
    return torch.cat(found)


def _scale(model: Any) -> float:
    """What some models multiply their last states (or, the same, their logits) by."""
    config = model.config
    tied_umt5 = config.model_type == "umt5" and config.tie_word_embeddings
    if getattr(config, "scale_decoder_outputs", tied_umt5):  # T5, where the projection is tied to the embeddings
        return float(config.d_model**-0.5)
    return float(getattr(config, "logit_scale", None) or 1.0) / float(getattr(config, "logits_scaling", None) or 1.0)


def _capped(logits: Tensor, cap: float | None) -> Tensor:
    return logits if cap is None else torch.tanh(logits / cap) * cap
