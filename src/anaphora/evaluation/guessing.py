"""What is right without understanding: choosing at random, or always giving the most frequent answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from anaphora.suites.example import Tag

ANSWERS = ("reference_pronoun", "reference_gender")  # tags that say what the right answer is


def guessing(questions: Iterable[tuple[int, Mapping[str, Tag]]]) -> float | None:
    """The accuracy of the better of the two; None where there are no questions.

    questions: of each example that has a right answer the number of candidates, and its tags
    """
    total, at_random = 0, 0.0
    answers: Counter[tuple[str, str]] = Counter()
    for candidates, tags in questions:
        total += 1
        at_random += 1 / candidates
        answers.update((name, str(tags[name])) for name in ANSWERS if name in tags)
    return max(at_random, max(answers.values(), default=0)) / total if total else None
