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
add("folder.ct2", converted, asked("ct2"), *WEIGHTS, "model/model.bin", torch=True)
add("folder.nmt", trained(source_context=1), asked("nmt"), *WEIGHTS, torch=True)
add("folder.nmt-transformer", trained(kind="transformer"), asked("nmt"), *WEIGHTS, torch=True)
add("folder.measure", measure, asked("measure"), *WEIGHTS, torch=True)
