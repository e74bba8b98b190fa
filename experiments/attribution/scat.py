"""Agreement of attributions with SCAT's human highlights: Gemma 3 270M on English–French pronouns, next to controls.

    python experiments/run.py attribution/scat [--sample N] [--methods gradient,attention] [--report-only]

SCAT (Yin et al. 2021) has the words that translators marked as helping them to choose a French pronoun. The weights
are downloaded with pip to WORK (default: experiments/attribution/work), checked, and never installed. Interrupted, the
command resumes. --report-only writes SCAT.md from scat.json.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from _command import anaphora
from _models import DOCUMENT, MODELS, SEPARATOR, unquantized
from _scat_report import report

from anaphora.evaluation.attribution import HIGHLIGHTS, SIDES, Unit, figures_of
from anaphora.evaluation.attribution_result import attributions_of
from anaphora.runs import open_run
from anaphora.stats.intervals import bootstrap, generator, percentile_interval

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("ANAPHORA_DATA") or HERE.parents[2] / "shared" / "data")
WORK = Path(os.environ.get("WORK") or HERE / "work")
RESULTS = HERE / "scat.json"
METHODS = ("gradient", "attention")
FIGURES = ("share", "auc", "rank")
SAMPLE, DRAWS, SEED, SAMPLES = 120, 100, 12345, 10_000
LONG = 4  # letters of a word that is probably no article, preposition or pronoun

Figures = dict[str, float]
Words = list[Unit]
Marked = set[int]  # positions of highlighted words among all


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help=argparse.SUPPRESS)  # what run.py was asked for
    parser.add_argument("--sample", type=int, default=SAMPLE, help="random items of SCAT's test split")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--report-only", action="store_true")
    given = parser.parse_args()
    if not given.report_only:
        if not (DATA / "scat-en-fr").is_dir():
            print(f"skipped: no {DATA / 'scat-en-fr'}; set ANAPHORA_DATA", file=sys.stderr)
            return 0
        WORK.mkdir(parents=True, exist_ok=True)
        model = MODELS["gemma"]
        weights = model.path(WORK)
        if weights is None:
            print(f"skipped: the weights of {model.name} cannot be had with pip on this machine", file=sys.stderr)
            return 0
        found: dict[str, Any] = {"model": model.name, "file": model.file, "sha256": model.sha256, "draws": DRAWS}
        folder = unquantized(weights, WORK / "gemma")
        found["methods"] = {method: figures(folder, method, given.sample) for method in given.methods.split(",")}
        RESULTS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "SCAT.md").write_text(report(json.loads(RESULTS.read_bytes())), encoding="utf-8")
    return 0


def figures(model: Path, method: str, sample: int) -> dict[str, Any]:
    """The figures of a method, as the command prints them, and those of the controls."""
    run = attributed(model, method, sample)
    result = attributions_of(open_run(run)).to_dict()
    kept = ("total", "accuracy", HIGHLIGHTS, "without_highlights", "rest", "signature")
    items = list(highlighted(run))
    return {key: result[key] for key in kept} | {
        "words": float(np.mean([len(words) for words, _ in items])),
        "marked": float(np.mean([len(marked) for _, marked in items])),
        "controls": controls(items),
        "sides": sides(items),
    }


def attributed(model: Path, method: str, sample: int) -> Path:
    """The attributions of a method, computed once."""
    suite, prompt, output = WORK / "scat-test.jsonl", WORK / "document.txt", WORK / f"scat.{sample}.{method}.jsonl"
    if output.exists():
        return output
    if not suite.exists():
        anaphora("suites", "convert", DATA / "scat-en-fr", "--from", "scat", "-o", suite)
    prompt.write_text(DOCUMENT, encoding="utf-8")
    system = f"lm:{model}?chat=no&prompt={prompt}"
    how = ("--method", method, "--context", "1", "--separator", SEPARATOR, "--sample", str(sample), "--resume")
    anaphora("attribute", suite, "--system", system, *how, "--threads", "1", "-o", output)
    return output


def highlighted(run: Path) -> Iterator[tuple[Words, Marked]]:
    """The words of each passage with their attribution, and which of them are highlighted."""
    for item in open_run(run):
        record = item.extra["attribution"]
        if HIGHLIGHTS in record:
            yield list(units(record["words"])), set(record[HIGHLIGHTS]["at"])


def units(passages: Mapping[str, Sequence[Sequence[Any]]]) -> Iterator[Unit]:
    for side, name in enumerate(SIDES):
        for sentence, words in enumerate(passages[name]):
            for number, (text, value) in enumerate(words):
                yield Unit(side, sentence, number, text, value)


def measured(words: Words, marked: Marked) -> Figures:
    found = figures_of(words, {words[at] for at in marked})
    return {name: found[name] for name in FIGURES if name in found}


def controls(items: Sequence[tuple[Words, Marked]]) -> dict[str, Any]:
    """Figures of other words, or of another order, next to those of the highlighted words of the same items."""
    kinds: dict[str, Callable[[Words, Marked, random.Random], Figures]] = {
        "random words": lambda words, marked, rng: mean_of(words, marked, rng, lambda one, other: True),
        "random words of the same sentences": lambda words, marked, rng: mean_of(words, marked, rng, same_sentence),
        "random long words of the same sentences": lambda words, marked, rng: mean_of(words, marked, rng, same_kind),
        "nearest words first": lambda words, marked, rng: measured(by_nearness(words), marked),
    }
    ours = [measured(*item) for item in items]
    found = {}
    for name, control in kinds.items():
        theirs = [control(words, marked, random.Random(f"{SEED}/{n}")) for n, (words, marked) in enumerate(items)]
        found[name] = {figure: compared(ours, theirs, figure) for figure in FIGURES}
    return found


def same_sentence(one: Unit, other: Unit) -> bool:
    return (one.side, one.sentence) == (other.side, other.sentence)


def same_kind(one: Unit, other: Unit) -> bool:
    """Whether two words are of the same sentence, and both long or both short."""
    return same_sentence(one, other) and (len(one.text) >= LONG) == (len(other.text) >= LONG)


def mean_of(words: Words, marked: Marked, rng: random.Random, fits: Callable[[Unit, Unit], bool]) -> Figures:
    """The mean over draws in which each highlighted word is replaced by one that fits; itself may be drawn, too."""
    drawn = []
    for _ in range(DRAWS):
        chosen: Marked = set()
        for at in sorted(marked):
            chosen.add(rng.choice([k for k, unit in enumerate(words) if fits(words[at], unit) and k not in chosen]))
        drawn.append(measured(words, chosen))
    return {name: float(np.mean([one[name] for one in drawn])) for name in drawn[0]}


def by_nearness(words: Words) -> Words:
    """The words with attributions that fall with the distance from the end of what is read on their side."""
    sizes = [sum(unit.side == side for unit in words) for side in range(len(SIDES))]
    seen = [0, 0]
    found = []
    for unit in words:
        value = 1 / (sizes[unit.side] - seen[unit.side])
        seen[unit.side] += 1
        found.append(Unit(unit.side, unit.sentence, unit.number, unit.text, value))
    return found


def compared(ours: Sequence[Figures], theirs: Sequence[Figures], name: str) -> dict[str, Any]:
    """The mean of a control, and the paired difference of the highlighted words to it with its interval."""
    pairs = np.array([(one[name], other[name]) for one, other in zip(ours, theirs, strict=True) if name in one])
    difference = pairs[:, 0] - pairs[:, 1]
    return {"mean": float(pairs[:, 1].mean()), "difference": float(difference.mean()), "interval": spread(difference)}


def spread(values: Any) -> list[float]:
    rows = np.stack([values, np.ones_like(values)], axis=1)
    drawn = bootstrap(rows, np.ones(len(rows), np.int64), SAMPLES, generator(SEED))
    return list(percentile_interval(drawn))


def sides(items: Sequence[tuple[Words, Marked]]) -> dict[str, Any]:
    """Highlighted words of one side among the words of that side."""
    found = {}
    for side, name in enumerate(SIDES):
        figures = []
        for words, marked in items:
            ours = [unit for unit in words if unit.side == side]
            chosen = {k for k, unit in enumerate(ours) if words.index(unit) in marked}
            if chosen and len(chosen) < len(ours) and any(unit.value for unit in ours):
                figures.append({**measured(ours, chosen), "by_chance": len(chosen) / len(ours)})
        values = {key: np.array([one[key] for one in figures]) for key in ("share", "by_chance", "auc")}
        found[name] = {"total": len(figures), "by_chance": float(values.pop("by_chance").mean())} | {
            key: {"mean": float(value.mean()), "interval": spread(value)} for key, value in values.items()
        }
    return found


if __name__ == "__main__":
    sys.exit(main())
