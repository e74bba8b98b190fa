"""The learned pairwise measure (eval-anaphora §4): the attention head over pronouns, and the measure around it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from anaphora.core.errors import AnaphoraError
from anaphora.core.finite import all_finite
from anaphora.languages.pronouns import Readings
from anaphora.measure.config import Model
from anaphora.measure.encoders import Encoder, HuggingFaceEncoder, StaticEncoder
from anaphora.measure.features import WIDTH, LanguageModelFeatures
from anaphora.measure.texts import Progress, Text


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of b texts, padded to n words and m pronouns.

    states: (b, n, d), K of the paper, a row per word; words: (b, n), true for words, false for padding
    positions: (b, m), which words are the pronouns; pronouns: (b, m), true for pronouns, false for padding
    features: (b, m, f), further features of each pronoun
    identities: (b, m), the index of each pronoun in the list
    """

    states: Tensor
    words: Tensor
    positions: Tensor
    pronouns: Tensor
    features: Tensor
    identities: Tensor


@dataclass(frozen=True, slots=True)
class Output:
    """scores: (b,), y of eq. 4; pronouns: (b, m), what each pronoun adds to it; attention: (b, m, n)"""

    scores: Tensor
    pronouns: Tensor
    attention: Tensor


class PronounHead(nn.Module):
    """Scores a text by its pronouns.

    kind: "attention" (eqs. 1–4), or "average", the baseline of §5.2: the mean of the pronouns through linear layers
    length: the length of w, the number of pronouns that training sentences are padded to
    hidden: the width of a layer before z; 0 is the paper's model, which has none
    features: numbers per pronoun that enter its score linearly; identities: pronouns with a score of their own
    divisor: what the attention's logits are divided by, in units of √d; 1 is eq. 1, and version 0.1.0 used 2
    """

    def __init__(
        self,
        width: int,
        length: int,
        *,
        kind: str,
        hidden: int = 0,
        features: int = 0,
        identities: int = 0,
        dropout: float = 0.0,
        divisor: float = 1.0,
    ) -> None:
        super().__init__()
        self.kind, self.width, self.length, self.divisor = kind, width, length, divisor
        self.normal = nn.LayerNorm(width) if kind == "attention" else None
        self.dropout = nn.Dropout(dropout)
        self.inner = nn.Linear(width, hidden) if hidden else None
        self.z = nn.Parameter(torch.randn(hidden or width) / math.sqrt(hidden or width))
        self.w = nn.Parameter(torch.ones(length))
        self.of_features = nn.Parameter(torch.ones(features)) if features else None
        self.scale = nn.Parameter(torch.ones(())) if features else None  # of everything else, relative to the features
        self.of_identities = nn.Parameter(torch.zeros(identities)) if identities else None

    def forward(self, batch: Batch) -> Output:
        mask = batch.pronouns.to(batch.states.dtype)
        queries = _rows(batch.states, batch.positions) * mask.unsqueeze(-1)  # P: (b, m, d), zero for padding
        attention = self._attention(queries, batch)
        if self.kind == "average":
            return self._average(queries, mask, attention, batch)
        mixed = attention @ batch.states  # B′ of eq. 1: (b, m, d)
        assert self.normal is not None
        normalized = self.normal(queries + mixed) * mask.unsqueeze(-1)  # B of eq. 2; padding stays zero
        scores = self._linear(normalized) + self._further(batch)  # u of eq. 3
        shares = scores * mask * self._weights(mask.shape[1])
        return Output(shares.sum(-1), shares, attention)  # eq. 4

    def _attention(self, queries: Tensor, batch: Batch) -> Tensor:
        """Return S(P Kᵀ / √d) over the words of the passage: (b, m, n), eq. 1.

        The small 2 before the radical in print is its index (²√d), not a factor; so has the released program.
        """
        scaled = queries @ batch.states.transpose(1, 2) / (self.divisor * math.sqrt(self.width))
        hidden = scaled.masked_fill(~batch.words.unsqueeze(1), float("-inf"))
        return torch.softmax(hidden, -1).nan_to_num(0.0)  # a text without words has nothing to attend to

    def _average(self, queries: Tensor, mask: Tensor, attention: Tensor, batch: Batch) -> Output:
        """Score the mean of P by z and the first of w; a pronoun's share is its part of the mean."""
        count = mask.sum(-1, keepdim=True).clamp(min=1)
        if self.inner is None:
            shares = (self._linear(queries) + self._further(batch)) * mask / count * self.w[0]
            return Output(shares.sum(-1), shares, attention)
        mean = queries.sum(1) / count  # (b, d)
        known = (mask.sum(-1) > 0).to(mask.dtype)  # a text without a pronoun scores 0
        further = (self._further(batch) * mask / count).sum(-1)
        scores = (self._linear(mean) + further) * known * self.w[0]
        return Output(scores, scores.unsqueeze(-1) * mask / count, attention)

    def _linear(self, rows: Tensor) -> Tensor:
        if self.inner is not None:
            rows = self.dropout(torch.nn.functional.gelu(self.inner(rows)))
        scores: Tensor = rows @ self.z
        return scores if self.scale is None else scores * self.scale

    def _further(self, batch: Batch) -> Tensor:
        """Return what features and identities add to the score of each pronoun: (b, m)."""
        further = torch.zeros_like(batch.positions, dtype=batch.states.dtype)
        if self.of_features is not None:
            further = further + batch.features @ self.of_features
        if self.of_identities is not None:
            further = further + self.of_identities[batch.identities]
        return further

    def _weights(self, pronouns: int) -> Tensor:
        """Return w for N pronouns; those beyond the number in training get the mean weight."""
        if pronouns <= self.length:
            return self.w[:pronouns]
        return torch.cat([self.w, self.w.mean().expand(pronouns - self.length)])


