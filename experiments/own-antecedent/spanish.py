"""Own antecedents in Spanish: verdicts on Apertium's translations of ContraPro's passages, 50 of them read by hand.

    apt-get install apertium apertium-eng-spa
    python experiments/run.py own-antecedent/spanish [--read FILE]

ContraPro's records name the antecedents in English, so that its English passages serve for every target language.
`read-es.tsv` holds what the reader says of each item, and no text. --read writes the items with their texts to a file.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from dataclasses import replace
from pathlib import Path

from _apertium import missing, translate
from _control import SEED, control, figures, to_be_read
from _page import report
from _verdicts import Item, Lines, check_read, judged, read_by_hand, to_read

from anaphora.suites.readers.contrapro import read_rebuilt

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("ANAPHORA_DATA") or HERE.parents[2] / "shared" / "data")
READ, RESULT = HERE / "read-es.tsv", HERE / "spanish.json"
ITEMS = 1000  # of ContraPro
LANGUAGES = ("en", "es")
OTHER_GENDER = {"él": "ella", "ella": "él", "ellos": "ellas", "ellas": "ellos", "lo": "la"}  # la, los, las: articles


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help=argparse.SUPPRESS)  # what run.py was asked for
    parser.add_argument("--read", type=Path, help="write the items and their texts to this file")
    parser.add_argument("--report-only", action="store_true")
    given = parser.parse_args()
    if not given.report_only:
        problem = missing() or ("" if (DATA / "contrapro").is_dir() else f"no contrapro in {DATA}; set ANAPHORA_DATA")
        if problem:
            print(f"skipped: {problem}", file=sys.stderr)
            return 0
        items, corpus = translated()
        verdicts = judged(items, LANGUAGES, corpus)
        drawn = to_be_read(verdicts)
        if given.read is not None:
            given.read.write_text(to_read(items, verdicts, drawn), encoding="utf-8")
            return 0
        check_read(READ, read_by_hand(READ), drawn)
        swapped = control(items, verdicts, OTHER_GENDER, LANGUAGES, corpus)
        found = {"language": "Spanish", **figures(items, verdicts, READ, drawn, swapped, LANGUAGES[1])}
        RESULT.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "SPANISH.md").write_text(report(json.loads(RESULT.read_bytes())), encoding="utf-8")
    return 0


def translated() -> tuple[dict[str, Item], Lines]:
    """A sample of ContraPro's items with an antecedent at most one sentence back, and Apertium's translations."""
    examples = {}
    for example in read_rebuilt(DATA / "contrapro" / "contrapro_reconstructed.jsonl.gz"):
        distance = example.tags.get("distance")
        if "source_antecedent" in example.tags and type(distance) is int and distance <= 1:
            source = example.source[-1 - distance :]
            examples[example.id] = replace(example, source=source, candidates=(source,), gold=None)
    examples = {name: examples[name] for name in sorted(random.Random(SEED).sample(sorted(examples), ITEMS))}
    lines = dict.fromkeys(line for example in examples.values() for line in example.source)
    spanish = dict(zip(lines, translate(list(lines)), strict=True))
    items = {name: (one, tuple(spanish[line] for line in one.source)) for name, one in examples.items()}
    return items, (list(spanish), list(spanish.values()))


if __name__ == "__main__":
    sys.exit(main())
