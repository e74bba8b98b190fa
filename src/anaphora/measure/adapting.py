"""Adapting a language model to in-domain text with LoRA (Hu et al. 2021).

Pairs that lost their capitals and punctuation, or the language of news or talks, are unusual to a language model that
was trained on the web, and its preferences suffer. Continued training on a little text of that kind, without pairs,
helps: low-rank updates of all its layers, which are merged into its weights in the end or stored by themselves.

Every few steps the updates and the optimizer's state are saved, and a resumed run arrives at the same weights.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from anaphora.align.tokenize import normalize
from anaphora.core.documents import document_lines
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import atomic_folder, write_atomic
from anaphora.core.finite import finite
from anaphora.core.parsing import expecting, parse_json, shortened
from anaphora.measure.encoders import text_key
from anaphora.measure.features import LanguageModelFeatures
from anaphora.measure.texts import Pair, plain_text
from anaphora.scoring.adapters import is_adapter, save_adapter, trained_adapter
from anaphora.scoring.weights import save_pretrained

Report = Callable[[dict[str, Any]], None]
REMEDY = "Delete it to start over."
KEEP_EVERY = 20  # steps between two saves


@dataclass(frozen=True, slots=True)
class Adapting:
    """How a language model is adapted.

    rank: the rank of the updates; rate: the peak learning rate; batch: passages per step
    pieces: the maximum length of a passage; warm_up: the share of steps in which the rate rises
    """

    rank: int = 16
    rate: float = 1e-3
    steps: int = 150
    batch: int = 8
    pieces: int = 160
    warm_up: float = 0.05
    seed: int = 12345

    def __post_init__(self) -> None:
        if min(self.rank, self.steps, self.batch) < 1 or self.pieces < 2:
            raise AnaphoraError("rank, steps and batch must be at least 1, pieces at least 2")


def check_base(spec: str, *, adapter: bool) -> None:
    """Raise an error if only an adapter is to be written, and the model is an adapter itself."""
    name = spec.partition("?")[0]
    if adapter and is_adapter(name):
        raise AnaphoraError(f"{name} is an adapter. Adapt its base model, or write the whole model without --adapter")


def documents(path: Path, *, plain: bool = False) -> Iterator[list[str]]:
    """Yield the sentences of each document of a file. plain: lowercase, without punctuation"""
    for _, lines in groupby(document_lines(path), key=attrgetter("document")):
        texts = [normalize(line.texts[0]) for line in lines]
        sentences = [plain_text(text) if plain else " ".join(text.split()) for text in texts]
        if any(sentences):
            yield [sentence for sentence in sentences if sentence]


def adapt(
    features: LanguageModelFeatures,
    texts: Iterable[Sequence[str]],
    settings: Adapting,
    *,
    keep: Path | None = None,
    report: Report | None = None,
) -> list[dict[str, Any]]:
    """Adapt the language model to documents; the same documents and seed give the same weights on a CPU.

    keep: a file from which an interrupted run is resumed, with the same model, texts and settings
    Returns a record per step, with the mean loss of a piece in nats before the step.
    """
    from peft import LoraConfig, get_peft_model  # takes seconds to import; scoring has no need of it

    passages, run_key = _prepared(features, texts, settings)
    torch.manual_seed(settings.seed)
    lora = LoraConfig(r=settings.rank, lora_alpha=2 * settings.rank, target_modules="all-linear", lora_dropout=0.0)
    model: Any = get_peft_model(features.model, lora)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=settings.rate, weight_decay=0.0)
    log = _resumed(keep, run_key, trained, optimizer)
    for step, batch in enumerate(_batches(passages, settings)):
        if step < len(log):
            continue
        for group in optimizer.param_groups:
            group["lr"] = settings.rate * rate_factor(step, settings.steps, settings.warm_up)
        optimizer.zero_grad()
        loss = _loss(model, batch)
        finite(loss.item(), f"the loss of step {step + 1:,}", "Lower the rate, or check the model's files.")
        loss.backward()
        nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        log.append({"step": step + 1, "pieces": sum(map(len, batch)) - len(batch), "loss": float(loss.detach())})
        if keep is not None and ((step + 1) % KEEP_EVERY == 0 or step + 1 == settings.steps):
            _keep(keep, run_key, trained, optimizer, log)
        if report is not None:
            report({**log[-1], "steps": settings.steps})
    features.adapter = trained_adapter(model, features.name, str(features.settings()["weights"]))
    features.model = model.merge_and_unload()
    features.model.requires_grad_(False)
    return log


def finished_log(
    features: LanguageModelFeatures, texts: Iterable[Sequence[str]], settings: Adapting, keep: Path
) -> list[dict[str, Any]] | None:
    """Return the records of all steps if `keep` is what this very adaptation left after its last step, else None."""
    if not keep.is_file():
        return None
    _, run_key = _prepared(features, texts, settings)
    with expecting(keep, "an unfinished adaptation", remedy=REMEDY), _opened(keep) as kept:
        about = kept.metadata()
        log: list[dict[str, Any]] = parse_json(about["log"], keep)
        return log if about["of"] == run_key and len(log) == settings.steps else None


def _prepared(
    features: LanguageModelFeatures, texts: Iterable[Sequence[str]], settings: Adapting
) -> tuple[list[list[int]], str]:
    """Return the passages of all texts, and a hash that identifies this adaptation."""
    passages = [p for text in texts for p in _passages(features, text, settings.pieces)]
    if not passages:
        raise AnaphoraError("no text to adapt to. Pass files with one sentence per line")
    described = json.dumps([features.settings(), asdict(settings)], sort_keys=True)
    return passages, text_key(described, *map(str, passages))


def _passages(features: LanguageModelFeatures, sentences: Sequence[str], limit: int) -> Iterator[list[int]]:
    """Yield passages of consecutive sentences as pieces; a sentence that is too long loses its end."""
    passage: list[int] = []
    for sentence in sentences:
        lead = " " if passage else ""
        pieces = features.tokenizer(lead + features.recased(sentence), add_special_tokens=False)["input_ids"]
        if passage and len(passage) + len(pieces) > limit:
            yield passage
            passage, pieces = [], features.tokenizer(features.recased(sentence), add_special_tokens=False)["input_ids"]
        passage = [*(passage or [features.begin]), *pieces][:limit]
    if len(passage) > 1:
        yield passage


def _batches(passages: Sequence[list[int]], settings: Adapting) -> Iterator[list[list[int]]]:
    """Yield a batch per step: all passages in random order, then in another order, and so on."""
    order = random.Random(settings.seed)
    queue: list[list[int]] = []
    for _ in range(settings.steps):
        while len(queue) < settings.batch:
            queue += order.sample(passages, len(passages))
        yield queue[: settings.batch]
        del queue[: settings.batch]


def _loss(model: Any, batch: Sequence[list[int]]) -> Tensor:
    """Return the mean of −log p of every piece but the first, which begins the text."""
    ids = nn.utils.rnn.pad_sequence([torch.tensor(pieces) for pieces in batch], batch_first=True).to(model.device)
    wanted = ids[:, 1:].clone()
    for n, pieces in enumerate(batch):
        wanted[n, len(pieces) - 1 :] = -100
    logits = model(input_ids=ids, use_cache=False).logits[:, :-1].float()
    return nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=-100)


def _keep(
    path: Path, run_key: str, trained: Sequence[Tensor], optimizer: torch.optim.Optimizer, log: list[dict[str, Any]]
) -> None:
    tensors = {f"{n}.weight": parameter.detach().contiguous() for n, parameter in enumerate(trained)}
    for n, parameter in enumerate(trained):
        tensors |= {f"{n}.{name}": value.contiguous() for name, value in optimizer.state[parameter].items()}
    write_atomic(path, save(tensors, {"of": run_key, "log": json.dumps(log)}))


def _resumed(
    path: Path | None, run_key: str, trained: Sequence[Tensor], optimizer: torch.optim.Optimizer
) -> list[dict[str, Any]]:
    """Restore the weights and the optimizer's state, and return the records of the steps made so far."""
    if path is None or not path.exists():
        return []
    with expecting(path, "an unfinished adaptation of this model", remedy=REMEDY), _opened(path) as kept:
        about = kept.metadata()
        if about["of"] != run_key:
            raise AnaphoraError(f"{path} belongs to a different model, text or configuration; delete it to start over.")
        with torch.no_grad():
            for n, parameter in enumerate(trained):
                shapes = dict.fromkeys(("weight", "exp_avg", "exp_avg_sq"), tuple(parameter.shape)) | {"step": ()}
                saved = {name: kept.get_tensor(f"{n}.{name}") for name in shapes}
                if any(tuple(tensor.shape) != shapes[name] for name, tensor in saved.items()):
                    raise ValueError(f"update {n} has another size")
                parameter.copy_(saved.pop("weight"))
                optimizer.state[parameter] = saved
    log: list[dict[str, Any]] = parse_json(about["log"], path)
    return log


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a file of tensors; a damaged file is an error that names it."""
    try:
        with safe_open(path, "pt") as kept:
            yield kept
    except SafetensorError as error:
        raise BadInput(path, f"damaged: {shortened(str(error))}", remedy=REMEDY) from None


def rate_factor(step: int, steps: int, warm_up: float) -> float:
    """Return the learning rate as a share of its peak: it rises linearly, then falls linearly to zero."""
    rising = max(1, round(steps * warm_up))
    if step < rising:
        return (step + 1) / rising
    return (steps - step) / max(1, steps - rising)


def preference_accuracy(features: LanguageModelFeatures, pairs: Sequence[Pair]) -> float:
    """Return the share of pairs in which the language model gives the better sentence the higher probability."""
    scores = features.sentence_scores([text for pair in pairs for text in (pair.better, pair.worse)])
    return sum(better > worse for better, worse in zip(scores[::2], scores[1::2], strict=True)) / max(1, len(pairs))


def save_language_model(features: LanguageModelFeatures, folder: Path, *, only_adapter: bool = False) -> None:
    """Write the language model as a Hugging Face model into a new folder, which `lm:FOLDER` names.

    only_adapter: write only what `adapt` has learned, and the name of the base model
    """
    if only_adapter:
        assert features.adapter is not None
        with atomic_folder(folder) as unfinished:
            save_adapter(features.adapter, unfinished, folder)
        return
    model = features.model
    if getattr(model, "hf_quantizer", None) is not None:  # read from GGUF: its weights are plain numbers now
        model.hf_quantizer = None
        del model.config.quantization_config
    with atomic_folder(folder) as unfinished:
        features.tokenizer.save_pretrained(unfinished)
        save_pretrained(model, unfinished, folder)
