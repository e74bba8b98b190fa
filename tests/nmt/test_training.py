"""Training: schedules, validation, the loop, interruption, weights of the loss, warm start."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from safetensors.torch import load_file

torch = pytest.importorskip("torch")
pytest.importorskip("sentencepiece")

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.finite import NotFinite
from anaphora.nmt import training as module
from anaphora.nmt.checkpoint import checkpoints, load_model, open_folder
from anaphora.nmt.config import (
    Config,
    DataConfig,
    ModelConfig,
    TrainingConfig,
    read_config,
)
from anaphora.nmt.data import Corpus, Pair, prepare
from anaphora.nmt.layout import ContextLayout, SpecialTokens
from anaphora.nmt.log import read_log
from anaphora.nmt.text import load_text
from anaphora.nmt.training import Progress, Trained, Trainer, contrastive_accuracy, learning_rate, loss_of, perplexity
from anaphora.scoring.weights import weights_of
from anaphora.suites.example import Example
from tests import warm


def test_fixed() -> None:
    config = TrainingConfig(learning_rate=0.5, schedule="fixed", warmup=0)
    assert [learning_rate(config, update, Progress()) for update in (1, 10, 10_000)] == [0.5] * 3
    assert learning_rate(TrainingConfig(learning_rate=0.5, schedule="fixed", warmup=10), 5, Progress()) == 0.25


def test_inverse_square_root() -> None:
    config = TrainingConfig(learning_rate=1.0, schedule="inverse-sqrt", warmup=100)
    assert learning_rate(config, 50, Progress()) == 0.5
    assert learning_rate(config, 100, Progress()) == 1.0
    assert learning_rate(config, 400, Progress()) == pytest.approx(0.5)


def test_plateau_schedule_of_contracat() -> None:
    """ContraCAT, appendix A."""
    config = TrainingConfig(learning_rate=1.0, schedule="plateau", warmup=0)
    progress = Progress().after(10.0, 8)
    for _ in range(7):
        progress = progress.after(10.0, 8)
    assert learning_rate(config, 1, progress) == 1.0
    progress = progress.after(11.0, 8)
    assert learning_rate(config, 1, progress) == pytest.approx(0.7)
    for _ in range(8):
        progress = progress.after(10.0, 8)
    assert learning_rate(config, 1, progress) == pytest.approx(0.49)
    better = progress.after(9.0, 8)
    assert (better.best, better.since, better.reductions) == (9.0, 0, 2)


def test_not_a_number_is_no_gain() -> None:
    assert Progress().after(float("inf"), 8).since == 1


def test_bfloat16_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    device = torch.device("cpu")
    for dtype in ("bfloat16", "float32"):
        with module.autocast(dtype, device)():
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == getattr(torch, dtype)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: False)
    with pytest.raises(AnaphoraError, match="does not support bfloat16"):
        module.autocast("bfloat16", torch.device("cuda"))


# What is looked at during training is what it says.

SIZE = 10


class Prefers(torch.nn.Module):
    """Finds some ids more probable than others, whatever it reads; or all alike."""

    def __init__(self, favorite: int | None = None) -> None:
        super().__init__()
        self.weights = torch.nn.Parameter(torch.zeros(SIZE))
        if favorite is not None:
            self.weights.data[favorite] = 3.0

    def forward(self, batch: Any) -> Any:
        return self.weights.expand(*batch.read.ids.shape, SIZE)


TEXT: Any = SimpleNamespace(
    special=SpecialTokens(separator=2, end=0, start=9, padding=9),
    encode_source=lambda text: [int(word) for word in text.split()],
    encode_target=lambda text: [int(word) for word in text.split()],
)


def test_uniform_model_has_the_perplexity_of_its_vocabulary() -> None:
    corpus = Corpus([Pair("3 4", "5 6 7", 1), Pair("3", "5", 1)], TEXT, ContextLayout(), DataConfig())
    assert perplexity(Prefers(), corpus, 4) == pytest.approx(SIZE, rel=1e-5)
    assert perplexity(Prefers(), corpus, 400) == pytest.approx(SIZE, rel=1e-5)


def test_no_text_no_figure() -> None:
    corpus = Corpus([], TEXT, ContextLayout(), DataConfig())
    assert perplexity(Prefers(), corpus, 10) is None
    prior = Example("prior", ("3",), (("5",), ("6",)), None)
    assert contrastive_accuracy(Prefers(), TEXT, ContextLayout(), [prior], 100) is None


@pytest.mark.parametrize("weight", [math.nan, math.inf, 1e6])
def test_a_model_out_of_bounds_is_an_error(weight: float) -> None:
    """1e6: the loss is a number still, but the perplexity is not."""
    model = Prefers()
    model.weights.data[5] = weight
    corpus = Corpus([Pair("3", "6", 1)], TEXT, ContextLayout(), DataConfig())
    with pytest.raises(
        NotFinite, match=r"^the perplexity of 2 held-out tokens is (nan|inf), .* Lower the learning rate"
    ):
        perplexity(model, corpus, 10)
    if not math.isfinite(weight):
        example = Example("1", ("3",), (("5",), ("6",)), 0)
        with pytest.raises(NotFinite, match=r"^the model's scores of candidates: 2 of 2 values"):
            contrastive_accuracy(model, TEXT, ContextLayout(), [example], 100)


def test_accuracy_counts_ties_as_wrong() -> None:
    examples = [
        Example("1", ("3",), (("5",), ("6",)), 0),
        Example("2", ("3",), (("5",), ("6",)), 1),
        Example("3", ("3",), (("7",), ("8",)), 0),
        Example("prior", ("3",), (("5",), ("6",)), None),
    ]
    assert contrastive_accuracy(Prefers(5), TEXT, ContextLayout(), examples, 100) == pytest.approx(1 / 3)
    assert contrastive_accuracy(Prefers(), TEXT, ContextLayout(), examples, 100) == 0.0
    assert contrastive_accuracy(Prefers(), TEXT, ContextLayout(), [], 100) is None


# Training: it learns, it stops as it should, and an interruption leaves no trace.

PROGRAM = """
import sys, time
from pathlib import Path
import torch
torch.set_num_threads(1)
sys.path.insert(0, {here!r})
from anaphora.nmt import checkpoint
checkpoint.BUILDERS["recurrent"] = "tiny_model:build"
from anaphora.nmt.config import read_config
from anaphora.nmt.training import Ranks
from anaphora.nmt.checkpoint import open_folder
from anaphora.nmt.data import prepare
from anaphora.nmt.training import Trainer
config = read_config(Path(sys.argv[1]), dict(a.split("=") for a in sys.argv[4:]))
ranks = Ranks()
folder = Path(sys.argv[2])
if ranks.first:
    open_folder(folder, config, resume=True)
    data = prepare(config, folder)
