"""A corpus that a tiny model learns in a second, and the tiny model in the place of the real ones."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
NOUNS = {"lamp": ("Lampe", "Sie"), "table": ("Tisch", "Er"), "book": ("Buch", "Es"), "clock": ("Uhr", "Sie")}


def write_corpus(folder: Path, documents: int = 60, seed: int = 1) -> tuple[Path, Path]:
    """Documents of two sentences each, a blank line between them."""
    rng = random.Random(seed)
    source, target = [], []
    for _ in range(documents):
        noun, (german, pronoun) = rng.choice(sorted(NOUNS.items()))
        adjective, german_adjective = rng.choice([("old", "alt"), ("new", "neu"), ("big", "groß")])
        source += [f"I see the {noun} .", f"It is {adjective} .", ""]
        target += [f"Ich sehe {german} .", f"{pronoun} ist {german_adjective} .", ""]
    paths = folder / f"text{seed}.en", folder / f"text{seed}.de"
    for path, lines in zip(paths, (source, target), strict=True):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return paths


@pytest.fixture
def corpus(tmp_path: Path) -> tuple[Path, Path]:
    return write_corpus(tmp_path)


@pytest.fixture
def config(tmp_path: Path, corpus: tuple[Path, Path]) -> Path:
    """A config of a few updates over the corpus."""
    source, target = corpus
    held_out = write_corpus(tmp_path, 8, seed=2)
    path = tmp_path / "config.toml"
    path.write_text(
        f"""
[model]
kind = "recurrent"
source_context = 1
embedding = 16
dropout = 0.1
[data]
source = "{source}"
target = "{target}"
validation_source = "{held_out[0]}"
validation_target = "{held_out[1]}"
[vocabulary]
size = 60
[training]
updates = 24
learning_rate = 0.01
schedule = "fixed"
warmup = 0
batch_tokens = 200
label_smoothing = 0.1
report_every = 5
save_every = 7
[validation]
every = 8
""",
        encoding="utf-8",
    )
    return path


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The tiny model, built for every kind."""
    pytest.importorskip("torch")
    from anaphora.nmt import checkpoint

    spec = importlib.util.spec_from_file_location("tiny_model", HERE / "tiny_model.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "tiny_model", module)
    spec.loader.exec_module(module)
    for kind in checkpoint.BUILDERS:
        monkeypatch.setitem(checkpoint.BUILDERS, kind, "tiny_model:build")
    return module
