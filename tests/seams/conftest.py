"""What one command writes, the next one reads: the program in this process, in a folder of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.cli import main

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command as a user does, in the folder of the test; returns what it prints on stdout."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANAPHORA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_COLOR", "1")

    def command(line: str, check: int = 0) -> str:
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            main(line.split())
        printed = capfd.readouterr()
        assert (end.value.code or 0) == check, f"{line}\nexit {end.value.code}\n{printed.out}\n{printed.err}"
        return printed.out

    return command


@pytest.fixture
def run_json(run: Run) -> Callable[[str], Any]:
    """The same with --json."""
    return lambda line: json.loads(run(f"{line} --json"))
