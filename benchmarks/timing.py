"""What the benchmarks share: functions timed side by side, and a row that says whether a target is met.

Times of one run say little on a machine that others use as well. So things are compared in one run, in turns, and
what counts is the median of the ratios. A round in which the clock and the processor disagree was disturbed.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

DISTURBED = 0.2  # wall and processor time further apart than this: the processor was not ours
ENOUGH = 3  # undisturbed rounds

Times = dict[str, tuple[float, float]]  # what → (wall, processor) seconds of one round


@dataclass(frozen=True)
class Row:
    """One figure. at_most, at_least: the target; neither where a figure is for information."""

    name: str
    figure: float
    unit: str
    at_most: float | None = None
    note: str = ""
    at_least: float | None = None

    @property
    def met(self) -> bool:
        return (self.at_most is None or self.figure <= self.at_most) and (
            self.at_least is None or self.figure >= self.at_least
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"met": self.met}


@dataclass(frozen=True)
class Rounds:
    """Rounds of the same functions. Figures are of undisturbed rounds, or of processor time where there are too few."""

    times: list[Times]
    disturbed: int

    @property
    def _rounds(self) -> list[dict[str, float]]:
        calm = [times for times in self.times if not is_disturbed(times)]
        if len(calm) >= ENOUGH:
            return [{name: wall for name, (wall, _) in times.items()} for times in calm]
        return [{name: processor for name, (_, processor) in times.items()} for times in self.times]

    def ratio(self, one: str, other: str) -> float:
        return median(times[one] / times[other] for times in self._rounds)

    def seconds(self, name: str) -> float:
        return median(times[name] for times in self._rounds)

    @property
    def note(self) -> str:
        calm = len(self.times) - self.disturbed
        if calm < ENOUGH:
            return f"processor time: {self.disturbed} of {len(self.times)} rounds disturbed"
        return f"{calm} rounds" + (f", {self.disturbed} disturbed ones left out" if self.disturbed else "")


def side_by_side(functions: Mapping[str, Callable[[], object]], rounds: int) -> Rounds:
    """Time functions in turns until N rounds were undisturbed, or three times as many were tried."""
    for function in functions.values():
        function()  # whatever is made once is made now
    times: list[Times] = []
    disturbed = 0
    while len(times) - disturbed < rounds and len(times) < 3 * rounds:
        times.append({name: clock(function) for name, function in functions.items()})
        disturbed += is_disturbed(times[-1])
    return Rounds(times, disturbed)


def clock(function: Callable[[], object]) -> tuple[float, float]:
    gc.collect()
    wall, processor = time.perf_counter(), time.process_time()
    function()
    return time.perf_counter() - wall, time.process_time() - processor


def is_disturbed(times: Times) -> bool:
    return any(abs(wall - processor) > DISTURBED * wall for wall, processor in times.values())
