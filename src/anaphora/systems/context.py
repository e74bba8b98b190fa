"""Context, explicit and the same for every system: how many sentences, how they are joined, on which sides."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import NamedTuple

from anaphora.core.errors import AnaphoraError
from anaphora.suites.example import Example, Passage

LABEL = re.compile(r"(\d+)\+(\d+)(p?)")  # 1+1, 3+0, 2+2p
TARGET_CONTEXTS = ("gold", "produced", "none")


class Question(NamedTuple):
    """An example as text: a source, and translations of which each gets a score."""

    source: str
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """What a system sees besides the current sentence.

    sentences: how many previous sentences
    separator: what stands between sentences, exactly as given
    target: "gold" (the candidates' own context), "produced" (the system translates the context first), or "none"
        (only the source has context)
    """

    sentences: int = 0
    separator: str = " "
    target: str = "gold"

    def __post_init__(self) -> None:
        if self.sentences < 0:
            raise AnaphoraError(f"context of {self.sentences} sentences: 0 or more are expected")
        if self.target not in TARGET_CONTEXTS:
            raise AnaphoraError(f"unknown target context {self.target!r}. Known: {', '.join(TARGET_CONTEXTS)}")

    @property
    def label(self) -> str:
        """Sentences of source + target context, as in the signature: 1+1."""
        target = 0 if self.target == "none" else self.sentences
        return f"{self.sentences}+{target}{'p' if self.target == 'produced' and target else ''}"

    def join(self, passage: Passage) -> str:
        """A passage as one text; sentences that do not exist ("") leave no separator behind."""
        return self.separator.join(sentence for sentence in passage if sentence)

    def question(self, example: Example) -> Question:
        """The text of an example under this context. Produced context has been put into the candidates before."""
        cut = example.with_context(self.sentences)
        targets = (c if self.target != "none" else c[-1:] for c in cut.candidates)
        return Question(self.join(cut.source), tuple(map(self.join, targets)))


def within(label: str, most: int) -> str:
    """A label such as 3+3 where examples have fewer sentences: what was really given.

    >>> within("3+3p", 1)
    '1+1p'
    """
    match = LABEL.fullmatch(label)
    if match is None:  # a plug-in's own words
        return label
    source, target = (min(int(match[part]), most) for part in (1, 2))
    return f"{source}+{target}{match[3] if target else ''}"


def check_asked(asked: int, most: int, what: str) -> None:
    """More context than there is, is an error: a figure would be taken for one that was never measured.

    what: the examples that are meant, as the subject of a sentence
    """
    if asked > most:
        sentences = "sentence" if most == 1 else "sentences"
        remedy = f"Use --context {most}" if most else "Leave --context out"
        there = f"at most {most} {sentences} of context" if most else "no context"
        raise AnaphoraError(f"{what} {there}, but --context {asked} asks for more. {remedy}")


def with_target_context(example: Example, before: Passage) -> Example:
    """The example with other target context: the same sentences before every candidate."""
    size = len(before)
    return replace(example, candidates=tuple((*c[: -1 - size], *before, c[-1]) for c in example.candidates))
