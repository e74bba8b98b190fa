"""More than one process only where it pays."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.systems.distributed import sensible
from anaphora.systems.distributed.sensible import sensible_workers
from anaphora.systems.scoring import SHARD

MANY = 10 * SHARD


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A model of a kilobyte on a machine of four processors, 24 GB and no graphics."""
    monkeypatch.setattr(sensible, "_processors", lambda: 4)
    monkeypatch.setattr(sensible, "_free_memory", lambda: 24 << 30)
    (tmp_path / "model").mkdir()
    (tmp_path / "dev").mkdir()
    (tmp_path / "model" / "model.safetensors").write_bytes(bytes(1024))
    return str(tmp_path / "model")


def workers(model: str, spec: str = "hf:{}", examples: int = MANY) -> int:
    return sensible_workers(spec.format(model), examples, devices=Path(model).parent / "dev")


def test_a_process_for_each_processor(model: str) -> None:
    assert workers(model) == workers(model, "lm:{}?device=cpu") == 4


def test_no_more_than_there_is_work(model: str) -> None:
    assert [workers(model, examples=n) for n in (1, SHARD, SHARD + 1, 3 * SHARD)] == [1, 1, 2, 3]


def test_no_more_than_there_is_memory(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for free, expected in ((0, 1), (1 << 30, 1), (3 << 30, 2), (100 << 30, 4)):
        monkeypatch.setattr(sensible, "_free_memory", lambda free=free: free)
        assert workers(model) == expected


def test_large_weights_need_memory(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sensible, "_size", lambda _: 7 << 30)
    assert workers(model) == 1


@pytest.mark.parametrize("device", ["nvidia0", "kfd"])
def test_graphics_compute_by_themselves(model: str, device: str) -> None:
    (Path(model).parent / "dev" / device).touch()
    assert workers(model) == 1


@pytest.mark.parametrize("spec", ["command:score {}", "ct2:{}", "scores:{}", "hf:{}?device=cuda", "hf:no/such-model"])
def test_one_process_otherwise(model: str, spec: str) -> None:
    assert workers(model, spec) == 1


def test_this_machine() -> None:
    assert sensible._processors() >= 1
    assert sensible._free_memory() >= 0
