"""Text for the demo: ContraCAT's templates, most of them to learn from, the others to be asked.

An item's right translation is a document of two sentences. What is asked has a first sentence that no document has, so
that a model must have understood how the pronoun follows from it. Models that learned this know templates, not German.
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

HELD_OUT = 10  # every tenth first sentence is for asking
VALIDATION = 400  # documents
EACH = 120  # examples of each template
EASY = ("event", "pleonastic")  # always neuter: a sentence-level model can know it
EACH_EASY = 40
GENDER = "gender"


@dataclass(frozen=True, slots=True)
class Files:
    """What the demo learns from and what it asks."""

    train: tuple[Path, Path]
    validation: tuple[Path, Path]
    suite: Path


def write_corpus(folder: Path, seed: int = 1) -> Files:
    """Training and validation text, and the suite of what was held out."""
    files = Files(
        (folder / "train.en", folder / "train.de"),
        (folder / "validation.en", folder / "validation.de"),
        folder / "templates.jsonl",
    )
    everything = template_suite("en-de").suite
    kept, asked = divided(_with_known_nouns(everything))
    random.Random(seed).shuffle(kept)
    for paths, examples in ((files.train, kept[VALIDATION:]), (files.validation, kept[:VALIDATION])):
        for side, path in enumerate(paths):
            with atomic_writer(path) as out:
                for example in examples:
                    passage = example.candidates[example.gold or 0] if side else example.source
                    out.write(("\n".join(passage) + "\n\n").encode())
    suite_of(everything.header, lambda: sampled(asked, seed)).write(files.suite)
    return files


def divided(examples: Iterator[Example]) -> tuple[list[Example], list[Example]]:
    """What is learned from, which has a right answer, and what is asked, which may have none (priors)."""
    kept, asked = [], []
    for example in examples:
        if _held_out(example):
            asked.append(example)
        elif example.gold is not None:
            kept.append(example)
    return kept, asked


def sampled(examples: Sequence[Example], seed: int) -> Iterator[Example]:
    """As many of each template; they stay in order, and both orders of a pair stay together."""
    by_template: dict[str, dict[str, list[Example]]] = {}
    for example in examples:
        units = by_template.setdefault(str(example.tags["template"]), {})
        units.setdefault(str(example.tags.get("pair", example.id)), []).append(example)
    for template, units in by_template.items():
        found = list(units.values())
        each = (EACH_EASY if template in EASY else EACH) // len(found[0])
        chosen = random.Random(f"{template} {seed}").sample(range(len(found)), min(each, len(found)))
        for k in sorted(chosen):
            yield from found[k]


def _held_out(example: Example) -> bool:
    """By the first sentence, or the pair that it is of; where it only names a noun that must be known, by the id."""
    template = example.tags["template"]
    key, share = (example.id, 2) if template == GENDER else (example.tags.get("pair", example.source[0]), HELD_OUT)
    return int(hashlib.sha256(str(key).encode()).hexdigest(), 16) % share == 0


def _with_known_nouns(suite: Suite) -> Iterator[Example]:
    """All but those that ask for the gender of one of two thousand nouns that no other template has."""
    known = {word for example in suite if example.tags["template"] != GENDER for word in _words(example.source[0])}
    for example in suite:
        if example.tags["template"] != GENDER or known.issuperset(_words(example.source[0])[3:]):
            yield example


def _words(sentence: str) -> list[str]:
    return sentence.lower().rstrip(".").split()
