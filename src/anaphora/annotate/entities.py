"""Coreference chains as CorefUD and GUM write them in CoNLL-U: `Entity=(e1-person-1(e2)` opens, `e1)` closes.

The first part of what a bracket opens is the entity (CorefUD 1.0, https://ufal.mff.cuni.cz/corefud). Of a mention with
gaps (`e1[1/2]`) the first part counts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from anaphora.annotate.document import Chain, Mention, Sentence

BRACKET = re.compile(r"\((?P<opened>[^()]+)(?P<both>\))?|(?P<closed>[^()]+)\)")
PART = re.compile(r"\[(\d+)/\d+\]$")


class Entities:
    """The chains of a document, collected as its tokens pass by."""

    def __init__(self) -> None:
        self._open: dict[str, list[int]] = defaultdict(list)
        self._spans: list[tuple[str, int, int]] = []  # of the sentence: entity, first and last token
        self._chains: dict[str, list[Mention]] = defaultdict(list)
        self._seen = False

    def note(self, token: int, text: str) -> None:
        """What the `Entity=` of a token of the current sentence says."""
        self._seen = True
        for match in BRACKET.finditer(text):
            if opened := match["opened"]:
                entity = opened.partition("-")[0]
                if match["both"]:
                    self._spans.append((entity, token, token))
                else:
                    self._open[entity].append(token)
            elif self._open[entity := match["closed"].partition("-")[0]]:
                self._spans.append((entity, self._open[entity].pop(), token))

    def end_of_sentence(self, number: int, sentence: Sentence) -> None:
        """Mentions of the sentence are complete; what is open is dropped, since no mention crosses a sentence."""
        for entity, first, last in sorted(self._spans, key=lambda span: (span[1], -span[2])):
            part = PART.search(entity)
            if part is None or part[1] == "1":
                mention = Mention(number, first, last + 1, head_of(sentence, first, last + 1))
                self._chains[PART.sub("", entity)].append(mention)
        self._spans.clear()
        self._open.clear()

    def chains(self) -> tuple[Chain, ...] | None:
        """Chains of two mentions or more; None where nothing was annotated."""
        return tuple(tuple(c) for c in self._chains.values() if len(c) > 1) if self._seen else None


def head_of(sentence: Sentence, start: int, end: int) -> int:
    """The token of a span that depends on nothing in it: the highest, and of several the first that is no mark."""
    tops = [i for i in range(start, end) if (h := sentence[i].head) is None or not start <= h < end]
    return next(iter(_words(sentence, tops)), tops[0] if tops else start)


def _words(sentence: Sentence, indices: Iterable[int]) -> list[int]:
    return [i for i in indices if sentence[i].upos not in ("PUNCT", "ADP", "CCONJ", "SCONJ", "DET")]
