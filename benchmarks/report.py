"""The report on ContraPro's 12,000 items and three systems: how large it is, and how soon a browser shows it.

Times are the browser's own, from the start of navigation, in headless Chromium with a window that nothing is cached in.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from evaluate import prepare
from timing import Row

MEGABYTES, SECONDS = 3.0, 1.0
SYSTEMS = {"guessing": 0.0, "sentence-level": 1.0, "context-aware": 3.0}  # how much more probable the right one is
# notes when the first chart has a size, and when the first example is in the page
WATCH = """
window.seen = {};
const look = () => {
  const chart = document.querySelector("figure > svg");
  if (chart && chart.getBoundingClientRect().height > 0) window.seen.chart ??= performance.now();
  if (document.querySelector(".example")) window.seen.example ??= performance.now();
  if (!window.seen.chart || !window.seen.example) requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""


def run(rounds: int = 5) -> list[Row]:
    """The page is made as a user makes it, by scores of a seed, and opened N times."""
    with tempfile.TemporaryDirectory() as folder:
        file, source, seconds = make(Path(folder))
        size = file.stat().st_size / 1e6
        rows = [
            Row("report: 12,000 items × 3 systems", size, "MB", MEGABYTES, source),
            Row("report: written in", seconds, "s", note="for information: processor time"),
        ]
        chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        if chromium is None:
            return [
                *rows,
                Row("report: shown", float("inf"), "s", SECONDS, "no Chromium here: apt-get install chromium"),
            ]
        times = list(opened(file, chromium, rounds))
    for name, what in {"load": "load event", "chart": "first chart", "example": "first example"}.items():
        found = sorted(one[name] for one in times)
        note = f"median of {rounds}, {found[0]:.2f} to {found[-1]:.2f} s"
        rows.append(Row(f"report: navigation to {what}", median(found), "s", SECONDS, note))
    return rows


def make(folder: Path) -> tuple[Path, str, float]:
    """Three runs of ContraPro, or of a suite of its shape, and the report on them; says which, and how long it took."""
    from anaphora import api

    suite = folder / "suite.jsonl"
    source = prepare(suite, folder / "unused.scores")
    rng = random.Random(1)
    runs = []
    for name, help_ in SYSTEMS.items():
        scores = folder / f"{name}.scores"
        with scores.open("w") as out:
            for example in api.load_suite(suite):
                for k, _ in enumerate(example.candidates):
                    out.write(f"{rng.gauss(-20, 2) + help_ * (k == example.gold):.4f}\n")
        runs.append(api.score(suite, f"scores:{scores}", folder / name))
    began = time.process_time()
    api.report(*runs, output=folder / "report.html", suites=[suite], names=list(SYSTEMS))
    return folder / "report.html", source, time.process_time() - began


def opened(file: Path, chromium: str, rounds: int) -> Iterator[dict[str, float]]:
    """Seconds from the start of navigation, of every time it is opened; once before, for the browser itself."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for number in range(rounds + 1):
            context = browser.new_context()
            tab: Any = context.new_page()
            tab.add_init_script(WATCH)
            tab.goto(file.as_uri(), wait_until="load")
            tab.wait_for_function("window.seen.chart && window.seen.example")
            load = tab.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
            seen = tab.evaluate("window.seen")
            context.close()
            if number:
                yield {name: value / 1000 for name, value in {"load": load, **seen}.items()}
        browser.close()
