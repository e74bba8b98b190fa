"""All templates of a language pair, made and written, from the start of the program to its end."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from timing import Row

AT_MOST = 2.0
ROUNDS = 5


def run(rounds: int = ROUNDS) -> list[Row]:
    """The least processor time of some rounds, for each built-in pair: what the program needs if left alone."""
    from anaphora.build.templates.suite import pairs

    with tempfile.TemporaryDirectory() as folder:
        return [_row(pair, Path(folder), rounds) for pair in pairs()]


def _row(pair: str, folder: Path, rounds: int) -> Row:
    path = folder / f"{pair}.jsonl"
    command = [sys.executable, "-m", "anaphora", "build", "templates", "-l", pair, "-o", str(path)]
    seconds = min(_processor_time(command) for _ in range(rounds))
    with path.open("rb") as lines:
        items = sum(1 for _ in lines) - 1
    note = f"{items:,} items, processor time of the whole program, {rounds} rounds"
    return Row(f"build templates {pair}", seconds, "s", AT_MOST, note)


def _processor_time(command: list[str]) -> float:
    before = os.times()
    subprocess.run(command, check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system
