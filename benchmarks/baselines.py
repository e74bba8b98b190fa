"""`suites baselines` on a suite of ContraPro's size, from the start of the program to its end, on one core."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from timing import Row

EXAMPLES = 12_000
AT_MOST = 60.0


def run() -> list[Row]:
    """The processor time of the whole program; it has one thread."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "suite.jsonl"
        write(path, EXAMPLES)
        before = os.times()
        subprocess.run(
            [sys.executable, "-m", "anaphora", "suites", "baselines", str(path)], check=True, capture_output=True
        )
        after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    note = f"{EXAMPLES:,} examples with three candidates, processor time of the whole program"
    return [Row("suites baselines", seconds, "s", AT_MOST, note)]


def write(path: Path, examples: int) -> None:
    """A suite of random words with the lengths of ContraPro's: 10 words in a sentence, a sentence of context."""
    rng = random.Random(0)
    words = [f"word{k}" for k in range(20_000)]
    weights = [1 / (k + 1) for k in range(len(words))]

    def sentence() -> str:
        return " ".join(rng.choices(words, weights, k=10))

    with path.open("w") as out:
        header = {"anaphora": 1, "name": "random", "source_language": "en", "target_language": "de"}
        out.write(json.dumps(header) + "\n")
        for number in range(examples):
            before, current = sentence(), sentence()
            candidates = [[before, f"{pronoun} {current}"] for pronoun in ("Er", "Sie", "Es")]
            row = {"id": str(number), "source": [sentence(), sentence()], "candidates": candidates, "gold": number % 3}
            out.write(json.dumps({**row, "tags": {"document": str(number // 2)}}) + "\n")
