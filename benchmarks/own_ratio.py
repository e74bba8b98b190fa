"""`generative --antecedent own` against `generative` on the same documents: processor time of the whole programs."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from timing import Row

EXAMPLES = 12_000  # as many as ContraPro has
AT_MOST = 2.0
NOUNS = (("lamp", "die Lampe", "Sie"), ("table", "der Tisch", "Er"), ("book", "das Buch", "Es"))
PRONOUNS = ("Er", "Sie", "Es")


def run() -> list[Row]:
    """The ratio of the processor times, with the shorter program before and after the longer; one thread each."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, EXAMPLES)
        arguments = ["generative", str(folder / "suite.jsonl"), "-t", str(folder / "mine.de")]
        first = seconds(*arguments)
        own = seconds(*arguments, "--antecedent", "own")
        plain = (first + seconds(*arguments)) / 2
    note = f"{EXAMPLES:,} documents of two sentences, {plain:.1f} and {own:.1f} s of processor time"
    return [Row("generative --antecedent own", own / plain, "×", AT_MOST, note)]


def seconds(*arguments: str) -> float:
    before = os.times()
    subprocess.run([sys.executable, "-m", "anaphora", *arguments], check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def write(folder: Path, examples: int) -> None:
    """A suite with antecedents, and translations of its documents: made-up sentences as long as ContraPro's."""
    rng = random.Random(0)
    words = [f"wort{k}" for k in range(5_000)]
    weights = [1 / (k + 1) for k in range(len(words))]

    def some(number: int) -> str:
        return " ".join(rng.choices(words, weights, k=number))

    lines = []
    header = {"anaphora": 1, "name": "made-up", "source_language": "en", "target_language": "de"}
    with (folder / "suite.jsonl").open("w", encoding="utf-8") as out:
        out.write(json.dumps(header) + "\n")
        for number in range(examples):
            noun, german, right = NOUNS[number % len(NOUNS)]
            before, after = some(7), some(7)
            source = [f"He saw the {noun} {before} .", f"It was {after} ."]
            context = f"Er sah {german} {before} ."
            order = [right, *(pronoun for pronoun in PRONOUNS if pronoun != right)]
            candidates = [[context, f"{pronoun} war {after} ."] for pronoun in order]
            tags = {"source_pronoun": "it", "source_antecedent": f"the {noun}", "distance": 1}
            row = {"id": str(number), "source": source, "candidates": candidates, "gold": 0, "tags": tags}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
            lines += [context, f"{rng.choice(PRONOUNS)} war {after} .", ""]
    (folder / "mine.de").write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
