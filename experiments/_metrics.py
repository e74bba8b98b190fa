"""What experiments with translations share: texts in words, alignments, and the metrics of several systems."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from anaphora.align import Settings, align_systems
from anaphora.align.alignment import format_alignment
from anaphora.align.tokenize import Tokenization, sign_name, signs_of

DATA = Path(os.environ.get("ANAPHORA_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
SAMPLES = "1000"  # 10,000, the default, take ten times as long on these texts
ALIGNER = Settings(model="fast_align")  # the fastest; see docs/alignment.md for what others add


def anaphora(*arguments: str) -> Any:
    """What a command says with --json."""
    command = [sys.executable, "-m", "anaphora", *arguments, "--json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def evaluate(
    folder: Path, pair: str, source: list[str], reference: list[str], systems: dict[str, list[str]], pronouns: str
) -> dict[str, Any]:
    """APT, AutoPRF, BLEU and chrF of systems, whose texts are lines of plain text.

    BLEU and chrF compare the text as it is, as sacreBLEU does, and once more with one way to write each sign.
    """
    languages = pair.split("-")
    folder.mkdir(parents=True, exist_ok=True)
    divided = Tokenization("moses", languages=(languages[0], languages[1]))
    words = {"source": divided.source(source).sentences}
    words |= {name: divided.target(lines).sentences for name, lines in {"reference": reference, **systems}.items()}
    texts = {name: words[name] for name in systems}
    found = align_systems(words["source"], words["reference"], texts, settings=ALIGNER)
    for name, alignments in {"reference": found.reference, **found.systems}.items():
        write(folder / f"{name}.align", [format_alignment(alignment) for alignment in alignments])
    for name, sentences in words.items():
        write(folder / f"{name}.tok", [" ".join(sentence) for sentence in sentences])
    for name, lines in {"reference": reference, **systems}.items():
        write(folder / f"{name}.txt", lines)

    def options(suffix: str) -> list[str]:
        return [word for name in systems for word in ("-t", str(folder / f"{name}{suffix}"), "--name", name)]

    aligned = ["--ref-align", str(folder / "reference.align")]
    aligned += [word for name in systems for word in ("--hyp-align", str(folder / f"{name}.align"))]
    both = ["-s", str(folder / "source.tok"), "-r", str(folder / "reference.tok"), *options(".tok"), *aligned]
    both += ["--pronouns", pronouns, "--samples", SAMPLES]
    surface = ["-r", str(folder / "reference.txt"), *options(".txt"), "-l", pair, "--samples", SAMPLES]
    surface += ["--metric", "bleu,chrf"]
    apt = anaphora("apt", *both, "-l", pair)
    write(folder / "apt.json", [json.dumps(apt)])  # what `report --result` reads
    as_it_is, normalized = anaphora("metrics", *surface), anaphora("metrics", *surface, "--normalize")
    return {
        "sentences": len(source),
        "apt": apt["systems"],
        "pairs": {"apt": differences(apt["pairs"]), **of_metrics(normalized["pairs"])},
        "autoprf": anaphora("autoprf", *both, "--lowercase")["systems"],
        "surface": as_it_is["systems"],
        "surface_normalized": normalized["systems"],
        "normalized": {
            name: {sign_name(sign): count for sign, count in signs_of(lines).most_common()}
            for name, lines in {"source": source, "reference": reference, **systems}.items()
        },
    }


def of_metrics(pairs: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The differences between systems by each metric, on the normalized text: signs are no errors of pronouns."""
    names = dict.fromkeys(pair["metric"] for pair in pairs)
    return {name: differences([pair for pair in pairs if pair["metric"] == name]) for name in names}


def differences(pairs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How much the second system of each pair is above the first, without the sentences that differ."""
    return [{key: pair[key] for key in ("systems", "delta", "interval", "p_adjusted")} for pair in pairs]


def write(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
