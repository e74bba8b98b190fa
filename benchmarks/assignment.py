"""Assigning the items of a large study: 600 items, 200 annotators, all of them or some of them for each item."""

from __future__ import annotations

import time

from timing import Row

AT_MOST = 10.0
ITEMS, ANNOTATORS = 600, 200


def run(rounds: int = 3) -> list[Row]:
    """The least processor time of some rounds, for the widest and for a usual overlap."""
    from anaphora.study.create import assign

    items = [f"item-{k}" for k in range(ITEMS)]
    names = [f"annotator-{k}" for k in range(ANNOTATORS)]
    rows = []
    for overlap in (ANNOTATORS, 3):
        seconds = []
        for _ in range(rounds):
            began = time.process_time()
            assign(items, names, overlap, 2, 1)
            seconds.append(time.process_time() - began)
        note = f"{ITEMS} items, {ANNOTATORS} annotators, processor time, {rounds} rounds"
        rows.append(Row(f"study create, overlap {overlap}", min(seconds), "s", AT_MOST, note))
    return rows
