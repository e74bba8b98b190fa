"""docs/api.md is what the docstrings say."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import anaphora

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_the_reference_is_current() -> None:
    written = runpy.run_path(str(DOCS / "make_api.py"))["reference"]()
    assert (DOCS / "api.md").read_text("utf-8") == written, "write it anew: python docs/make_api.py"


@pytest.mark.parametrize("name", sorted(set(anaphora.__all__) - {"__version__"}))
def test_every_public_name_is_in_it(name: str) -> None:
    assert f"## `anaphora.{name}`" in (text := (DOCS / "api.md").read_text("utf-8")) or f"## `{name}`" in text
