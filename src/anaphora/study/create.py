"""A study from a suite: its questions, and who is asked them."""

from __future__ import annotations

import hashlib
import random
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.highlight import differences, replaced_pronouns
from anaphora.languages.pronouns import normalise
from anaphora.study.assignment import assign
from anaphora.study.gaps import gap_forms, gap_items, gap_options
from anaphora.study.instructions import INSTRUCTIONS, TITLES
from anaphora.study.model import GAPS, PAIRS, Item, Study
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite


@dataclass(frozen=True, slots=True)
class Design:
    """How a study is to be.

    overlap: how many people answer each item; None: everybody answers all of them
    context: how many previous sentences are shown (two in Jwalapuram et al. 2019, §3.1)
    sample: ask only this many items, drawn by chance
    options: the pronouns that can be put into a gap; none: those of the language
    """

    annotators: tuple[str, ...]
    overlap: int | None = None
    seed: int = 1
    mode: str = PAIRS
    context: int = 2
    show_source: bool = True
    sample: int | None = None
    options: tuple[str, ...] = ()
    title: str = ""
    instructions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.annotators or len(set(self.annotators)) != len(self.annotators):
            raise AnaphoraError("the annotators' names must differ, and there must be at least one")
        if any(not name.strip() or not name.isprintable() or len(name) > 80 for name in self.annotators):
            raise AnaphoraError("an annotator's name is empty, longer than 80 characters, or has signs nobody can read")
        if self.overlap is not None and not 1 <= self.overlap <= len(self.annotators):
            people = len(self.annotators)
            raise AnaphoraError(f"an overlap of {self.overlap} is not possible with {people:,} annotator(s)")


def make_study(suite: Suite, design: Design) -> Study:
    """The study of a suite; the same suite, design and seed give the same questions in the same orders."""
    digest = hashlib.sha256()
    place = suite.path or Path(suite.header.name)
    examples = suite.examples(digest)
    header = suite.header
    options = gap_options(header.target_language, header.languages, design.options) if design.mode == GAPS else ()
    make: Callable[[Iterable[Example]], list[Item]] = (
        (lambda found: gap_items(found, place))
        if design.mode == GAPS
        else (lambda found: pair_items(found, place, design))
    )
    items = make(_unique(examples, place))
    if not items:
        raise BadInput(place, "there is nothing to ask: the suite has no examples")
    items = [_shortened(item, design.context) for item in _sampled(items, design)]
    overlap = design.overlap or len(design.annotators)
    candidates = 1 if design.mode == GAPS else 2
    return Study(
        id=secrets.token_hex(8),
        mode=design.mode,
        title=design.title or TITLES[design.mode],
        source_language=header.source_language,
        target_language=header.target_language,
        instructions=design.instructions or INSTRUCTIONS[design.mode],
        show_source=design.show_source,
        options=options,
        forms=gap_forms(header.target_language, header.languages, options) if design.mode == GAPS else {},
        overlap=overlap,
        seed=design.seed,
        suite=f"{header.name}@{digest.hexdigest()[:12]}",
        items=tuple(items),
        annotators=tuple(assign([i.id for i in items], design.annotators, overlap, candidates, design.seed)),
    )


def _unique(examples: Iterable[Example], place: Path) -> Iterable[Example]:
    seen: set[str] = set()
    for example in examples:
        if example.id in seen:
            remedy = f"See all problems with: anaphora suites validate {place}"
            raise BadInput(place, f"the id {example.id!r} is there twice", remedy=remedy)
        seen.add(example.id)
        yield example


def pair_items(examples: Iterable[Example], place: Path, design: Design) -> list[Item]:
    """Pairs of a reference (gold; without one the first) and another candidate; of several others one by chance."""
    rng = random.Random(design.seed)
    items = []
    for example in examples:
        gold = example.gold or 0
        others = [k for k, candidate in enumerate(example.candidates) if candidate != example.candidates[gold]]
        if not others:
            problem = f"example {example.id!r} has not two candidates that differ"
            raise BadInput(place, problem, remedy="A pair is two translations of one sentence.")
        kept = sorted((gold, others[0] if len(others) == 1 else rng.choice(others)))
        candidates = tuple(example.candidates[k] for k in kept)
        right = kept.index(gold)
        reference, other = candidates[right][-1], candidates[1 - right][-1]
        marks = differences(candidates[0][-1], candidates[1][-1])
        pair = _tagged_pair(example, len(example.candidates)) or replaced_pronouns(reference, other)
        items.append(Item(example.id, example.source, candidates, right, marks, pair, tags=example.tags))
    return items


def _tagged_pair(example: Example, candidates: int) -> tuple[str, str] | None:
    """The pair of pronouns by the tags reference_pronoun and system_pronoun."""
    names = [example.tags.get(name) for name in ("reference_pronoun", "system_pronoun")]
    if candidates == 2 and all(isinstance(name, str) and name for name in names):
        return normalise(str(names[0])), normalise(str(names[1]))
    return None


def _sampled(items: Sequence[Item], design: Design) -> list[Item]:
    if design.sample is None or design.sample >= len(items):
        return list(items)
    chosen = set(random.Random(design.seed).sample(range(len(items)), design.sample))
    return [item for k, item in enumerate(items) if k in chosen]


def _shortened(item: Item, context: int) -> Item:
    keep = slice(-1 - context, None)
    return replace(item, source=item.source[keep], candidates=tuple(c[keep] for c in item.candidates))
