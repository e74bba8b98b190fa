"""A language model that learns to read texts like those it will judge: the next word, in text of that kind.

Pairs that lost their capitals and signs, the language of news or of talks: to a language model that was trained on the
web such text is strange, and its preferences suffer. So it goes on learning from a little text of that kind, without
pairs: low-rank changes of all its layers (LoRA, Hu et al. 2021), which are added to its weights in the end.

Every few steps the changes and the optimiser's state are kept, and an interrupted run goes on to the same weights.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import atomic_writer
from anaphora.core.finite import finite
from anaphora.core.parsing import expecting, parse_json, shortened
from anaphora.measure.features import LanguageModelFeatures
from anaphora.measure.model import plain_text
from anaphora.measure.store import key_of
from anaphora.measure.tuning import Report, share_of_rate
from anaphora.normalization import normalize

REMOVE = "Remove the file to start again."
KEEP_EVERY = 20  # steps


@dataclass(frozen=True, slots=True)
class Adapting:
    """rank: of the changes; pieces: of a passage at most; batch: passages per step; warm_up: share of the steps."""

    rank: int = 16
    rate: float = 1e-3
    steps: int = 150
    batch: int = 8
    pieces: int = 160
    warm_up: float = 0.05
    seed: int = 12345

    def __post_init__(self) -> None:
        if min(self.rank, self.steps, self.batch) < 1 or self.pieces < 2:
            raise AnaphoraError("rank, steps and batch are numbers from 1, pieces from 2")


def documents(lines: Iterable[str], *, plain: bool = False) -> Iterator[list[str]]:
    """The sentences of each document; an empty line ends one. plain: as the annotated pairs of the paper are."""
    found: list[str] = []
    for line in map(normalize, lines):
        sentence = plain_text(line) if plain else " ".join(line.split())
        if sentence:
            found.append(sentence)
        elif not line.strip() and found:
            yield found
            found = []
    if found:
        yield found


def adapt(
    features: LanguageModelFeatures,
    texts: Iterable[Sequence[str]],
    settings: Adapting,
    *,
    keep: Path | None = None,
    report: Report | None = None,
) -> list[dict[str, Any]]:
    """Let the language model learn from documents; the same ones and seed give the same weights on a processor.

    keep: a file for what an interrupted run needs to go on; it belongs to this model, these texts and settings.
    Returns a line per step: the mean loss of a piece in nats before it was learned from.
    """
    passages = [p for text in texts for p in _passages(features, text, settings.pieces)]
    if not passages:
        raise AnaphoraError("no text to learn from: give files with a sentence per line")
    of = key_of(json.dumps([features.settings(), asdict(settings)], sort_keys=True), *map(str, passages))
    torch.manual_seed(settings.seed)
    chosen = LoraConfig(r=settings.rank, lora_alpha=2 * settings.rank, target_modules="all-linear", lora_dropout=0.0)
    model: Any = get_peft_model(features.model, chosen)
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(learning, lr=settings.rate, weight_decay=0.0)
    log = _resumed(keep, of, learning, optimizer)
    for step, batch in enumerate(_batches(passages, settings)):
        if step < len(log):
            continue
        for group in optimizer.param_groups:
            group["lr"] = settings.rate * share_of_rate(step, settings.steps, settings.warm_up)
        optimizer.zero_grad()
        loss = _loss(model, batch)
        finite(loss.item(), f"the loss of step {step + 1:,}", "Lower the rate, or check the model's files.")
        loss.backward()
        nn.utils.clip_grad_norm_(learning, 1.0)
        optimizer.step()
        log.append({"step": step + 1, "pieces": sum(map(len, batch)) - len(batch), "loss": float(loss.detach())})
        if keep is not None and (step + 1) % KEEP_EVERY == 0:
            _keep(keep, of, learning, optimizer, log)
        if report is not None:
            report({**log[-1], "steps": settings.steps})
    features.model = model.merge_and_unload()
    features.model.requires_grad_(False)
    return log


def _passages(features: LanguageModelFeatures, sentences: Sequence[str], most: int) -> Iterator[list[int]]:
    """Consecutive sentences as pieces, as many as there is room for; a sentence that is too long loses its end."""
    found: list[int] = []
    for sentence in sentences:
        lead = " " if found else ""
        pieces = features.tokenizer(lead + features.shown(sentence), add_special_tokens=False)["input_ids"]
        if found and len(found) + len(pieces) > most:
            yield found
            found, pieces = [], features.tokenizer(features.shown(sentence), add_special_tokens=False)["input_ids"]
        found = [*(found or [features.begin]), *pieces][:most]
    if len(found) > 1:
        yield found


def _batches(passages: Sequence[list[int]], settings: Adapting) -> Iterator[list[list[int]]]:
    """As many batches as there are steps: all passages in random order, then in another one, and so on."""
    order = random.Random(settings.seed)
    queue: list[list[int]] = []
    for _ in range(settings.steps):
        while len(queue) < settings.batch:
            queue += order.sample(passages, len(passages))
        yield queue[: settings.batch]
        del queue[: settings.batch]


def _loss(model: Any, batch: Sequence[list[int]]) -> Tensor:
    """The mean of −log p of every piece but the first, which begins the text."""
    ids = nn.utils.rnn.pad_sequence([torch.tensor(pieces) for pieces in batch], batch_first=True).to(model.device)
    wanted = ids[:, 1:].clone()
    for n, pieces in enumerate(batch):
        wanted[n, len(pieces) - 1 :] = -100
    logits = model(input_ids=ids, use_cache=False).logits[:, :-1].float()
    return nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=-100)


def _keep(
    path: Path, of: str, learning: Sequence[Tensor], optimizer: torch.optim.Optimizer, log: list[dict[str, Any]]
) -> None:
    tensors = {f"{n}.weight": parameter.detach().contiguous() for n, parameter in enumerate(learning)}
    for n, parameter in enumerate(learning):
        tensors |= {f"{n}.{name}": value.contiguous() for name, value in optimizer.state[parameter].items()}
    with atomic_writer(path) as file:
        file.write(save(tensors, {"of": of, "log": json.dumps(log)}))


def _resumed(
    path: Path | None, of: str, learning: Sequence[Tensor], optimizer: torch.optim.Optimizer
) -> list[dict[str, Any]]:
    """The log of the steps that were made already, whose weights and optimiser's state are put back."""
    if path is None or not path.exists():
        return []
    with expecting(path, "an unfinished adaptation of this model", remedy=REMOVE), _opened(path) as kept:
        about = kept.metadata()
        if about["of"] != of:
            raise AnaphoraError(f"{path} is of another model, text or setting: remove it to begin anew")
        with torch.no_grad():
            for n, parameter in enumerate(learning):
                parameter.copy_(kept.get_tensor(f"{n}.weight"))
                names = ("step", "exp_avg", "exp_avg_sq")
                optimizer.state[parameter] = {name: kept.get_tensor(f"{n}.{name}") for name in names}
    log: list[dict[str, Any]] = parse_json(about["log"], path)
    return log


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A file of tensors; damage is an error that names it."""
    try:
        with safe_open(path, "pt") as kept:
            yield kept
    except SafetensorError as error:
        raise BadInput(path, f"damaged: {shortened(str(error))}", remedy=REMOVE) from None
