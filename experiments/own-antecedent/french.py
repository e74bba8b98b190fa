"""Own antecedents in French: 50 verdicts on the outputs of four engines, read by hand, and annotated antecedents.

    python experiments/run.py own-antecedent/french [--read FILE]

The outputs are those of Google, Microsoft and two Bergamot models on WMT's news of 2013, one engine per item; the
built-in linker finds the antecedents in English. `read-fr.tsv` holds what the reader says of each item, and no text.
--read writes the items with their texts to a file. ParCorFull has annotated antecedents, and human translations.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from _archive import archive
from _control import control, figures, to_be_read
from _linked import linked
from _page import report
from _verdicts import Item, Lines, check_read, expected, judged, precision, read_by_hand, to_read

from anaphora.core.columns import read_columns
from anaphora.evaluation.own_antecedent import AGREES, DISAGREES
from anaphora.suites.example import Example

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("ANAPHORA_DATA") or HERE.parents[2] / "shared" / "data")
MODELS = DATA.parent / "models"
READ, RESULT = HERE / "read-fr.tsv", HERE / "french.json"
YEAR = "13"  # the last set whose sentences are in their order
LANGUAGES = ("en", "fr")
OTHER_GENDER = {"il": "elle", "elle": "il", "ils": "elles", "elles": "ils"}  # le and la are articles as well
CLITICS = {"le": "la", "la": "le"}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help=argparse.SUPPRESS)  # what run.py was asked for
    parser.add_argument("--read", type=Path, help="write the items and their texts to this file")
    parser.add_argument("--report-only", action="store_true")
    given = parser.parse_args()
    if not given.report_only:
        needed = (DATA / "parcorfull", DATA / "wmt-outputs", MODELS)
        if missing := [path for path in needed if not path.is_dir()]:
            print(f"skipped: no {missing[0]}; set ANAPHORA_DATA", file=sys.stderr)
            return 0
        items, corpus = outputs()
        verdicts = judged(items, LANGUAGES, corpus)
        drawn = to_be_read(verdicts)
        if given.read is not None:
            given.read.write_text(to_read(items, verdicts, drawn), encoding="utf-8")
            return 0
        read = read_by_hand(READ)
        check_read(READ, read, drawn)
        linked_rightly = [name for name in drawn if name in right_antecedents(READ)]
        swapped = control(items, verdicts, OTHER_GENDER, LANGUAGES, corpus)
        found = {
            "language": "French",
            **figures(items, verdicts, READ, drawn, swapped, LANGUAGES[1]),
            "right_antecedent": precision(verdicts, read, linked_rightly, AGREES, DISAGREES),
            "known": known(),
        }
        RESULT.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "FRENCH.md").write_text(report(json.loads(RESULT.read_bytes())), encoding="utf-8")
    return 0


def right_antecedents(path: Path) -> set[str]:
    """The items whose antecedent, as the linker has it, is right to the reader."""
    return {record.cells["id"] for record in read_columns(path).records if record.cells["antecedent"] == "right"}


# Outputs of engines


def outputs() -> tuple[dict[str, Item], Lines]:
    """Pronouns of the news with the antecedents that the linker finds, each in the output of one engine in turn."""
    files = archive(DATA / "wmt-outputs" / "en-fr.tar.zst")
    source = files[f"wmt{YEAR}.en"]
    engines = sorted(name.split(".")[1] for name in files if name.startswith(f"wmt{YEAR}.") and name.count(".") == 2)
    translations = [files[f"wmt{YEAR}.{engine}.fr"] for engine in engines]
    items: dict[str, Item] = {}
    for number, example in linked(source, MODELS):
        engine = len(items) % len(engines)
        lines = translations[engine][number + 1 - len(example.source) : number + 1]
        items[f"{engines[engine]}/{example.id}"] = replace(example, id=f"{engines[engine]}/{example.id}"), tuple(lines)
    return items, (source, [translations[k % len(engines)][k] for k in range(len(source))])


# Human translations with annotated antecedents, and the same with a pronoun of the other gender


def known() -> dict[str, Any]:
    """The verdicts on translations that must agree, and on those that must not."""
    items, corpus, left_out = annotated()
    found: dict[str, Any] = {"left_out": dict(left_out)}
    for number, wanted in enumerate((AGREES, DISAGREES)):
        given = {key: (example, example.candidates[number]) for key, example in items.items()}
        found[wanted] = expected(list(judged(given, LANGUAGES, corpus).values()), wanted)
    return found


def annotated() -> tuple[dict[str, Example], Lines, Counter[str]]:
    """Items of ParCorFull: *it* with its antecedents in both languages, translated as a pronoun that shows gender.

    Also text to align by, and why others are left out.
    """
    with gzip.open(DATA / "parcorfull" / "parcorfull.en-fr.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = {document["doc"]: document for document in map(json.loads, lines)}
    corpus: Lines = ([], [])
    for document in documents.values():
        for english, french in document["alignment"]:
            if english and french:
                corpus[0].append(text_of(document["en"], english))
                corpus[1].append(text_of(document["fr"], french))
    items: dict[str, Example] = {}
    left_out: Counter[str] = Counter()
    swap = OTHER_GENDER | CLITICS
    rows = (DATA / "parcorfull" / "it_items.en-fr.jsonl").read_text(encoding="utf-8").splitlines()
    for number, row in enumerate(map(json.loads, rows)):
        if not (row["chains_agree"] and row["antecedents_linked"]) or row["tgt_pronoun"].lower() not in swap:
            left_out["pronoun without gender, or chains that differ"] += 1
            continue
        document = documents[row["doc"]]
        beads = {one: other for english, other in document["alignment"] for one in english}
        numbers = range(row["en_antecedent_sent"], row["en_sent"] + 1)
        if not all(beads.get(one) for one in numbers) or row["tgt_sent"] not in beads[row["en_sent"]]:
            left_out["sentences not aligned"] += 1
            continue
        source = tuple(text_of(document["en"], [one]) for one in numbers)
        before = tuple(text_of(document["fr"], beads[one]) for one in numbers[:-1])
        other = swap[row["tgt_pronoun"].lower()]
        candidates = []
        for pronoun in (row["tgt_pronoun"], other.capitalize() if row["tgt_pronoun"][0].isupper() else other):
            sentences = list(document["fr"]["sentences"])
            words = list(sentences[row["tgt_sent"]])
            words[row["tgt_tok"]] = pronoun
            sentences[row["tgt_sent"]] = words
            current = " ".join(" ".join(sentences[one]) for one in beads[row["en_sent"]])
            candidates.append((*before, current))
        tags = {"source_pronoun": "it", "source_antecedent": row["en_antecedent"], "distance": len(source) - 1}
        items[str(number)] = Example(str(number), source, tuple(candidates), 0, tags)
    return items, corpus, left_out


def text_of(side: Mapping[str, Any], numbers: Sequence[int]) -> str:
    return " ".join(" ".join(side["sentences"][number]) for number in numbers)


if __name__ == "__main__":
    sys.exit(main())
