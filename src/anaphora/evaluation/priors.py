"""Templates without a right answer: what a system chooses when nothing tells (ContraCAT §6.1.1, Tables 10–12)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from anaphora.evaluation.result import Figure
from anaphora.stats.intervals import wilson
from anaphora.suites.example import Tag

TIE = "tie"


class Priors:
    """Counts what choices mean, by template.

    Tags of an example: `choices`, the meaning of each candidate (subject, object, neither); `pair`, the same for two
    examples that name the same entities in both orders. Pairs are counted as one: the first in both orders, the
    second in both, or the same antecedent in both.
    """

    def __init__(self) -> None:
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._waiting: dict[tuple[str, str], str] = {}

    def add(self, tags: Mapping[str, Tag], chosen: int | None) -> None:
        template = str(tags.get("template", "all"))
        choice = _meaning(tags.get("choices"), chosen)
        pair = tags.get("pair")
        if not isinstance(pair, str):
            self._counts[template][choice] += 1
            return
        other = self._waiting.pop((template, pair), None)
        if other is None:
            self._waiting[template, pair] = choice
        else:
            self._counts[template][_both(choice, other)] += 1

    def unpaired(self) -> dict[str, int]:
        """How many examples of each template are without the other half of their pair, and not counted."""
        return dict(sorted(Counter(template for template, _ in self._waiting).items()))

    def figures(self, confidence: float) -> dict[str, dict[str, Figure]]:
        """The share of each choice, the most frequent first. A pair whose other half is missing is not counted."""
        result = {}
        for template, counts in sorted(self._counts.items()):
            total = counts.total()
            result[template] = {
                choice: Figure(total, n, wilson(n, total, confidence)) for choice, n in counts.most_common()
            }
        return result


def _meaning(choices: Tag, chosen: int | None) -> str:
    if chosen is None:
        return TIE
    if isinstance(choices, list) and chosen < len(choices):
        return str(choices[chosen])
    return f"candidate {chosen + 1}"


def _both(one: str, other: str) -> str:
    """What two orders say together: `first` and `second` are the same antecedent, as the order is turned round."""
    if TIE in (one, other):
        return TIE
    if one == other:
        return one
    return "neither" if "neither" in (one, other) else "same antecedent"
