"""Agreement with people, where pairs say what people preferred (Jwalapuram et al. 2019, §5.3 and Table 5).

Pairs have it in one of two ways: `preference`, the answer of people on this very pair (REF, SYS or Tie), or
`human_reference`, `human_system` and `human_ties`, how often each answer was given for this pronoun pair.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.evaluation.contrastive import evaluate_items
from anaphora.evaluation.result import Result, Settings
from anaphora.measure.model import Measure, Progress, ScoredText, Text, candidate_texts, text_of
from anaphora.measure.pair_list import read_pair_list
from anaphora.measure.texts import Line
from anaphora.runs import Run, RunHeader, Scored, describe
from anaphora.stats.agreement import gwet_ac1
from anaphora.stats.intervals import Interval, generator, percentile_interval, resampled_sums, wilson
from anaphora.suites.example import Example, Tag
from anaphora.suites.suite import Suite, suite_of
from anaphora.table import Row, Table, p_text, section

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Human:
    """ac1: Gwet's AC1 between measure and people, ties of people left out, as the measure has none

    accuracy: how often both prefer the same, ties left out; pairs: how many were compared; ties: left out
    """

    pairs: int
    ties: int
    accuracy: float | None
    ac1: float | None

    def to_dict(self) -> dict[str, Any]:
        return {"pairs": self.pairs, "ties": self.ties, "accuracy": self.accuracy, "ac1": self.ac1}


def human_agreement(items: Sequence[Scored], *, minimize: bool = False) -> Human | None:
    """How the scores agree with people; None where no pair says what people preferred."""
    both: list[tuple[bool, bool]] = []  # the reference is preferred: by the scores, by people
    ties = known = 0
    for item in items:
        answers = _answers(item)
        if item.gold is None or len(item.scores) != 2 or answers is None:
            continue
        known += 1
        reference, system, tied = answers
        if tied >= max(reference, system) or reference == system:
            ties += 1
            continue
        ours = item.scores[item.gold] - item.scores[1 - item.gold]
        both.append(((ours < 0) if minimize else (ours > 0), reference > system))
    if not known:
        return None
    if not both:
        return Human(0, ties, None, None)
    same = sum(one == other for one, other in both) / len(both)
    return Human(len(both), ties, same, gwet_ac1(np.array(both, np.int64), 2))


def _answers(item: Scored) -> tuple[int, int, int] | None:
    preference = item.tags.get("preference")
    if preference is not None:
        word = str(preference).upper()
        return int(word == "REF"), int(word == "SYS"), int(word not in ("REF", "SYS"))
    if "human_reference" not in item.tags:
        return None
    return tuple(_count(item.tags.get(name)) for name in ("human_reference", "human_system", "human_ties"))  # type: ignore[return-value]


def _count(value: Tag) -> int:
    return value if isinstance(value, int) else 0


# Runs of any judge on pairs: a language model's preference, a metric, an LLM. No torch is needed for these.

BREAKDOWNS = ("pronoun_pair", "error", "kind")


def judge(
    items: Sequence[Scored], about: RunHeader, breakdowns: Sequence[str] = (), settings: Settings | None = None
) -> tuple[Result, Human | None]:
    """The result of scored pairs; without breakdowns of one's own, those that the pairs have tags for."""
    if not breakdowns:
        known = {tag for item in items for tag in item.tags}
        listed = tuple(dict.fromkeys((*about.breakdowns, *BREAKDOWNS)))
        about = replace(about, breakdowns=tuple(name for name in listed if name in known))
    result = evaluate_items(items, about=about, breakdowns=breakdowns, settings=settings)
    return result, human_agreement(items, minimize=result.settings.minimize)


def judge_run(
    run: Run, suite: Suite, breakdowns: Sequence[str] = (), settings: Settings | None = None
) -> tuple[Result, Human | None]:
    """The result of a run on a suite of pairs; tags are those of the suite, which may know more than the run."""
    tags: Mapping[str, Mapping[str, Tag]] = {example.id: example.tags for example in suite}
    items = []
    for item in run:
        if item.id not in tags:
            problem = f"the run has {item.id!r}, which is not in {suite.header.name}"
            raise BadInput(run.path, problem, remedy="Name the pairs that the run was made on.")
        items.append(item._replace(tags=tags[item.id]))
    return judge(items, run.header, breakdowns, settings)


def with_people(suite: Suite, path: Path) -> Suite:
    """The suite, with what people said of the pronoun pair of each example as tags."""
    judged = read_pair_list(path)

    def examples() -> Iterator[Example]:
        for example in suite:
            found = judged.get(str(example.tags.get("pronoun_pair")))
            if found is None:
                yield example
                continue
            more: dict[str, Tag] = {"human_agreement": round(found.agreement, 4), "human_reference": found.reference}
            more |= {"human_system": found.system, "human_ties": found.ties}
            yield replace(example, tags={**example.tags, **more})

    return suite_of(suite.header, examples, suite.path)


# Accuracy of a measure on pairs, and its agreement with people where what they preferred is known.


def score_examples(measure: Measure, examples: Sequence[Example], progress: Progress | None = None) -> Iterator[Scored]:
    """The examples with the measure's score of each candidate."""
    texts = [candidate_texts(example, measure.config, measure.readings) for example in examples]
    measure.prepare((text for candidates in texts for text in candidates), progress)
    for example, candidates in zip(examples, texts, strict=True):
        scores = [found.score for found in measure.score(candidates)]
        yield Scored(example.id, example.gold, example.tags, scores)


def evaluate_measure(
    measure: Measure,
    suite: Suite,
    name: str,
    *,
    breakdowns: Sequence[str] = (),
    settings: Settings | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> tuple[Result, Human | None]:
    """Accuracy of a measure on a suite of pairs, by pronoun pair and error class, and its agreement with people."""
    digest = hashlib.sha256()
    examples = list(suite.examples(digest))[:limit]
    items = list(score_examples(measure, examples, progress))
    about = describe(suite, sha256=digest.hexdigest(), system=f"measure:{name}", context=measure.config.context)
    return judge(items, about, breakdowns, settings)


# Systems on the same sentences: their mean scores, who is better where, and how sure that is.


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
