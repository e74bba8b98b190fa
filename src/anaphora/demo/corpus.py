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

from anaphora.build.templates.suite import template_suite
from anaphora.core.files import atomic_writer
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite, suite_of

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
