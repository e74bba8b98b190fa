"""The measure: an encoder, further features, and the head that makes a score of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from anaphora.core.errors import AnaphoraError
from anaphora.core.finite import all_finite
from anaphora.languages.readings import Readings
from anaphora.measure.config import Model
from anaphora.measure.encoder import Encoder, Progress, StaticEncoder
from anaphora.measure.head import Batch, Output, PronounHead
from anaphora.measure.items import Text

if TYPE_CHECKING:
    from anaphora.measure.features import LanguageModelFeatures

SCALE = 0.1  # of log-probabilities: nats into the range of the other scores
IDENTITY = "identity"
REMEDY = "Check the files of the encoder and its features. Train the measure again if they are whole."
PER_FEATURE = 4  # numbers about each pronoun that a language model gives


@dataclass(frozen=True, slots=True)
class ScoredText:
    """The score of a text, the pronouns it is made of with the share of each, and where each looked: (words,)."""

    score: float
    pronouns: tuple[str, ...]
    shares: tuple[float, ...]
    attention: tuple[tuple[float, ...], ...]


class Measure(nn.Module):
    """Gives a text a score by its pronouns; a text without a pronoun has the score 0 (an empty sum)."""

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
        self.head = PronounHead(
            encoder.width,
            length,
            kind=model.kind,
            hidden=model.hidden,
            features=PER_FEATURE * len(self.features),
            identities=identities,
            dropout=dropout,
        )

    def forward(self, texts: Sequence[Text]) -> Output:
        """Scores of texts: (b,)."""
        output: Output = self.head(self.batch(texts))
        return output

    def batch(self, texts: Sequence[Text]) -> Batch:
        states, words = self.encoder(texts)
        most = max(1, max(len(text.pronouns) for text in texts))
        places = torch.zeros(len(texts), most, dtype=torch.long)
        identities = torch.zeros(len(texts), most, dtype=torch.long)
        pronouns = torch.zeros(len(texts), most, dtype=torch.bool)
        features = torch.zeros(len(texts), most, PER_FEATURE * len(self.features))
        for n, text in enumerate(texts):
            count = len(text.pronouns)
            places[n, :count] = torch.tensor(text.pronouns, dtype=torch.long)
            pronouns[n, :count] = True
            identities[n, :count] = torch.tensor([self.listed[text.words[p]] for p in text.pronouns], dtype=torch.long)
            if self.features and count:
                rows = np.concatenate([feature(text) for feature in self.features], axis=1)
                features[n, :count] = SCALE * torch.from_numpy(rows)
        device = states.device
        rest: list[Tensor] = [part.to(device) for part in (places, pronouns, features, identities)]
        return Batch(states, words, *rest)

    def prepare(self, texts: Iterable[Text], progress: Progress | None = None) -> None:
        """Compute everything that is frozen, once."""
        known = list(texts)
        self.encoder.prepare(known, progress)
        for feature in self.features:
            feature.prepare(known, progress)

    @torch.inference_mode()
    def score(self, texts: Sequence[Text], batch: int = 64) -> list[ScoredText]:
        """The scores of texts, each by itself: they do not depend on what they are scored with."""
        self.eval()
        found = []
        for start in range(0, len(texts), batch):
            part = texts[start : start + batch]
            output = self(part)
            all_finite(output.scores.cpu().numpy(), "scores of the learned measure", REMEDY)
            for n, text in enumerate(part):
                count, words = len(text.pronouns), len(text.words)
                found.append(
                    ScoredText(
                        float(output.scores[n]),
                        tuple(text.words[p] for p in text.pronouns),
                        tuple(output.pronouns[n, :count].tolist()),
                        tuple(tuple(row) for row in output.attention[n, :count, :words].tolist()),
                    )
                )
        return found


def load_features(names: Sequence[str], cache: Path | None = None) -> list[LanguageModelFeatures]:
    """The features that a config names; `identity` is the head's own."""
    found = []
    for name in names:
        kind, _, what = name.partition(":")
        if name == IDENTITY:
            continue
        if kind != "lm" or not what:
            raise AnaphoraError(f"unknown feature {name!r}. Known: identity, lm:NAME_OR_PATH")
        from anaphora.measure.features import LanguageModelFeatures

        found.append(LanguageModelFeatures(what, cache=cache))
    return found


def load_encoder(
    model: Model, *, cache: Path | None = None, tuned: bool = False, vocabulary: Sequence[str] = ()
) -> Any:
    """The encoder that a config names."""
    if model.encoder == "static":
        return StaticEncoder(vocabulary, model.width)
    kind, _, what = model.encoder.partition(":")
    if kind != "hf" or not what:
        raise AnaphoraError(f"unknown encoder {model.encoder!r}. Known: static, hf:NAME_OR_PATH")
    from anaphora.measure.hf_encoder import HuggingFaceEncoder

    return HuggingFaceEncoder(what, cache=cache, tuned=tuned)
