"""Configs: every key has a type, and an error names what is wrong."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.measure.config import parse_config, read_config

EXAMPLE = """
description = "mine"
[data]
train = "a.jsonl"
dev = ["b.jsonl", "c.jsonl"]
[model]
encoder = "hf:x"
plain = true
[training]
rate = 1
"""


def test_a_config(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text(EXAMPLE)
    config = read_config(path, {"training.epochs": "3", "model.features": '["identity"]', "model.language": "de"})
    assert (config.data.train, config.data.dev) == (("a.jsonl",), ("b.jsonl", "c.jsonl"))
    assert (config.training.rate, config.training.epochs, config.training.margin) == (1.0, 3, 0.1)
    assert (config.model.features, config.model.language, config.model.plain) == (("identity",), "de", True)
    assert parse_config(asdict(config), path) == config


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("x", "not TOML"),
        ("[modle]\n", "unknown section 'modle' (did you mean model?)"),
        ("[model]\nencodr = 1\n", "unknown key model.encodr (did you mean encoder"),
        ("[training]\nepochs = 1.5\n", "training.epochs must be a whole number, not 1.5"),
        ("[training]\nepochs = true\n", "training.epochs must be a whole number"),
        ('[model]\ncontext = "XC"\n', "model.context: unknown 'XC'. Known: NC, RC, CRC"),
        ('[data]\ntrain_kind = "x"\n', "data.train_kind: unknown 'x'"),
        ("[model]\nsentences = -1\n", "model.sentences must be between 0 and 1,000"),
        ("[model]\nsentences = 999999999999\n", "model.sentences must be between 0 and 1,000"),
        ("[training]\nbatch = 0\n", "training.batch, epochs and patience must be at least 1"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "c.toml"
    path.write_text(content)
    with pytest.raises(BadInput) as error:
        read_config(path)
    assert problem in str(error.value)
    assert str(error.value).startswith(str(path))


def test_overrides_need_a_section() -> None:
    with pytest.raises(AnaphoraError, match=r"--set epochs=3: write section\.key=value"):
        parse_config({}, Path("x"), {"epochs": "3"})
