"""Make story.png and diagnosis.png: the kept models on ContraPro, under two attacks and on templates.

    python docs/images/story.py [FOLDER]

Scores ContraPro and at most 500 items of each template with both models of experiments/contrapro-2018, and ContraPro
with *it is true:* and with *Maria's* with the context-aware one; writes report.html to FOLDER (default: a temporary
folder), and takes pictures of its summary and its diagnosis. These show figures and no sentences of ContraPro. Needs
ANAPHORA_DATA, playwright and Chromium; takes some minutes.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import anaphora

HERE = Path(__file__).resolve().parent
EXPERIMENTS = HERE.parents[1] / "experiments"
sys.path += [str(EXPERIMENTS), str(EXPERIMENTS / "contracat-2020")]
from _attacked import Suites  # noqa: E402

DATA = Path(os.environ.get("ANAPHORA_DATA") or EXPERIMENTS.parents[1] / "shared" / "data")
WIDTH = 1120  # pixels


def runs(folder: Path) -> list[Path]:
    """Score all suites; runs that are complete are kept."""
    whole = folder / "contrapro.jsonl"
    if not whole.exists():
        released = DATA / "contrapro" / "contrapro_reconstructed.jsonl.gz"
        anaphora.convert_suite(released, whole, format="contrapro-rebuilt")
    suites = Suites(DATA, folder, whole)
    both, context_aware = (whole, suites.steps()), (suites.phrases("true_colon"), suites.owners("maria"))
    wanted = [(name, suite) for name in ("baseline", "concat22") for suite in both]
    wanted += [("concat22", suite) for suite in context_aware]
    scored = []
    for name, suite in wanted:
        run = folder / "runs" / f"{name}.{suite.stem}"
        run.parent.mkdir(exist_ok=True)
        if not (run / "run.jsonl").exists():
            model = EXPERIMENTS / "contrapro-2018" / name
            anaphora.score(suite, f"nmt:{model}", run, threads=1, workers=1, resume=run.exists())
        scored.append(run)
    return scored


def take(report: Path) -> None:
    """Take the pictures: the first screen, and the diagnosis of the context-aware model."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": WIDTH, "height": 800}, color_scheme="light", reduced_motion="reduce")
        tab.goto(report.absolute().as_uri())
        tab.screenshot(path=HERE / "story.png")
        tab.locator("section#diagnosis .said").last.screenshot(path=HERE / "diagnosis.png")
        browser.close()


def main(folder: Path) -> None:
    report = folder / "report.html"
    anaphora.report(
        *runs(folder), output=report, suites=[folder / "steps.jsonl"], title="Right on ContraPro, brittle under attack"
    )
    take(report)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
