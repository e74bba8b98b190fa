"""Which tests are slow: `make slow` runs all of them and writes the list that `make check` leaves out.

As a pytest plugin (`-p tests.slow`) it adds up the seconds of each test function, with all its parameters and what they
set up, and writes those above the limit to slow.txt.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

LIMIT = 0.4  # seconds
LIST = Path(__file__).with_suffix(".txt")

seconds: Counter[str] = Counter()


def slow_tests() -> frozenset[str]:
    """The test functions of the list, as file::function."""
    return frozenset(LIST.read_text("utf-8").split())


def function_of(nodeid: str) -> str:
    return nodeid.partition("[")[0]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    seconds[function_of(report.nodeid)] += report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):  # not one of several processes
        LIST.write_text("".join(f"{name}\n" for name in sorted(above(LIMIT))), encoding="utf-8")


def above(limit: float) -> set[str]:
    return {name for name, took in seconds.items() if took > limit}
