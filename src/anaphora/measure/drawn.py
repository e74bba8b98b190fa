"""Noisy pairs without a system: pronouns exchanged as systems were seen to exchange them.

Real output gives few pairs once systems are good. How they confuse pronouns, counted on pairs of `measure pairs`, makes
more of them from any text: a pronoun is replaced by another with the measured probability of that confusion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from anaphora.core.errors import AnaphoraError
from anaphora.languages.readings import Readings
from anaphora.measure.texts import Line
from anaphora.measure.words import exchanged, places, words_of
from anaphora.suites.example import Example, Tag

SAMPLE = "drawn"


@dataclass(frozen=True)
class Confusion:
    """For each pronoun how often it became each other one."""

    counts: Mapping[str, Mapping[str, int]]

    @property
    def most(self) -> int:
        """How often the pronoun that is confused most often was."""
        return max(sum(others.values()) for others in self.counts.values())


def measured(examples: Iterable[Example]) -> Confusion:
    """The confusion of pronouns in noisy pairs; a pair that several systems made counts for each."""
    counts: dict[str, Counter[str]] = {}
    for example in examples:
        tags = example.tags
        if tags.get("kind", "noisy") != "noisy" or not {"reference_pronoun", "system_pronoun"} <= set(tags):
            continue
        systems = tags.get("systems")
        times = len(systems) if isinstance(systems, list) else 1
        counts.setdefault(str(tags["reference_pronoun"]), Counter())[str(tags["system_pronoun"])] += times
    if not counts:
        raise AnaphoraError("no noisy pairs to measure the confusion of pronouns on: make some with --kind noisy")
    return Confusion(counts)


def draw_pairs(
    lines: Iterable[Line],
    readings: Readings,
    confusion: Confusion,
    *,
    seed: int = 12345,
    share: float = 1.0,
    year: str | None = None,
) -> Iterator[Example]:
    """One pair per sentence at most: one of its pronouns, chosen and replaced as systems confuse them.

    The chance of a pronoun to be the one is in proportion to how often it is confused; share: of the sentences that
    have such pronouns, how many give a pair.
    """
    random = np.random.default_rng(seed)
    for line in lines:
        text = line.reference[-1]
        words = words_of(text, readings)
        able = [place for place in places(words, readings.pronouns) if words[place].normal in confusion.counts]
        if not able or random.random() >= share:
            continue
        place = int(random.choice(able, p=_shares([sum(confusion.counts[words[n].normal].values()) for n in able])))
        old = words[place].normal
        others = sorted(word for word in confusion.counts[old] if word in readings.pronouns)
        new = str(random.choice(others, p=_shares([confusion.counts[old][word] for word in others])))
        wrong = (*line.reference[:-1], exchanged(text, words, place, new, readings))
        tags: dict[str, Tag] = {"kind": "noisy", "document": line.document, "sentence": line.number}
        tags |= {"reference_pronoun": old, "system_pronoun": new, "pronoun_pair": f"{old}:{new}"}
        tags |= {"error": readings.error_class(old, new), "systems": [SAMPLE]}
        if year is not None:
            tags["year"] = year
        prefix = f"{year}/" if year is not None else ""
        source = line.source or ("",) * len(line.reference)
        yield Example(f"{prefix}{line.number}/{SAMPLE}/{place}-{old}-{new}", source, (line.reference, wrong), 0, tags)


def balanced(examples: Iterable[Example]) -> list[Example]:
    """As many pairs he:it as it:he, and so for every two pronouns; the first ones of each, in their order.

    A measure that learns from these cannot learn that one pronoun is more often the right one than another, which
    differs from system to system: it has to read the text.
    """
    listed = list(examples)
    counts = Counter(_direction(example) for example in listed)
    left = {(a, b): min(counts[(a, b)], counts[(b, a)]) for a, b in counts}
    found = []
    for example in listed:
        pair = _direction(example)
        if left[pair]:
            left[pair] -= 1
            found.append(example)
    return found


def _direction(example: Example) -> tuple[str, str]:
    return str(example.tags.get("reference_pronoun")), str(example.tags.get("system_pronoun"))


def _shares(counts: list[int]) -> list[float]:
    total = sum(counts)
    return [count / total for count in counts]
