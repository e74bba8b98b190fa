"""Keys that mean nothing: told by what the config is otherwise."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.nmt.config import (
    Config,
    DataConfig,
    ModelConfig,
    TrainingConfig,
    parse_config,
    presets,
    read_config,
    unused,
    with_defaults,
    write_config,
)
from anaphora.nmt.layout import ContextLayout

TWO = ("source", "target")
TRANSFORMER_ONLY = {"layers", "heads", "feed_forward", "max_length"}
RECURRENT_ONLY = {"hidden", "layer_norm", "combination", "tie_context_embeddings"}


def of_model(**settings: Any) -> set[str]:
    actual = unused(Config(model=ModelConfig(**settings)))
    return {key.removeprefix("model.") for key in actual if key.startswith("model.")}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"kind": "transformer"}, {*RECURRENT_ONLY, "context_sentences"}),
        (
            {"kind": "context-transformer", "context_encoders": ("source",)},
            {"hidden", "layer_norm", "combination", "tie_context_embeddings"},
        ),
        (
            {"kind": "recurrent"},
            {*TRANSFORMER_ONLY, "combination", "context_sentences", "tie_context_embeddings"},
        ),
        ({"kind": "recurrent", "context_encoders": TWO}, TRANSFORMER_ONLY),
        ({"kind": "recurrent", "context_encoders": ("target",)}, TRANSFORMER_ONLY),
        (
            {"kind": "recurrent", "context_encoders": TWO, "tie_all_embeddings": True},
            {"layers", "heads", "feed_forward", "max_length", "tie_context_embeddings", "tie_decoder_embeddings"},
        ),
    ],
)
def test_of_models(settings: dict[str, Any], expected: set[str]) -> None:
    assert of_model(**settings) == expected


def test_of_training_and_data() -> None:
    fixed, plateau = (Config(training=TrainingConfig(schedule=name)) for name in ("fixed", "plateau"))
    assert unused(fixed).keys() >= {"training.plateau_factor", "training.plateau_patience", "training.average_of"}
    assert {key for key in unused(plateau) if key.startswith("training.")} == {
        "training.average_of",
        "training.context_weight",
        "training.word_weight",
    }
    weighted = replace(fixed, model=ModelConfig(target_context=1), training=TrainingConfig(weighted_words=("er",)))
    assert not {"training.context_weight", "training.word_weight"} & unused(weighted).keys()
    assert "training.average_of" not in unused(Config(training=TrainingConfig(average=2)))
    assert "data.boundary" in unused(Config(data=DataConfig(docids=True, boundary="---")))
    assert "data.boundary" not in unused(Config(data=DataConfig(boundary="---")))


def test_what_is_not_used_changes_no_model() -> None:
    """Weights and outputs are the same, whatever an unused key says."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from anaphora.nmt.checkpoint import build_model
    from anaphora.nmt.data import make_batch
    from anaphora.nmt.layout import SpecialTokens

    other: dict[str, Any] = {
        **{"layers": 3, "heads": 4, "feed_forward": 8, "max_length": 99, "hidden": 24, "layer_norm": False},
        **{"combination": "gate", "context_sentences": 2},
        **{"tie_context_embeddings": True, "tie_decoder_embeddings": False},
    }
    small: dict[str, Any] = {"embedding": 8, "hidden": 8, "heads": 2, "feed_forward": 16, "layers": 1, "dropout": 0.0}
    for kind, contexts in (("recurrent", ()), ("recurrent", ("target",)), ("transformer", ())):
        model = ModelConfig(kind=kind, context_encoders=contexts, tie_all_embeddings=True, **small)
        keys = {key.removeprefix("model.") for key in unused(Config(model=model)) if key.startswith("model.")}
        actual = []
        for config in (model, replace(model, **{key: other[key] for key in keys})):
            torch.manual_seed(1)
            built = build_model(config, 20, SpecialTokens(separator=2, end=0, start=19, padding=19)).eval()
            rows = (3, 4, 0)
            actual.append(built(make_batch([(rows,) * (1 + len(contexts))], [(5, 6, 0)], 19, 19)))
        assert torch.equal(*actual)


def test_defaults() -> None:
    config = Config(model=ModelConfig(layers=2, heads=4), data=DataConfig(boundary="-"))
    actual = with_defaults(config, ["model.layers", "data.boundary"])
    assert (actual.model.layers, actual.model.heads, actual.data.boundary) == (Config().model.layers, 4, "")


# Configs: typed, inherited, and with errors that name the key.


def read(tmp_path: Path, text: str, **overrides: str) -> Config:
    path = tmp_path / "c.toml"
    path.write_text(text, encoding="utf-8")
    return read_config(path, {key.replace("__", "."): value for key, value in overrides.items()})


