"""Models of a demo that are kept."""

from __future__ import annotations

from pathlib import Path

from anaphora.demo.keep import keep
from anaphora.demo.story import MODELS


def test_only_what_asking_needs_is_kept(tmp_path: Path) -> None:
    demo = tmp_path / "demo"
    for name in MODELS:
        folder = demo / "models" / name
        (folder / "checkpoints").mkdir(parents=True)
        (folder / "log.jsonl").write_text("{}")
        (folder / "model.safetensors").write_bytes(b"weights")
        (folder / "config.toml").write_text(f'source = ["{demo}/text/train.en"]')
    (tmp_path / "kept" / next(iter(MODELS))).mkdir(parents=True)
    keep(demo, tmp_path / "kept")
    for name in MODELS:
        folder = tmp_path / "kept" / name
        assert {file.name for file in folder.iterdir()} == {"model.safetensors", "config.toml"}
        assert (folder / "config.toml").read_text() == 'source = ["text/train.en"]'
        assert (folder / "model.safetensors").read_bytes() == b"weights"
