"""Make report.png and examples.png from the report of the demo: python docs/images/report.py [REPORT.html]

Without a report the demo with its pretrained models is run. Needs playwright and Chromium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
WIDTH, SHOWN = 1120, 2  # pixels, examples


def main(report: Path) -> None:
    """The first screen, and the examples that only the context-aware model gets right."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": WIDTH, "height": 760}, color_scheme="light", reduced_motion="reduce")
        tab.goto(report.absolute().as_uri())
        tab.wait_for_selector(".example")
        tab.screenshot(path=HERE / "report.png")
        tab.locator("select[name='right']").select_option(label="context-aware")
        tab.locator("select[name='wrong']").select_option(label="sentence-level")
        tab.locator("select[name='template']").select_option(label="markable")
        first, last = (tab.locator(".example").nth(k).bounding_box() for k in (0, SHOWN - 1))
        bottom = last["y"] + last["height"]
        clip = {"x": 0, "y": first["y"] - 10, "width": WIDTH, "height": bottom - first["y"] + 20}
        tab.screenshot(path=HERE / "examples.png", full_page=True, clip=clip)
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        from anaphora.demo.story import run_story

        with tempfile.TemporaryDirectory() as folder:
            main(run_story(Path(folder), pretrained=True).report)
