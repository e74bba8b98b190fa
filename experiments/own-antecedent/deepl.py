"""Precision of `generative --antecedent own` on DeepL's translations, whose verdicts were read one by one.

    python experiments/run.py own-antecedent/deepl [--read FILE | --report-only]

CTXPRO has DeepL's translations of passages from films, some of which are items of ContraPro whose records name the
antecedent. A hundred of these, drawn at random, were read, and all others that the program says disagree.
`read.tsv` holds what the reader says of each item, and no text. --read writes the items with their texts to a file.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from _markdown import bullet, paragraph
from _verdicts import (
    ALIGNER,
    PRECISION,
    Item,
    Lines,
    Read,
    check_read,
    counts,
    judged,
    precision,
    precision_rows,
    read_by_hand,
    to_read,
)

from anaphora.evaluation.own_antecedent import AGREES, DISAGREES, Verdict
from anaphora.suites.example import Example
from anaphora.suites.readers.contrapro import read_rebuilt

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("ANAPHORA_DATA") or HERE.parents[2] / "shared" / "data")
PASSAGES = "mini.gender.opensubtitles.en-de.test.gz"
TRANSLATED = "deepl.mini.gender.opensubtitles.en-de.test.contexts.gz"
READ = HERE / "read.tsv"
SIZE, SEED = 100, 12345
SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[.!?…][\"'”“])\s+")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--read", type=Path, help="write the items and their texts to this file")
    parser.add_argument("--report-only", action="store_true", help="write DEEPL.md from deepl.json")
    given, _ = parser.parse_known_args()  # run.py leaves the name of the experiment
    if given.report_only:
        write_page()
        return 0
    if not (DATA / "ctxpro").is_dir() or not (DATA / "contrapro").is_dir():
        print(f"skipped: no ctxpro and contrapro in {DATA}", file=sys.stderr)
        return 0
    items, corpus = matched(DATA)
    verdicts = judged(items, ("en", "de"), corpus)
    drawn = set(random.Random(SEED).sample(sorted(items), SIZE))
    if given.read is not None:
        given.read.write_text(to_read(items, verdicts, wanted_of(verdicts, drawn)), encoding="utf-8")
        return 0
    found = figures(verdicts, drawn, read_by_hand(READ))
    (HERE / "deepl.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    write_page()
    return 0


def write_page() -> None:
    (HERE / "DEEPL.md").write_text(report(json.loads((HERE / "deepl.json").read_bytes())), encoding="utf-8")


def matched(data: Path) -> tuple[dict[str, Item], Lines]:
    """The items of ContraPro among CTXPRO's passages, by id, and all sentences of these with their translations."""
    passages: dict[tuple[str, str], Item] = {}
    corpus: Lines = ([], [])
    for source, translation in divided(data / "ctxpro"):
        corpus[0].extend(source[-2:])
        corpus[1].extend(translation[-2:])
        key = plain(source[-1]), plain(source[-2])
        passages.setdefault(key, (Example("", source, (translation,), None), translation))
    items = {}
    for example in read_rebuilt(data / "contrapro" / "contrapro_reconstructed.jsonl.gz"):
        found = passages.get((plain(example.source[-1]), plain(example.source[-2])))
        distance = example.tags.get("distance")
        if "source_antecedent" not in example.tags or found is None or type(distance) is not int or distance > 1:
            continue
        passage, translation = found
        # the sentences as CTXPRO has them, which DeepL translated; ContraPro's candidates tell which pronoun is meant
        before = ("",) * (len(passage.source) - 1)
        candidates = tuple((*before, candidate[-1]) for candidate in example.candidates)
        items[example.id] = replace(example, source=passage.source, candidates=candidates), translation
    return items, corpus


def divided(folder: Path) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Passages of five lines, and DeepL's translations line by line where they have as many sentences as the source."""
    with gzip.open(folder / PASSAGES, "rt", encoding="utf-8") as one, gzip.open(folder / TRANSLATED, "rt") as other:
        for line, translation in zip(one, other, strict=True):
            source = tuple(sentence.strip() for sentence in line.split("<eos>"))
            sizes = [len(sentences(text)) for text in source]
            translated = iter(sentences(translation))
            lines = tuple(" ".join(islice(translated, size)) for size in sizes)
            if len(source) == 5 and sum(sizes) == len(sentences(translation)):
                yield source, lines


