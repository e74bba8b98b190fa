"""What stands before training: the model's folder, its vocabulary, its text in ids."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path

from anaphora.core.errors import AnaphoraError
from anaphora.core.files import remove_leftovers
from anaphora.core.lock import is_lock
from anaphora.nmt.config import Config, DataConfig, read_config, unused, with_defaults
from anaphora.nmt.data import Corpus, Pair, TokenWeights, read_pairs
from anaphora.nmt.folder import BEST, CHECKPOINTS, CONFIG, TEXT_FILES, begin, copy_text
from anaphora.nmt.text import Text, learn_text, load_text
from anaphora.nmt.training import Material
from anaphora.suites.example import Example

# What may change when training goes on: how long it takes, and what is looked at.
KEYS = ("updates", "report_every", "save_every", "keep", "average", "average_of")
FREE = {"description", *(f"training.{key}" for key in KEYS)}
FREE_SECTIONS = ("validation", "log")


def open_folder(folder: Path, config: Config, resume: bool) -> None:
    """A new folder for a model, or the one whose training is to go on; another config there is an error.

    For the process that holds the folder's lock: what a killed one was writing is removed.
    """
    file = folder / CONFIG
    if not file.exists():
        if folder.exists() and any(not is_lock(path) for path in folder.iterdir()):
            raise AnaphoraError(f"{folder} is there already, and no model is in it. Name another folder")
        begin(folder, config)
        return
    if not resume:
        raise AnaphoraError(f"{folder} is there already. Go on with --resume, or name another folder")
    differences = sorted(_differences(read_config(file, strict=False), with_defaults(config, list(unused(config)))))
    if differences:
        raise AnaphoraError(f"{file}: trained in another way ({'; '.join(differences)}). Name another folder")
    for place in (folder, folder / CHECKPOINTS, folder / CHECKPOINTS / BEST):
        remove_leftovers(place)
    begin(folder, config)


def prepare(config: Config, folder: Path, suites: Iterable[tuple[str, tuple[Example, ...]]] = ()) -> Material:
    """Text in ids, with a vocabulary that is learned now, or was before, or is another model's."""
    data = config.data
    if not data.source:
        raise AnaphoraError("no training text: name files in [data] source and target, or --set data.source=FILE")
    pairs = _pairs(data, data.source, data.target, data.repeat)
    if not pairs:
        raise AnaphoraError(f"{data.source[0]}: no sentences to train on")
    text = _text(config, folder, pairs)
    arrangement = config.model.arrangement
    training = Corpus(pairs, text, arrangement, data, _weights(config, text))
    if not len(training):
        raise AnaphoraError(f"{data.source[0]}: nothing is left to train on ({training.dropped}). See data.max_length")
    validation = None
    if data.validation_source:
        held_out = _pairs(data, (data.validation_source,), (data.validation_target,))
        validation = Corpus(held_out, text, arrangement, data)
    elif _needs_validation(config):
        raise AnaphoraError(
            "early stopping, the plateau schedule and a mean of the best checkpoints need data.validation_source and "
            "data.validation_target"
        )
    return Material(text, training, validation, tuple(suites))


def _needs_validation(config: Config) -> bool:
    training = config.training
    best = training.average > 0 and training.average_of == "best"
    return best or config.validation.patience > 0 or training.schedule == "plateau"


def _pairs(
    config: DataConfig, sources: Iterable[str], targets: Iterable[str], repeat: Sequence[int] = ()
) -> list[Pair]:
    return list(read_pairs(config, [Path(s) for s in sources], [Path(t) for t in targets], repeat))


def _weights(config: Config, text: Text) -> TokenWeights | None:
    """What the config says of the loss on target tokens; None where all count the same."""
    training = config.training
    if training.context_weight == 1 and not training.weighted_words:
        return None
    words, word_weight = training.weighted_words, training.word_weight
    return TokenWeights(text.target_pieces(), training.context_weight, words, word_weight)


def _text(config: Config, folder: Path, pairs: list[Pair]) -> Text:
    if all((folder / name).is_file() for name in TEXT_FILES):
        return load_text(folder)
    if config.training.start_from:
        return copy_text(Path(config.training.start_from), folder)
    source, target = [pair.source for pair in pairs], [pair.target for pair in pairs]
    return learn_text(config.vocabulary, config.data.languages, source, target, folder)


def _differences(old: Config, new: Config) -> Iterable[str]:
    for section in dataclasses.fields(Config):
        before, after = getattr(old, section.name), getattr(new, section.name)
        if section.name in FREE_SECTIONS or not dataclasses.is_dataclass(before):
            continue
        for key in dataclasses.fields(before):
            name = f"{section.name}.{key.name}"
            one, other = getattr(before, key.name), getattr(after, key.name)
            if one != other and name not in FREE:
                yield f"{name}: {one!r}, now {other!r}"
