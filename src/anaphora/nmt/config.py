"""The configuration of a training: architecture, data, vocabulary, optimization; TOML files and presets."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from anaphora.core.config import merge_documents, parse_overrides, rename_keys, typed_config, write_toml
from anaphora.core.errors import AnaphoraError, BadInput, did_you_mean
from anaphora.core.parsing import read_toml
from anaphora.nmt.layout import ContextLayout

KINDS = ("recurrent", "transformer", "context-transformer")
COMBINATIONS = ("concatenation", "gate", "hierarchical")
SCHEDULES = ("fixed", "plateau", "inverse-sqrt")
AVERAGED = ("last", "best")
MAX_COUNT = 10**12  # of updates, epochs and batches


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The architecture. Not every kind has all of it: `unused` says which keys have no effect where."""

    kind: str = "transformer"
    source_context: int = 0  # previous source sentences in the main encoder's input
    target_context: int = 0  # previous target sentences that are decoded before the current one
    context_encoders: tuple[str, ...] = ()  # what each further encoder reads: source, target
    context_sentences: int = 1  # and how many previous sentences of it
    combination: str = "hierarchical"  # of the encoders' attention, in recurrent models
    tie_context_embeddings: bool = False  # embeddings shared with the main encoder (source) or the decoder (target)
    tie_decoder_embeddings: bool = True  # embeddings shared between the decoder's input and output
    tie_all_embeddings: bool = False  # with a joint vocabulary: one matrix for everything
    embedding: int = 512  # size of embeddings, and of a Transformer's states
    hidden: int = 1024  # size of a recurrent model's states
    layers: int = 6
    heads: int = 8
    feed_forward: int = 2048
    layer_norm: bool = True  # in recurrent models; Transformers always have it
    dropout: float = 0.1
    max_length: int = 512  # positions of a Transformer

    @property
    def layout(self) -> ContextLayout:
        return ContextLayout(self.source_context, self.target_context, self.context_encoders, self.context_sentences)


@dataclass(frozen=True, slots=True)
class DataConfig:
    """Sentence-aligned files with a blank line (or another docid) between documents."""

    source: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    repeat: tuple[int, ...] = ()  # how often each pair of files is read in an epoch; none: once
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
    """Subwords, which SentencePiece learns from the training text."""

    kind: str = "bpe"  # or unigram
    size: int = 32_000
    joint: bool = True  # one vocabulary for both languages
    lowercase: bool = False
    normalize: bool = False  # Moses' punctuation normalization
    tokenize: bool = False  # Moses' tokenization
    truecase: bool = False  # Moses' truecasing, learned from the training text
    sentences: int = 1_000_000  # that it is learned from, drawn at random where there are more


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """Optimization and checkpoints."""

    updates: int = 100_000
    batch_tokens: int = 4096  # of the longer side of each example, padding included
    batch_sentences: int = 0  # at most this many examples in a batch; 0: no limit but batch_tokens
    accumulate: int = 1  # batches of an update
    learning_rate: float = 0.0003
    schedule: str = "inverse-sqrt"  # fixed; plateau: × plateau_factor after plateau_patience validations without gain
    warmup: int = 4000
    plateau_factor: float = 0.7  # of the plateau schedule
    plateau_patience: int = 8
    betas: tuple[float, ...] = (0.9, 0.98)
    epsilon: float = 1e-9
    weight_decay: float = 0.0
    label_smoothing: float = 0.1
    context_weight: float = 1.0  # of the loss on previous target sentences and their separators (Lupo et al. 2022)
    weighted_words: tuple[str, ...] = ()  # words of the current target sentence whose loss has another weight
    word_weight: float = 1.0  # and that weight
    clip_norm: float = 1.0  # norm of the gradient; 0: never
    seed: int = 12345
    dtype: str = "float32"  # or bfloat16, where the hardware computes it
    start_from: str = ""  # a model whose weights and vocabulary training starts from
    report_every: int = 50
    save_every: int = 1000
    keep: int = 3  # the last checkpoints, to resume from
    average: int = 0  # checkpoints whose mean is the final model; 0: it is a single one
    average_of: str = "last"  # or best: those with the lowest validation perplexity


@dataclass(frozen=True, slots=True)
class ValidationConfig:
    """Validation during training."""

    every: int = 1000
    patience: int = 0  # validations without a lower perplexity before training stops; 0: never
    suites: tuple[str, ...] = ()  # contrastive accuracy, as a curve
    batch_tokens: int = 4096


@dataclass(frozen=True, slots=True)
class LogConfig:
    """Logs besides log.jsonl and the chart of accuracy."""

    tensorboard: bool = False  # needs the extra "tensorboard"


