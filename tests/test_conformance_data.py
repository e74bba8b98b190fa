"""The public workflow arranges what `suites get` fetches as the conformance tests expect it."""

from __future__ import annotations

import gzip
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.suites import get as getting

SCRIPT = Path(__file__).resolve().parents[1] / ".ci" / "conformance_data.py"


def content(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def test_fetched_suites_have_the_layout_of_the_data(
    data: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANAPHORA_HOME", str(tmp_path / "home"))
    script = runpy.run_path(str(SCRIPT))
    owner = {suite: name for name, (suites, _) in script["FOLDERS"].items() for suite in suites}

    def from_local_copy(suite: str) -> Any:  # instead of the network
        return getting.get(suite, from_path=data(owner[suite]))

    script["main"].__globals__["get"] = from_local_copy
    script["main"](tmp_path / "data")
    for name in script["FOLDERS"]:
        files = sorted((tmp_path / "data" / name).iterdir())
        assert files
        for file in files:
            assert content(file) == content(data(name) / file.name), file.name