def test_a_config(tmp_path: Path) -> None:
    text = '[model]\nkind = "recurrent"\ncontext_encoders = ["source"]\n[training]\nlearning_rate = 1\n'
    config = read(tmp_path, text)
    assert config.model.layout.context_encoders == ("source",)
    assert config.training.learning_rate == 1.0
    assert config.data == Config().data


def test_a_base_is_taken_over_and_overridden(tmp_path: Path) -> None:
    text = 'base = "rnn-s-hier-to-2-laptop"\n[training]\nupdates = 7\n[data]\nsource = "a.en"\ntarget = "a.de"\n'
    overrides = {"model__context_encoders": '["target"]', "vocabulary__kind": "unigram"}
    config = read(tmp_path, text, training__learning_rate="0.5", **overrides)
    assert config.model.target_context == 1
    assert config.model.context_encoders == ("target",)
    assert (config.training.updates, config.training.learning_rate) == (7, 0.5)
    assert config.vocabulary.kind == "unigram"
    assert config.data.source == ("a.en",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[modle]", r"unknown section 'modle' \(did you mean model"),
        ("[training]\nupdate = 3", r"unknown key training.update \(did you mean updates"),
        ('[training]\nupdates = "many"', "training.updates must be a whole number, not 'many'"),
        ("[training]\nupdates = true", "must be a whole number"),
        ("[model]\ndropout = 1.5", "model.dropout"),
        ('[model]\nkind = "transformers"', "unknown 'transformers'.*did you mean transformer"),
        ('[model]\nkind = "transformer"\ncontext_encoders = ["source"]', "no model.context_encoders"),
        ('[model]\nkind = "context-transformer"', r"context_encoders = \[\"source\"\]"),
        ('[model]\nkind = "recurrent"\ncontext_encoders = ["both"]', "unknown context 'both'"),
        ("[model]\nembedding = 10\nheads = 4", "multiple of model.heads"),
        ('base = "rnn-s-heir"', r"no preset 'rnn-s-heir' \(did you mean rnn-s-hier"),
        ("model = 3", "model must be a section"),
        ("[model", "not TOML"),
        ("[model]\ntie_all_embeddings = true\n[vocabulary]\njoint = false", "needs a joint vocabulary"),
        ('[data]\nsource = "a"', "same number of files"),
        ("[training]\nbetas = [0.9]", "two numbers"),
        ("[training]\nupdates = 0", "1 or more"),
        ("[training]\naverage = 1", "training.average must be 0 or at least 2"),
        ('[training]\naverage = 8\naverage_of = "bset"', "training.average_of: unknown 'bset'.*did you mean best"),
        (
            '[training]\naverage = 8\naverage_of = "best"\nupdates = 40',
            r"training.average: 8 checkpoints need at least 8,000 updates \(validation.every = 1,000\), not 40",
        ),
        (
            "[training]\naverage = 3\nupdates = 40\nsave_every = 20",
            r"training.average: 3 checkpoints need at least 41 updates \(training.save_every = 20\), not 40",
        ),
    ],
)
def test_an_invalid_config_is_an_error_with_its_key(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem) as error:
        read(tmp_path, text)
    assert "c.toml" in str(error.value)


def test_a_small_model_can_differ_from_the_size_of_all() -> None:
    assert presets()["transformer-concat22-laptop"].training.schedule == "inverse-sqrt"
    assert presets()["transformer-antecedent-free-laptop"].training.schedule == "fixed"
    assert presets()["transformer-antecedent-free-laptop"].model == presets()["transformer-concat22-laptop"].model


def test_keys_without_effect_are_errors_except_in_presets(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"c\.toml: model\.layers is not used: recurrent models have one layer"):
        read(tmp_path, 'base = "rnn-baseline"\n[model]\nlayers = 2\n')
    with pytest.raises(BadInput, match=r"model\.hidden is not used"):
        read(tmp_path, 'base = "transformer-baseline"', model__hidden="64")
    assert read(tmp_path, 'base = "rnn-s-gate-laptop"') == presets()["rnn-s-gate-laptop"]  # laptop.toml sets layers


