"""From source text to APT with a real system: Apertium, English to Spanish, on the talks of IWSLT 2014.

    apt-get install apertium apertium-eng-spa
    python experiments/run.py apt-2017/apertium

The test set was made for Spanish to English: its English side is the source here, its Spanish side the reference.
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from _metrics import DATA, evaluate
from wmt import COLUMNS, row

HERE = Path(__file__).resolve().parent
TALKS = DATA / "han-apt" / "TED_es-en"


def main() -> int:
    if shutil.which("apertium") is None or not TALKS.is_dir():
        missing = f"no {TALKS}" if not TALKS.is_dir() else "Apertium is not installed: apt-get install apertium-eng-spa"
        print(f"skipped: {missing}", file=sys.stderr)
        return 0
    english, spanish = plain("en"), plain("es")
    systems = {"Apertium": translate(english), "the source itself": english}
    with tempfile.TemporaryDirectory() as folder:
        found = evaluate(Path(folder), "en-es", english, spanish, systems, "it,they,he,she,him,her,them")
    (HERE / "apertium.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "APERTIUM.md").write_text(table(found), encoding="utf-8")
    return 0


def plain(language: str) -> list[str]:
    """A side of the test set as text that people write."""
    from sacremoses import MosesDetokenizer, MosesDetruecaser

    detokenize, detruecase = MosesDetokenizer(language), MosesDetruecaser()
    with gzip.open(TALKS / f"IWSLT14.TED.tst.tc.{language}.gz", "rt", encoding="utf-8") as lines:
        return [detokenize.detokenize(detruecase.detruecase(line)) for line in lines]


def translate(sentences: list[str]) -> list[str]:
    """Apertium's translations; a blank line between sentences keeps them apart."""
    text = "\n\n".join(sentence or "." for sentence in sentences)
    output = subprocess.run(["apertium", "-u", "eng-spa"], input=text, text=True, check=True, stdout=subprocess.PIPE)
    found = output.stdout.rstrip("\n").split("\n\n")
    if len(found) != len(sentences):
        raise SystemExit(f"Apertium gave {len(found):,} sentences for {len(sentences):,}")
    return [" ".join(sentence.split()) for sentence in found]


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
