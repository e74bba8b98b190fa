"""Folders with models, loaded and asked as `score` and `translate` do it: `hf:`, `lm:`, `ct2:`, `nmt:`, `measure:`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from tests.fuzz.targets import Run, Seed, add, native, write

WEIGHTS = ("model/*.json", "model/*.safetensors", "model/*.spm", "model/*.model", "model/*.jinja", "model/*.toml")


def asked(kind: str, name: str = "model") -> Run:
    """Load the model of a folder, score the suite that is next to it, and translate a sentence."""

    def run(folder: Path) -> None:
        import torch

        from anaphora.suites.suite import read_native
        from anaphora.systems import load_system
        from anaphora.systems.context import Context, Options

        torch.set_num_threads(1)
        suite = read_native(folder / "s.jsonl")
        languages = (suite.header.source_language, suite.header.target_language)
        options = Options(context=Context(1), languages=languages, threads=1)
        system: Any = load_system(f"{kind}:{folder / name}", options)
        system.settings()
        list(system.score(list(suite)))
        if kind != "measure":
            system.translate(["It is old."], beams=1, max_tokens=3)

    return run


def adapter(folder: Path) -> None:
    """The same of an adapter, whose base model (`@@/base`) is in the folder of the case."""
    config = folder / "model" / "adapter_config.json"
    config.write_bytes(config.read_bytes().replace(b"@@", str(folder).encode()))
    asked("lm")(folder)


def sentences() -> list[str]:
    from tests.tiny_models import demo_sentences

    return [*demo_sentences(), "A lamp. A hat. A book. It is old.", "Da ist lamp. Er Sie Es ist alt."]


def marian(folder: Path) -> None:
    from tests.tiny_models import make_marian

    native(folder)
    (folder / "model").mkdir()
    make_marian(folder / "model", sentences(), layers=1)


def llama(folder: Path) -> None:
    from tests.tiny_models import make_llama

    native(folder)
    (folder / "model").mkdir()
    make_llama(folder / "model", sentences(), layers=1)


def adapted(folder: Path) -> None:
    """A LoRA adapter that PEFT has written, and its base model in another folder."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    llama(folder)
    (folder / "model").rename(folder / "base")
    base = AutoModelForCausalLM.from_pretrained(folder / "base")
    model = get_peft_model(base, LoraConfig(r=2, target_modules=["q_proj"]))
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.ones_(parameter)
    model.save_pretrained(folder / "model")
    (folder / "model" / "README.md").unlink()
    config = folder / "model" / "adapter_config.json"
    config.write_text(config.read_text().replace(str(folder), "@@"))


def recorded(folder: Path) -> None:
    """An adapter as `measure adapt --adapter` writes it, which is loaded without PEFT."""
    import torch

    from anaphora.scoring.adapters import Adapter, save_adapter
    from anaphora.systems import load_system
    from anaphora.systems.context import Options

    llama(folder)
    (folder / "model").rename(folder / "base")
    base: Any = load_system(f"lm:{folder}/base", Options(languages=("en", "de"), threads=1))
    weight = base.model.model.layers[0].self_attn.q_proj.weight
    update = (torch.ones(2, weight.shape[1]).half(), torch.ones(weight.shape[0], 2).half())
    made = Adapter("@@/base", base.settings()["weights"], 2, 4, {"model.layers.0.self_attn.q_proj": update})
    save_adapter(made, folder / "model", folder / "model")


def converted(folder: Path) -> None:
    """The Marian model in the format of CTranslate2, with its tokenizer."""
    from ctranslate2.converters import TransformersConverter

    marian(folder)
    (folder / "model").rename(folder / "marian")
    TransformersConverter(str(folder / "marian")).convert(str(folder / "model"))
    for name in ("source.spm", "target.spm", "vocab.json", "tokenizer_config.json"):
        if not (folder / "model" / name).exists():
            shutil.copy(folder / "marian" / name, folder / "model" / name)
    shutil.rmtree(folder / "marian")


def trained(**settings: Any) -> Seed:
    def seed(folder: Path) -> None:
        from tests.tiny_models import make_nmt

        native(folder)
        make_nmt(folder / "model", sentences(), layers=1, **settings)
        shutil.rmtree(folder / "vocabulary")

    return seed


def measure(folder: Path) -> None:
    """A measure with static vectors, which needs no other model."""
    from anaphora.cli.app import app
    from tests.study.conftest import pair_rows

    write(folder / "s.jsonl", "".join(json.dumps(row) + "\n" for row in pair_rows(4)))
    config = folder / "c.toml"
    config.write_text(
        f'[data]\ntrain = "{folder}/s.jsonl"\ndev = "{folder}/s.jsonl"\ntrain_kind = "noisy"\n'
        "[model]\nwidth = 8\nsentences = 1\n[training]\nrate = 0.01\nbatch = 4\nepochs = 1\n"
    )
    arguments = ["measure", "train", str(config), "-o", str(folder / "model"), "--threads", "1"]
    app.main(args=arguments, standalone_mode=False)
    config.unlink()


add("folder.hf", marian, asked("hf"), *WEIGHTS, torch=True)
add("folder.lm", llama, asked("lm"), *WEIGHTS, torch=True)
add("folder.lm-peft", adapted, adapter, *WEIGHTS, torch=True)
add("folder.lm-adapter", recorded, adapter, *WEIGHTS, torch=True)
add("folder.ct2", converted, asked("ct2"), *WEIGHTS, "model/model.bin", torch=True)
add("folder.nmt", trained(source_context=1), asked("nmt"), *WEIGHTS, torch=True)
add("folder.nmt-transformer", trained(kind="transformer"), asked("nmt"), *WEIGHTS, torch=True)
add("folder.measure", measure, asked("measure"), *WEIGHTS, torch=True)
