"""Noisy pairs without a system: pronouns of a text are replaced as systems were seen to confuse them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from anaphora.core.errors import AnaphoraError
from anaphora.languages.pronouns import Readings
from anaphora.measure.texts import Line, pronoun_indices, replace_pronoun, words_of
from anaphora.suites.example import Example, Tag

SAMPLED = "drawn"  # the name of the "system" in ids and tags of such pairs


Confusion = Mapping[str, Mapping[str, int]]  # how often each pronoun was replaced by each other one


def count_confusion(examples: Iterable[Example]) -> Confusion:
    """Count the confusion of pronouns in noisy pairs; a pair that several systems made counts for each."""
    counts: dict[str, Counter[str]] = {}
    for example in examples:
        tags = example.tags
        if tags.get("kind", "noisy") != "noisy" or not {"reference_pronoun", "system_pronoun"} <= set(tags):
            continue
        systems = tags.get("systems")
        times = len(systems) if isinstance(systems, list) else 1
        counts.setdefault(str(tags["reference_pronoun"]), Counter())[str(tags["system_pronoun"])] += times
    if not counts:
        raise AnaphoraError("no noisy pairs to count the confusion of pronouns in")
    return counts


def sampled_pairs(
    lines: Iterable[Line],
    readings: Readings,
    confusion: Confusion,
    *,
    seed: int = 12345,
    share: float = 1.0,
    year: str | None = None,
) -> Iterator[Example]:
    """Yield at most one pair per sentence: one of its pronouns, chosen and replaced as systems confuse them.

    A pronoun is chosen with a probability in proportion to how often it is confused; share: how many of the sentences
    that have such pronouns give a pair.
    """
    random = np.random.default_rng(seed)
    known = {  # pronouns of the list, as others may be in the pairs
        old: {new: times for new, times in sorted(others.items()) if times and new in readings.pronouns}
        for old, others in confusion.items()
    }
    for line in lines:
        text = line.reference[-1]
        words = words_of(text, readings)
        confusable = [n for n in pronoun_indices(words, readings.pronouns) if known.get(words[n].normal)]
        if not confusable or random.random() >= share:
            continue
        weights = [sum(confusion[words[n].normal].values()) for n in confusable]
        index = int(random.choice(confusable, p=_shares(weights)))
        old = words[index].normal
        new = str(random.choice(list(known[old]), p=_shares(list(known[old].values()))))
        wrong = (*line.reference[:-1], replace_pronoun(text, words, index, new, readings))
        tags: dict[str, Tag] = {"kind": "noisy", "document": line.document, "sentence": line.number}
        tags |= {"reference_pronoun": old, "system_pronoun": new, "pronoun_pair": f"{old}:{new}"}
        tags |= {"error": readings.error_class(old, new), "systems": [SAMPLED]}
        if year is not None:
            tags["year"] = year
        prefix = f"{year}/" if year is not None else ""
        source = line.source or ("",) * len(line.reference)
        yield Example(f"{prefix}{line.number}/{SAMPLED}/{index}-{old}-{new}", source, (line.reference, wrong), 0, tags)


def balanced(examples: Iterable[Example]) -> list[Example]:
    """Keep as many pairs he:it as it:he, and so for every two pronouns; the first ones of each, in their order.

    A measure trained on these cannot learn that one pronoun is more often right than another, which differs from
    system to system: it has to read the text.
    """
    listed = list(examples)
    counts = Counter(_direction(example) for example in listed)
    left = {(a, b): min(counts[(a, b)], counts[(b, a)]) for a, b in counts}
    kept = []
    for example in listed:
        pair = _direction(example)
        if left[pair]:
            left[pair] -= 1
            kept.append(example)
    return kept


def _direction(example: Example) -> tuple[str, str]:
    return str(example.tags.get("reference_pronoun")), str(example.tags.get("system_pronoun"))


def _shares(counts: list[int]) -> list[float]:
    total = sum(counts)
    return [count / total for count in counts]
