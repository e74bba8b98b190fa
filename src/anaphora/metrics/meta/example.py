"""Example files for meta-evaluation, to try the commands with: seven made-up systems, judged by made-up people.

The shares of judgements in each case are those of APT's Table 5; everything else is drawn at random.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

from anaphora.core.files import atomic_writer
from anaphora.metrics.meta.judgements import JUDGEMENTS

# how good each system is with pronouns, and what BLEU says
SYSTEMS = {
    "baseline": (0.40, 31.9),
    "rnn": (0.44, 33.0),
    "rnn-context": (0.52, 32.6),
    "transformer": (0.50, 36.4),
    "transformer-context": (0.60, 36.1),
    "post-edited": (0.47, 35.2),
    "broken": (0.08, 11.3),
}
JUDGED = ((84, 13, 3), (43, 47, 10), (26, 60, 14), (0, 76, 24), (53, 36, 11), (0, 76, 24))  # Table 5, in per cent
PRONOUNS = 210  # of each system, as at DiscoMT 2015 (APT §3.1)
LOST = 0.08  # pronouns that are not found without the heuristics of alignment


def write_example(folder: Path, seed: int = 2017) -> list[Path]:
    """scores.tsv, basic.json, rescued.json, details.tsv and judgements.tsv."""
    rng = random.Random(seed)
    details, judged = ["system\tsentence\tposition\tcase"], ["system\tsentence\tposition\tjudgement"]
    scores = ["system\thuman\tapt\tbleu"]
    basic: dict[str, dict[str, list[int]]] = {}
    rescued: dict[str, dict[str, list[int]]] = {}
    for system, (quality, bleu) in SYSTEMS.items():
        counts, lost = Counter[int](), Counter[int]()
        correct = 0
        for sentence in range(PRONOUNS):
            case = _case(quality, rng)
            judgement = rng.choices(JUDGEMENTS, JUDGED[case - 1])[0]
            correct += judgement == "correct"
            counts[case] += 1
            lost[_without_rescue(case, rng)] += 1
            position = rng.randint(0, 8)
            details.append(f"{system}\t{sentence}\t{position}\t{case}")
            judged.append(f"{system}\t{sentence}\t{position}\t{judgement}")
        scores.append(f"{system}\t{correct / PRONOUNS:.4f}\t{(counts[1] + counts[2] / 2) / PRONOUNS:.4f}\t{bleu}")
        for found, numbers in ((basic, lost), (rescued, counts)):
            found[system] = {"cases": [numbers[k] for k in range(1, 7)]}
    files = {
        "scores.tsv": "\n".join(scores) + "\n",
        "basic.json": json.dumps({"systems": basic}, indent=1) + "\n",
        "rescued.json": json.dumps({"systems": rescued}, indent=1) + "\n",
        "details.tsv": "\n".join(details) + "\n",
        "judgements.tsv": "\n".join(judged) + "\n",
    }
    for name, content in files.items():
        with atomic_writer(folder / name) as out:
            out.write(content.encode())
    return [folder / name for name in files]


def _case(quality: float, rng: random.Random) -> int:
    """Of the pronouns that are not the same as the reference's, most are different."""
    rest = 1 - quality
    return rng.choices(range(1, 7), (quality, 0.16 * rest, 0.58 * rest, 0.14 * rest, 0.08 * rest, 0.04 * rest))[0]


def _without_rescue(case: int, rng: random.Random) -> int:
    """The case if a pronoun that is hard to align is not found in the reference."""
    if case > 4 or rng.random() > LOST:
        return case
    return 6 if case == 4 else 5
