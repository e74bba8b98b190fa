"""Evaluating the 12,000 items of ContraPro from a score file, against the bare json.loads of the suite's lines."""

from __future__ import annotations

import json
import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from timing import Row, side_by_side

AT_MOST = 3.0
DATA = Path(os.environ.get("ANAPHORA_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
WORDS = ("the", "old", "house", "was", "sold", "and", "nobody", "knew", "where", "it", "had", "come", "from", "then")


def run(rounds: int = 9) -> list[Row]:
    """The suite read, the scores read, every default breakdown with its intervals."""
    from anaphora.evaluation.contrastive import evaluate_scores
    from anaphora.suites.suite import read_native

    with tempfile.TemporaryDirectory() as folder:
        suite, scores = Path(folder) / "suite.jsonl", Path(folder) / "x.scores"
        source = prepare(suite, scores)
        lines = suite.read_bytes().splitlines()
        texts = [line.decode() for line in lines]
        measured = side_by_side(
            {
                "evaluate": lambda: evaluate_scores(read_native(suite), scores),
                "loads": lambda: load(lines),
                "loads of text": lambda: load(texts),
            },
            rounds,
        )
    note = f"{source}, {measured.seconds('evaluate'):.3f} s, {measured.note}"
    return [
        Row("evaluate / json.loads of its lines", measured.ratio("evaluate", "loads"), "×", AT_MOST, note),
        Row(
            "evaluate / json.loads of its lines, decoded before",
            measured.ratio("evaluate", "loads of text"),
            "×",
            note="for information: the lines are bytes in the file",
        ),
    ]


def load(lines: list[bytes] | list[str]) -> None:
    for line in lines:
        json.loads(line)


def prepare(suite: Path, scores: Path) -> str:
    """Write ContraPro, or a suite of its shape, and scores for it; says which."""
    from anaphora.suites.formats import read_suite
    from anaphora.suites.readers import contrapro
    from anaphora.suites.suite import suite_of

    real = (DATA / "contrapro").is_dir()
    made = suite_of(contrapro.header("contrapro-like"), synthetic)
    chosen = read_suite(DATA / "contrapro", "contrapro-rebuilt") if real else made
    chosen.write(suite)
    rng = random.Random(1)
    with scores.open("w") as out:
        for example in chosen:
            out.writelines(f"{rng.gauss(-20, 5):.4f}\n" for _ in example.candidates)
    return "ContraPro" if real else "synthetic, as ContraPro is not here"


def synthetic() -> Iterator[object]:
    """12,000 examples of about the size of ContraPro's, 31 with four candidates."""
    from anaphora.suites.example import Example

    rng = random.Random(2)
    for number in range(12_000):
        context, source, before = (" ".join(rng.choices(WORDS, k=12)) for _ in range(3))
        start, end = (" ".join(rng.choices(WORDS, k=5)) for _ in range(2))
        pronouns = rng.sample(["er", "sie", "es"], 3) + ["ihn"] * (number % 400 == 0)
        tags = {
            "source_pronoun": "it",
            "reference_pronoun": pronouns[0],
            "pronoun_pair": f"it:{pronouns[0]}",
            "candidate_pronouns": pronouns,
            "document": f"{1950 + number % 60}_{number // 9}.de",
            "source_antecedent": " ".join(rng.choices(WORDS, k=2)),
            "target_antecedent": " ".join(rng.choices(WORDS, k=2)),
        }
        if number % 3 == 0:
            tags |= {
                "distance": min(rng.randrange(9), rng.randrange(9)),
                "location": rng.choice(["intrasegmental", "external"]),
            }
        candidates = tuple((before, f"{start} {pronoun} {end}") for pronoun in pronouns)
        yield Example(str(number), (context, source), candidates, 0, tags)