ranks.wait()
if not ranks.first:
    data = prepare(config, folder)
trainer = Trainer(config, data, folder, ranks=ranks)
if float(sys.argv[3]):
    update = trainer.update
    def slowly(batches):
        time.sleep(float(sys.argv[3]))
        return update(batches)
    trainer.update = slowly
trainer.run()
"""


def train(config: Config, folder: Path, resume: bool = False) -> Trained:
    torch.set_num_threads(1)
    open_folder(folder, config, resume)
    return Trainer(config, prepare(config, folder), folder).run()


def changed(config: Path, **training: Any) -> Config:
    read = read_config(config)
    return replace(read, training=replace(read.training, **training))


def log_of(folder: Path) -> list[dict[str, Any]]:
    return read_log(folder / "log.jsonl")


def test_it_learns_and_says_so(config: Path, tiny: Any, tmp_path: Path) -> None:
    trained = train(changed(config, updates=200), tmp_path / "model")
    lines = log_of(tmp_path / "model")
    losses = [line["loss"] for line in lines if line["kind"] == "training"]
    perplexities = [line["perplexity"] for line in lines if line["kind"] == "validation"]
    assert losses[-1] < 0.5 * losses[0]
    assert perplexities[-1] < 0.5 * perplexities[0]
    assert trained.updates == 200
    assert trained.perplexity == min(perplexities)
    assert [line["update"] for line in lines if line["kind"] == "training"] == list(range(5, 201, 5))
    model, read, text = load_model(tmp_path / "model")
    assert not model.training
    assert read.training.updates == 200
    assert text.size == model.embeddings.num_embeddings


def test_the_same_config_gives_the_same_curve(config: Path, tiny: Any, tmp_path: Path) -> None:
    for name in ("one", "other"):
        train(read_config(config), tmp_path / name)
    assert log_of(tmp_path / "one") == log_of(tmp_path / "other")
    assert [path.name for path in checkpoints(tmp_path / "one" / "checkpoints")] == [
        "update-00000014",
        "update-00000021",
        "update-00000024",
    ]


@pytest.mark.parametrize("stop", [1, 7, 11])
def test_training_in_two_parts_is_training(config: Path, tiny: Any, tmp_path: Path, stop: int) -> None:
    train(read_config(config), tmp_path / "whole")
    train(changed(config, updates=stop), tmp_path / "parts")
    train(read_config(config), tmp_path / "parts", resume=True)
    assert log_of(tmp_path / "parts") == log_of(tmp_path / "whole")
    assert same_weights(tmp_path / "parts", tmp_path / "whole")


def same_weights(one: Path, other: Path) -> bool:
    return (one / "model.safetensors").read_bytes() == (other / "model.safetensors").read_bytes()


def start(config: Path, folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    """Training in a process of its own; arguments: seconds of pause before each update, then settings."""
    code = PROGRAM.format(here=str(Path(__file__).parent))
    command = ["python", "-c", code, str(config), str(folder), *(arguments or ["0"])]
    with (folder.parent / "stderr").open("ab") as words:
        process: subprocess.Popen[bytes] = warm.start(*command, env=os.environ | environment, stderr=words)
    return process


def finish(process: subprocess.Popen[bytes], folder: Path) -> None:
    assert process.wait(120) == 0, (folder.parent / "stderr").read_text()


@pytest.mark.skipif(os.name != "posix", reason="kills")
def test_killed_and_resumed_training_gives_the_same_bits(config: Path, tiny: Any, tmp_path: Path) -> None:
    """kill −9 at random moments: the log and the weights are those of an uninterrupted training, to the last bit."""
    train(read_config(config), tmp_path / "whole")
    folder = tmp_path / "killed"
    rng = random.Random(3)
    for _ in range(3):
        process = start(config, folder, "0.05")
        deadline = time.monotonic() + 60
        while not (folder / "log.jsonl").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(rng.uniform(0.05, 0.7))
        process.send_signal(signal.SIGKILL)
        process.wait()
    finish(start(config, folder), folder)
    assert log_of(folder) == log_of(tmp_path / "whole")
    assert same_weights(folder, tmp_path / "whole")


def test_two_processes_train_as_one_with_twice_the_batches(config: Path, tiny: Any, tmp_path: Path) -> None:
    settings = ["model.dropout=0.0", "training.updates=10"]
    port = str(20_000 + os.getpid() % 20_000)
    meeting = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    both = [start(config, tmp_path / "two", "0", *settings, RANK=str(rank), **meeting) for rank in range(2)]
    one = start(config, tmp_path / "one", "0", *settings, "training.accumulate=2")
    for process in (*both, one):
        finish(process, tmp_path / "two")
    lines = [log_of(tmp_path / name) for name in ("one", "two")]
    assert len(lines[0]) == len(lines[1]) == 3
    for first, second in zip(*lines, strict=True):
        for key in {"loss", "perplexity"} & first.keys():
            assert first[key] == pytest.approx(second[key], rel=1e-5)


def test_variables_of_torchrun_are_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "two")
    with pytest.raises(AnaphoraError, match="the environment variable WORLD_SIZE is not a number: 'two'"):
        module.Ranks()


def test_it_stops_when_validation_brings_nothing(config: Path, tiny: Any, tmp_path: Path) -> None:
    read = changed(config, updates=500, learning_rate=0.5)  # far too much: it gets worse
    read = replace(read, validation=replace(read.validation, every=5, patience=3))
    trained = train(read, tmp_path / "model")
    assert trained.stopped_early
    assert trained.updates < 500
    actual = [line["perplexity"] for line in log_of(tmp_path / "model") if line["kind"] == "validation"]
    assert min(actual) == actual[-4]  # three without gain after it
    best = checkpoints(tmp_path / "model" / "checkpoints" / "best")[-1]
    assert (best / "model.safetensors").read_bytes() == (tmp_path / "model" / "model.safetensors").read_bytes()
    again = Trainer(read, prepare(read, tmp_path / "model"), tmp_path / "model").run()
    assert again.updates == trained.updates  # it stays stopped


def worsening(config: Path, **training: Any) -> Config:
    """Far too high a rate: the best checkpoints are not the last ones."""
    read = changed(config, updates=40, learning_rate=0.3, save_every=5, keep=100, seed=1, **training)
    return replace(read, validation=replace(read.validation, every=5))


def mean_of(folder: Path, updates: list[int]) -> dict[str, Any]:
    places = [folder / "checkpoints" / f"update-{update:08d}" / "model.safetensors" for update in updates]
    weights = [load_file(position) for position in places]
    return {name: torch.stack([w[name].double() for w in weights]).mean(0).float() for name in weights[0]}


@pytest.mark.parametrize("average_of", ["last", "best"])
def test_the_mean_of_checkpoints_is_the_model(config: Path, tiny: Any, tmp_path: Path, average_of: str) -> None:
    """ContraCAT appendix A: "an average of the 8 best checkpoints based on validation perplexity"."""
    train(worsening(config, average=3, average_of=average_of), tmp_path / "model")
    lines = [line for line in log_of(tmp_path / "model") if line["kind"] == "validation"]
    best = sorted(sorted(lines, key=lambda line: line["perplexity"])[:3], key=lambda line: line["update"])
    chosen = {"last": [30, 35, 40], "best": [line["update"] for line in best]}
    assert chosen["best"] != chosen["last"]
    expected = mean_of(tmp_path / "model", chosen[average_of])
    weights = load_file(tmp_path / "model" / "model.safetensors")
    assert weights.keys() == expected.keys()
    assert all(torch.allclose(weights[name], expected[name], atol=1e-7) for name in weights)


def test_interrupted_training_averages_the_same_checkpoints(config: Path, tiny: Any, tmp_path: Path) -> None:
    whole = worsening(config, average=3, average_of="best")
    train(whole, tmp_path / "whole")
    train(replace(whole, training=replace(whole.training, updates=23)), tmp_path / "parts")
    train(whole, tmp_path / "parts", resume=True)
    assert same_weights(tmp_path / "parts", tmp_path / "whole")


def test_what_is_averaged_is_kept(config: Path, tiny: Any, tmp_path: Path) -> None:
    read = worsening(config, average=4)
    train(replace(read, training=replace(read.training, keep=1)), tmp_path / "model")
    assert len(checkpoints(tmp_path / "model" / "checkpoints")) == 4
    read = worsening(config, average=4, average_of="best")
    train(replace(read, training=replace(read.training, keep=1)), tmp_path / "best")
    assert len(checkpoints(tmp_path / "best" / "checkpoints")) == 1
    assert len(checkpoints(tmp_path / "best" / "checkpoints" / "best")) == 4


def test_checkpoints_that_are_gone_cannot_be_averaged(config: Path, tiny: Any, tmp_path: Path) -> None:
    read = worsening(config)
    train(replace(read, training=replace(read.training, keep=2)), tmp_path / "model")
    with pytest.raises(AnaphoraError, match=r"model: training.average is 3, but there are only 2 checkpoints"):
        train(replace(read, training=replace(read.training, average=3)), tmp_path / "model", resume=True)


def test_a_run_shorter_than_a_report_reports_at_its_end(config: Path, tiny: Any, tmp_path: Path) -> None:
    records: list[dict[str, Any]] = []
    read = changed(config, updates=3)
    open_folder(tmp_path / "model", read, False)
    Trainer(read, prepare(read, tmp_path / "model"), tmp_path / "model", records.append).run()
    lines = log_of(tmp_path / "model")
    assert [(line["kind"], line["update"]) for line in lines] == [("training", 3)]
    assert lines[0]["loss"] > 0
    assert records == lines


def test_a_loss_that_is_nan_stops_and_keeps_checkpoints(
    config: Path, tiny: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = module.loss_of
    calls = []

    def bad(*arguments: Any) -> Any:
        calls.extend([1] if arguments[0].training else [])
        loss = real(*arguments)
        wrong = float("nan") if len(calls) > 9 else 1.0
        return replace(loss, smoothed=loss.smoothed * wrong, plain=loss.plain * wrong)

    monkeypatch.setattr(module, "loss_of", bad)
    with pytest.raises(AnaphoraError, match=r"at update 10\. The last good checkpoint is .*update-00000007"):
        train(read_config(config), tmp_path / "model")
    assert [path.name for path in checkpoints(tmp_path / "model" / "checkpoints")] == ["update-00000007"]


def test_averaged_gradients_do_not_depend_on_how_batches_are_cut(config: Path, tiny: Any, tmp_path: Path) -> None:
    read = changed(config, updates=1, label_smoothing=0.0)
    read = replace(read, model=replace(read.model, dropout=0.0))
    open_folder(tmp_path / "m", read, False)
    data = prepare(read, tmp_path / "m")
    losses = {}
    for parts in (1, 3):
        trainer = Trainer(read, data, tmp_path / f"m{parts}")
        numbers = torch.arange(12).numpy()
        losses[parts] = trainer.update([numbers[k::parts] for k in range(parts)])
        losses[parts] += (float(trainer.model.output.bias.grad.norm()),)
    assert losses[1] == pytest.approx(losses[3], rel=1e-5)


def test_fine_tuning_starts_from_weights_and_vocabulary(config: Path, tiny: Any, tmp_path: Path) -> None:
    train(changed(config, updates=100), tmp_path / "base")
    tuned = changed(config, updates=5, start_from=str(tmp_path / "base"), learning_rate=1e-4)
    train(tuned, tmp_path / "tuned")
    before = [line["loss"] for line in log_of(tmp_path / "base") if line["kind"] == "training"]
    after = [line["loss"] for line in log_of(tmp_path / "tuned") if line["kind"] == "training"]
    assert after[0] < 0.7 * before[0]
    assert (tmp_path / "base" / "source.spm").read_bytes() == (tmp_path / "tuned" / "source.spm").read_bytes()


# Weights of the loss


def in_context(config: Path, **training: Any) -> Config:
    """The config as a concatenation model with a weighted loss."""
    read = changed(config, context_weight=0.1, weighted_words=("er", "SIE", "es"), word_weight=8.0, **training)
    return replace(read, model=replace(read.model, target_context=1))


def test_the_weighted_loss_by_hand(config: Path, tiny: Any, tmp_path: Path) -> None:
    """Each token's loss from its own log-probabilities, with a weight that is read off the text."""
    read = in_context(config, updates=1, label_smoothing=0.1)
    read = replace(read, model=replace(read.model, dropout=0.0))
    open_folder(tmp_path / "m", read, False)
    data = prepare(read, tmp_path / "m")
    trainer = Trainer(read, data, tmp_path / "m")
    batch = data.training.batch(range(6))
    logits = trainer.model(batch).detach().double()
    separator, pieces = data.text.special.separator, data.text.target_pieces()
    total = weight_sum = plain = 0.0
    for row, ids in enumerate(batch.predict.ids[n, :length].tolist() for n, length in enumerate(batch.predict.lengths)):
        current = len(ids) - ids[::-1].index(separator) if separator in ids else 0
        word = ""
        for position, token in enumerate(ids):
            if pieces[token].startswith("▁"):  # this text has a space before each word and each mark
                following = [pieces[t] for t in ids[position + 1 : -1]]
                tail = next((n for n, piece in enumerate(following) if piece[0] == "▁"), len(following))
                word = "".join([pieces[token], *following[:tail]])[1:]
            weight = 0.1 if position < current else 8.0 if word in ("Er", "Sie", "Es") and token else 1.0
            logs = logits[row, position].log_softmax(-1)
            total -= weight * float(0.9 * logs[token] + 0.1 * logs.mean())
            plain -= float(logs[token])
            weight_sum += weight
    loss = loss_of(trainer.model, batch, 0.1)
    assert float(loss.smoothed.detach()) == pytest.approx(total, rel=1e-5)
    assert float(loss.plain) == pytest.approx(plain, rel=1e-5)
    assert data.training.loss_weights[:6].sum() == pytest.approx(weight_sum)
    assert data.validation is not None
    assert data.validation.batch([0]).weights is None


