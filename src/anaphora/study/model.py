"""A study: what is asked, of whom, in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from anaphora.languages.highlight import Span
from anaphora.suites.example import Passage, Tag

PAIRS, GAPS = "pairs", "gaps"
MODES = (PAIRS, GAPS)

# What can be said of two candidates (Jwalapuram et al. 2019, §3.1). A and B are as shown, in an order of chance.
A, B, EQUAL, NEITHER, INVALID = "a", "b", "equal", "neither", "invalid"
PAIR_CHOICES = (A, B, EQUAL, NEITHER, INVALID)
# What can be said of a gap beside the language's pronouns (DiscoMT 2015; APT §3.1).
OTHER, BAD = "other", "bad"


@dataclass(frozen=True, slots=True)
class Item:
    """One question.

    source, candidates: passages, the current sentence last; two candidates in a pair, one translation in a gap
    gold: in a pair the index of the reference
    marks: for each candidate the stretches of its current sentence that are highlighted, or hidden as the gap
    pair: the pronouns of the reference and the other candidate, such as ("he", "it"); None if they are not known
    pronoun, system, sentence, position: in a gap what the translation has there, whose it is, and which pronoun it is
    """

    id: str
    source: Passage
    candidates: tuple[Passage, ...]
    gold: int
    marks: tuple[tuple[Span, ...], ...]
    pair: tuple[str, str] | None = None
    pronoun: str = ""
    system: str = ""
    sentence: str = ""
    position: str = ""
    tags: Mapping[str, Tag] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Assignment:
    """An item as somebody gets it: order (1, 0) shows the second candidate first."""

    item: str
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Annotator:
    """Somebody who answers, and what they are asked, in their order."""

    name: str
    assignments: tuple[Assignment, ...]


@dataclass(frozen=True)
class Study:
    """All of study.json.

    id: names the study in a database; overlap: how many people answer each item
    options: the pronouns that can be put into a gap; a form in the translation that means the same is under `forms`
    blind: pages know items by ids that say nothing. False: made by 0.1.0, whose pages knew them by their own ids, so
        that answers under these may still be on their way
    """

    id: str
    mode: str
    title: str
    source_language: str
    target_language: str
    instructions: tuple[str, ...]
    show_source: bool
    options: tuple[str, ...]
    forms: Mapping[str, str]
    overlap: int
    seed: int
    suite: str  # name@hash
    items: tuple[Item, ...]
    annotators: tuple[Annotator, ...]
    blind: bool = True

    @cached_property
    def by_id(self) -> dict[str, Item]:
        return {item.id: item for item in self.items}

    @cached_property
    def orders(self) -> dict[tuple[str, str], tuple[int, ...]]:
        """(annotator, item) → the order of the candidates; what is not here was not asked."""
        return {(a.name, one.item): one.order for a in self.annotators for one in a.assignments}

    @property
    def choices(self) -> tuple[str, ...]:
        return PAIR_CHOICES if self.mode == PAIRS else (*self.options, OTHER, BAD)

    def problem_with(self, choice: tuple[str, ...]) -> str | None:
        """What keeps a choice from being an answer; the empty choice takes an answer back."""
        unknown = next((word for word in choice if word not in self.choices), None)
        if unknown is not None:
            return f"unknown choice {unknown!r}"
        if len(set(choice)) != len(choice):
            return "a choice is there twice"
        if self.mode == PAIRS and len(choice) > 1:
            return "only one choice is possible"
        if BAD in choice and len(choice) > 1:
            return "a bad translation has no other answer"
        return None
