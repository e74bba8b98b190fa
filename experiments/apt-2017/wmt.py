"""APT, AutoPRF, BLEU and chrF of Google, Microsoft and Bergamot on WMT's news test sets.

    python experiments/run.py apt-2017/wmt

Lines are paired by the text of the source, as some sets are in another order or have edits; what has no partner is left
out and counted.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from _archive import archive
from _metrics import DATA, evaluate

HERE = Path(__file__).resolve().parent
COLUMNS = ("system", "APT", "cases 1–6", "AutoF", "BLEU", "normalized", "chrF", "normalized")

# the last sets of each pair, and the pronouns that are looked at
PAIRS = {
    "en-de": (("18", "19"), "it,they"),
    "en-fr": (("13", "14"), "it,they"),
    "de-en": (("18", "19"), "er,sie,es,ihn,ihm,ihr,ihnen"),
    "fr-en": (("13", "14"), "il,elle,ils,elles,ce,c',ça,cela"),
}


def main() -> int:
    if not (DATA / "wmt-outputs").is_dir():
        print(f"skipped: no wmt-outputs under {DATA} (set ANAPHORA_DATA)", file=sys.stderr)
        return 0
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for pair, (years, pronouns) in PAIRS.items():
            print(f"  {pair}", file=sys.stderr, flush=True)
            source, reference, systems, left_out = texts(pair, years)
            found = evaluate(Path(folder) / pair, pair, source, reference, systems, pronouns)
            for figures in found["apt"].values():
                del figures["confusion"]  # long, and not shown
            results[pair] = found | {"years": years, "left_out": left_out, "pronouns": pronouns}
    (HERE / "wmt.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "WMT.md").write_text(table(results), encoding="utf-8")
    return 0


def texts(pair: str, years: tuple[str, ...]) -> tuple[list[str], list[str], dict[str, list[str]], int]:
    """Source, reference and the outputs of the systems that translated all of the years."""
    files = archive(DATA / "wmt-outputs" / f"{pair}.tar.zst")
    one, other = pair.split("-")
    names = sorted(
        {name.split(".")[1] for name in files if name.startswith(f"wmt{years[0]}.") and name.count(".") == 2}
    )
    source: list[str] = []
    reference: list[str] = []
    systems: dict[str, list[str]] = {name: [] for name in names}
    left_out = 0
    for year in years:
        references = dict(
            zip(files[f"newstest20{year}.src.{one}"], files[f"newstest20{year}.ref.{other}"], strict=True)
        )
        outputs = {name: files[f"wmt{year}.{name}.{other}"] for name in names}
        for number, sentence in enumerate(files[f"wmt{year}.{one}"]):
            if sentence not in references:
                left_out += 1
                continue
            source.append(sentence)
            reference.append(references[sentence])
            for name in names:
                systems[name].append(outputs[name][number])
    return source, reference, systems, left_out


def table(results: dict[str, Any]) -> str:
    lines = [
        "# Google, Microsoft and Bergamot on WMT news: pronouns next to BLEU and chrF",
        "",
        "Written by `python experiments/run.py apt-2017/wmt`. Intervals are 95 % bootstrap intervals over sentences.",
        "APT: weights 1, 0.5, 0, 0, 0, 0, alignment with rescue; cases are the six of the paper.",
        "",
        "APT and AutoPRF make apostrophes, entities and spaces one before they tokenize. BLEU and chrF compare text",
        "as it is, as sacreBLEU does; *normalized* is the same after `--normalize`. Google's files are HTML, and are",
        "unescaped when they are read. Signs: those that are normalized, as they are written in the files.",
    ]
    for pair, found in results.items():
        pronouns = found["pronouns"].replace(",", ", ")
        lines += [
            "",
            f"## {pair}: newstest 20{', 20'.join(found['years'])}, {found['sentences']:,} sentences "
            f"({found['left_out']:,} without a partner left out); {pronouns}",
            "",
            f"| {' | '.join(COLUMNS)} | signs |",
            f"| :-- |{' --: |' * (len(COLUMNS) - 1)} :-- |",
        ]
        for name in sorted(found["apt"], key=lambda name: -found["apt"][name]["apt"]):
            lines.append(f"| {name} | {' | '.join(row(found, name))} | {signs(found['normalized'][name])} |")
        lines += ["", f"Reference: {signs(found['normalized']['reference'])}."]
    return "\n".join(lines) + "\n"


def row(found: dict[str, Any], name: str) -> list[str]:
    apt, prf, surface = found["apt"][name], found["autoprf"][name], found["surface"][name]
    cases = " ".join(f"{n:,}" for n in apt["cases"])
    return [
        with_interval(apt["apt"], apt.get("interval"), 3),
        cases,
        f"{prf['f']:.3f}",
        *(
            with_interval(scores[metric]["score"], scores[metric].get("interval"), 1)
            for metric in ("bleu", "chrf")
            for scores in (surface, found["surface_normalized"][name])
        ),
    ]


def signs(counts: dict[str, int], most: int = 3) -> str:
    """The most frequent signs that are normalized."""
    return ", ".join(f"{count:,} {sign}" for sign, count in list(counts.items())[:most]) or "none"


def with_interval(value: float, interval: list[float] | None, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text if interval is None else f"{text} [{interval[0]:.{digits}f}, {interval[1]:.{digits}f}]"


if __name__ == "__main__":
    sys.exit(main())
