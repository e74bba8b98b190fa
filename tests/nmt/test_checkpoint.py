"""Checkpoints are complete or not there at all, and fit the model or are refused."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.nmt import checkpoint as module
from anaphora.nmt.checkpoint import (
    State,
    average,
    best_checkpoints,
    checkpoints,
    keep_best,
    load_checkpoint,
    save_checkpoint,
)
from anaphora.nmt.data import Position
from anaphora.nmt.training import Progress
from anaphora.scoring import weights
from anaphora.scoring.weights import load_weights, weights_of


def tied(size: int = 3) -> Any:
    model = torch.nn.Sequential(torch.nn.Linear(size, size, bias=False), torch.nn.Linear(size, size, bias=False))
    model[1].weight = model[0].weight
    return model


def trained(size: int = 3) -> tuple[Any, Any]:
    model = tied(size)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(2, size)).sum().backward()
        optimizer.step()
    return model, optimizer


STATE = State(7, Position(1, 2), Progress(3.5, 1, 0), (0.1 + 0.2, 5))


def test_everything_comes_back(tmp_path: Path) -> None:
    model, optimizer = trained()
    folder = save_checkpoint(tmp_path, model, optimizer, STATE, keep=3)
    drawn = torch.rand(3)
    other = tied()
    fresh = torch.optim.Adam(other.parameters(), lr=0.1)
    assert load_checkpoint(folder, other, fresh) == STATE
    assert torch.equal(torch.rand(3), drawn)
    assert torch.equal(other[0].weight, model[0].weight)
    for ours, theirs in zip(optimizer.state.values(), fresh.state.values(), strict=True):
        assert {k: v.tolist() for k, v in ours.items()} == {k: v.tolist() for k, v in theirs.items()}


def test_what_is_tied_is_stored_once(tmp_path: Path) -> None:
    assert list(weights_of(tied())) == ["0.weight"]


def test_weights_in_half_precision_are_read_into_single(tmp_path: Path) -> None:
    """As the models in experiments/ have them."""
    model, other = tied(), tied()
    halves = {name: tensor.half() for name, tensor in weights_of(model).items()}
    weights.save_weights(halves, tmp_path / "half.safetensors", tmp_path / "half.safetensors")
    load_weights(tmp_path / "half.safetensors", other)
    assert other[0].weight.dtype == torch.float32
    assert torch.equal(other[0].weight, model[0].weight.half().float())


def test_the_oldest_go(tmp_path: Path) -> None:
    model, optimizer = trained()
    for update in (1, 20, 300):
        save_checkpoint(tmp_path, model, optimizer, State(update), keep=2)
    assert [path.name for path in checkpoints(tmp_path)] == ["update-00000020", "update-00000300"]


def test_killed_while_an_old_one_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a checkpoint never counts as one, and goes with the next that is saved."""
    model, optimizer = trained()
    save_checkpoint(tmp_path, model, optimizer, replace(STATE, update=1), keep=1)

    def half(folder: Path, ignore_errors: bool = False) -> None:
        (folder / "model.safetensors").unlink()  # in whatever order the file system lists them
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module.shutil, "rmtree", half)
        with pytest.raises(KeyboardInterrupt):
            save_checkpoint(tmp_path, model, optimizer, replace(STATE, update=2), keep=1)
    assert [folder.name for folder in checkpoints(tmp_path)] == ["update-00000002"]
    save_checkpoint(tmp_path, model, optimizer, replace(STATE, update=3), keep=1)
    assert [folder.name for folder in tmp_path.iterdir()] == ["update-00000003"]


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, optimizer = trained()
    good = save_checkpoint(tmp_path, model, optimizer, State(1), keep=2)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(weights, "save_file", full)
    with pytest.raises(AnaphoraError, match=r"no space left on device.*free some space and pass --resume"):
        save_checkpoint(tmp_path, model, optimizer, State(2), keep=2)
    assert checkpoints(tmp_path) == [good]
    assert [path.name for path in tmp_path.iterdir()] == [good.name]


def test_one_that_was_begun_does_not_count(tmp_path: Path) -> None:
    (tmp_path / ".update-00000005.part").mkdir()
    (tmp_path / "update-00000006").mkdir()
    assert checkpoints(tmp_path) == []


def test_another_architecture_or_size_is_refused(tmp_path: Path) -> None:
    model, optimizer = trained()
    file = save_checkpoint(tmp_path, model, optimizer, State(1), keep=1) / "model.safetensors"
    with pytest.raises(BadInput, match=r"0\.weight: \(3, 3\) in the file, \(4, 4\) in the model.*another vocabulary"):
        load_weights(file, tied(4))
    with pytest.raises(BadInput, match=r"the model has 0\.bias, but the file does not"):
        load_weights(file, torch.nn.Sequential(torch.nn.Linear(3, 3)))
    (tmp_path / "bad.safetensors").write_bytes(b"nothing")
    with pytest.raises(BadInput, match="cannot be read as weights"):
        load_weights(tmp_path / "bad.safetensors", tied())
    with pytest.raises(BadInput, match="no such file"):
        load_weights(tmp_path / "none", tied())


@settings(max_examples=20)
@given(st.lists(st.sampled_from([1.0, 1.5, 2.0, 7.0]), max_size=7), st.integers(1, 3))
def test_the_best_stay_and_of_equals_the_first(values: list[float], number: int) -> None:
    model, _ = trained()
    with TemporaryDirectory() as folder:
        for update, value in enumerate(values, start=1):
            keep_best(Path(folder), model, State(update, perplexity=value), number)
        actual = [int(path.name.removeprefix("update-")) for path in best_checkpoints(Path(folder))]
    by_value = sorted(range(1, len(values) + 1), key=lambda update: values[update - 1])
    assert actual == by_value[:number]


def test_best_checkpoints_of_0_1_0_have_a_perplexity(tmp_path: Path) -> None:
    model, optimizer = trained()
    keep_best(tmp_path, model, State(1, perplexity=4.0), 2)
    old = save_checkpoint(tmp_path, model, optimizer, State(2, progress=Progress(3.0, 0, 0)), keep=0)
    document = json.loads((old / "state.json").read_text())
    del document["perplexity"]
    (old / "state.json").write_text(json.dumps(document))
    assert best_checkpoints(tmp_path)[0] == old
    assert load_checkpoint(old, tied()).perplexity is None


def test_the_mean_of_checkpoints(tmp_path: Path) -> None:
    model, optimizer = trained()
    files = []
    for value in (1.0, 2.0, 6.0):
        with torch.no_grad():
            model[0].weight.fill_(value)
        files.append(save_checkpoint(tmp_path, model, optimizer, State(int(value)), keep=9) / "model.safetensors")
    average(files, model)
    assert model[0].weight.tolist() == [[3.0] * 3] * 3
    with pytest.raises(AnaphoraError, match="no checkpoints"):
        average([], model)


def test_the_state_before_a_validation_is_json_and_comes_back() -> None:
    document = State().to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) is not None
    assert State.from_dict(document) == State()
    of_version_0_1_0 = json.loads('{"best": Infinity, "since": 0, "reductions": 0}')
    assert State.from_dict(document | {"progress": of_version_0_1_0}) == State()
