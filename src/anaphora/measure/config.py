"""The configuration of a measure, and its TOML file. Defaults are the paper's where it gives any (§4, §5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anaphora.core.config import merge_documents, parse_overrides, typed_config
from anaphora.core.errors import AnaphoraError
from anaphora.core.parsing import read_toml

CONTEXTS = ("NC", "RC", "CRC")
KINDS = ("attention", "average")
LOSSES = ("ranking", "logistic")
SCHEDULES = ("constant", "linear")
TESTS = ("noisy", "system", "both")


@dataclass(frozen=True, slots=True)
class Data:
    """Suites of pairs.

    train_kind, dev_kind: which of their pairs are used: R vs. S is "system", R vs. R′ is "noisy"
    limit, dev_limit: at most N pairs, sampled with the training's seed; 0 is all
    """

    train: tuple[str, ...] = ()
    dev: tuple[str, ...] = ()
    train_kind: str = "both"
    dev_kind: str = "noisy"
    limit: int = 0
    dev_limit: int = 0


@dataclass(frozen=True, slots=True)
class Model:
    """The architecture, and which texts it reads.

    encoder: "static" (vectors and a BiLSTM), or hf:NAME_OR_PATH[?layer=-1&words=mean] for any Hugging Face encoder or
        causal language model; layer=2,4,6 learns a mix of these layers, layer=mix one of all
    kind: "attention", or the "average" of the pronouns (the baseline)
    context: NC none, RC each candidate its own, CRC that of the reference for both
    sentences: the number of context sentences
    language: the language of the pronouns; pronouns: a file with your own list
    plain: lowercase texts and remove their punctuation, as in the annotated pairs
    hidden: the width of a layer before z; 0 is the paper's model, which has none
    features: further features of each pronoun: "lm:NAME_OR_PATH", "identity"
    max_pronouns: the length of w; 0 is the highest number of pronouns in a training sentence
    width, vectors, vocabulary: for static encoders, their size, a file of vectors, and the number of words
    """

    encoder: str = "static"
    kind: str = "attention"
    context: str = "CRC"
    sentences: int = 2
    language: str = "en"
    pronouns: str = ""
    plain: bool = False
    hidden: int = 0
    features: tuple[str, ...] = ()
    max_pronouns: int = 0
    width: int = 100
    vectors: str = ""
    vocabulary: int = 50_000

    @property
    def context_sentences(self) -> int:
        """The number of context sentences that the measure reads."""
        return 0 if self.context == "NC" else self.sentences

    def __post_init__(self) -> None:
        _check("model.context", self.context, CONTEXTS)
        _check("model.kind", self.kind, KINDS)
        if not 0 <= self.sentences <= 1000:
            raise AnaphoraError("model.sentences must be between 0 and 1,000")


@dataclass(frozen=True, slots=True)
class Training:
    """The optimization: Adam on the ranking loss of eq. 5, stopped early by development pairs.

    fine_tune: train the weights of a Hugging Face encoder, too; else its states are computed once and cached
    lora_rank: the rank of low-rank updates (LoRA) of a Hugging Face encoder, which are trained instead of its weights
        and stored instead of a copy; 0 is none. encoder_rate is their rate
    schedule: "constant", or "linear": rates rise in the first twentieth of all steps and then fall to zero
    schedule_epochs: epochs that the schedule is laid out for, if there are more than are trained; 0: those of `epochs`
    patience: epochs without improvement until training stops
    keep_encoder: store a copy of the encoder's weights in the model's folder, so that it needs nothing else
    start_from: another measure's folder; training starts from the weights that both have
    only_features: train only the weights of features and the scale of everything else, so that few pairs are enough
        for features that are expensive to compute
    """

    loss: str = "ranking"
    margin: float = 0.1
    rate: float = 1e-3
    encoder_rate: float = 2e-5
    batch: int = 64
    epochs: int = 30
    patience: int = 4
    dropout: float = 0.0
    decay: float = 0.0
    seed: int = 12345
    fine_tune: bool = False
    lora_rank: int = 0
    schedule: str = "constant"
    schedule_epochs: int = 0
    keep_encoder: bool = True
    start_from: str = ""
    only_features: bool = False

    def __post_init__(self) -> None:
        _check("training.loss", self.loss, LOSSES)
        _check("training.schedule", self.schedule, SCHEDULES)
        if self.lora_rank < 0 or self.schedule_epochs < 0:
            raise AnaphoraError("training.lora_rank and schedule_epochs must be 0 or more")
        if self.batch < 1 or self.epochs < 1 or self.patience < 1 or self.margin < 0:
            raise AnaphoraError("training.batch, epochs and patience must be at least 1, margin at least 0")


@dataclass(frozen=True, slots=True)
class Config:
    """A whole configuration, one attribute per section of the file."""

    description: str = ""
    data: Data = field(default_factory=Data)
    model: Model = field(default_factory=Model)
    training: Training = field(default_factory=Training)

    def __post_init__(self) -> None:
        for name, value in (("data.train_kind", self.data.train_kind), ("data.dev_kind", self.data.dev_kind)):
            _check(name, value, TESTS)


def _check(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise AnaphoraError(f"{name}: unknown {value!r}. Known: {', '.join(known)}")


def read_config(path: Path, overrides: Mapping[str, str] | None = None) -> Config:
    """Read a config file; overrides are keys (`training.epochs`) with values as TOML or plain text."""
    return parse_config(read_toml(path), path, overrides)


def parse_config(document: Mapping[str, Any], path: Path, overrides: Mapping[str, str] | None = None) -> Config:
    """Return the config of a document; an unknown key or a value of another type is an error."""
    given = merge_documents(document, parse_overrides(overrides or {}, "training.epochs=5"))
    return typed_config(Config, given, path)
