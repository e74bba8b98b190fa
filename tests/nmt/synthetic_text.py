"""The synthetic corpus of experiments/discourse-2018, as the module `synthetic` for tests."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[2] / "experiments" / "discourse-2018" / "_synthetic_text.py"


def _load() -> Any:
    spec = importlib.util.spec_from_file_location("discourse_2018_synthetic_text", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


synthetic = _load()
