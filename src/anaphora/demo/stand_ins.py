"""The demo without models: a small suite, two simulated systems, and their results.

The simulated systems are rules with noise, which show what the tables look like; they are no model of a real system.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from anaphora import api
from anaphora.core.files import atomic_writer
from anaphora.core.finite import json_text
from anaphora.core.parsing import read_toml
from anaphora.evaluation.compare import Comparison
from anaphora.evaluation.result import Result
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, suite_of

DATA = read_toml(Path(__file__).with_name("stand_ins.toml"))
NOUNS: tuple[tuple[str, str, str], ...] = tuple((en, de, gender) for en, de, gender in DATA["nouns"])
ARTICLES: dict[str, str] = DATA["articles"]  # by gender
PRONOUNS: dict[str, str] = DATA["pronouns"]


@dataclass(frozen=True, slots=True)
class Demo:
    """The files and results of the demo."""

    folder: Path
    suite: Path
    scores: tuple[Path, ...]
    results: tuple[Result, ...]
    comparison: Comparison


def run_demo(folder: Path, seed: int = 7) -> Demo:
    """Write the suite and two score files, evaluate and compare them, and write the figures to results.json."""
    suite_file = folder / "suite.jsonl"
    suite = demo_suite()
    suite.write(suite_file)
    files, runs = [], []
    for name, knows in (("sentence-level", 0.0), ("context-aware", 0.8)):
        file = folder / f"{name}.scores"
        with atomic_writer(file) as out:
            out.writelines(f"{score:.4f}\n".encode() for score in _scores(suite, knows, random.Random(seed)))
        files.append(file)
        runs.append(api.score(suite_file, f"scores:{file}", folder / "runs" / name))
    results = tuple(api.evaluate(run) for run in runs)
    names = [file.stem for file in files]
    figures = {name: result.to_dict() for name, result in zip(names, results, strict=True)}
    with atomic_writer(folder / "results.json") as out:
        out.write(json_text({"systems": figures}, "the demo's result", indent=2).encode() + b"\n")
    return Demo(folder, suite_file, tuple(files), results, api.compare(*runs, by=("reference_pronoun", "distance")))


def demo_suite() -> Suite:
    """Return pronouns whose antecedent is one or two sentences back: 24 nouns × 3 × 3 × 2 examples."""
    header = Header("demo", "en", "de", ("reference_pronoun", "distance"), citation="", licence="Apache-2.0")
    return suite_of(header, _examples)


def _examples() -> Iterator[Example]:
    for english, german, gender in NOUNS:
        for f, frame in enumerate(DATA["frames"]):
            for k, following in enumerate(DATA["following"]):
                for distance in (1, 2):
                    between = DATA["between"] if distance == 2 else ("", "")
                    first = (frame[0].format(english), frame[1].format(f"{ARTICLES[gender]} {german}"))
                    before = [("", ""), first] if distance == 1 else [first, between]
                    targets = [_capital(following[1].format(pronoun)) for pronoun in PRONOUNS.values()]
                    yield Example(
                        id=f"{english}.{f}.{k}.{distance}",
                        source=(before[0][0], before[1][0], following[0]),
                        candidates=tuple((before[0][1], before[1][1], target) for target in targets),
                        gold=list(PRONOUNS).index(gender),
                        tags={"reference_pronoun": PRONOUNS[gender], "distance": distance, "noun": german},
                    )


def _scores(suite: Suite, knows: float, rng: random.Random) -> Iterator[float]:
    """Yield a log-probability for each candidate: the prior, noise, and the antecedent's gender where it is known.

    knows: how often the gender is known one sentence back; half as often two sentences back
    """
    for example in suite:
        known = rng.random() < knows / (1 if example.tags["distance"] == 1 else 2)
        for k, gender in enumerate(PRONOUNS):
            helped = 2.5 if known and k == example.gold else 0.0
            yield -8 + DATA["prior"][gender] + helped + rng.gauss(0, 0.6)


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]
