"""Training of the laptop Transformer against the same model in a plain `transformers` loop: target tokens per second.

The plain loop takes as many sentences at a time as make the same number of updates, in the order of the text, and pads
them to the longest. Optimizer, clipping, threads and text are the same. One epoch of either is timed.
"""

from __future__ import annotations

import gzip
import os
import random
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from timing import Row, side_by_side

AT_LEAST = 1.5
DATA = Path(os.environ.get("ANAPHORA_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
SETS = ("tatoeba", "multi30k", "docs-en-de")
EACH, ROUNDS = 250, 3  # sentence pairs of each set
PRESET = "transformer-baseline-laptop"

Pair = tuple[str, str]


def run() -> list[Row]:
    import torch

    torch.set_num_threads(1)  # the clock of the processor counts the time of every thread
    pairs, source = (
        (real(), ", ".join(SETS)) if all((DATA / name).is_dir() for name in SETS) else (made_up(), "made up")
    )
    with tempfile.TemporaryDirectory() as folder:
        trainer = _trainer(pairs, Path(folder))
        corpus, budget = trainer.data.training, trainer.config.training.batch_tokens
        batches = _batches(trainer)
        plain = Plain(trainer, len(batches))
        functions = {"ours": lambda: [trainer.update([batch]) for batch in batches], "plain": plain.epoch}
        rounds = side_by_side(functions, ROUNDS)
    tokens = int(corpus.lengths[:, 1].sum())
    ours, theirs = (_real_share(corpus.lengths, cut) for cut in (batches, plain.batches))
    note = f"{rounds.note}; {source}; {len(corpus):,} pairs, {len(batches)} updates of {budget:,} tokens"
    shares = f"of the tokens are real, in the plain loop {theirs:.0%}"
    return [
        Row("training, Transformer: a plain loop takes", rounds.ratio("plain", "ours"), "×", None, note, AT_LEAST),
        Row("training, Transformer: target tokens per second", tokens / rounds.seconds("ours"), "/s"),
        Row("training, Transformer: in our batches", 100 * ours, "%", None, shares),
    ]


def _trainer(pairs: list[Pair], folder: Path) -> Any:
    from anaphora.nmt.checkpoint import open_folder
    from anaphora.nmt.config import parse_config
    from anaphora.nmt.data import prepare
    from anaphora.nmt.training import Trainer

    paths = [folder / "text.en", folder / "text.de"]
    for side, path in enumerate(paths):
        path.write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    data = {"source": str(paths[0]), "target": str(paths[1])}
    config = parse_config({"base": PRESET, "data": data}, Path(PRESET))
    open_folder(folder / "model", config, resume=False)
    return Trainer(config, prepare(config, folder / "model"), folder / "model")


def _batches(trainer: Any) -> list[Any]:
    from anaphora.nmt.data import batches_of_epoch

    return batches_of_epoch(trainer.data.training.lengths, trainer.config.training.batch_tokens, 1, 0)


class Plain:
    """What one writes with transformers alone."""

    def __init__(self, trainer: Any, updates: int) -> None:
        import torch
        from transformers import MarianMTModel

        training = trainer.config.training
        self.corpus, self.clip = trainer.data.training, training.clip_norm
        self.model = MarianMTModel(trainer.model.config)
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), lr=training.learning_rate, betas=tuple(training.betas), eps=training.epsilon
        )
        size = -(-len(self.corpus) // updates)
        self.batches = [
            list(range(len(self.corpus)))[start : start + size] for start in range(0, len(self.corpus), size)
        ]
        self.examples = [(list(i[0]), list(t)) for i, t in map(self.corpus.example, range(len(self.corpus)))]

    def epoch(self) -> None:
        import torch
        from torch.nn.utils.rnn import pad_sequence

        self.model.train()
        padding = self.corpus.special.padding
        for batch in self.batches:
            source, target = ([torch.tensor(self.examples[n][k]) for n in batch] for k in range(2))
            ids = pad_sequence(source, batch_first=True, padding_value=padding)
            labels = pad_sequence(target, batch_first=True, padding_value=-100)
            self.optimizer.zero_grad()
            loss = self.model(input_ids=ids, attention_mask=ids.ne(padding).long(), labels=labels).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
            self.optimizer.step()


def _real_share(lengths: Any, batches: list[Any]) -> float:
    """How many of the tokens of padded batches are no padding, on both sides."""
    padded = sum(len(batch) * int(lengths[batch].max(axis=0).sum()) for batch in batches)
    return float(lengths.sum()) / padded


def real() -> list[Pair]:
    """Short, middle and long sentences, mixed as training text is."""
    rng = random.Random(1)
    chosen = [rng.sample(list(pairs), EACH) for pairs in (_tatoeba(), _multi30k(), _documents())]
    mixed = [pair for pairs in chosen for pair in pairs]
    rng.shuffle(mixed)
    return mixed


def _tatoeba() -> Iterator[Pair]:
    with gzip.open(DATA / "tatoeba" / "eng-deu.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            english, german, *_ = line.rstrip("\n").split("\t")
            yield english, german


def _multi30k() -> Iterator[Pair]:
    return islice(_lines(DATA / "multi30k", "train.{}.gz"), 10_000)


def _documents() -> Iterator[Pair]:
    for pair in _lines(DATA / "docs-en-de" / "NC-2016", "concatenated_en2de_dev_{}.txt.gz"):
        if pair[0] != "<d>" and all(pair):
            yield pair


def _lines(folder: Path, name: str) -> Iterator[Pair]:
    paths = [folder / name.format(language) for language in ("en", "de")]
    with (
        gzip.open(paths[0], "rt", encoding="utf-8") as english,
        gzip.open(paths[1], "rt", encoding="utf-8") as german,
    ):
        for one, other in zip(english, german, strict=True):
            yield one.strip(), other.strip()


def made_up() -> list[Pair]:
    """Sentences whose lengths are as uneven as those of text: half of them have 11 words or fewer, one in twenty 40."""
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnop", k=rng.randint(2, 8))) for _ in range(400)]

    def sentence(length: float) -> str:
        return " ".join(rng.choices(words, k=max(1, round(length))))

    lengths = [min(60.0, rng.lognormvariate(2.4, 0.78)) for _ in range(3 * EACH)]
    return [(sentence(length), sentence(length * rng.uniform(0.8, 1.2))) for length in lengths]
