"""Models of laptop size learn from context what only context tells: real training, two minutes in all.

The corpus has documents of two kinds (experiments/discourse-2018). The suites ask for pairs of nouns that training
never showed.
Every model stops after a number of updates that suffices with room to spare: experiments/discourse-2018 tells of all
presets after how many they have learned.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")

from anaphora.nmt.checkpoint import load_model, open_folder
from anaphora.nmt.config import parse_config
from anaphora.nmt.data import prepare
from anaphora.nmt.training import Trainer, contrastive_accuracy
from anaphora.suites.suite import read_native
from tests.nmt.synthetic_text import synthetic

LEARNED = 0.95
CHANCE = {"source": pytest.approx(1 / 3), "target": pytest.approx(1 / 2)}  # of three candidates, of two


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return synthetic.write_synthetic(tmp_path_factory.mktemp("synthetic"))


def learn(preset: str, updates: int, files: Any, folder: Path) -> dict[str, float]:
    """Train, load what training left, and ask it: accuracy by suite, and the perplexity of held-out text."""
    torch.set_num_threads(1)
    text = [str(path) for path in (*files.train, *files.validation)]
    data = dict(zip(("source", "target", "validation_source", "validation_target"), text, strict=True))
    settings = {"training": {"updates": updates}, "validation": {"every": updates}}
    config = parse_config({"base": f"{preset}-laptop", "data": data, **settings}, Path(preset))
    open_folder(folder, config, resume=False)
    trained = Trainer(config, prepare(config, folder), folder).run()
    assert trained.updates == updates
    model, read, text_of_model = load_model(folder)
    found = {
        kind: contrastive_accuracy(model, text_of_model, read.model.layout, read_native(path), 4096)
        for kind, path in files.suites.items()
    }
    return {**found, "perplexity": trained.perplexity or 0.0}


def test_a_sentence_level_model_translates_but_is_at_chance(files: Any, tmp_path: Path) -> None:
    found = learn("transformer-baseline", 150, files, tmp_path / "model")
    assert found["perplexity"] < 3
    assert found["source"] == CHANCE["source"]
    assert found["target"] == CHANCE["target"]


def test_a_concatenation_model_learns_from_either_context(files: Any, tmp_path: Path) -> None:
    found = learn("transformer-concat22", 240, files, tmp_path / "model")
    assert found["source"] >= LEARNED
    assert found["target"] >= LEARNED


def test_the_multi_encoder_model_that_decodes_both_sentences_learns(files: Any, tmp_path: Path) -> None:
    """S-HIER-TO-2, the best model of both papers: the target context is what it has written itself."""
    found = learn("rnn-s-hier-to-2", 350, files, tmp_path / "model")
    assert found["source"] >= LEARNED
    assert found["target"] >= LEARNED


def test_source_context_fails_where_only_the_target_tells(files: Any, tmp_path: Path) -> None:
    found = learn("rnn-s-gate", 400, files, tmp_path / "model")
    assert found["source"] >= LEARNED
    assert found["target"] == CHANCE["target"]
