"""A trained model as it is kept in the repository: half precision, without checkpoints, with a model card."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from _markdown import paragraph
from safetensors.torch import load_file

from anaphora.scoring.weights import save_weights

WEIGHTS = "model.safetensors"
LARGEST = torch.finfo(torch.float16).max
LEFT_OUT = (WEIGHTS, "log.jsonl", "curve.svg", "chosen.json")
WHAT = {
    "baseline": "The sentence-level model: stages 1 to 3 without context; {made}.",
    "concat22": "The concatenation model: stages 1 to 3, the previous sentence joined on both sides, the last one"
    " with counterfactual passages; {made}.",
    "stage2": "The concatenation model before its last stage, from which ablations start.",
}


def keep(model: Path, folder: Path) -> None:
    """Copy a model's files; its weights become float16, but for those that are too large for it (a bias of −1e9)."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in model.iterdir():
        if path.is_file() and path.name not in LEFT_OUT and not path.name.startswith("."):
            shutil.copyfile(path, folder / path.name)
    weights = load_file(model / WEIGHTS)
    halves = {name: part.half() if part.abs().max() < LARGEST else part for name, part in weights.items()}
    save_weights(halves, folder / WEIGHTS, folder / WEIGHTS, metadata={"format": "pt"})


def card(name: str, right: Mapping[str, Any], model: str = "") -> str:
    """The model card. right: the accuracy of the kept weights on ContraPro; model: the one that is kept"""
    made = "the mean of the weights of three seeds" if model.endswith("-mean") else f"seed {model[-1:] or 1}"
    size = "" if right["total"] == 12_000 else f" on a random {right['total']:,} of its items"
    context = "" if name == "baseline" else " --context 1"
    lines = [
        f"# contrapro-2018/{name}",
        "",
        *paragraph(
            WHAT[name].format(made=made),
            "English to German, a Transformer with 2 + 2 layers of size 192 and 4,000 subwords, lowercased, weights",
            "in half precision. How it was trained, and every figure: [TRAIN.md](../TRAIN.md) and `config.toml`.",
        ),
        "",
        "```sh",
        f"anaphora score contrapro.jsonl --system nmt:experiments/contrapro-2018/{name}{context} -o RUN",
        "```",
        "",
        *paragraph(
            f"**Accuracy on ContraPro**{size}, with gold target context: {right['accuracy']:.3f}",
            f"[{right['interval'][0]:.3f}, {right['interval'][1]:.3f}].",
        ),
        "",
        *paragraph(
            "**Data and licenses.** Tatoeba (CC BY 2.0 FR); Multi30k (research use, terms of Flickr30k); TED talks of",
            "IWSLT 2017 (under TED's terms of use), Europarl and News Commentary as arranged in",
            "sameenmaruf/selective-attn;",
            "passages of OpenSubtitles of ctxpro (Apache 2.0) with DeepL's translations. Nothing of ContraPro.",
        ),
        "",
        *paragraph(
            "**Intended use.** Research on the evaluation of context-aware translation: a model to try test suites,",
            "attacks and analyses on. Because of the data, not for commercial use.",
        ),
        "",
        *paragraph(
            "**Limits.** It translates badly, writes lower case, and knows few words. Its last stage saw passages with",
            "*it* that have the genre and the question of ContraPro: its accuracy there says little about other",
            "pronouns, languages or texts. It has the biases of subtitles.",
        ),
    ]
    return "\n".join(lines) + "\n"
