"""Recurrent models with several encoders that start from a sentence-level one.

`training.start_from` needs the same parameters, which a model with a further encoder has not. So its start is written
here: the sentence-level model's weights; a context encoder of the source, with its attention, is a copy of the main
one, one of the target has the decoder's embeddings; hierarchical attention begins by passing on what the main encoder
says (U_c of it is twice the identity, as both encoders begin with a weight of about a half).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch

from anaphora.nmt.checkpoint import WEIGHTS, begin, finish, load_model
from anaphora.nmt.recurrent import RecurrentModel
from anaphora.nmt.text import copy_text


def write_start(base: Path, folder: Path, side: str, *, tied: bool, seed: int = 1) -> Path:
    """A model like `base` that has an encoder of the previous sentence of this side. Written once."""
    if (folder / WEIGHTS).exists():
        return folder
    model, config, _ = load_model(base)
    torch.manual_seed(seed)
    architecture = replace(config.model, context_encoders=(side,), tie_context_embeddings=tied)
    grown = RecurrentModel(architecture, model.embedding.num_embeddings)
    copy_common(model, grown, side)
    folder.mkdir(parents=True, exist_ok=True)
    copy_text(base, folder)
    begin(folder, replace(config, model=architecture))
    finish(folder, grown)
    return folder


def copy_common(model: RecurrentModel, grown: RecurrentModel, side: str) -> None:
    known, own = model.state_dict(), grown.state_dict()
    for name in own:
        of_main = name.replace("encoders.1.", "encoders.0.").replace("attentions.1.", "attentions.0.")
        if name in known:
            own[name].copy_(known[name])
        elif name == "encoders.1.embedding.weight":
            own[name].copy_(known["encoders.0.embedding.weight" if side == "source" else "embedding.weight"])
        elif of_main in known and side == "source":
            own[name].copy_(known[of_main])
    outputs = own["combination.outputs.weight"]
    size = outputs.shape[0]
    outputs[:, :size].copy_(2 * torch.eye(size))
