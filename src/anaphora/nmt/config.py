"""How a model is made: its architecture, its text, its training."""

from __future__ import annotations

from dataclasses import dataclass, field

from anaphora.core.errors import AnaphoraError, did_you_mean
from anaphora.nmt.arrangement import Arrangement

KINDS = ("recurrent", "transformer", "context-transformer")
COMBINATIONS = ("concatenation", "gate", "hierarchical")
SCHEDULES = ("fixed", "plateau", "inverse-sqrt")
AVERAGED = ("last", "best")


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The architecture. Not every kind has all of it: `config_unused.py` says what means nothing where."""

    kind: str = "transformer"
    joined_source: int = 0  # previous source sentences in the main encoder's input
    joined_target: int = 0  # previous target sentences that are decoded before the current one
    contexts: tuple[str, ...] = ()  # what each further encoder reads: source, target
    context_sentences: int = 1  # and how many previous sentences of it
    combination: str = "hierarchical"  # of the encoders' attention, in recurrent models
    tied_contexts: bool = False  # embeddings shared with the main encoder (source) or the decoder (target)
    tied_decoder: bool = True  # embeddings shared between the decoder's input and output
    tied_all: bool = False  # with a joint vocabulary: one matrix for everything
    embedding: int = 512  # size of embeddings, and of a Transformer's states
    hidden: int = 1024  # size of a recurrent model's states
    layers: int = 6
    heads: int = 8
    feed_forward: int = 2048
    layer_norm: bool = True  # in recurrent models; Transformers always have it
    dropout: float = 0.1
    max_length: int = 512  # positions of a Transformer

    @property
    def arrangement(self) -> Arrangement:
        return Arrangement(self.joined_source, self.joined_target, self.contexts, self.context_sentences)


@dataclass(frozen=True, slots=True)
class DataConfig:
    """Text: sentence-aligned files, a blank line (or a change of docid) between documents."""

    source: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    validation_source: str = ""
    validation_target: str = ""
    docids: bool = False  # lines are docid⇥sentence
    boundary: str = ""  # a line that stands between documents, where it is not a blank one
    languages: str = ""  # en-de: for Moses' rules, and for those who use the model
    max_length: int = 100  # tokens of a sentence with what is joined to it; longer pairs are dropped
    max_sentence: int = 0  # tokens of the current sentence alone; 0: max_length is the only limit
    max_ratio: float = 0.0  # of the lengths of the two sides; 0: any


@dataclass(frozen=True, slots=True)
class VocabularyConfig:
    """Subwords, learned by SentencePiece from the training text."""

    kind: str = "bpe"  # or unigram
    size: int = 32_000
    joint: bool = True  # one vocabulary for both languages
    lowercase: bool = False
    normalise: bool = False  # Moses' punctuation normalisation
    tokenise: bool = False  # Moses' tokenisation
    truecase: bool = False  # Moses' truecasing, learned from the training text
    sentences: int = 1_000_000  # that it is learned from, drawn at random where there are more


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """How the weights are found."""

    updates: int = 100_000
    batch_tokens: int = 4096  # of the longer side of each example, padding included
    batch_sentences: int = 0  # examples of a batch, at most; 0: as many as batch_tokens allows
    accumulate: int = 1  # batches of an update
    rate: float = 0.0003
    schedule: str = "inverse-sqrt"  # fixed; plateau: × decay after decay_patience validations without gain
    warmup: int = 4000
    decay: float = 0.7  # of the plateau schedule
    decay_patience: int = 8
    betas: tuple[float, ...] = (0.9, 0.98)
    epsilon: float = 1e-9
    weight_decay: float = 0.0
    label_smoothing: float = 0.1
    clip: float = 1.0  # norm of the gradient; 0: never
    seed: int = 1
    dtype: str = "float32"  # or bfloat16, where the hardware computes it
    start_from: str = ""  # a model whose weights and vocabulary training starts from
    report_every: int = 50
    save_every: int = 1000
    keep: int = 3  # the last checkpoints, to resume from
    average: int = 0  # checkpoints whose mean is the final model; 0: it is a single one
    average_of: str = "last"  # or best: those with the lowest validation perplexity


@dataclass(frozen=True, slots=True)
class ValidationConfig:
    """What is looked at during training."""

    every: int = 1000
    patience: int = 0  # validations without a lower perplexity before training stops; 0: never
    suites: tuple[str, ...] = ()  # contrastive accuracy, as a curve
    batch_tokens: int = 4096


@dataclass(frozen=True, slots=True)
class LogConfig:
    """What is written besides log.jsonl and the curve of accuracy."""

    tensorboard: bool = False  # needs the extra "tensorboard"


@dataclass(frozen=True, slots=True)
class Config:
    """Everything. description: a sentence for `anaphora train --list`."""

    description: str = ""
    model: ModelConfig = field(default_factory=ModelConfig)
    data: DataConfig = field(default_factory=DataConfig)
    vocabulary: VocabularyConfig = field(default_factory=VocabularyConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    validation: ValidationConfig = field(default_factory=ValidationConfig)
    log: LogConfig = field(default_factory=LogConfig)


def problem_of(config: Config) -> str | None:
    """What is wrong with a config that types do not say, if anything is."""
    model, training = config.model, config.training
    choices = (
        ("model.kind", model.kind, KINDS),
        ("model.combination", model.combination, COMBINATIONS),
        ("training.schedule", training.schedule, SCHEDULES),
        ("training.average_of", training.average_of, AVERAGED),
        ("training.dtype", training.dtype, ("float32", "bfloat16")),
        ("vocabulary.kind", config.vocabulary.kind, ("bpe", "unigram")),
    )
    for key, value, known in choices:
        if value not in known:
            return f"{key}: unknown {value!r}{did_you_mean(value, known)}. Known: {', '.join(known)}"
    try:
        arrangement = model.arrangement
    except AnaphoraError as error:
        return str(error)
    problems = (
        (model.kind == "transformer" and arrangement.contexts, "a plain transformer has no further encoders: contexts"),
        (
            model.kind == "context-transformer" and arrangement.contexts != ("source",),
            'a context-transformer reads contexts = ["source"]',
        ),
        (model.kind != "recurrent" and model.embedding % model.heads, "model.embedding is a multiple of model.heads"),
        (len(training.betas) != 2, "training.betas are two numbers"),
        (not 0 <= model.dropout < 1, "model.dropout is a number from 0, less than 1"),
        (
            min(training.updates, training.batch_tokens, training.accumulate, training.save_every) < 1,
            "training.updates, batch_tokens, accumulate and save_every are 1 or more",
        ),
        (training.average < 0 or training.average == 1, "training.average is 0 or at least 2"),
        (len(config.data.source) != len(config.data.target), "data.source and data.target name as many files"),
    )
    return next((problem for wrong, problem in problems if wrong), None) or _too_short(config)


def _too_short(config: Config) -> str | None:
    """Whether training would end before there are the checkpoints whose mean is the model."""
    training = config.training
    best = training.average_of == "best"
    every = config.validation.every if best else training.save_every
    needed = training.average * every if best else (training.average - 1) * every + 1  # there is one at the end
    if training.updates >= needed:
        return None
    key = "validation.every" if best else "training.save_every"
    return (
        f"training.average: {training.average} checkpoints need at least {needed:,} updates ({key} = {every:,}), not "
        f"{training.updates:,}. Train longer, make checkpoints more often, or set training.average = 0"
    )
