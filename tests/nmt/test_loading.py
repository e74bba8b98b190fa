"""Models from folders: one, or several that fit together; and which they are."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sentencepiece")

from safetensors.torch import load_file, save_file

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.nmt.build import build_model
from anaphora.nmt.config import Config, ModelConfig, VocabularyConfig
from anaphora.nmt.folder import begin, copy_text, finish, load_model
from anaphora.nmt.loading import load_models
from anaphora.nmt.text import learn_text
from anaphora.scoring.padded import pad
from anaphora.scoring.stepwise import StepwiseScorer
from anaphora.scoring.weights import load_weights

SENTENCES = ["the old lamp is here .", "die alte Lampe ist hier .", "she sees a table .", "sie sieht einen Tisch ."]
Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """The folder of a model with random weights."""
    vocabulary = tmp_path / "vocabulary"
    learn_text(VocabularyConfig(size=40), "en-de", SENTENCES, SENTENCES, vocabulary)

    def folder(name: str, seed: int = 1, **settings: Any) -> Path:
        path = tmp_path / name
        text = copy_text(vocabulary, path)
        sizes: dict[str, Any] = {"embedding": 8, "hidden": 6, "layers": 1, "heads": 2, "feed_forward": 8}
        config = Config(model=ModelConfig(**{"kind": "recurrent", **sizes, **settings}))
        begin(path, config)
        torch.manual_seed(seed)
        finish(path, build_model(config.model, text.size, text.size, text.marks), config)
        return path

    return folder


def test_one_model(make: Make) -> None:
    path = make("one", contexts=("source",), joined_target=1)
    loaded = load_models(str(path))
    assert len(loaded.models) == len(loaded.scorers) == 1
    assert not loaded.models[0].training
    assert (loaded.arrangement.contexts, loaded.arrangement.joined_target) == (("source",), 1)
    assert loaded.limit is None  # a recurrent model has no end
    assert loaded.fingerprint["architecture"] == "recurrent"
    assert loaded.fingerprint["parameters"] == sum(p.numel() for p in loaded.models[0].parameters())
    assert loaded.fingerprint["vocabulary"].startswith(f"{loaded.text.size}@")


def test_a_fingerprint_tells_models_apart(make: Make) -> None:
    one, again, other = make("one", 1), make("again", 1), make("other", 2)
    prints = [load_models(str(path)).fingerprint for path in (one, again, other)]
    assert prints[0] == prints[1] != prints[2]
    assert prints[0]["vocabulary"] == prints[2]["vocabulary"]


def saved_by_0_1_0(folder: Path) -> Path:
    """A tied model's weights as version 0.1.0 saved them: the target-context encoder has a matrix of its own."""
    weights = load_file(folder / "model.safetensors")
    assert "encoders.2.embedding.weight" not in weights
    torch.manual_seed(7)
    weights["encoders.2.embedding.weight"] = torch.randn_like(weights["embedding.weight"])
    save_file(weights, folder / "model.safetensors")
    return folder


def test_a_tied_model_of_0_1_0_is_still_read(make: Make) -> None:
    old = saved_by_0_1_0(make("old", contexts=("source", "target"), tied_contexts=True))
    before = load_file(old / "model.safetensors")["encoders.2.embedding.weight"]
    model = load_models(str(old)).models[0]
    assert torch.equal(model.encoders[2].embedding.weight, before)
    assert not torch.equal(model.embedding.weight, before)
    new = load_models(str(make("new", contexts=("source", "target"), tied_contexts=True))).models[0]
    assert new.encoders[2].embedding is new.embedding


def test_a_tied_model_of_0_1_0_is_not_trained_further(make: Make) -> None:
    old = saved_by_0_1_0(make("old", contexts=("source", "target"), tied_contexts=True))
    fresh = load_model(make("new", contexts=("source", "target"), tied_contexts=True))[0]
    with pytest.raises(BadInput, match=r"version 0\.1\.0.*nmt:.*train a new model"):
        load_weights(old / "model.safetensors", fresh)


def test_an_ensemble(make: Make) -> None:
    one, two = make("one", 1), make("two", 2, hidden=9)
    loaded = load_models(f"{one},{two}")
    inputs = (pad([(3, 0)], 0),)
    assert [model.start(model.encode(inputs)).shape[1] for model in loaded.models] == [6, 9]
    assert loaded.fingerprint["weights"].count(",") == 1


def test_a_folder_with_a_comma_in_its_name(make: Make) -> None:
    assert len(load_models(str(make("one,two"))).models) == 1


def test_models_that_do_not_fit_together(make: Make, tmp_path: Path) -> None:
    one, other = make("one"), make("other", joined_source=1)
    with pytest.raises(AnaphoraError, match=r"other: reads other sentences than .*one"):
        load_models(f"{one},{other}")
    two = make("two")
    learn_text(VocabularyConfig(size=38), "en-de", SENTENCES[:2], SENTENCES[:2], tmp_path / "new")
    for name in ("source.spm", "target.spm"):
        shutil.copy(tmp_path / "new" / name, two / name)
    with pytest.raises(AnaphoraError):  # weights that do not fit their own vocabulary
        load_models(str(two))
    three = make("three")
    (three / "text.json").write_text((three / "text.json").read_text().replace("false", "true", 1))
    with pytest.raises(AnaphoraError, match=r"three: another vocabulary than that of .*one"):
        load_models(f"{one},{three}")


def test_what_is_not_there(tmp_path: Path, make: Make) -> None:
    with pytest.raises(AnaphoraError, match=r"nowhere.*anaphora train"):
        load_models(str(tmp_path / "nowhere"))
    with pytest.raises(AnaphoraError, match="device 'nonsense' cannot be used"):
        load_models(str(make("one")), "nonsense")


def test_transformers_have_an_end_and_a_scorer_of_their_own(make: Make) -> None:
    pytest.importorskip("transformers")
    loaded = load_models(str(make("marian", kind="transformer", max_length=32)))
    assert loaded.limit == 32
    assert not isinstance(getattr(loaded.scorers[0], "__self__", None), StepwiseScorer)
    context = load_models(str(make("voita", kind="context-transformer", contexts=("source",), max_length=24)))
    assert context.limit == 24
    assert isinstance(context.scorers[0].__self__, StepwiseScorer)  # type: ignore[attr-defined]
