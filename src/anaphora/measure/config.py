"""What a measure is and how it learns. The defaults are the paper's where it says anything (§4, §5.2)."""

from __future__ import annotations

from dataclasses import dataclass, field

from anaphora.core.errors import AnaphoraError

CONTEXTS = ("NC", "RC", "CRC")
KINDS = ("attention", "average")
LOSSES = ("ranking", "logistic")
TESTS = ("noisy", "system", "both")


@dataclass(frozen=True, slots=True)
class Data:
    """Suites of pairs.

    train_kind, dev_kind: which of their pairs are used: R vs. S is "system", R vs. R′ is "noisy"
    limit: only so many training pairs, drawn by the seed of the training; 0 is all
    """

    train: tuple[str, ...] = ()
    dev: tuple[str, ...] = ()
    train_kind: str = "both"
    dev_kind: str = "noisy"
    limit: int = 0
    dev_limit: int = 0


@dataclass(frozen=True, slots=True)
class Model:
    """The measure itself.

    encoder: "static" (vectors and a BiLSTM), or hf:NAME_OR_PATH[?layer=-1&words=mean] for any Hugging Face encoder or
        causal language model
    kind: "attention", or the "average" of the pronouns (the baseline)
    context: NC none, RC each candidate its own, CRC that of the reference for both
    sentences: how many sentences of context
    language: whose pronouns; pronouns: a file with a list of your own
    plain: texts are lowercased and lose their punctuation, as the annotated pairs are
    hidden: width of a layer before z; 0 is the paper's model, without one
    features: more about each pronoun: "lm:NAME_OR_PATH", "identity"
    max_pronouns: length of w; 0 is the most that a training sentence has
    width, vectors, vocabulary: of static encoders: their size, a file of vectors, how many words
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

    def __post_init__(self) -> None:
        _check("model.context", self.context, CONTEXTS)
        _check("model.kind", self.kind, KINDS)


@dataclass(frozen=True, slots=True)
class Training:
    """How it learns: Adam on the ranking loss of eq. 5, until development pairs are no better ranked for a while.

    fine_tune: the weights of a Hugging Face encoder learn, too; else its states are computed once and kept
    patience: epochs without a gain
    keep_encoder: the model's folder has a copy of the encoder's weights, so that it needs nothing else
    start_from: another measure's folder, whose weights it begins with, as far as it has the same
    only_features: nothing learns but the weights of features and how much all else counts beside them, so that few
        pairs are enough for features that are dear to compute
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
    keep_encoder: bool = True
    start_from: str = ""
    only_features: bool = False

    def __post_init__(self) -> None:
        _check("training.loss", self.loss, LOSSES)
        if self.batch < 1 or self.epochs < 1 or self.patience < 1 or self.margin < 0:
            raise AnaphoraError("training.batch, epochs and patience are numbers from 1, margin from 0")


@dataclass(frozen=True, slots=True)
class Config:
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
