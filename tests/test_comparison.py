"""docs/comparison.md: every cell of its tables has evidence, ours in this repository, others' at a fixed commit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "comparison.md"
TEXT = PAGE.read_text(encoding="utf-8")
ADDRESSES = dict(re.findall(r"^\[([a-z-]+)\]: (\S+)$", TEXT, re.MULTILINE))
FIXED = re.compile(r"https://github\.com/([^/]+/[^/]+)/blob/[0-9a-f]{40}/(\S+)")
TOOLS = ("ContraPro", "APT", "ContraCAT", "Bawden", "MuDA", "CTXPRO", "lm-eval", "sacreBLEU", "COMET")
TOOLS += ("contextual-mt", "inseq", "mt-metrics-eval", "compare-mt", "MT-Telescope", "Label Studio")


def tables() -> list[list[list[str]]]:
    """The tables of the page, a list of cells for each row; the line of dashes is left out."""
    actual: list[list[list[str]]] = []
    inside = False
    for line in TEXT.splitlines():
        if line.startswith("|"):
            if not inside:
                actual.append([])
            if set(line) - set("|-"):
                actual[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        inside = line.startswith("|")
    return actual


*COMPARED, LOOKED = tables()
LOOKED_AT = {row[0]: row for row in LOOKED[1:]}
FEATURES = [(head, row) for head, *rows in COMPARED for row in rows]


def test_the_tables_are_whole_and_narrow() -> None:
    assert {tool for head, *_ in COMPARED for tool in head[2:]} == set(TOOLS) == set(LOOKED_AT)
    assert len(FEATURES) > 40
    for head, *rows in COMPARED:
        assert head[1] == "Anaphora"
        assert len(head) < 10, "too wide to be read"
        assert {len(row) for row in rows} == {len(head)}, "a row has a cell too many, or one is missing"
    assert re.search(r"made on \d{4}-\d\d-\d\d", TEXT)


@pytest.mark.parametrize(("head", "row"), FEATURES, ids=lambda cells: cells[0][:40] or cells[2])
def test_every_cell_has_evidence(head: list[str], row: list[str]) -> None:
    ours = re.fullmatch(r"\[[^]]+\]\(([^)]+)\)", row[1])
    assert ours or (row[1] == "–" and set(row[2:]) != {"–"}), f"no page for {row[0]}"
    assert ours is None or (PAGE.parent / ours[1]).is_file()
    for tool, cell in zip(head[2:], row[2:], strict=True):
        if cell == "–":
            continue
        match = re.fullmatch(r"\[[^]]+\]\[([a-z-]+)\]", cell)
        assert match, f"{tool}: {cell} has no link"
        address = FIXED.fullmatch(ADDRESSES[match[1]])
        assert address, f"{ADDRESSES[match[1]]} is not a file at a commit"
        assert f"[{address[1]}]" in LOOKED_AT[tool][1], f"{tool}: evidence from another repository"


@pytest.mark.parametrize("tool", ["COMET", "lm-eval", "sacreBLEU", "CTXPRO"])
def test_tools_that_download_test_sets_are_marked(tool: str) -> None:
    """`comet-score -d wmt22:en-de`, `dataset_path: wmt16`: both were denied once."""
    cells = [row[head.index(tool)] for head, row in FEATURES if row[0] == "Downloads test sets" and tool in head]
    assert cells
    assert "–" not in cells


def test_no_address_is_left_over() -> None:
    assert set(re.findall(r"\]\[([a-z-]+)\]", TEXT)) == set(ADDRESSES)
