"""Arrays on disk: what was put is there again, after an interruption too."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from anaphora.core.errors import BadInput
from anaphora.measure.store import Memory, Store, key_of, open_store

ONE, TWO = np.arange(6, dtype=np.float32).reshape(3, 2), np.ones((1, 2), np.float32)


def test_what_is_put_is_found_again(tmp_path: Path) -> None:
    store = Store(tmp_path / "s", 2, {"model": "a"})
    store.put({"one": ONE, "none": np.zeros((0, 2))})
    store.put({"two": TWO})
    for opened in (store, Store(tmp_path / "s", 2, {"model": "a"})):
        assert np.array_equal(opened.get("one"), ONE)
        assert np.array_equal(opened.get("two"), TWO)
        assert opened.get("none").shape == (0, 2)
        assert "three" not in opened
        assert len(opened) == 3


@pytest.mark.parametrize("cut", [1, 5, 9, 13])  # 13: all but the end of the line
def test_an_interrupted_write_is_cut_off(tmp_path: Path, cut: int) -> None:
    Store(tmp_path, 2, {}).put({"one": ONE})
    with (tmp_path / "rows.bin").open("ab") as rows:
        rows.write(b"\1\2\3")  # rows without their line in the index
    with (tmp_path / "index.jsonl").open("ab") as index:
        index.write(b'["two", 3, 1]'[:cut])
    again = Store(tmp_path, 2, {})
    assert "two" not in again
    again.put({"two": TWO})
    assert np.array_equal(Store(tmp_path, 2, {}).get("two"), TWO)
    assert np.array_equal(Store(tmp_path, 2, {}).get("one"), ONE)


def test_another_origin_is_refused(tmp_path: Path) -> None:
    Store(tmp_path, 2, {"model": "a"}).put({"one": ONE})
    with pytest.raises(BadInput, match="computed in another way"):
        Store(tmp_path, 2, {"model": "b"})
    with pytest.raises(BadInput, match="computed in another way"):
        Store(tmp_path, 3, {"model": "a"})


def test_lost_rows_are_an_error(tmp_path: Path) -> None:
    Store(tmp_path, 2, {}).put({"one": ONE})
    (tmp_path / "rows.bin").write_bytes(b"")
    with pytest.raises(BadInput, match="shorter than its index"):
        Store(tmp_path, 2, {})


def test_keys_of_texts() -> None:
    assert key_of("a", "b") == key_of("a", "b") != key_of("ab", "") != key_of("a", "b", "")


def test_one_process_at_a_time(tmp_path: Path) -> None:
    store = open_store(tmp_path, 2, {"model": "a"})
    assert open_store(tmp_path, 2, {"model": "a"}) is store
    assert isinstance(open_store(None, 2, {}), Memory)
    program = (
        "from pathlib import Path; from anaphora.measure.store import open_store; "
        f"open_store(Path({str(tmp_path)!r}), 2, {{'model': 'a'}})"
    )
    command = [sys.executable, "-c", program]
    other = subprocess.run(command, capture_output=True, text=True, check=False)
    assert f"is being written by another process (pid {os.getpid()} on " in other.stderr
    assert "Wait until it ends, or choose another folder with --cache." in other.stderr
    del store
    gc.collect()
    assert subprocess.run(command, check=False).returncode == 0
