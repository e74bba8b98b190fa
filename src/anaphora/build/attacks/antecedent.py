"""Where the antecedent of an example is: its words in both languages, and the sentence they are in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from anaphora.core.errors import BadInput
from anaphora.suites.example import Example, Passage
from anaphora.suites.suite import Suite

TAGS = ("source_antecedent", "target_antecedent", "distance")


@dataclass(frozen=True, slots=True)
class Antecedent:
    """What a pronoun stands for.

    distance: how many sentences before the current one it is
    source, target: its words in the two languages; head_tag: the Penn tag of its noun, where it is known
    """

    distance: int
    source: str
    target: str
    head_tag: str | None = None


def from_tags(example: Example) -> Antecedent | None:
    """The antecedent as the tags of ContraPro and of mined items have it; None where one of them is missing."""
    source, target, distance = (example.tags.get(tag) for tag in TAGS)
    if not (isinstance(source, str) and isinstance(target, str) and isinstance(distance, int)):
        return None
    tag = example.tags.get("source_antecedent_head_pos")
    return Antecedent(distance, _clean(source), _clean(target), tag if isinstance(tag, str) else None)


def check_tags(suite: Suite, remedy: str) -> None:
    """A suite none of whose examples says what its antecedent is cannot be attacked there."""
    if not any(from_tags(example) for example in suite):
        missing = ", ".join(TAGS)
        problem = f"no example has the tags {missing}, which say where its antecedent is"
        raise BadInput(suite.path or suite.header.name, problem, remedy=remedy)


def sentence_of(passage: Passage, antecedent: Antecedent) -> int | None:
    """The index of the antecedent's sentence in a passage, if it is in it."""
    index = len(passage) - 1 - antecedent.distance
    return index if 0 <= index < len(passage) else None


def find(words: str, sentence: str) -> re.Match[str] | None:
    """Where words are in a sentence, the first place if there are several.

    Capital letters may differ (text is truecased, records are not), and so may spaces around signs.
    """
    pattern = r"\s*".join(re.escape(word) for word in words.split())
    return re.search(rf"(?<!\w){pattern}(?!\w)", sentence, re.IGNORECASE) if pattern else None


def _clean(words: str) -> str:
    """Without the signs that some records of ContraPro have at the end: `The bullet--`."""
    return re.sub(r"[^\w\s]+$", "", words.strip()).strip()
