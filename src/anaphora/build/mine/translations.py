"""How the pronouns of a corpus are translated in it (ContraPro 2018, Table 2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anaphora.align.alignment import Alignment
from anaphora.build.mine.annotation import Words

NOTHING = ""  # what a pronoun without links is translated by
CASED = ("NOUN", "PROPN")
ENDS = frozenset(".!?:…")


def translations(
    source: Sequence[Words], target: Sequence[Words], links: Sequence[Alignment], counts: Counter[tuple[str, str]]
) -> None:
    """Count the words that pronouns of the third person are linked to."""
    for sentence, other, points in zip(source, target, links, strict=True):
        pronouns = {index for index, kind in enumerate(sentence.kinds) if _third_person(*kind)}
        if not pronouns:
            continue
        linked = set()
        for i, j in points:
            if i in pronouns:
                linked.add(i)
                counts[sentence.texts[i].lower(), _written(other, j)] += 1
        for i in pronouns - linked:
            counts[sentence.texts[i].lower(), NOTHING] += 1


def pronoun_table(counts: Iterable[tuple[str, str, int]]) -> dict[str, dict[str, Any]]:
    """For each pronoun, the commonest first, how often it is linked to which word, and the share of its links."""
    found: dict[str, Counter[str]] = {}
    for pronoun, word, number in counts:
        found.setdefault(pronoun, Counter())[word] += number
    table = {}
    for pronoun, words in sorted(found.items(), key=lambda item: (-item[1].total(), item[0])):
        links = words.total() - words[NOTHING]
        rows = sorted(
            ((word, number) for word, number in words.items() if word != NOTHING), key=lambda r: (-r[1], r[0])
        )
        table[pronoun] = {
            "links": links,
            "without_link": words[NOTHING],
            "translations": [
                {"word": word, "frequency": number, "probability": round(number / links, 4)} for word, number in rows
            ],
        }
    return table


def _third_person(upos: str, features: Mapping[str, str]) -> bool:
    return upos == "PRON" and features.get("Person") == "3" and features.get("Poss") != "Yes"


def _written(sentence: Words, index: int) -> str:
    """A word as it is written within a sentence: at the beginning, only nouns keep their capital.

    A line may hold several sentences: the next one begins behind a sign that ends one, and perhaps quotes.
    """
    before = index
    while before and sentence.kinds[before - 1][0] == "PUNCT" and sentence.texts[before - 1] not in ENDS:
        before -= 1
    begins = not before or sentence.texts[before - 1] in ENDS
    text = sentence.texts[index]
    return text.lower() if begins and sentence.kinds[index][0] not in CASED else text
