"""Presets have the numbers of the papers they are named after."""

from __future__ import annotations

from typing import Any

import pytest

from anaphora.nmt.config import Config, presets

# Bawden et al. 2018 §4.1 (truecased; fn 7: 90,000 merges) and §4.2
BAWDEN = {
    "model.embedding": 512,
    "model.hidden": 1024,
    "model.layer_norm": True,
    "model.tie_decoder_embeddings": True,
    "model.dropout": 0.0,
    "vocabulary.size": 90_000,
    "vocabulary.tokenize": True,
    "vocabulary.truecase": True,
    "vocabulary.lowercase": False,
    "training.learning_rate": 0.0001,
    "training.schedule": "fixed",
    "training.batch_sentences": 80,
    "training.label_smoothing": 0.0,
    "training.keep": 3,  # "the last three checkpointed models"
}
# Müller et al. 2018 (ContraPro) §5, recurrent models
CONTRAPRO = BAWDEN | {"vocabulary.size": 89_500, "vocabulary.joint": True}
# ContraPro §5, Transformers: "All model parameters are identical to a Transformer-base", "lowercased", 32k merges
TRANSFORMER = {
    "model.layers": 6,
    "model.heads": 8,
    "model.embedding": 512,
    "model.feed_forward": 2048,
    "vocabulary.size": 32_000,
    "vocabulary.lowercase": True,
    # Vaswani et al. 2017 §5: 512^-0.5 · 4000^-0.5 at the end of the warm-up, about 25,000 tokens, no clipping
    "model.dropout": 0.1,
    "model.tie_all_embeddings": True,
    "training.learning_rate": pytest.approx(512**-0.5 * 4000**-0.5, rel=0.01),
    "training.schedule": "inverse-sqrt",
    "training.warmup": 4000,
    "training.updates": 100_000,
    "training.betas": (0.9, 0.98),
    "training.epsilon": 1e-9,
    "training.label_smoothing": 0.1,
    "training.clip_norm": 0.0,
}
# Stojanovski et al. 2020 (ContraCAT), appendix A
CONTRACAT = {
    "model.layers": 6,
    "model.heads": 8,
    "model.embedding": 512,
    "model.feed_forward": 2048,
    "model.tie_all_embeddings": True,
    "model.dropout": 0.1,
    "data.max_sentence": 100,
    "data.max_length": 200,
    "vocabulary.size": 32_000,
    "vocabulary.joint": True,
    "vocabulary.tokenize": True,
    "vocabulary.lowercase": False,
    "training.batch_tokens": 4096,
    "training.accumulate": 1,
    "training.label_smoothing": 0.1,
    "training.save_every": 4000,
    "training.average": 8,
    "training.average_of": "best",
    "validation.every": 4000,
}
JOINED_SOURCE = ("2-to-1", "2-to-2")  # Bawden fn 8: 76 where source sentences are joined
TO_2 = ("s-hier-to-2", "s-t-hier-to-2")  # fn 8 read as of joined targets, too
SINGLE = ("baseline", "s-t-hier", *(f"{side}-{kind}" for side in "st" for kind in ("concat", "gate", "hier")))


def value(config: Config, key: str) -> Any:
    section, _, name = key.partition(".")
    return getattr(getattr(config, section), name)


def assert_numbers(name: str, numbers: dict[str, Any]) -> None:
    config = presets()[name]
    assert {key: value(config, key) for key in numbers} == numbers


@pytest.mark.parametrize("name", [*SINGLE, *JOINED_SOURCE, *TO_2])
def test_recurrent_presets_have_bawden_s_numbers(name: str) -> None:
    assert_numbers(f"rnn-{name}", BAWDEN | {"data.max_length": 50 if name in SINGLE else 76})


@pytest.mark.parametrize(
    ("name", "longest"), [("concat22", 100), ("s-hier-tied", 50), ("s-t-hier-tied", 50), ("s-hier-to-2-tied", 100)]
)
def test_presets_only_contrapro_has_follow_contrapro(name: str, longest: int) -> None:
    assert_numbers(f"rnn-{name}", CONTRAPRO | {"data.max_length": longest})


@pytest.mark.parametrize("name", ["baseline", "concat21", "concat22", "voita"])
def test_transformers_of_contrapro_are_lowercased_transformer_base(name: str) -> None:
    assert_numbers(f"transformer-{name}", TRANSFORMER)


def test_the_concatenation_model_of_contracat() -> None:
    """Appendix A; appendix D.2: from 2e-4 to 7.82e-8 at the end, which is 22 times 0.7 (from 1e-4 it would be none)."""
    schedule = {"training.schedule": "plateau", "training.plateau_factor": 0.7, "training.plateau_patience": 8}
    assert_numbers("transformer-concat-contracat", CONTRACAT | schedule | {"training.learning_rate": 2e-4})
    assert pytest.approx(7.82e-8, rel=1e-3) == 2e-4 * 0.7**22
    updates = presets()["transformer-concat-contracat"].training.updates
    assert updates > 22 * 8 * 4000  # at least what these reductions take


def test_antecedent_free_augmentation_of_contracat() -> None:
    """Appendix D.2: the rate of the best model; "as before, we average 8 checkpoints"."""
    assert_numbers("transformer-antecedent-free", CONTRACAT | {"training.learning_rate": 2e-7})


def test_training_until_convergence_is_not_cut_short() -> None:
    """Bawden §4.2, ContraPro §5: 80 sentences an update; an epoch of 29 M (5.8 M) pairs is 362,500 (72,500) of them."""
    for name, config in presets().items():
        if name.startswith("rnn-") and not name.endswith("-laptop"):
            assert config.validation.patience > 0, name
            assert config.training.updates > 20 * 29_000_000 / 80, name


def test_laptop_presets_keep_the_architecture() -> None:
    sizes = {"embedding", "hidden", "layers", "heads", "feed_forward", "dropout"}
    actual = presets()
    for name in (name for name in actual if not name.endswith("-laptop")):
        own, small = actual[name].model, actual[f"{name}-laptop"].model
        for key in set(type(own).__dataclass_fields__) - sizes:
            assert getattr(small, key) == getattr(own, key), (name, key)
