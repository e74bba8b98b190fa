"""From source text to APT with a real system: Apertium, English to Spanish, on the talks of IWSLT 2014.

    apt-get install apertium apertium-eng-spa
    python experiments/run.py apt-2017/apertium

The test set was made for Spanish to English: its English side is the source here, its Spanish side the reference.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from _apertium import missing, talks, translate
from _metrics import evaluate
from wmt import COLUMNS, row

HERE = Path(__file__).resolve().parent


def main() -> int:
    if problem := missing():
        print(f"skipped: {problem}", file=sys.stderr)
        return 0
    english, spanish = talks("en"), talks("es")
    systems = {"Apertium": translate(english), "the source itself": english}
    with tempfile.TemporaryDirectory() as folder:
        found = evaluate(Path(folder), "en-es", english, spanish, systems, "it,they,he,she,him,her,them")
    (HERE / "apertium.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "APERTIUM.md").write_text(table(found), encoding="utf-8")
    return 0


def table(found: dict[str, Any]) -> str:
    lines = [
        "# Apertium, English to Spanish, from source text to APT",
        "",
        "Written by `python experiments/run.py apt-2017/apertium`.",
        f"{found['sentences']:,} sentences of TED talks (IWSLT 2014); it, they, he, she, him, her, them.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        f"| :-- |{' --: |' * (len(COLUMNS) - 1)}",
    ]
    lines += [f"| {name} | {' | '.join(row(found, name))} |" for name in found["apt"]]
    cases = found["apt"]["Apertium"]["cases"]
    found_both = (cases[0] + 0.5 * cases[1]) / sum(cases[:4])
    lines += [
        "",
        f"Spanish leaves subjects out: neither text has a pronoun in {cases[5]:,} of {sum(cases):,} cases, which are",
        f"wrong with the paper's weights. Without cases 5 and 6 (`--discard 5,6`) Apertium's APT is {found_both:.3f}.",
    ]
    by_pronoun = found["apt"]["Apertium"]["pronouns"]
    lines += ["", "Apertium by pronoun:", "", "| pronoun | n | APT |", "| :-- | --: | --: |"]
    for pronoun, figures in sorted(by_pronoun.items(), key=lambda item: -item[1]["total"]):
        lines.append(f"| {pronoun} | {figures['total']:,} | {figures['apt']:.3f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
