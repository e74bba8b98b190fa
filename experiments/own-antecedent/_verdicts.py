"""What the experiments with own antecedents share: items, the program's verdicts, and those of a reader."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from anaphora import api
from anaphora.core.columns import read_columns
from anaphora.evaluation.own_antecedent import AGREES, DISAGREES, VERDICTS, Verdict
from anaphora.stats.intervals import wilson
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, suite_of

ALIGNER = "thot:fast_align"
Item = tuple[Example, tuple[str, ...]]  # a passage that names its antecedent, and its translation
Lines = tuple[list[str], list[str]]  # of parallel text


def judged(items: Mapping[str, Item], languages: tuple[str, str], corpus: Lines) -> dict[str, Verdict]:
    """What the program says of each item; corpus: further text to align by."""
    suite = suite_of(Header("items", *languages), lambda: (example for example, _ in items.values()))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        documents = ("\n".join(line for line in lines if line) for _, lines in items.values())
        (folder / "translations").write_text("\n\n".join(documents) + "\n", encoding="utf-8")
        texts = [folder / "all.source", folder / "all.target"]
        for path, lines in zip(texts, corpus, strict=True):
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        more = [(texts[0], texts[1])] if corpus[0] else []
        (result,) = api.generative(suite, folder / "translations", corpus=more, aligner=ALIGNER, antecedent="own")
    assert result.own is not None
    return {verdict.id: verdict for verdict in result.own.verdicts}


def to_read(items: Mapping[str, Item], verdicts: Mapping[str, Verdict], names: Iterable[str], shown: int = 3) -> str:
    """The items with their texts and the program's verdicts, for a reader. shown: sentences of each passage"""
    blocks = []
    for name in names:
        verdict, (example, translation) = verdicts[name], items[name]
        found = f"{verdict.antecedent} → {verdict.noun} {' '.join(verdict.classes)}; {verdict.pronoun}"
        texts = "\n".join((*example.source[-shown:], "→", *translation[-shown:]))
        blocks.append(f"[{name}] {verdict.verdict} {verdict.reason} ({found})\n{texts}\n")
    return "\n".join(blocks)


Read = Mapping[str, tuple[str, str]]  # id → what the reader says of agreement and of the pronoun


def read_by_hand(path: Path) -> dict[str, tuple[str, str]]:
    """What the reader says of agreement (agrees, disagrees, none, unclear) and the pronoun (right, wrong, unclear)."""
    table = read_columns(path)
    table.require(["id", "agreement", "pronoun"])
    return {record.cells["id"]: (record.cells["agreement"], record.cells["pronoun"]) for record in table.records}


def check_read(path: Path, read: Read, names: Iterable[str]) -> None:
    if missing := [name for name in names if name not in read]:
        raise SystemExit(f"{path}: item {missing[0]} was not read. Read it: --read FILE")


def precision(verdicts: Mapping[str, Verdict], read: Read, names: Iterable[str], *kinds: str) -> dict[str, Any]:
    """How often the reader says the same as the program, of the items with these verdicts."""
    decided = [name for name in names if verdicts[name].verdict in kinds]
    right = sum(read[name][0] == verdicts[name].verdict for name in decided)
    pronouns = Counter(read[name][1] for name in decided)
    return {
        "items": len(decided),
        "right": right,
        "precision": right / len(decided) if decided else None,
        "interval": wilson(right, len(decided)),
        "pronouns": {name: pronouns[name] for name in ("right", "wrong", "unclear")},
    }


PRECISION = """\
| the program's verdict | items | reader says the same | precision | 95 % interval | pronoun right | wrong | unclear |
|:--|--:|--:|--:|--:|--:|--:|--:|"""


def precision_rows(found: Mapping[str, Any], titles: Mapping[str, str]) -> str:
    """The rows of a table under PRECISION; titles: key of a figure → its name"""
    rows = []
    for key, title in titles.items():
        row = found[key]
        low, high = row["interval"]
        share = f"{row['precision']:.3f} | [{low:.3f}, {high:.3f}]" if row["items"] else "– | –"
        pronouns = " | ".join(str(number) for number in row["pronouns"].values())
        rows.append(f"| {title} | {row['items']} | {row['right']} | {share} | {pronouns} |")
    return "\n".join(rows)


def counts(verdicts: Iterable[Verdict]) -> dict[str, int]:
    numbers = Counter(verdict.verdict for verdict in verdicts)
    return {kind: numbers[kind] for kind in VERDICTS}


def reasons(verdicts: Iterable[Verdict]) -> dict[str, int]:
    return dict(Counter(verdict.reason for verdict in verdicts if verdict.reason).most_common())


def expected(verdicts: Sequence[Verdict], wanted: str) -> dict[str, Any]:
    """Verdicts on items whose verdict is known: how many are decided, and how many of these rightly."""
    numbers = counts(verdicts)
    decided = numbers[AGREES] + numbers[DISAGREES]
    return {
        "verdicts": numbers,
        "reasons": reasons(verdicts),
        "total": len(verdicts),
        "decided": decided,
        "decided_interval": wilson(decided, len(verdicts)),
        "right": numbers[wanted],
        "right_interval": wilson(numbers[wanted], decided),
    }


EXPECTED = """\
| given as output | agrees | disagrees | unclear | not found | decided | right among decided | 95 % interval |
|:--|--:|--:|--:|--:|--:|--:|--:|"""


def expected_row(title: str, found: Mapping[str, Any]) -> str:
    """A row of a table under EXPECTED."""
    agrees, disagrees, not_found, unclear = (found["verdicts"][kind] for kind in VERDICTS)
    decided, (low, high) = found["decided"] / found["total"], found["right_interval"]
    right = f"{100 * found['right'] / found['decided']:.1f} % | [{100 * low:.1f}, {100 * high:.1f}]"
    numbers = f"{agrees:,} | {disagrees:,} | {unclear:,} | {not_found:,}"
    return f"| {title} | {numbers} | {100 * decided:.1f} % | {right} |"
