"""From source text to APT with a real system: Apertium, English to Spanish, on the talks of IWSLT 2014.

    apt-get install apertium apertium-eng-spa
    python experiments/run.py apt-2017/apertium [--report-only]

--report-only writes APERTIUM.md from apertium.json.

The test set was made for Spanish to English: its English side is the source here, its Spanish side the reference.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from _apertium import missing, talks, translate
from _markdown import bullet, paragraph
from _metrics import evaluate
from wmt import COLUMNS, row

HERE = Path(__file__).resolve().parent


def main() -> int:
    if "--report-only" not in sys.argv[1:]:
        if problem := missing():
            print(f"skipped: {problem}", file=sys.stderr)
            return 0
        found = computed()
        (HERE / "apertium.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "APERTIUM.md").write_text(report(json.loads((HERE / "apertium.json").read_bytes())), encoding="utf-8")
    return 0


def computed() -> dict[str, Any]:
    english, spanish = talks("en"), talks("es")
    systems = {"Apertium": translate(english), "the source itself": english}
    with tempfile.TemporaryDirectory() as folder:
        return evaluate(Path(folder), "en-es", english, spanish, systems, "it,they,he,she,him,her,them")


def report(found: dict[str, Any]) -> str:
    apertium, source = found["apt"]["Apertium"], found["apt"]["the source itself"]
    cases = apertium["cases"]
    with_pronoun = (cases[0] + 0.5 * cases[1]) / sum(cases[:4])
    lines = [
        "# Apertium, English to Spanish, from source text to APT",
        "",
        *paragraph(
            "**Question.** Does a real engine run from English text to APT, AutoPRF, BLEU and chrF, and what does APT",
            "say of a language that leaves out subject pronouns?",
        ),
        "",
        "```sh",
        "apt-get install apertium apertium-eng-spa",
        "python experiments/run.py apt-2017/apertium",
        "python experiments/run.py apt-2017/apertium --report-only  # write this page from apertium.json",
        "```",
        "",
        *paragraph(
            f"{found['sentences']:,} sentences of TED talks (IWSLT 2014); pronouns: it, they, he, she, him, her, them.",
            "The untranslated source is the control.",
        ),
        "",
        f"| {' | '.join(COLUMNS)} |",
        f"| :-- |{' --: |' * (len(COLUMNS) - 1)}",
        *(f"| {name} | {' | '.join(row(found, name))} |" for name in found["apt"]),
        "",
        "Apertium by pronoun:",
        "",
        "| pronoun | n | APT |",
        "| :-- | --: | --: |",
        *(
            f"| {pronoun} | {figures['total']:,} | {figures['apt']:.3f} |"
            for pronoun, figures in sorted(apertium["pronouns"].items(), key=lambda item: -item[1]["total"])
        ),
        "",
        "## What it shows",
        "",
        *bullet(
            [
                f"Apertium's APT is {apertium['apt']:.3f} and that of the untranslated source {source['apt']:.3f}:",
                "cases and alignment do what they should on a real engine's output.",
            ]
        ),
        *bullet(
            [
                "Spanish leaves out subject pronouns, so APT with the paper's weights is not meaningful here: neither",
                f"text has a pronoun in {cases[5]:,} of {sum(cases):,} cases (case 6), which count as wrong. Without",
                f"cases 5 and 6 (`--discard 5,6`), Apertium's APT is {with_pronoun:.3f}.",
            ]
        ),
        "",
        "## What it does not show",
        "",
        "- How good Apertium's pronouns are: a pronoun that Spanish leaves out may be right.",
        *bullet(
            [
                "Figures that can be compared with the paper's, which evaluates English–French. The original program's",
                "figures on this test set, from Spanish to English, are a conformance test",
                "(`tests/metrics/apt/test_reference_side.py`).",
            ]
        ),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
