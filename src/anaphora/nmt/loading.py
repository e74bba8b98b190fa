"""Trained models from their folders, one or an ensemble, with the scorer that suits each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.core.errors import BadInput
from anaphora.nmt.arrangement import Arrangement, Ids, Marks
from anaphora.nmt.config import Config
from anaphora.nmt.folder import TEXT_FILES, load_model
from anaphora.nmt.text import Text
from anaphora.scoring.batching import find_device, weights_checksum
from anaphora.scoring.packed import PackedModel
from anaphora.scoring.stepwise import StepwiseScorer
from anaphora.scoring.tree import CandidateScore, Tree

Scorer = Callable[[Sequence[Tree], Sequence[tuple[Ids, ...]], bool], list[list[CandidateScore]]]


@dataclass(frozen=True)
class Loaded:
    """Models of one vocabulary and one arrangement, in evaluation mode.

    scorers: for each model what scores its trees; limit: how many tokens they take, None where there is no end
    fingerprint: which models they are, for the header of a run
    """

    models: tuple[Any, ...]
    scorers: tuple[Scorer, ...]
    text: Text
    arrangement: Arrangement
    limit: int | None
    fingerprint: dict[str, Any]


def load_models(names: str, device: str | None = None) -> Loaded:
    """Models by the paths of their folders, with commas between them."""
    paths = [Path(names)] if Path(names).is_dir() else [Path(name) for name in names.split(",")]
    place = find_device(device)
    models, configs, texts = [], [], []
    for path in paths:
        model, config, text = load_model(path)
        models.append(model.to(place).eval())
        configs.append(config)
        texts.append(text)
        _check_together(path, paths[0], config, configs[0])
    limits = [config.model.max_length for config in configs if config.model.kind != "recurrent"]
    return Loaded(
        tuple(models),
        tuple(_scorer(model, config, texts[0].marks) for model, config in zip(models, configs, strict=True)),
        texts[0],
        configs[0].model.arrangement,
        min(limits, default=None),
        {
            "architecture": ",".join(config.model.kind for config in configs),
            "parameters": sum(_parameters(model) for model in models),
            "weights": ",".join(weights_checksum(model) for model in models),
            "vocabulary": f"{texts[0].size}@{_vocabulary(paths[0])[:8]}",
            "dtype": str(next(models[0].parameters()).dtype).removeprefix("torch."),
        },
    )


def _check_together(path: Path, first: Path, config: Config, other: Config) -> None:
    """Models of an ensemble predict the same words from the same inputs."""
    if _vocabulary(path) != _vocabulary(first):
        remedy = "Models of an ensemble share theirs: train them with training.start_from, or from the same text."
        raise BadInput(path, f"another vocabulary than that of {first}", remedy=remedy)
    if config.model.arrangement != other.model.arrangement:
        problem = f"reads other sentences than {first} ({config.model.arrangement}, {other.model.arrangement})"
        raise BadInput(path, problem, remedy="Models of an ensemble read the same.")


def _scorer(model: Any, config: Config, marks: Marks) -> Scorer:
    """Trees through the packed scorer where a model is one of Hugging Face's, else level by level."""
    if config.model.kind == "transformer":
        packed = PackedModel(_huggingface(model))

        def score(
            trees: Sequence[Tree], inputs: Sequence[tuple[Ids, ...]], margins: bool
        ) -> list[list[CandidateScore]]:
            with packed.attached():
                return packed.score(trees, [first for first, *_ in inputs], margins)

        return score
    return StepwiseScorer(model, marks.padding).score


def _huggingface(model: Any) -> Any:
    """The model of `transformers` that is inside of ours."""
    from transformers import PreTrainedModel

    return next(part for part in model.modules() if isinstance(part, PreTrainedModel))


def _parameters(model: Any) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def _vocabulary(folder: Path) -> str:
    """A sum over everything that makes ids of text."""
    digest = hashlib.sha256()
    for name in TEXT_FILES:
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()