@dataclass(frozen=True, slots=True)
class Config:
    """A whole configuration. description: a sentence for `anaphora train --list`"""

    description: str = ""
    model: ModelConfig = field(default_factory=ModelConfig)
    data: DataConfig = field(default_factory=DataConfig)
    vocabulary: VocabularyConfig = field(default_factory=VocabularyConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    validation: ValidationConfig = field(default_factory=ValidationConfig)
    log: LogConfig = field(default_factory=LogConfig)


def is_word(text: str) -> bool:
    """Return whether a text is a single word: letters, digits and the marks that belong to letters."""
    return bool(text) and all(character.isalnum() or unicodedata.category(character)[0] == "M" for character in text)


def problem_of(config: Config) -> str | None:
    """Return what is wrong with a config beyond its types; None if nothing is."""
    model, training, data = config.model, config.training, config.data
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
    for key in ("embedding", "hidden", "layers", "heads", "feed_forward", "max_length"):
        if getattr(model, key) < 1:
            return f"model.{key} must be 1 or more"
    try:
        layout = model.layout
    except AnaphoraError as error:
        return str(error)
    problems = (
        (
            model.kind == "transformer" and layout.context_encoders,
            "a plain transformer has no model.context_encoders",
        ),
        (
            model.kind == "context-transformer" and layout.context_encoders != ("source",),
            'a context-transformer needs model.context_encoders = ["source"]',
        ),
        (
            model.kind != "recurrent" and model.embedding % model.heads,
            "model.embedding must be a multiple of model.heads",
        ),
        (len(training.betas) != 2, "training.betas must be two numbers"),
        (not 0 <= model.dropout < 1, "model.dropout must be at least 0 and less than 1"),
        (
            min(training.updates, training.batch_tokens, training.accumulate, training.save_every) < 1,
            "training.updates, batch_tokens, accumulate and save_every must be 1 or more",
        ),
        (training.updates >= MAX_COUNT, f"training.updates must be less than {MAX_COUNT:,}"),
        (training.average < 0 or training.average == 1, "training.average must be 0 or at least 2"),
        (
            len(data.source) != len(data.target),
            "data.source and data.target must name the same number of files",
        ),
        (
            data.repeat and len(data.repeat) != len(data.source),
            f"data.repeat has {len(data.repeat)} numbers for {len(data.source)} files of data.source",
        ),
        (any(times < 1 for times in data.repeat), "data.repeat: each number must be 1 or more"),
        (
            min(training.context_weight, training.word_weight) < 0,
            "training.context_weight and training.word_weight must be 0 or more",
        ),
        *(
            (not is_word(word), f"training.weighted_words: {word!r} is not a single word (letters and digits only)")
            for word in training.weighted_words
        ),
    )
    first = next((problem for wrong, problem in problems if wrong), None)
    return first or _too_short(config)


def _too_short(config: Config) -> str | None:
    """Return an error if training ends before there are enough checkpoints to average."""
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


# Keys without effect: those of other kinds of models, and those that another key overrides

TRANSFORMER_ONLY = {
    "layers": "recurrent models have one layer",
    "heads": "recurrent models have one attention for each encoder",
    "feed_forward": "recurrent models have no feed-forward layers",
    "max_length": "recurrent models have no positions (data.max_length limits the text)",
}
RECURRENT_ONLY = {
    "hidden": "a Transformer's states have the size of model.embedding",
    "layer_norm": "Transformers always have it",
    "combination": "only recurrent models combine encoders in several ways",
    "tie_context_embeddings": "a Transformer's encoders share their embeddings anyway",
}


def unused(config: Config) -> dict[str, str]:
    """Return the keys that have no effect, section.key → the reason."""
    reasons = {f"model.{key}": why for key, why in _of_model(config.model).items()}
    reasons |= {f"training.{key}": why for key, why in _of_training(config.training).items()}
    if not config.model.target_context:
        reasons["training.context_weight"] = "the target has no context (model.target_context is 0)"
    if config.data.docids and config.data.boundary:
        reasons["data.boundary"] = "data.docids mark the ends of documents"
    return reasons


def with_defaults(config: Config, keys: list[str]) -> Config:
    """Return the config with some keys at their defaults."""
    for key in keys:
        section, _, name = key.partition(".")
        values = getattr(config, section)
        default = next(field.default for field in fields(values) if field.name == name)
        sections: dict[str, Any] = {section: replace(values, **{name: default})}
        config = replace(config, **sections)
    return config


def _of_model(model: ModelConfig) -> dict[str, str]:
    reasons = dict(TRANSFORMER_ONLY if model.kind == "recurrent" else RECURRENT_ONLY)
    if not model.context_encoders:
        why = "there are no further encoders (model.context_encoders)"
        reasons |= dict.fromkeys(("combination", "context_sentences", "tie_context_embeddings"), why)
    elif model.kind == "recurrent" and model.tie_all_embeddings:
        reasons["tie_context_embeddings"] = "model.tie_all_embeddings makes one matrix of all"
    if model.tie_all_embeddings:
        reasons["tie_decoder_embeddings"] = "model.tie_all_embeddings makes one matrix of all"
    return reasons


def _of_training(training: TrainingConfig) -> dict[str, str]:
    reasons = {}
    if training.schedule != "plateau":
        reasons = dict.fromkeys(("plateau_factor", "plateau_patience"), 'training.schedule is not "plateau"')
    if not training.average:
        reasons["average_of"] = "training.average is 0"
    if not training.weighted_words:
        reasons["word_weight"] = "training.weighted_words is empty"
    return reasons


# Config files and presets

LAPTOP = "laptop"  # the preset that makes others small
EARLIER_NAMES = {  # names of keys in version 0.1.0
    "model.joined_source": "source_context",
    "model.joined_target": "target_context",
    "model.contexts": "context_encoders",
    "model.tied_contexts": "tie_context_embeddings",
    "model.tied_decoder": "tie_decoder_embeddings",
    "model.tied_all": "tie_all_embeddings",
    "vocabulary.normalise": "normalize",
    "vocabulary.tokenise": "tokenize",
    "training.rate": "learning_rate",
    "training.decay": "plateau_factor",
    "training.decay_patience": "plateau_patience",
    "training.clip": "clip_norm",
}


def read_config(path: Path, overrides: Mapping[str, str] | None = None, strict: bool = True) -> Config:
    """Read a config file; with `base = "NAME"` the keys that it leaves out are those of a preset.

    overrides: section.key → value as TOML (a word without quotes is a string)
    strict: a key without effect is an error; otherwise it is ignored
    """
    return parse_config(read_toml(path), path, overrides, strict)


def parse_config(
    document: Mapping[str, Any], path: Path, overrides: Mapping[str, str] | None = None, strict: bool = True
) -> Config:
    """Return the config that a TOML document holds."""
    given = merge_documents(
        rename_keys(document, EARLIER_NAMES, path),
        rename_keys(parse_overrides(overrides or {}, "training.updates=600"), EARLIER_NAMES, path),
    )
    config = typed_config(Config, _inherited(given, path), path)
    if problem := problem_of(config):
        raise BadInput(path, problem)
    if strict and config.model.tie_all_embeddings and not config.vocabulary.joint:
        problem = "model.tie_all_embeddings needs a joint vocabulary"
        raise BadInput(path, problem, remedy="Set vocabulary.joint = true.")
    reasons = unused(config)
    for key, why in reasons.items() if strict else ():
        section, _, name = key.partition(".")
        if name in given.get(section, {}):
            raise BadInput(path, f"{key} is not used: {why}", remedy="Leave it out.")
    return with_defaults(config, list(reasons))


def write_config(config: Config) -> str:
    """Return the config as TOML: every key that has an effect."""
    return write_toml(config, unused(config))


def presets() -> dict[str, Config]:
    """Return the presets by name, in alphabetical order."""
    return {name: parse_config({"base": name}, Path(f"{name}.toml")) for name in sorted(_presets())}


@cache
def _presets() -> dict[str, dict[str, Any]]:
    """Return the tables of the preset files; each is a preset, and has a version of laptop size.

    A table NAME-laptop holds what is different in this one of the small models.
    """
    tables: dict[str, dict[str, Any]] = {}
    for file in (files("anaphora.nmt") / "presets").iterdir():
        if file.name.endswith(".toml"):
            tables |= read_toml(file)
    size = tables.pop(LAPTOP)
    own = {name: tables.pop(name) for name in list(tables) if name.endswith(f"-{LAPTOP}")}
    small = {f"{name}-{LAPTOP}": {"base": name, **size} for name in tables}
    return tables | {name: merge_documents(document, own.get(name, {})) for name, document in small.items()}


def _inherited(document: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return the document merged over its base, which may have a base itself."""
    own = dict(document)
    base = own.pop("base", None)
    if base is None:
        return own
    if base not in _presets():
        names = _presets()
        raise BadInput(
            path, f"no preset {base!r}{did_you_mean(str(base), names)}", remedy="See: anaphora train --list."
        )
    return merge_documents(_inherited(_presets()[base], path), own)