def sentences(text: str) -> list[str]:
    return [part for part in SENTENCE_END.split(text.strip()) if part]


def plain(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def figures(verdicts: dict[str, Verdict], drawn: set[str], read: Read) -> dict[str, Any]:
    """How often the reader says the same as the program, where the program decides."""
    wanted = wanted_of(verdicts, drawn)
    check_read(READ, read, wanted)
    return {
        "items": len(verdicts),
        "drawn": len(drawn),
        "verdicts": counts(verdicts[name] for name in drawn),
        "decided": precision(verdicts, read, drawn, AGREES, DISAGREES),
        AGREES: precision(verdicts, read, drawn, AGREES),
        DISAGREES: precision(verdicts, read, drawn, DISAGREES),
        "every_disagrees": precision(verdicts, read, wanted, DISAGREES),
        "aligner": ALIGNER,
        "seed": SEED,
    }


def wanted_of(verdicts: dict[str, Verdict], drawn: set[str]) -> list[str]:
    """The items to read: those drawn, then the others that disagree."""
    others = {name for name, verdict in verdicts.items() if verdict.verdict == DISAGREES}
    return sorted(drawn | others, key=lambda name: (name not in drawn, name))


def report(found: dict[str, Any]) -> str:
    names = {"decided": "decided", AGREES: AGREES, DISAGREES: DISAGREES, "every_disagrees": "disagrees, of all items"}
    numbers = ", ".join(f"{kind} {number}" for kind, number in found["verdicts"].items())
    decided, every = found["decided"], found["every_disagrees"]
    low, high = decided["interval"]
    lines = [
        "# Agreement with the own antecedent in German",
        "",
        "**Question.** Are the verdicts of `generative --antecedent own` right on a real engine's German?",
        "",
        "```sh",
        "python experiments/run.py own-antecedent/deepl",
        "python experiments/run.py own-antecedent/deepl --report-only  # write this page from deepl.json",
        "```",
        "",
        *paragraph(
            f"{found['items']} items of ContraPro whose records name the antecedent are among CTXPRO's passages, with",
            f"DeepL's translations of the sentence and its context. {found['drawn']} of them were drawn (seed",
            f"{found['seed']}): {numbers}. All others that disagree were read as well. The texts are aligned by",
            f"`{found['aligner']}` together with the rest of DeepL's translations; `german-nouns` is installed.",
        ),
        "",
        PRECISION,
        precision_rows(found, names),
        "",
        *paragraph(
            "One reader, a language model that also wrote this experiment and not a human annotator, judged each item",
            "from its texts, with the program's verdict in view. The first question is that of the program: does the",
            "word that translates *it* agree with the noun that DeepL wrote for the antecedent of *it*? The second is",
            "whether the pronoun is right. `read.tsv` has the answers, by the ids of ContraPro and without text;",
            "`--read FILE` writes the items with their texts.",
        ),
        "",
        "## What it shows",
        "",
        *bullet(
            [
                f"On {decided['right']} of the {decided['items']} items that the program decides, the reader gives the",
                f"same verdict ({decided['precision']:.3f} [{low:.3f}, {high:.3f}]).",
            ]
        ),
        *bullet(
            [
                "A pronoun that does not agree is not always wrong: *es* stands before predicate nouns (*Es ist ein",
                f"…*) and for whole situations. The program says that {every['items']} disagree:",
                f"{every['pronouns']['wrong']} of them are wrong, {every['pronouns']['right']} right, and",
                f"{every['pronouns']['unclear']} unclear or a matter of taste. So a low agreement is a reason to look",
                "at the items that disagree, or to have annotators look at them (`study create --only disagrees`).",
            ]
        ),
        *bullet(
            [
                "Most verdicts that remain wrong are those on items whose record names another antecedent than that of",
                "the pronoun.",
            ]
        ),
        "",
        "## What it does not show",
        "",
        *bullet(["Agreement with human readers: only a language model has read the items, and it saw the verdicts."]),
        *bullet(
            [
                "An independent test of the last rule, that German nouns have a capital: it was added after this",
                "reading, which had shown verbs that were taken for nouns.",
            ]
        ),
        "- Other engines, or texts other than subtitles.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