def test_a_model_config_may_have_keys_without_effect(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[model]\nkind = "recurrent"\nlayers = 2\n', encoding="utf-8")
    config = read_config(path, strict=False)
    assert config.model.layers == Config().model.layers
    assert "layers" not in write_config(config)
    assert "layers" in write_config(Config())


def test_bad_overrides(tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match=r"section\.key=value"):
        read(tmp_path, "", updates="3")
    with pytest.raises(BadInput, match=r"unknown key training\.x"):
        read(tmp_path, "", training__x="3")


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        read_config(tmp_path / "none.toml")


def test_written_configs_are_read_back(tmp_path: Path) -> None:
    for name, config in presets().items():
        assert read(tmp_path, write_config(config)) == config, name
    odd = parse_config({"description": 'a "quoted"\n\\ line'}, tmp_path)
    assert read(tmp_path, write_config(odd)) == odd


def test_every_model_of_the_papers_is_a_preset() -> None:
    actual = presets()
    recurrent = ["baseline", "2-to-1", "2-to-2", "s-t-hier", "s-hier-to-2", "s-t-hier-to-2", "s-hier-to-2-tied"]
    recurrent += [f"{side}-{kind}" for side in "st" for kind in ("concat", "gate", "hier")]
    expected = [f"rnn-{name}" for name in recurrent]
    expected += [f"transformer-{name}" for name in ("baseline", "concat21", "concat22", "voita")]
    for name in expected:
        assert actual[name].description
        small = actual[f"{name}-laptop"]
        assert small.model.embedding < actual[name].model.embedding
        assert small.model.layout == actual[name].model.layout
        assert small.model.tie_context_embeddings == actual[name].model.tie_context_embeddings
    assert actual["rnn-s-hier-to-2"].model.combination == "hierarchical"
    assert actual["rnn-baseline"].model.hidden == 1024
    assert actual["transformer-concat22"].model.target_context == 1


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (
            {"data": {"source": ["a", "b"], "target": ["c", "d"], "repeat": [2]}},
            "data.repeat has 1 numbers for 2",
        ),
        ({"data": {"source": "a", "target": "b", "repeat": 0}}, "data.repeat: each number must be 1 or more"),
        ({"data": {"source": "a", "target": "b", "repeat": 1.5}}, "data.repeat must be a whole number, not 1.5"),
        ({"training": {"weighted_words": ["er", "sie es"]}}, "weighted_words: 'sie es' is not a single word"),
        ({"training": {"weighted_words": ["er"], "word_weight": -1}}, "word_weight must be 0 or more"),
        ({"training": {"word_weight": 2}}, "training.word_weight is not used: training.weighted_words is empty"),
        ({"training": {"context_weight": 0.1}}, "training.context_weight is not used: the target has no context"),
    ],
)
def test_weights_and_repetition_are_checked(document: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadInput) as error:
        parse_config(document, Path("x.toml"))
    assert problem in str(error.value)


def test_weights_and_repetition_survive_the_file(tmp_path: Path) -> None:
    document = {
        "model": {"target_context": 1},
        "data": {"source": ["a", "b"], "target": ["c", "d"], "repeat": [1, 4]},
        "training": {"context_weight": 0.1, "weighted_words": ["er", "sie"], "word_weight": 8},
    }
    config = parse_config(document, tmp_path / "config.toml")
    assert config.data.repeat == (1, 4)
    assert (config.training.weighted_words, config.training.word_weight) == (("er", "sie"), 8.0)
    (tmp_path / "config.toml").write_text(write_config(config), encoding="utf-8")
    assert read_config(tmp_path / "config.toml") == config


# Earlier names of keys

OLD = """
[model]
kind = "recurrent"
joined_source = 1
joined_target = 2
contexts = ["source"]
tied_contexts = true
tied_decoder = false
tied_all = false
[vocabulary]
normalise = true
tokenise = true
[training]
rate = 0.5
schedule = "plateau"
decay = 0.25
decay_patience = 3
clip = 2.0
"""


def test_keys_of_version_0_1_0_are_still_read(tmp_path: Path) -> None:
    config = read(tmp_path, OLD)
    assert config.model.layout == ContextLayout(1, 2, ("source",))
    assert config.model.tie_context_embeddings
    assert not config.model.tie_decoder_embeddings
    assert not config.model.tie_all_embeddings
    assert config.vocabulary.normalize
    assert config.vocabulary.tokenize
    training = config.training
    assert (training.learning_rate, training.plateau_factor, training.plateau_patience) == (0.5, 0.25, 3)
    assert training.clip_norm == 2.0
    assert "learning_rate = 0.5" in write_config(config)
    over = read(tmp_path, 'base = "rnn-baseline"\n[training]\nrate = 0.5\n', training__clip="3.0")
    assert (over.training.learning_rate, over.training.clip_norm) == (0.5, 3.0)


def test_old_and_new_key_together_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"training\.rate is the earlier name of training\.learning_rate.*only one"):
        read(tmp_path, "[training]\nrate = 1\nlearning_rate = 2\n")


@pytest.mark.parametrize("name", ["context-aware", "sentence-level"])
def test_models_of_the_demo_have_old_configs_and_are_read(name: str) -> None:
    path = Path(str(files("anaphora.demo") / "pretrained" / name / "config.toml"))
    assert "joined_source" in path.read_text(encoding="utf-8")
    assert read_config(path, strict=False).model.layout.source_context == (name == "context-aware")
