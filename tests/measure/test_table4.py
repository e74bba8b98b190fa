"""The eight experiments run, each test on its own pairs."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("torch")

from anaphora.measure.table4 import run_table, table4
from anaphora.suites.example import Example


def test_eight_experiments_of_six_models(toy: list[Example]) -> None:
    systems = [replace(e, id=f"s/{e.id}", tags={"kind": "system"}) for e in toy]
    told: list[str] = []
    overrides = {"training.epochs": "2", "model.width": "8", "model.sentences": "1"}
    rows = run_table(systems, [*toy[:30], *systems[:20]], overrides, report=told.append)
    assert [(row.context, row.test, row.pairs) for row in rows] == [
        ("NC-Baseline", "R vs. R′", 30),
        ("NC", "R vs. R′", 30),
        ("NC", "R vs. S", 20),
        ("RC-Baseline", "R vs. R′", 30),
        ("RC", "R vs. R′", 30),
        ("CRC-Baseline", "R vs. R′", 30),
        ("CRC", "R vs. R′", 30),
        ("CRC", "R vs. S", 20),
    ]
    assert len(told) == 6
    table = table4(rows)
    assert table.rows[0].cells[-2:] == ("69.12", "85.80")
    assert rows[7].to_dict()["paper"] == {"glove": 0.7787, "elmo": 0.9069}
