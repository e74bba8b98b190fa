"""Keep the models of a demo as those that come with the package: `python -m anaphora.demo.keep DEMO_FOLDER`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from anaphora.demo.story import MODELS, PRETRAINED

LEFT_OUT = ("checkpoints", "log.jsonl", "curve.svg")  # what only training needs


def keep(demo: Path, place: Path = PRETRAINED) -> None:
    """Copy the models without what only training needs; the config names texts within the demo's folder."""
    for name in MODELS:
        folder = place / name
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(demo / "models" / name, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
        config = folder / "config.toml"
        config.write_text(config.read_text("utf-8").replace(f"{demo}/", ""), encoding="utf-8")
        for file in folder.iterdir():
            file.chmod(0o644)


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
