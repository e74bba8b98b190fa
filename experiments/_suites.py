"""The suites that several experiments score, converted from the data folder once."""

from __future__ import annotations

import os
from pathlib import Path

from _command import anaphora

DATA = Path(os.environ.get("ANAPHORA_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
# name → what is read, and how
SUITES: dict[str, tuple[str, ...]] = {
    "bawden-coreference": ("disceval-en-fr/anaphora.json", "--from", "disceval"),
    "bawden-cohesion": ("disceval-en-fr/lexical-choice.json", "--from", "disceval"),
    "contrapro": ("contrapro/contrapro_reconstructed.jsonl.gz", "--from", "contrapro-rebuilt"),
    "lopes": ("lopes-en-fr", "--from", "lopes", "--context", "1"),
}


def missing_data() -> list[Path]:
    """What the suites are converted from and is not there."""
    return [DATA / path for path, *_ in SUITES.values() if not (DATA / path).exists()]


def suite_file(name: str, folder: Path) -> Path:
    path, *how = SUITES[name]
    suite = folder / f"{name}.jsonl"
    if not suite.exists():
        anaphora("suites", "convert", DATA / path, *how, "-o", suite)
    return suite


def random_contexts(name: str, folder: Path) -> Path:
    """The suite with the context of another item in each."""
    random = folder / f"{name}.random.jsonl"
    if not random.exists():
        anaphora("build", "attack", "random-context", suite_file(name, folder), "-o", random)
    return random