def _rows(states: Tensor, positions: Tensor) -> Tensor:
    """Return the rows of each text at its positions: (b, m, d)."""
    return states.gather(1, positions.unsqueeze(-1).expand(-1, -1, states.shape[-1]))


def ranking_loss(better: Tensor, worse: Tensor, margin: float) -> Tensor:
    """Return eq. 5: max(0, margin − yr + ys), the mean over pairs."""
    return torch.clamp(margin - better + worse, min=0).mean()


def logistic_loss(better: Tensor, worse: Tensor) -> Tensor:
    """Return −log σ(yr − ys): a smooth loss in which the difference says how confident the measure is."""
    return torch.nn.functional.softplus(worse - better).mean()


# The measure: an encoder, further features, and the head that scores them.

SCALE = 0.1  # of log-probabilities: nats into the range of the other scores
IDENTITY = "identity"
REMEDY = "Check the files of the encoder and its features. Train the measure again if they are whole."


@dataclass(frozen=True, slots=True)
class ScoredText:
    """The score of a text, its pronouns with the share of each, and the attention of each: (words,)."""

    score: float
    pronouns: tuple[str, ...]
    shares: tuple[float, ...]
    attention: tuple[tuple[float, ...], ...]


class Measure(nn.Module):
    """Scores a text by its pronouns; a text without a pronoun has the score 0 (an empty sum)."""

    def __init__(
        self,
        model: Model,
        readings: Readings,
        length: int,
        encoder: Encoder,
        features: Sequence[LanguageModelFeatures],
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.config, self.readings, self.features = model, readings, tuple(features)
        self.encoder = encoder
        self.listed = {word: n for n, word in enumerate(sorted(readings.pronouns))}
        identities = len(self.listed) if IDENTITY in model.features else 0
        numbers = {"features": WIDTH * len(self.features), "identities": identities}
        self.head = PronounHead(encoder.width, length, kind=model.kind, hidden=model.hidden, dropout=dropout, **numbers)

    @property
    def _keys_to_ignore_on_save(self) -> list[str]:
        """The weights of a Hugging Face encoder, which has files of its own; `weights_of` leaves them out."""
        return [name for name in self.state_dict() if name.startswith("encoder.model.")]

    def forward(self, texts: Sequence[Text]) -> Output:
        output: Output = self.head(self.batch(texts))
        return output

    def batch(self, texts: Sequence[Text]) -> Batch:
        states, words = self.encoder(texts)
        most = max(1, max(len(text.pronouns) for text in texts))
        positions = torch.zeros(len(texts), most, dtype=torch.long)
        identities = torch.zeros(len(texts), most, dtype=torch.long)
        pronouns = torch.zeros(len(texts), most, dtype=torch.bool)
        features = torch.zeros(len(texts), most, WIDTH * len(self.features))
        for n, text in enumerate(texts):
            count = len(text.pronouns)
            positions[n, :count] = torch.tensor(text.pronouns, dtype=torch.long)
            pronouns[n, :count] = True
            identities[n, :count] = torch.tensor([self.listed[text.words[p]] for p in text.pronouns], dtype=torch.long)
            if self.features and count:
                rows = np.concatenate([feature(text) for feature in self.features], axis=1)
                features[n, :count] = SCALE * torch.from_numpy(rows)
        device = states.device
        rest: list[Tensor] = [part.to(device) for part in (positions, pronouns, features, identities)]
        return Batch(states, words, *rest)

    def prepare(self, texts: Iterable[Text], progress: Progress | None = None) -> None:
        """Compute and cache everything that is frozen."""
        known = list(texts)
        self.encoder.prepare(known, progress)
        for feature in self.features:
            feature.prepare(known, progress)

    @torch.inference_mode()
    def score(self, texts: Sequence[Text], batch: int = 64) -> list[ScoredText]:
        """Return the scores of texts; they do not depend on what else is scored with them."""
        self.eval()
        scored = []
        for start in range(0, len(texts), batch):
            part = texts[start : start + batch]
            output = self(part)
            all_finite(output.scores.cpu().numpy(), "scores of the learned measure", REMEDY)
            for n, text in enumerate(part):
                count, words = len(text.pronouns), len(text.words)
                scored.append(
                    ScoredText(
                        float(output.scores[n]),
                        tuple(text.words[p] for p in text.pronouns),
                        tuple(output.pronouns[n, :count].tolist()),
                        tuple(tuple(row) for row in output.attention[n, :count, :words].tolist()),
                    )
                )
        return scored


def load_features(names: Sequence[str], cache: Path | None = None) -> list[LanguageModelFeatures]:
    """Load the features that a config names; `identity` is computed by the head itself."""
    features = []
    for name in names:
        kind, _, what = name.partition(":")
        if name == IDENTITY:
            continue
        if kind != "lm" or not what:
            raise AnaphoraError(f"unknown feature {name!r}. Known: identity, lm:NAME_OR_PATH")
        features.append(LanguageModelFeatures(what, cache=cache))
    return features


def load_encoder(
    model: Model,
    *,
    cache: Path | None = None,
    tuned: bool = False,
    lora_rank: int = 0,
    vocabulary: Sequence[str] = (),
) -> Any:
    """Load the encoder that a config names."""
    if model.encoder == "static":
        return StaticEncoder(vocabulary, model.width)
    kind, _, what = model.encoder.partition(":")
    if kind != "hf" or not what:
        raise AnaphoraError(f"unknown encoder {model.encoder!r}. Known: static, hf:NAME_OR_PATH")
    return HuggingFaceEncoder(what, cache=cache, tuned=tuned, lora_rank=lora_rank)
