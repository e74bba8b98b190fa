"""docs/comparison.md: every cell of the table has evidence, ours in this repository, others' at a fixed commit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "comparison.md"
TEXT = PAGE.read_text(encoding="utf-8")
LINES = [line for line in TEXT.splitlines() if line.startswith("|")]
HEAD, *ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")] for line in LINES if "[" in line or "Anaphora" in line
]
FEATURES = [row for row in ROWS if len(row) == len(HEAD)]
LOOKED_AT = {row[0]: row for row in ROWS if len(row) == 3}
ADDRESSES = dict(re.findall(r"^\[([a-z-]+)\]: (\S+)$", TEXT, re.MULTILINE))
FIXED = re.compile(r"https://github\.com/([^/]+/[^/]+)/blob/[0-9a-f]{40}/(\S+)")


def test_the_table_is_whole() -> None:
    assert HEAD[1] == "Anaphora"
    assert set(HEAD[2:]) == set(LOOKED_AT), "of every tool it is said what was looked at"
    assert len(FEATURES) > 25
    assert len(FEATURES) + len(LOOKED_AT) == len(ROWS), "a row has a cell too many, or one is missing"
    assert re.search(r"Looked at on \d{4}-\d\d-\d\d", TEXT)


@pytest.mark.parametrize("row", FEATURES, ids=lambda row: row[0][:40])
def test_every_cell_has_evidence(row: list[str]) -> None:
    ours = re.fullmatch(r"\[[^]]+\]\(([^)]+)\)", row[1])
    assert ours, f"no page for {row[0]}"
    assert (PAGE.parent / ours[1]).is_file()
    for tool, cell in zip(HEAD[2:], row[2:], strict=True):
        if cell == "–":
            continue
        found = re.fullmatch(r"\[[^]]+\]\[([a-z-]+)\]", cell)
        assert found, f"{tool}: {cell} has no link"
        address = FIXED.fullmatch(ADDRESSES[found[1]])
        assert address, f"{ADDRESSES[found[1]]} is not a file at a commit"
        assert f"[{address[1]}]" in LOOKED_AT[tool][1], f"{tool}: evidence from another repository"


def test_no_address_is_left_over() -> None:
    assert set(re.findall(r"\]\[([a-z-]+)\]", TEXT)) == set(ADDRESSES)
