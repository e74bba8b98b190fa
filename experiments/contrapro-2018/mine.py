"""From parallel documents to a balanced test set: TED talks, news and Europarl, as ContraPro was made from subtitles.

    python experiments/run.py contrapro-2018/mine

Needs ANAPHORA_DATA (docs-en-de) and the small pipelines of ANAPHORA_MODELS. The lines are plain text, except that some
signs are written as in XML (`&amp;`), which is undone. Figures are kept here; sentences are not.
"""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from anaphora.files import text_lines

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[2] / "shared"
DATA = Path(os.environ.get("ANAPHORA_DATA") or SHARED / "data") / "docs-en-de"
MODELS = Path(os.environ.get("ANAPHORA_MODELS") or SHARED / "models")
PARTS = [(corpus, part) for corpus in ("IWSLT2017", "NC-2016", "Europarl7") for part in ("dev", "test")]
# ContraPro 2018, Table 2: words that *it* is aligned to in the data of WMT 2017
PAPER_TABLE_2 = {"es": 0.334, "sie": 0.084, "er": 0.058, "ist": 0.055, "Sie": 0.034, ",": 0.027, "das": 0.023}
PAPER_TABLE_2 |= {"dies": 0.015, "wird": 0.015, "man": 0.013, "ihn": 0.010}
# Table 4: distance → es, er, sie
PAPER_TABLE_4 = {"0": (872, 736, 792), "1": (1892, 2577, 2606), "2": (631, 459, 420), "3": (274, 167, 132)}
PAPER_TABLE_4 |= {">3": (331, 61, 50)}


def main() -> int:
    missing = [str(path) for path in (DATA, MODELS / "en_ud_sm", MODELS / "de_ud_sm") if not path.exists()]
    if missing:
        print(f"skipped: no {missing[0]}", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        found = mine(Path(os.environ.get("ANAPHORA_MINE_WORK") or folder))
    (HERE / "mine.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "MINE.md").write_text(report(found), encoding="utf-8")
    return 0


def mine(folder: Path) -> dict[str, Any]:
    """Everything that is found, and the balanced part of it."""
    folder.mkdir(parents=True, exist_ok=True)
    for language in ("en", "de"):
        with (folder / f"text.{language}").open("w", encoding="utf-8") as out:
            for corpus, part in PARTS:
                for line in text_lines(DATA / corpus / f"concatenated_en2de_{part}_{language}.txt.gz"):
                    out.write(f"{html.unescape(line) if '&' in line else line}\n")
    every = command(folder, "all")
    even = command(folder, "even")
    kept = ("documents", "pairs", "candidates", "found", "distances", "settings")
    pronoun = every["pronoun_table"]["it"]
    return {key: every[key] for key in kept} | {
        "balanced": {key: even[key] for key in ("examples", "classes", "distances")},
        "it": pronoun,
    }


def command(folder: Path, size: str) -> dict[str, Any]:
    arguments = ["build", "mine", "--source", folder / "text.en", "--target", folder / "text.de", "--format", "tags"]
    arguments += ["-l", "en-de", "--per-class", size, "--work", folder / "work", "-o", folder / f"{size}.jsonl"]
    for side, language in (("source", "en"), ("target", "de")):
        arguments += [f"--annotate-{side}", f"spacy:{MODELS / f'{language}_ud_sm'}"]
    called = [sys.executable, "-m", "anaphora", *map(str, arguments), "--json"]
    return dict(json.loads(subprocess.run(called, check=True, stdout=subprocess.PIPE).stdout))


def report(found: dict[str, Any]) -> str:
    lines = [
        "# Mining TED talks, news and Europarl",
        "",
        "Written by `python experiments/run.py contrapro-2018/mine`.",
        f"{found['pairs']:,} sentence pairs in {found['documents']:,} documents (dev and test sets of IWSLT 2017, News",
        f"Commentary 2016 and Europarl 7). {sum(found['found'].values()):,} items were found; as many of each pronoun",
        f"as of the rarest make a balanced suite of {found['balanced']['examples']:,}.",
        "",
        "What became of each *it*:",
        "",
        "| | n |",
        "| :-- | --: |",
        *(f"| {reason} | {count:,} |" for reason, count in found["candidates"].items()),
        "",
        "Words that *it* is aligned to, beside Table 2 of the paper (WMT 2017, 5.8 million pairs, fast_align as here):",
        "",
        "| alignment | frequency | probability | paper |",
        "| :-- | --: | --: | --: |",
        *map(_translation, found["it"]["translations"]),
        "",
        f"{found['it']['links']:,} links; {found['it']['without_link']:,} *it* have none.",
        "",
        "Items by the distance of the antecedent in sentences, beside Table 4 of the paper:",
        "",
        "| distance | es | er | sie | total | share | share in the paper |",
        "| :-- | --: | --: | --: | --: | --: | --: |",
        *_distances(found["distances"]),
    ]
    return "\n".join(lines) + "\n"


def _translation(row: dict[str, Any]) -> str:
    paper = PAPER_TABLE_2.get(row["word"])
    told = "" if paper is None else f"{paper:.3f}"
    return f"| it → {row['word']} | {row['frequency']:,} | {row['probability']:.3f} | {told} |"


def _distances(found: dict[str, dict[str, int]]) -> list[str]:
    total, paper = sum(sum(row.values()) for row in found.values()), sum(map(sum, PAPER_TABLE_4.values()))
    rows = []
    for distance, published in PAPER_TABLE_4.items():
        row = [found.get(distance, {}).get(word, 0) for word in ("es", "er", "sie")]
        shares = f"{sum(row) / max(total, 1):.3f} | {sum(published) / paper:.3f}"
        rows.append(f"| {distance} | {' | '.join(f'{n:,}' for n in row)} | {sum(row):,} | {shares} |")
    return rows


if __name__ == "__main__":
    sys.exit(main())