def test_weights_do_not_change_the_size_of_a_step(config: Path, tiny: Any, tmp_path: Path) -> None:
    """One weight for all tokens of the target is no weight: the loss is divided by the sum of weights."""
    read = changed(config, updates=1, label_smoothing=0.0)
    read = replace(read, model=replace(read.model, dropout=0.0))
    open_folder(tmp_path / "m", read, False)
    data = prepare(read, tmp_path / "m")
    gradients = []
    for factor in (1.0, 5.0):
        trainer = Trainer(read, data, tmp_path / f"m{factor}")
        corpus = trainer.data.training
        batch = corpus.batch(range(12))
        batch = replace(batch, weights=factor * batch.predict.mask)
        loss = loss_of(trainer.model, batch, 0.0)
        (loss.smoothed / (factor * corpus.loss_weights[:12].sum())).backward()
        gradients.append(trainer.model.output.bias.grad)
    assert torch.allclose(*gradients, rtol=1e-5)


def test_weighted_gradients_do_not_depend_on_how_batches_are_cut(config: Path, tiny: Any, tmp_path: Path) -> None:
    read = in_context(config, updates=1)
    read = replace(read, model=replace(read.model, dropout=0.0))
    open_folder(tmp_path / "m", read, False)
    data = prepare(read, tmp_path / "m")
    losses = {}
    for parts in (1, 3):
        trainer = Trainer(read, data, tmp_path / f"m{parts}")
        numbers = torch.arange(12).numpy()
        losses[parts] = trainer.update([numbers[k::parts] for k in range(parts)])
        losses[parts] += (float(trainer.model.output.bias.grad.norm()),)
    assert losses[1] == pytest.approx(losses[3], rel=1e-5)


