"""Weights are read only into the architecture that they are of; a config that asks for another takes no memory."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import save_file

from anaphora.core.errors import BadInput
from anaphora.scoring.weights import MAX_LAYERS, SPARE, check_layers, check_shapes, check_sizes, stored_shapes

CONFIG = Path("config.json")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    save_file({"weight": torch.ones(4, 3), "bias": torch.ones(4)}, tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


def test_shapes_are_read_without_the_tensors(file: Path) -> None:
    assert stored_shapes(file) == {"weight": (4, 3), "bias": (4,)}
    file.write_bytes(file.read_bytes()[:20])
    with pytest.raises(BadInput, match=r"model\.safetensors: cannot be read as weights"):
        stored_shapes(file)
    with pytest.raises(BadInput, match="no such file"):
        stored_shapes(file.with_name("none.safetensors"))


def test_a_model_that_fits_is_built_without_memory(file: Path) -> None:
    model = check_sizes(lambda: torch.nn.Linear(3, 4), [file], CONFIG)
    assert model.weight.is_meta
    check_shapes(file, model.state_dict())
    with pytest.raises(BadInput, match=r"weight: \(4, 3\) in the file, \(4, 2\) in the model"):
        check_shapes(file, check_sizes(lambda: torch.nn.Linear(2, 4), [file], CONFIG).state_dict())


def test_a_model_larger_than_its_weights_is_refused(file: Path) -> None:
    message = (
        r"^config\.json: it asks for 2,000,000,000,000 weights, more than model\.safetensors can hold\. "
        r"Use the config and the weights of the same model\.$"
    )
    with pytest.raises(BadInput, match=message):
        check_sizes(lambda: torch.nn.Embedding(10**9, 2000), [file], CONFIG)
    with pytest.raises(BadInput, match="no such file"):
        check_sizes(lambda: torch.nn.Linear(3, 4), [file.with_name("none")], CONFIG)


def test_a_buffer_that_is_too_large_is_refused(file: Path) -> None:
    def build() -> torch.nn.Module:
        model = torch.nn.Linear(3, 4)
        model.register_buffer("mask", torch.ones(10**6, 10**6, dtype=torch.bool), persistent=False)
        return model

    with pytest.raises(BadInput, match=r"1,000,000,000,000 bytes of buffers"):
        check_sizes(build, [file], CONFIG)


def test_what_is_computed_and_what_is_quantized_is_allowed_for(file: Path) -> None:
    check_sizes(lambda: torch.nn.Embedding(SPARE, 1), [file], CONFIG)
    bits = 8 * file.stat().st_size
    with pytest.raises(BadInput):
        check_sizes(lambda: torch.nn.Embedding(SPARE + bits, 1), [file], CONFIG)
    check_sizes(lambda: torch.nn.Embedding(SPARE + bits, 1), [file], CONFIG, per_byte=8)


def test_parts_that_are_loaded_do_not_count(file: Path) -> None:
    large = torch.nn.Embedding(2 * SPARE, 1)
    check_sizes(lambda: torch.nn.Sequential(large, torch.nn.Linear(3, 4)), [file], CONFIG)


def test_more_layers_than_tensors(file: Path) -> None:
    check_layers({"num_hidden_layers": 2, "layers": "many"}, [file], CONFIG)
    with pytest.raises(BadInput, match=r"config\.json: num_hidden_layers is 3, but its weights have 2 tensors"):
        check_layers({"num_hidden_layers": 3}, [file], CONFIG)
    check_layers({"n_layer": MAX_LAYERS}, [Path("model.gguf")], CONFIG)
    with pytest.raises(BadInput, match=r"n_layer is 1,001, more than any model has"):
        check_layers({"n_layer": MAX_LAYERS + 1}, [Path("model.gguf")], CONFIG)
