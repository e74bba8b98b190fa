"""Peak memory of evaluating a suite of 1,000,000 examples, against that of 100,000: it must not grow with the suite."""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from timing import Row

AT_MOST = 1.5
SMALL, LARGE = 100_000, 1_000_000
PRONOUNS = ("er", "sie", "es")


def run(small: int = SMALL, large: int = LARGE) -> list[Row]:
    peaks = {}
    for examples in (small, large):
        with tempfile.TemporaryDirectory() as folder:
            suite, scores = Path(folder) / "suite.jsonl", Path(folder) / "x.scores"
            generate(suite, scores, examples)
            peaks[examples] = peak(suite, scores)
    note = f"{peaks[large]:.1f} MB against {peaks[small]:.1f} MB"
    return [Row(f"peak memory, {large:,} / {small:,} examples", peaks[large] / peaks[small], "×", AT_MOST, note)]


def generate(suite: Path, scores: Path, examples: int) -> None:
    """Write a suite and its scores line by line."""
    rng = random.Random(3)
    header = {
        "anaphora": 1,
        "name": "many",
        "source_language": "en",
        "target_language": "de",
        "breakdowns": ["reference_pronoun", "location", "distance>3", "distance>3×reference_pronoun"],
    }
    with suite.open("w") as out, scores.open("w") as numbers:
        out.write(json.dumps(header) + "\n")
        for number in range(examples):
            gold = number % 3
            row = {
                "id": str(number),
                "source": [f"Sentence {number} is about a thing.", "It was there."],
                "candidates": [["Es geht um ein Ding.", f"{pronoun} war da."] for pronoun in PRONOUNS],
                "gold": gold,
                "tags": {
                    "reference_pronoun": PRONOUNS[gold],
                    "distance": rng.randrange(12),
                    "location": ("intrasegmental", "external")[number % 2],
                    "document": f"d{number // 10}",
                },
            }
            out.write(json.dumps(row) + "\n")
            numbers.writelines(f"{rng.gauss(-20, 5):.3f}\n" for _ in PRONOUNS)


def peak(suite: Path, scores: Path) -> float:
    """MB at most resident while a process of its own evaluates the suite.

    The peak that a process is told begins with that of the one it was forked from, which may be large here: so the
    process is started by a small one in between.
    """
    command = [sys.executable, __file__, "between", str(suite), str(scores)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def evaluate(suite: str, scores: str) -> None:
    from anaphora.evaluation.contrastive import evaluate_scores
    from anaphora.suites.suite import read_native

    result = evaluate_scores(read_native(Path(suite)), Path(scores))
    assert result.figure.total >= 1
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6)


if __name__ == "__main__":
    if sys.argv[1] == "between":
        sys.exit(subprocess.run([sys.executable, __file__, "evaluate", *sys.argv[2:]], check=False).returncode)
    evaluate(*sys.argv[2:])
