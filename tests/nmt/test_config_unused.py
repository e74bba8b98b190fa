"""Keys that mean nothing: told by what the config is otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from anaphora.nmt.config import Config, DataConfig, ModelConfig, TrainingConfig
from anaphora.nmt.config_unused import unused, with_defaults

TWO = ("source", "target")


def of_model(**settings: Any) -> set[str]:
    found = unused(Config(model=ModelConfig(**settings)))
    return {key.removeprefix("model.") for key in found if key.startswith("model.")}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"kind": "transformer"}, {"hidden", "layer_norm", "combination", "context_sentences", "tied_contexts"}),
        (
            {"kind": "context-transformer", "contexts": ("source",)},
            {"hidden", "layer_norm", "combination", "tied_contexts"},
        ),
        (
            {"kind": "recurrent"},
            {"layers", "heads", "feed_forward", "max_length", "combination", "context_sentences", "tied_contexts"},
        ),
        ({"kind": "recurrent", "contexts": TWO}, {"layers", "heads", "feed_forward", "max_length"}),
        ({"kind": "recurrent", "contexts": ("target",)}, {"layers", "heads", "feed_forward", "max_length"}),
        (
            {"kind": "recurrent", "contexts": TWO, "tied_all": True},
            {"layers", "heads", "feed_forward", "max_length", "tied_contexts", "tied_decoder"},
        ),
    ],
)
def test_of_models(settings: dict[str, Any], expected: set[str]) -> None:
    assert of_model(**settings) == expected


def test_of_training_and_data() -> None:
    fixed, plateau = (Config(training=TrainingConfig(schedule=name)) for name in ("fixed", "plateau"))
    assert unused(fixed).keys() >= {"training.decay", "training.decay_patience", "training.average_of"}
    assert {key for key in unused(plateau) if key.startswith("training.")} == {"training.average_of"}
    assert "training.average_of" not in unused(Config(training=TrainingConfig(average=2)))
    assert "data.boundary" in unused(Config(data=DataConfig(docids=True, boundary="---")))
    assert "data.boundary" not in unused(Config(data=DataConfig(boundary="---")))


def test_what_is_not_used_changes_no_model() -> None:
    """Weights and outputs are the same, whatever an unused key says."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from anaphora.nmt.arrangement import Marks
    from anaphora.nmt.batch import make_batch
    from anaphora.nmt.build import build_model

    other: dict[str, Any] = {
        **{"layers": 3, "heads": 4, "feed_forward": 8, "max_length": 99, "hidden": 24, "layer_norm": False},
        **{"combination": "gate", "context_sentences": 2, "tied_contexts": True, "tied_decoder": False},
    }
    small: dict[str, Any] = {"embedding": 8, "hidden": 8, "heads": 2, "feed_forward": 16, "layers": 1, "dropout": 0.0}
    for kind, contexts in (("recurrent", ()), ("recurrent", ("target",)), ("transformer", ())):
        model = ModelConfig(kind=kind, contexts=contexts, tied_all=True, **small)
        keys = {key.removeprefix("model.") for key in unused(Config(model=model)) if key.startswith("model.")}
        found = []
        for config in (model, replace(model, **{key: other[key] for key in keys})):
            torch.manual_seed(1)
            built = build_model(config, 20, 20, Marks(separator=2, end=0, start=19, padding=19)).eval()
            rows = (3, 4, 0)
            found.append(built(make_batch([(rows,) * (1 + len(contexts))], [(5, 6, 0)], 19, 19)))
        assert torch.equal(*found)


def test_defaults() -> None:
    config = Config(model=ModelConfig(layers=2, heads=4), data=DataConfig(boundary="-"))
    found = with_defaults(config, ["model.layers", "data.boundary"])
    assert (found.model.layers, found.model.heads, found.data.boundary) == (Config().model.layers, 4, "")
