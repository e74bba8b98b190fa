"""Experiments are scripts: their modules are found as run.py finds them."""

from __future__ import annotations

from pathlib import Path

import pytest

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


@pytest.fixture(autouse=True)
def shared_modules(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """test_contrapro_2018.py finds the modules of experiments/ and those of experiments/contrapro-2018/."""
    folder = EXPERIMENTS / request.path.stem.removeprefix("test_").replace("_", "-")
    for actual in (EXPERIMENTS, *([folder] if folder.exists() else [])):
        monkeypatch.syspath_prepend(str(actual))