def test_weights_and_repetition_resume_exactly(config: Path, tiny: Any, tmp_path: Path) -> None:
    read = in_context(config)
    read = replace(read, data=replace(read.data, repeat=(2,)))
    train(read, tmp_path / "whole")
    train(replace(read, training=replace(read.training, updates=11)), tmp_path / "parts")
    train(read, tmp_path / "parts", resume=True)
    assert log_of(tmp_path / "parts") == log_of(tmp_path / "whole")
    assert same_weights(tmp_path / "parts", tmp_path / "whole")


def test_a_weight_of_one_changes_nothing(config: Path, tiny: Any, tmp_path: Path) -> None:
    read = in_context(config, updates=5)
    ones = replace(read.training, context_weight=1.0, word_weight=1.0)
    for name, training in (("ones", ones), ("none", replace(ones, weighted_words=()))):
        train(replace(read, training=training), tmp_path / name)
    losses = [[line["loss"] for line in log_of(tmp_path / name) if "loss" in line] for name in ("ones", "none")]
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)


# Warm start


def small(kind: str, **settings: Any) -> ModelConfig:
    sizes = {"embedding": 8, "hidden": 8, "heads": 2, "feed_forward": 16, "layers": 1, "dropout": 0.0}
    return ModelConfig(kind=kind, **sizes | settings)


