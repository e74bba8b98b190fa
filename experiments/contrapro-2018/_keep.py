"""A trained model as it is kept in the repository: half precision, without checkpoints, with a model card."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from _markdown import paragraph
from _train_cells import mean
from safetensors.torch import load_file

from anaphora.scoring.weights import save_weights

WEIGHTS = "model.safetensors"
LARGEST = torch.finfo(torch.float16).max
LEFT_OUT = (WEIGHTS, "log.jsonl", "curve.svg", "chosen.json")
WHAT = {
    "baseline": "The sentence-level model, trained in three stages without context ({made}).",
    "concat22": "The concatenation model, trained in three stages, the last one with counterfactual passages ({made})."
    " It reads and writes the previous sentence together with the current one.",
    "stage2": "The concatenation model before its last stage; the last stage and the ablations start from it.",
}

LAST_STAGE = (
    "Its last stage was trained on passages with *it* of the genre of ContraPro and on the same question, so its"
    " accuracy there says little about other pronouns, languages or texts."
)


def keep(model: Path, folder: Path) -> None:
    """Copy a model's files; its weights become float16, but for those that are too large for it (a bias of −1e9)."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in model.iterdir():
        if path.is_file() and path.name not in LEFT_OUT and not path.name.startswith("."):
            shutil.copyfile(path, folder / path.name)
    weights = load_file(model / WEIGHTS)
    halves = {name: part.half() if part.abs().max() < LARGEST else part for name, part in weights.items()}
    save_weights(halves, folder / WEIGHTS, folder / WEIGHTS, metadata={"format": "pt"})


def cards(folder: Path, found: Mapping[str, Any]) -> None:
    """Write the cards of the kept models."""
    models, best = found["models"], found["detailed"]
    stage = best.rpartition("-")[0]
    every = [f["all"]["accuracy"] for n, f in models.items() if n.startswith(f"{stage}-") and "all" in f]
    for name, right in found["kept"].items():
        model, seeds = (best, every) if name == "concat22" else (f"{name}-1" if name == "baseline" else name, [])
        if (folder / name).is_dir():
            (folder / name / "README.md").write_text(card(name, right, model, seeds), encoding="utf-8")


def card(name: str, right: Mapping[str, Any], model: str = "", seeds: Sequence[float] = ()) -> str:
    """The model card.

    right: the accuracy of the kept weights on ContraPro; model: the one that is kept
    seeds: the accuracy of each seed on the same items, the kept one included
    """
    made = "the mean of the weights of three seeds" if model.endswith("-mean") else f"seed {model[-1:] or 1}"
    size = "" if right["total"] == 12_000 else f" on a random {right['total']:,} of its items"
    context = "" if name == "baseline" else " --context 1"
    lines = [
        f"# contrapro-2018/{name}",
        "",
        *paragraph(
            WHAT[name].format(made=made),
            "English to German, lowercased; a Transformer with 2 + 2 layers of size 192 and 4,000 subwords, with",
            "weights in half precision. Training and evaluation are described in [TRAIN.md](../TRAIN.md), the settings",
            "are in `config.toml`.",
        ),
        "",
        "```sh",
        f"anaphora score contrapro.jsonl --system nmt:experiments/contrapro-2018/{name}{context} -o RUN",
        "```",
        "",
        *paragraph(
            f"**Accuracy on ContraPro**{size}, with gold target context: {right['accuracy']:.3f}",
            f"[{right['interval'][0]:.3f}, {right['interval'][1]:.3f}].",
            *(
                [f"Mean of {len(seeds)} seeds ± standard deviation: {mean(seeds)}. Only this one is kept."]
                if len(seeds) > 1
                else []
            ),
        ),
        "",
        *paragraph(
            "**Data and licenses.** Tatoeba (CC BY 2.0 FR); Multi30k (research use, terms of Flickr30k); TED talks of",
            "IWSLT 2017 (under TED's terms of use), Europarl and News Commentary as arranged in",
            "sameenmaruf/selective-attn; OpenSubtitles passages of ctxpro (Apache 2.0) with DeepL's translations. No",
            "sentence of three or more words of ContraPro.",
        ),
        "",
        *paragraph(
            "**Intended use.** Research on the evaluation of context-aware translation: a model for trying out test",
            "suites, attacks and analyses. Not for commercial use, because of the data.",
        ),
        "",
        *paragraph(
            "**Limits.** Its translations are poor, in lower case, and limited in vocabulary.",
            *([] if name == "stage2" else [LAST_STAGE]),
            "It has the biases of subtitles.",
        ),
    ]
    return "\n".join(lines) + "\n"
