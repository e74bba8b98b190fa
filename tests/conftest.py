"""What all tests share: where the real data of the field is, and the command line as a user calls it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ANAPHORA_DATA") or ROOT.parent / "shared" / "data")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def data() -> Callable[[str], Path]:
    """A folder of the real data; the test is skipped where it is absent."""

    def folder(name: str) -> Path:
        path = DATA / name
        if not path.exists():
            pytest.skip(f"the real data {name!r} is not here: set ANAPHORA_DATA to the folder that holds it")
        return path

    return folder


@pytest.fixture
def anaphora(tmp_path: Path) -> Run:
    """Run the program as a user does, in a folder and with a home of its own."""

    def run(*arguments: str | Path, check: int | None = 0, **environment: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "anaphora", *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "ANAPHORA_HOME": str(tmp_path / "home"), "NO_COLOR": "1", **environment},
            check=False,
        )
        if check is not None:
            assert done.returncode == check, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    return run