@pytest.mark.parametrize("kind", ["transformer", "recurrent"])
def test_a_concatenation_model_starts_from_a_sentence_level_one(config: Path, tmp_path: Path, kind: str) -> None:
    pytest.importorskip("transformers")
    base = replace(changed(config, updates=3), model=small(kind))
    train(base, tmp_path / "base")
    concat = replace(
        changed(config, updates=3, start_from=str(tmp_path / "base")),
        model=small(kind, source_context=1, target_context=1, dropout=0.1, max_length=600),
    )
    open_folder(tmp_path / "concat", concat, False)
    trainer = Trainer(concat, prepare(concat, tmp_path / "concat"), tmp_path / "concat")
    start = load_file(tmp_path / "base" / "model.safetensors")
    assert start
    assert all(torch.equal(weights_of(trainer.model)[name], tensor) for name, tensor in start.items())
    trainer.run()
    assert load_text(tmp_path / "concat").target_pieces() == load_text(tmp_path / "base").target_pieces()
    shutil.rmtree(tmp_path / "base")  # a training that has begun does not need it
    train(replace(concat, training=replace(concat.training, updates=5)), tmp_path / "concat", resume=True)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"heads": 4}, r"model\.heads is 2 there, 4 here"),  # the same parameters, but other functions of them
        ({"embedding": 16}, r"model\.embedding is 8 there, 16 here"),
        ({"layers": 2, "feed_forward": 8}, r"model\.layers is 1 there, 2 here; model\.feed_forward is 16 there"),
        ({"kind": "context-transformer", "context_encoders": ("source",)}, r"model\.kind is 'transformer' there"),
    ],
)
def test_parameters_that_do_not_fit_are_named(
    config: Path, tmp_path: Path, settings: dict[str, Any], problem: str
) -> None:
    pytest.importorskip("transformers")
    train(replace(changed(config, updates=1), model=small("transformer")), tmp_path / "base")
    other = changed(config, updates=1, start_from=str(tmp_path / "base"))
    other = replace(other, model=small(**{"kind": "transformer"} | settings))
    with pytest.raises(BadInput, match=rf"base: training cannot start from this model: {problem}.*may differ"):
        train(other, tmp_path / "other")


def test_another_config_in_the_same_folder_is_refused(config: Path, tiny: Any, tmp_path: Path) -> None:
    train(changed(config, updates=3), tmp_path / "model")
    with pytest.raises(AnaphoraError, match="--resume"):
        train(read_config(config), tmp_path / "model")
    with pytest.raises(AnaphoraError, match=r"training\.learning_rate: 0\.01, now 0\.5"):
        train(changed(config, updates=9, learning_rate=0.5), tmp_path / "model", resume=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    with pytest.raises(AnaphoraError, match="is not a model"):
        train(read_config(config), tmp_path / "other")


def test_the_log_holds_json(config: Path, tiny: Any, tmp_path: Path) -> None:
    train(changed(config, updates=8), tmp_path / "model")
    for line in (tmp_path / "model" / "log.jsonl").read_text().splitlines():
        assert {"kind", "update"} <= json.loads(line).keys()
