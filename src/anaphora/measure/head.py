"""From words to a score: the network of Jwalapuram et al. 2019, §4, behind its encoder."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts in a batch of b, padded to n words and m pronouns.

    states: (b, n, d), K of the paper, a row per word; words: (b, n), true where a word is
    places: (b, m), numbers of the pronouns' words; pronouns: (b, m), true where a pronoun is
    features: (b, m, f), more about each pronoun
    identities: (b, m), each pronoun by its number in the list
    """

    states: Tensor
    words: Tensor
    places: Tensor
    pronouns: Tensor
    features: Tensor
    identities: Tensor


@dataclass(frozen=True, slots=True)
class Output:
    """scores: (b,), y of eq. 4; pronouns: (b, m), the share of each pronoun in it; attention: (b, m, n)"""

    scores: Tensor
    pronouns: Tensor
    attention: Tensor


class PronounHead(nn.Module):
    """Scores a text by its pronouns.

    kind: "attention" (eqs. 1–4), or "average", the baseline of §5.2: the mean of the pronouns through linear layers
    length: of w, the number of pronouns that training sentences are padded to
    hidden: a layer of this width before z; 0: none, as printed
    features: numbers per pronoun that enter its score linearly; identities: pronouns with a score of their own
    divisor: of the attention's logits, in units of √d; 1 is eq. 1, and version 0.1.0 trained its measures with 2
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
        self.scale = nn.Parameter(torch.ones(())) if features else None  # of the rest, against the features
        self.of_identities = nn.Parameter(torch.zeros(identities)) if identities else None

    def forward(self, batch: Batch) -> Output:
        mask = batch.pronouns.to(batch.states.dtype)
        queries = _rows(batch.states, batch.places) * mask.unsqueeze(-1)  # P: (b, m, d), zero rows where none is
        attention = self._attention(queries, batch)
        if self.kind == "average":
            return self._average(queries, mask, attention, batch)
        mixed = attention @ batch.states  # B′ of eq. 1: (b, m, d)
        assert self.normal is not None
        found = self.normal(queries + mixed) * mask.unsqueeze(-1)  # B of eq. 2; padding stays zero
        shares = (self._linear(found) + self._more(batch)) * mask * self._weights(mask.shape[1])  # u of eq. 3, times w
        return Output(shares.sum(-1), shares, attention)  # eq. 4

    def _attention(self, queries: Tensor, batch: Batch) -> Tensor:
        """S(P Kᵀ / √d) over the words of the passage: (b, m, n), eq. 1.

        The small 2 before the radical in print is its index (²√d), as the released program has it, and no factor.
        """
        scaled = queries @ batch.states.transpose(1, 2) / (self.divisor * math.sqrt(self.width))
        hidden = scaled.masked_fill(~batch.words.unsqueeze(1), float("-inf"))
        return torch.softmax(hidden, -1).nan_to_num(0.0)  # a text without words has none to attend to

    def _average(self, queries: Tensor, mask: Tensor, attention: Tensor, batch: Batch) -> Output:
        """The mean of P through z and the first of w; a pronoun's share is its part of the mean."""
        count = mask.sum(-1, keepdim=True).clamp(min=1)
        if self.inner is None:
            shares = (self._linear(queries) + self._more(batch)) * mask / count * self.w[0]
            return Output(shares.sum(-1), shares, attention)
        mean = queries.sum(1) / count  # (b, d)
        known = (mask.sum(-1) > 0).to(mask.dtype)  # a text without a pronoun scores 0
        more = (self._more(batch) * mask / count).sum(-1)
        scores = (self._linear(mean) + more) * known * self.w[0]
        return Output(scores, scores.unsqueeze(-1) * mask / count, attention)

    def _linear(self, rows: Tensor) -> Tensor:
        if self.inner is not None:
            rows = self.dropout(torch.nn.functional.gelu(self.inner(rows)))
        found: Tensor = rows @ self.z
        return found if self.scale is None else found * self.scale

    def _more(self, batch: Batch) -> Tensor:
        """What features and identities add to the score of each pronoun: (b, m)."""
        more = torch.zeros_like(batch.places, dtype=batch.states.dtype)
        if self.of_features is not None:
            more = more + batch.features @ self.of_features
        if self.of_identities is not None:
            more = more + self.of_identities[batch.identities]
        return more

    def _weights(self, pronouns: int) -> Tensor:
        """w for so many pronouns; those beyond what training had get the mean weight."""
        if pronouns <= self.length:
            return self.w[:pronouns]
        return torch.cat([self.w, self.w.mean().expand(pronouns - self.length)])


def _rows(states: Tensor, places: Tensor) -> Tensor:
    """The rows of each text at its places: (b, m, d)."""
    return states.gather(1, places.unsqueeze(-1).expand(-1, -1, states.shape[-1]))


def ranking_loss(better: Tensor, worse: Tensor, margin: float) -> Tensor:
    """eq. 5: max(0, margin − yr + ys), the mean over pairs."""
    return torch.clamp(margin - better + worse, min=0).mean()


def logistic_loss(better: Tensor, worse: Tensor) -> Tensor:
    """−log σ(yr − ys): the smooth form of it, in which the distance means how sure the measure is."""
    return torch.nn.functional.softplus(worse - better).mean()
