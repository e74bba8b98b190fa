"""A naive Bayes that reads nothing but the words of the previous French sentence: what needs no translation.

It is trained on the text of stage 2 with a uniform prior, and chooses between the two pronouns of an item.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from _bayes import Bayes
from _real_weak import FORMS, OTHER, PRONOUN
from _text import SEPARATOR

from anaphora.suites.example import Example


def learned(folder: Path, names: Iterable[str]) -> Bayes:
    """From the passages of these files whose current sentence has one of the pronouns."""
    previous: dict[str, list[str]] = {form: [] for form in FORMS}
    forms = {pronoun: form for form, pronoun in FORMS.items()}
    for name in names:
        for line in (folder / f"{name}.fr").read_text("utf-8").splitlines():
            context, _, current = line.partition(SEPARATOR)
            pronouns = {match.lower() for match in PRONOUN.findall(current)}
            if len(pronouns) == 1:
                previous[forms[pronouns.pop()]].append(context)
    return Bayes(previous)


def right_answers(bayes: Bayes, examples: Sequence[Example]) -> int:
    """How many items it has right; their tag says the form (m.sg …). A tie is wrong."""
    right = 0
    for example in examples:
        form, context = str(example.tags["form"]), example.candidates[0][-2]
        right += bayes.score(context, form) > bayes.score(context, OTHER[form])
    return right
