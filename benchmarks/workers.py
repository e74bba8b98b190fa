"""Two processors: two workers of one thread each, or one process of two threads? Transformer-base on ContraPro's text.

python benchmarks/workers.py
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from multiprocessing.connection import Connection
from statistics import median
from typing import Any

import scorers
import scoring
from scorers import Question
from timing import Row


def run(rounds: int = 3, examples: int = 120) -> list[Row]:
    if missing := scoring.unavailable():
        print(f"workers: skipped, {missing}", file=sys.stderr)
        return []
    _, questions = scoring.prepare(rounds * examples)
    pair = [Member(1), Member(1)]
    whole = [Member(2)]
    ratios: list[float] = []
    rejected = 0
    for attempt in range(3 * rounds):
        start = attempt % rounds * examples
        part = questions[start : start + examples]
        side_by_side, calm = together(pair, part)
        one, _ = together(whole, part)
        told = f"  two workers {side_by_side:.2f} s · one process {one:.2f} s{'' if calm else ' · disturbed'}"
        print(told, file=sys.stderr, flush=True)
        if calm:
            ratios.append(one / side_by_side)
        else:
            rejected += 1
        if len(ratios) == rounds:
            break
    for member in pair + whole:
        member.end()
    if not ratios:
        raise SystemExit(f"workers: all {rejected} rounds were disturbed. Run it when the machine is quiet")
    note = f"{len(ratios)} rounds" + (f", {rejected} rejected" if rejected else "")
    return [Row("two workers of one thread / one process of two threads", median(ratios), "×", note=note)]


def together(members: list[Member], questions: list[Question]) -> tuple[float, bool]:
    """Wall seconds until all are done, and whether each had its processors for itself."""
    began = time.perf_counter()
    for number, member in enumerate(members):
        member.pipe.send(questions[number :: len(members)])
    done = [member.pipe.recv() for member in members]
    return time.perf_counter() - began, all(abs(wall - cpu) <= scoring.DISTURBED * wall for wall, cpu in done)


class Member:
    """A process with a model of its own, which has scored something already."""

    def __init__(self, threads: int) -> None:
        self.pipe, other = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("spawn").Process(target=work, args=(other, threads), daemon=True)
        self.process.start()
        self.pipe.recv()

    def end(self) -> None:
        self.pipe.send(None)
        self.process.join()


def work(pipe: Connection, threads: int) -> None:
    """In the other process: score what comes, say how long it took by the clock and by the processor."""
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    score = scorers.tree(scoring.transformer_base())
    warm: Any = scoring.prepare(8)[1]
    score(warm)
    pipe.send("ready")
    while (questions := pipe.recv()) is not None:
        wall, processor = time.perf_counter(), time.process_time()
        score(questions)
        pipe.send((time.perf_counter() - wall, time.process_time() - processor))


if __name__ == "__main__":
    from run import table

    print(table(run()))
