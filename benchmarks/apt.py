"""APT of five systems on the 4,706 sentences of TED ES-EN with given alignments: read, scored, tested."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from timing import Row, side_by_side

AT_MOST = 2.0
DATA = Path(os.environ.get("ANAPHORA_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
SYSTEMS = ("baseline", "cache", "HA-enc", "HA-dec", "HA-enc-dec")
SENTENCES = 4_706


def run(rounds: int = 3) -> list[Row]:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    from anaphora import apt

    with tempfile.TemporaryDirectory() as folder:
        files, source = real() if (DATA / "han-apt").is_dir() else made_up(Path(folder))
        variants: dict[str, Callable[[], Any]] = {
            variant: lambda variant=variant: apt(**files, languages="es-en", variant=variant)  # type: ignore[misc]
            for variant in ("paper", "reference-side")
        }
        measured = side_by_side(variants, rounds)
    note = f"{source}, {measured.note}"
    return [
        Row(f"APT of five systems, {variant}", measured.seconds(variant), "s", AT_MOST, note) for variant in variants
    ]


def real() -> tuple[dict[str, Any], str]:
    folder = DATA / "han-apt" / "TED_es-en"
    text = "IWSLT14.TED.tst.tc"
    return {
        "source": folder / f"{text}.es.gz",
        "reference": folder / f"{text}.en.gz",
        "translations": [folder / f"TED_es-en_{system}.en.gz" for system in SYSTEMS],
        "reference_alignments": folder / f"{text}.align.gz",
        "translation_alignments": [folder / f"TED_es-en_{system}.align.gz" for system in SYSTEMS],
    }, "TED ES-EN"


def made_up(folder: Path) -> tuple[dict[str, Any], str]:
    """Texts of that size: about 19 words a sentence, two of them pronouns."""
    rng = random.Random(1)
    source, target = ["ella", "su", *["casa"] * 17], ["she", "his", *["house"] * 17]

    def write(name: str, line: Callable[[], str]) -> Path:
        path = folder / name
        path.write_text("".join(f"{line()}\n" for _ in range(SENTENCES)), encoding="utf-8")
        return path

    def text(words: list[str]) -> Callable[[], str]:
        return lambda: " ".join(rng.choices(words, k=19))

    def points() -> str:
        return " ".join(f"{k}-{min(max(k + rng.randint(-1, 1), 0), 18)}" for k in range(19))

    return {
        "source": write("s", text(source)),
        "reference": write("r", text(target)),
        "translations": [write(system, text(target)) for system in SYSTEMS],
        "reference_alignments": write("r.align", points),
        "translation_alignments": [write(f"{system}.align", points) for system in SYSTEMS],
    }, "made up, as TED is not here"
