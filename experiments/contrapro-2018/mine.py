"""From parallel documents to a balanced test set: TED talks, news and Europarl, as ContraPro was made from subtitles.

    python experiments/run.py contrapro-2018/mine [--report-only]

--report-only writes MINE.md from mine.json.

Needs ANAPHORA_DATA (docs-en-de) and the small pipelines of ANAPHORA_MODELS. The lines are plain text, except that some
signs are written as in XML (`&amp;`), which is undone. Figures are kept here; sentences are not.
"""

from __future__ import annotations

import html
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from _command import anaphora
from _markdown import bullet, paragraph

from anaphora.core.files import text_lines

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
FAR = 24  # sentences that a piece of a document reaches back at least
DISTANCES = ("0", "1", "2", "3", ">3")


def main() -> int:
    if "--report-only" not in sys.argv[1:]:
        missing = [str(path) for path in (DATA, MODELS / "en_ud_sm", MODELS / "de_ud_sm") if not path.exists()]
        if missing:
            print(f"skipped: no {missing[0]}", file=sys.stderr)
            return 0
        with tempfile.TemporaryDirectory() as folder:
            found = mine(Path(os.environ.get("ANAPHORA_MINE_WORK") or folder))
        (HERE / "mine.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "MINE.md").write_text(report(json.loads((HERE / "mine.json").read_bytes())), encoding="utf-8")
    return 0


def mine(folder: Path) -> dict[str, Any]:
    """Everything that is found, and the balanced part of it."""
    folder.mkdir(parents=True, exist_ok=True)
    for language in ("en", "de"):
        with (folder / f"text.{language}").open("w", encoding="utf-8") as out:
            for corpus, part in PARTS:
                for line in text_lines(DATA / corpus / f"concatenated_en2de_{part}_{language}.txt.gz"):
                    out.write(f"{html.unescape(line) if '&' in line else line}\n")
    far = command(folder, "all", "--format", "tags", "--option", f"distance={FAR}")
    even = command(folder, "even", "--format", "tags")
    every = command(folder, "all", "--format", "tags")  # last, as its suite is read below
    kept = ("documents", "pairs", "candidates", "found", "distances", "settings")
    pronoun = every["pronoun_table"]["it"]
    return {key: every[key] for key in kept} | {
        "balanced": {key: even[key] for key in ("examples", "classes", "distances")},
        "it": pronoun,
        "far": {"found": far["found"], "distances": far["distances"]},
        "corpora": corpora(folder),
        "contrapro_words": contrapro_words(),
    }


def corpora(folder: Path) -> dict[str, dict[str, Any]]:
    """Of each corpus: its sentences, their English words, and its items by distance, with the words of theirs."""
    names, sentences, words = [""], Counter[str](), Counter[str]()  # the first document is number 1
    for corpus, part in PARTS:
        inside = False
        for line in text_lines(DATA / corpus / f"concatenated_en2de_{part}_en.txt.gz"):
            if line.strip() == "<d>":
                inside = False
                continue
            names += [] if inside else [corpus]
            inside = True
            sentences[corpus] += 1
            words[corpus] += len(line.split())
    distances: dict[str, Counter[str]] = {corpus: Counter() for corpus in sentences}
    of_items: Counter[str] = Counter()
    for line in list(text_lines(folder / "all.jsonl"))[1:]:
        item = json.loads(line)
        corpus, far = names[int(item["tags"]["document"])], int(item["tags"]["distance"])
        distances[corpus][DISTANCES[min(far, 4)]] += 1
        of_items[corpus] += len(item["source"][-1].split())
    return {
        corpus: {
            "sentences": sentences[corpus],
            "words": words[corpus],
            "distances": {name: distances[corpus][name] for name in DISTANCES},
            "words_of_items": of_items[corpus],
        }
        for corpus in sentences
    }


def contrapro_words() -> float | None:
    """Words of a source sentence of ContraPro on average."""
    path = DATA.parent / "contrapro" / "contrapro_reconstructed.jsonl.gz"
    if not path.exists():
        return None
    lengths = [len(json.loads(line)["src"].split()) for line in text_lines(path)]
    return round(sum(lengths) / len(lengths), 1)


def command(folder: Path, size: str, *more: str) -> dict[str, Any]:
    """What `build mine` says of the text of a folder; the suite is in SIZE.jsonl."""
    texts = ("--source", folder / "text.en", "--target", folder / "text.de", "-l", "en-de", "--seed", "1")
    files = ("--per-class", size, "--work", folder / "work", "-o", folder / f"{size}.jsonl")
    annotators = [
        word
        for side, language in (("source", "en"), ("target", "de"))
        for word in (f"--annotate-{side}", f"spacy:{MODELS / f'{language}_ud_sm'}")
    ]
    found: dict[str, Any] = anaphora("build", "mine", *texts, *files, *annotators, *more, "--json")
    return found


def report(found: dict[str, Any]) -> str:
    lines = [
        "# Mining TED talks, news and Europarl",
        "",
        *paragraph(
            "**Question.** What does `build mine` find in a corpus of several genres, and do the translations of *it*",
            "and the distances of antecedents look like the paper's?",
        ),
        "",
        "```sh",
        "python experiments/run.py contrapro-2018/mine",
        "python experiments/run.py contrapro-2018/mine --report-only  # write this page from mine.json",
        "```",
        "",
        *paragraph(
            f"{found['pairs']:,} sentence pairs in {found['documents']:,} documents (dev and test sets of IWSLT 2017,",
            f"News Commentary 2016 and Europarl 7). {sum(found['found'].values()):,} items were found. A balanced",
            f"suite, with as many items of each pronoun as of the rarest one, has {found['balanced']['examples']:,}.",
        ),
        "",
        *tables(found),
        "## What it shows",
        "",
        *_discussion(found),
        "",
        "## What it does not show",
        "",
        *bullet(
            [
                "How many of the items are right: see the [quality of mined pronouns]"
                "(../../docs/mining-quality.md), measured on annotated text."
            ]
        ),
        *bullet(["The paper's own genre: see [mining subtitles](SUBTITLES.md)."]),
        *bullet(["The scale of the paper, which mined 12,000 items from a much larger corpus."]),
    ]
    return "\n".join(lines) + "\n"


def tables(found: dict[str, Any]) -> list[str]:
    """What became of each *it*, and Tables 2 and 4 of the paper next to ours."""
    return [
        "What became of each *it*:",
        "",
        "| | n |",
        "| :-- | --: |",
        *(f"| {reason} | {count:,} |" for reason, count in found["candidates"].items()),
        "",
        "What *it* is aligned to, next to Table 2 of the paper (WMT 2017, 5.8 million pairs, fast_align as here):",
        "",
        "| alignment | frequency | probability | paper |",
        "| :-- | --: | --: | --: |",
        *map(_translation, found["it"]["translations"]),
        "",
        f"{found['it']['links']:,} links; {found['it']['without_link']:,} *it* have none.",
        "",
        "Items by the distance of the antecedent in sentences, next to Table 4 of the paper:",
        "",
        "| distance | es | er | sie | total | share | share in the paper |",
        "| :-- | --: | --: | --: | --: | --: | --: |",
        *_distances(found["distances"]),
        "",
    ]


def _discussion(found: dict[str, Any]) -> list[str]:
    """Where the table departs from the paper's, and why."""
    total = {name: sum(found["distances"].get(name, {}).values()) for name in DISTANCES}
    inside = total["0"] / max(1, sum(total.values()))
    near, far = sum(found["found"].values()), sum(found["far"]["found"].values())
    beyond = sum(found["far"]["distances"].get(">3", {}).values())
    lines = [
        *paragraph(
            f"**Distance 0.** In {100 * inside:.0f} % of the items the antecedent is in the sentence of the pronoun, "
            f"in ContraPro in {sum(PAPER_TABLE_4['0']) / 120:.0f} %. The likely reason is the genre: ContraPro is made "
            "of subtitles, whose sentences are short, while those of talks, news and debates have room for a noun and "
            "for the pronoun that refers to it. A second one is that only antecedents are kept of which the resolver "
            "is sure, and of near ones it is surer ([precision and yield](../../docs/mining-quality.md#figures))."
        ),
        "",
        "| | items | English words in a sentence | in a sentence with an item | distance 0 | 1 | 2 | 3 | >3 |",
        "| :-- | --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for corpus, about in sorted(found["corpora"].items(), key=lambda item: _inside(item[1])):
        items = sum(about["distances"].values())
        shares = " | ".join(f"{about['distances'][name] / max(1, items):.3f}" for name in DISTANCES)
        words = f"{about['words'] / about['sentences']:.1f} | {about['words_of_items'] / max(1, items):.1f}"
        lines.append(f"| {corpus} | {items:,} | {words} | {shares} |")
    if found["contrapro_words"] is not None:
        rows = " | ".join(f"{sum(row) / 12_000:.3f}" for row in PAPER_TABLE_4.values())
        lines.append(f"| ContraPro | 12,000 | | {found['contrapro_words']:.1f} | {rows} |")
    lines += [
        "",
        *paragraph(
            "**Distance > 3.** The paper has no limit on distance, and this row is cut here, twice: the built-in "
            "resolver looks at nouns of the five sentences before, and `build mine` drops what is farther than five "
            "sentences away (`--option distance=N`). The first limit is the one that counts: with `--option "
            f"distance={FAR}` {far:,} items are found, {beyond:,} of them farther than three sentences away, with the "
            f"default {near:,} and {total['>3']:,}. For antecedents from farther away, give the chains of "
            "another resolver (`--link-source`, `--link-target`) and raise the second limit."
        ),
    ]
    return lines


def _inside(about: dict[str, Any]) -> float:
    return float(about["distances"]["0"] / max(1, sum(about["distances"].values())))


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
