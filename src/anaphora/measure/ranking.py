"""Systems on the same sentences: their mean scores, who is better where, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from anaphora.core.errors import AnaphoraError
from anaphora.measure.encoder import Progress
from anaphora.measure.items import Text, text_of
from anaphora.measure.measure import Measure, ScoredText
from anaphora.measure.texts import Line
from anaphora.stats.intervals import Interval, generator, percentile_interval, resampled_sums, wilson
from anaphora.table import Row, Table, p_text, section


@dataclass(frozen=True, slots=True)
class Ranked:
    """A system: its mean score per sentence, with the interval of resampled sentences."""

    name: str
    mean: float
    interval: Interval
    pronouns: int


@dataclass(frozen=True, slots=True)
class Duel:
    """Two systems: in how many sentences each has the higher score, and the difference of their means.

    p: share of resampled sets of sentences in which the difference has the other sign, two-sided
    """

    first: str
    second: str
    wins: int
    losses: int
    ties: int
    delta: float
    interval: Interval
    p: float

    @property
    def share(self) -> float | None:
        """Of the sentences that are not ties, how many the first wins."""
        decided = self.wins + self.losses
        return self.wins / decided if decided else None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Systems, the best first, and every two of them."""

    sentences: int
    systems: tuple[Ranked, ...]
    duels: tuple[Duel, ...]
    details: Mapping[str, Sequence[ScoredText]]

    def to_dict(self) -> dict[str, Any]:
        return {
            "sentences": self.sentences,
            "systems": {
                s.name: {"mean": s.mean, "interval": list(s.interval), "pronouns": s.pronouns} for s in self.systems
            },
            "comparisons": [
                {
                    "first": d.first,
                    "second": d.second,
                    "wins": d.wins,
                    "losses": d.losses,
                    "ties": d.ties,
                    "share": d.share,
                    "share_interval": list(wilson(d.wins, d.wins + d.losses)),
                    "delta": d.delta,
                    "interval": list(d.interval),
                    "p_value": d.p,
                }
                for d in self.duels
            ],
        }


def texts_of(lines: Sequence[Line], system: int | None, measure: Measure, *, own_context: bool) -> list[Text]:
    """A system's sentences (or the reference's: None) with the context that the measure reads."""
    config = measure.config
    sentences = 0 if config.context == "NC" else config.sentences
    found = []
    for line in lines:
        passage = line.reference if system is None else line.systems[system]
        if not own_context:
            passage = (*line.reference[:-1], passage[-1])
        found.append(text_of(passage, measure.readings, sentences=sentences, plain=config.plain))
    return found


def rank(
    measure: Measure,
    systems: Mapping[str, Sequence[Text]],
    *,
    samples: int = 10_000,
    seed: int = 12345,
    confidence: float = 0.95,
    progress: Progress | None = None,
) -> Ranking:
    """Score all sentences of all systems; resampling draws the same sentences for every system."""
    sizes = {len(texts) for texts in systems.values()}
    if len(sizes) != 1 or not min(sizes):
        raise AnaphoraError("systems are compared on the same sentences, of which there must be one or more")
    measure.prepare((text for texts in systems.values() for text in texts), progress)
    details = {name: measure.score(texts) for name, texts in systems.items()}
    scores = np.array([[found.score for found in details[name]] for name in systems]).T  # (sentences, systems)
    counts = np.ones(len(scores), np.int64)
    drawn = resampled_sums(scores, counts, samples, generator(seed)) / len(scores)  # (samples, systems)
    means, names = scores.mean(0), list(systems)
    ranked = [
        Ranked(
            name,
            float(means[k]),
            percentile_interval(drawn[:, k], confidence),
            sum(len(found.pronouns) for found in details[name]),
        )
        for k, name in enumerate(names)
    ]
    order = sorted(range(len(names)), key=lambda k: -means[k])
    duels = tuple(
        _duel(names[a], names[b], scores[:, [a, b]], drawn[:, [a, b]], confidence) for a, b in combinations(order, 2)
    )
    return Ranking(len(scores), tuple(ranked[k] for k in order), duels, details)


def _duel(first: str, second: str, scores: np.ndarray, drawn: np.ndarray, confidence: float) -> Duel:
    differences = scores[:, 0] - scores[:, 1]
    resampled = drawn[:, 0] - drawn[:, 1]
    below, above = ((int(turned.sum()) + 1) / (len(resampled) + 1) for turned in (resampled <= 0, resampled >= 0))
    return Duel(
        first,
        second,
        int((differences > 0).sum()),
        int((differences < 0).sum()),
        int((differences == 0).sum()),
        float(differences.mean()),
        percentile_interval(resampled, confidence),
        min(1.0, 2 * min(below, above)),
    )


def ranking_table(ranking: Ranking) -> Table:
    rows = [
        Row((s.name, f"{s.mean:+.3f}", f"[{s.interval[0]:+.3f}, {s.interval[1]:+.3f}]", f"{s.pronouns:,}"))
        for s in ranking.systems
    ]
    for duel in ranking.duels:
        share = "–" if duel.share is None else f"{duel.share:.3f}"
        rows.append(
            section(f"{duel.first} − {duel.second}: better in {share} of {duel.wins + duel.losses:,} sentences")
        )
        interval = f"[{duel.interval[0]:+.3f}, {duel.interval[1]:+.3f}]"
        rows.append(Row(("difference", f"{duel.delta:+.3f}", interval, f"p {p_text(duel.p)}"), indent=1))
    columns = ("", "score", "95 % interval", "pronouns")
    return Table(f"Learned pronoun measure · {ranking.sentences:,} sentences", columns, tuple(rows))
