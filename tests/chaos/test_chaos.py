"""The small part of `make chaos` that is run with all tests; and that the disk in memory forgets as a real one may."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from anaphora.systems import KINDS
from tests.chaos.kills import points
from tests.chaos.shadow import Operation, Shadow
from tests.chaos.targets import Inputs, targets

ROOT = Path(__file__).resolve().parents[2]
UNSYNCED = [
    Operation("create", "/top/.a.part"),
    Operation("write", "/top/.a.part", data=b"whole"),
    Operation("rename", "/top/.a.part", "/top/a"),
]


def on_disk(operations: list[Operation], how: str, seed: int = 0) -> dict[str, bytes | None]:
    shadow = Shadow("/top")
    for operation in operations:
        shadow.apply(operation)
    return dict(shadow.after_power_loss(how, random.Random(seed)))


def test_what_was_not_synced_is_lost() -> None:
    assert on_disk(UNSYNCED, "strict") == {}
    assert on_disk(UNSYNCED, "names") == {"a": b""}
    assert on_disk(UNSYNCED, "zeros") == {"a": b"\0" * 5}
    states = [on_disk(UNSYNCED, "mixed", seed) for seed in range(60)]
    assert all(state in states for state in ({}, {".a.part": b""}, {"a": b""}, {"a": b"whole"}))


def test_what_was_synced_stays() -> None:
    create, write, rename = UNSYNCED
    synced = [create, write, Operation("fsync", "/top/.a.part"), rename, Operation("fsync", "/top")]
    for how in ("strict", "names", "zeros", "mixed"):
        assert on_disk(synced, how) == {"a": b"whole"}
    assert on_disk(synced[:-1], "strict") == {}  # its name was not
    later = [*synced, Operation("write", "/top/a", data=b"!", at=5), Operation("mkdir", "/top/b")]
    assert on_disk(later, "strict") == {"a": b"whole"}
    assert on_disk(later, "zeros") == {"a": b"whole\0", "b": None}
    assert on_disk([*later, Operation("unlink", "/top/a")], "strict") == {"a": b"whole"}


@pytest.mark.parametrize(("total", "number"), [(100, 10), (7, 10), (1, 1), (24, 24)])
def test_points_are_spread_over_all_operations(total: int, number: int) -> None:
    actual = points(total, number, random.Random(1))
    assert actual == sorted(actual)
    assert len(actual) == number
    assert 1 <= actual[0] <= actual[-1] <= max(1, total)
    assert len({(point - 1) * number // total for point in actual}) >= min(total, number) * 0.6


def test_every_kind_of_system_is_killed(tmp_path: Path) -> None:
    names = {target.name for target in targets(Inputs(tmp_path), "http://127.0.0.1/v1")}
    assert {f"score {kind}:" for kind in KINDS} <= names


def test_small_commands_survive_kills_and_power_loss(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.chaos", "--smoke", "--json", str(tmp_path / "figures.json")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["problems"] == []
    assert figures["kills"] >= 9
    assert {row["target"] for row in figures["targets"]} == {"score command:", "build mine", "augment"}
    assert all(row["identical"] == row["trials"] for row in figures["targets"])
