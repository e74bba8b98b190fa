"""docs/api.md is what the docstrings say."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import anaphora

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_the_reference_is_current() -> None:
    written = runpy.run_path(str(DOCS / "make_api.py"))["reference"]()
    assert (DOCS / "api.md").read_text("utf-8") == written, "write it again: python docs/make_api.py"


def test_a_sentence_with_a_colon_is_no_parameter() -> None:
    """Every name in a list of parameters is a parameter, or a field, of what the section is about."""
    for section in (DOCS / "api.md").read_text("utf-8").split("\n## ")[1:]:
        head, _, text = section.partition("\n")
        code = "".join(re.findall(r"```text\n(.*?)```", text, re.DOTALL))
        for names in re.findall(r"^- \*(.+?)\*: ", text, re.MULTILINE):
            for name in names.split(", "):
                assert re.search(rf"^\s*\**{name}: ", code, re.MULTILINE), f"{head}: {name}"


@pytest.mark.parametrize("name", ["Settings", "Options", "Result", "Proportion", "Comparison", "Header"])
def test_fields_are_listed(name: str) -> None:
    (section,) = re.findall(
        rf"^## `{name}`\n(.*?)(?=^## |\Z)", (DOCS / "api.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    fields = {"Settings": "normalize: str = ", "Options": "batch_tokens: int = 2048", "Result": "figure: Proportion"}
    fields |= {"Proportion": "interval: Interval", "Comparison": "pairs: ", "Header": "source_language: str"}
    assert f"\n{fields[name]}" in section


@pytest.mark.parametrize("name", sorted(set(anaphora.__all__) - {"__version__"}))
def test_every_public_name_is_in_it(name: str) -> None:
    assert f"## `anaphora.{name}`" in (text := (DOCS / "api.md").read_text("utf-8")) or f"## `{name}`" in text
