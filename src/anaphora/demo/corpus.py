"""Text for the demo: ContraCAT's templates, most of them for training, the others for testing.

The right translation of an item is a document of two sentences. Test items have a first sentence that no training
document has, so that a model must have learned how the pronoun follows from it. Such a model knows templates, not
German.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from anaphora import api
from anaphora.build.templates.suite import template_suite
from anaphora.core.files import atomic_writer
from anaphora.core.finite import json_text
from anaphora.core.parsing import read_toml
from anaphora.evaluation.compare import Comparison
from anaphora.evaluation.result import Result
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, suite_of

HELD_OUT = 10  # every tenth first sentence is for testing
VALIDATION = 400  # documents
EACH = 120  # examples of each template
EASY = ("event", "pleonastic")  # always neuter: a sentence-level model can know it
EACH_EASY = 40
GENDER = "gender"


@dataclass(frozen=True, slots=True)
class Files:
    """The files that the demo trains and tests on."""

    train: tuple[Path, Path]
    validation: tuple[Path, Path]
    suite: Path


def write_corpus(folder: Path, seed: int = 1) -> Files:
    """Write training and validation text, and the suite of held-out items."""
    files = Files(
        (folder / "train.en", folder / "train.de"),
        (folder / "validation.en", folder / "validation.de"),
        folder / "templates.jsonl",
    )
    everything = template_suite("en-de").suite
    train, test = divided(_with_known_nouns(everything))
    random.Random(seed).shuffle(train)
    for paths, examples in ((files.train, train[VALIDATION:]), (files.validation, train[:VALIDATION])):
        for side, path in enumerate(paths):
            with atomic_writer(path) as out:
                for example in examples:
                    passage = example.candidates[example.gold or 0] if side else example.source
                    out.write(("\n".join(passage) + "\n\n").encode())
    suite_of(everything.header, lambda: sampled(test, seed)).write(files.suite)
    return files


def divided(examples: Iterator[Example]) -> tuple[list[Example], list[Example]]:
    """Split examples into training items, which have a right answer, and test items, which may have none (priors)."""
    train, test = [], []
    for example in examples:
        if _held_out(example):
            test.append(example)
        elif example.gold is not None:
            train.append(example)
    return train, test


def sampled(examples: Sequence[Example], seed: int) -> Iterator[Example]:
    """Yield a sample of each template in its order; both orders of a pair stay together."""
    by_template: dict[str, dict[str, list[Example]]] = {}
    for example in examples:
        units = by_template.setdefault(str(example.tags["template"]), {})
        units.setdefault(str(example.tags.get("pair", example.id)), []).append(example)
    for template, units in by_template.items():
        members = list(units.values())
        each = (EACH_EASY if template in EASY else EACH) // len(members[0])
        chosen = random.Random(f"{template} {seed}").sample(range(len(members)), min(each, len(members)))
        for k in sorted(chosen):
            yield from members[k]


def _held_out(example: Example) -> bool:
    """Decide by the first sentence or its pair; by the id where the sentence only names a noun that must be known."""
    template = example.tags["template"]
    key, share = (example.id, 2) if template == GENDER else (example.tags.get("pair", example.source[0]), HELD_OUT)
    return int(hashlib.sha256(str(key).encode()).hexdigest(), 16) % share == 0


def _with_known_nouns(suite: Suite) -> Iterator[Example]:
    """Yield all examples but those on the gender of nouns that no other template has."""
    known = {word for example in suite if example.tags["template"] != GENDER for word in _words(example.source[0])}
    for example in suite:
        if example.tags["template"] != GENDER or known.issuperset(_words(example.source[0])[3:]):
            yield example


def _words(sentence: str) -> list[str]:
    return sentence.lower().rstrip(".").split()


# The demo without models: a small suite, two simulated systems, and their results.


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
