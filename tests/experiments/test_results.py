"""docs/results.md: written from the figures of the experiments, and nothing else."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.syspath_prepend(str(ROOT / "experiments"))  # as run.py has it
    return runpy.run_path(str(ROOT / "experiments" / "_results.py"))


def test_the_page_is_what_the_command_writes(module: dict[str, Any]) -> None:
    assert module["page"]() == PAGE, "run: python experiments/run.py results"


def test_every_named_system_has_a_figure(module: dict[str, Any]) -> None:
    """A path that leads nowhere is a slip, not a system without figures."""
    rows = [row for suite in module["SUITES"] for row in module["rows"](suite)]
    assert {row.system for row in rows} == {system.name for system in module["SYSTEMS"]}
    for text in module["TRANSLATORS"]:
        node, _ = module["look_up"](text.file, text.path)
        assert node is not None, text
        assert node["apt"], text


def test_every_figure_has_interval_context_and_signature(module: dict[str, Any]) -> None:
    for suite in module["SUITES"]:
        for row in module["rows"](suite):
            low, high = row.figure["interval"]
            assert low <= row.figure["accuracy"] <= high, row
            assert row.context, row
            assert row.signature.startswith(("ctr|s:", "base|s:")), row


def test_a_system_is_added_with_one_line(module: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    system = module["System"]("a new system", "new.json", "{suite}")
    figure = {"accuracy": 0.75, "interval": [0.7, 0.8], "total": 400, "signature": "ctr|s:lopes@123456|ctx:2+0|v:9"}
    names = module["page"].__globals__
    monkeypatch.setitem(names, "SYSTEMS", (*names["SYSTEMS"], system))
    monkeypatch.setitem(names, "figures", lambda file: {"lopes": {"right": figure}} if file == "new.json" else {})
    page = module["page"]()
    assert "| a new system |  |  |  | 0.750 |" in page
    line = "| a new system | right (2+0) | 400 | 0.750 | [0.700, 0.800] | `ctr·s:lopes@123456·ctx:2+0·v:9` |"
    assert line in page.split("## Lopes")[1]


def test_the_random_context_difference_is_on_the_same_items(module: dict[str, Any]) -> None:
    """The difference is between figures on the same 3,000 items, although the accuracy next to it is on all 12,000."""
    actual, _ = module["look_up"]("contrapro-2018/train.json", "models/concat22-1")
    assert actual["all"]["total"] > actual["right"]["total"] == actual["random"]["total"]
    points = 100 * (actual["right"]["accuracy"] - actual["random"]["accuracy"])
    rows = (line for line in PAGE.splitlines() if line.startswith("| our concat22, seed 1 |"))
    (line,) = (row for row in rows if row.count("|") == 6)
    assert f"{actual['all']['accuracy']:.3f} ({points:+.1f}*)" in line
