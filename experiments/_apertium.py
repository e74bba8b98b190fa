"""Apertium, English to Spanish, and talks with a human translation (IWSLT 2014), as several experiments use them."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
from pathlib import Path

DATA = Path(os.environ.get("ANAPHORA_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
TALKS = DATA / "han-apt" / "TED_es-en"


def missing() -> str:
    """What is missing of the engine and the talks; empty if nothing is."""
    if not TALKS.is_dir():
        return f"no {TALKS}"
    return "" if shutil.which("apertium") else "Apertium is not installed: apt-get install apertium-eng-spa"


def talks(language: str) -> list[str]:
    """A side of the talks as text that people write."""
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
