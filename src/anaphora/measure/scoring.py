"""Judging pairs and ranking systems: by a learned measure, or by any run; and the measure as a system.

Where pairs record annotators' preferences, agreement with them is given, too (Jwalapuram et al. 2019, §5.3 and Table
5). Pairs record them in one of two ways: `preference`, the answer for this very pair (REF, SYS or Tie), or
`human_reference`, `human_system` and `human_ties`, how often each answer was given for this pronoun pair.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.evaluation.contrastive import evaluate_items
from anaphora.evaluation.result import Result, Settings
from anaphora.languages.pair_list import read_pair_list
from anaphora.measure.texts import Line, Progress, Text, candidate_texts, text_of
from anaphora.runs import CandidateScores, Run, RunHeader, ScoredExample, describe
from anaphora.stats.agreement import gwet_ac1
from anaphora.stats.intervals import generator, percentile_interval, resampled_sums, wilson
from anaphora.stats.resampling import Interval, check_samples
from anaphora.suites.example import Example, Tag
from anaphora.suites.suite import Suite, suite_of
from anaphora.systems import KINDS
from anaphora.systems.context import Options, split_settings

if TYPE_CHECKING:  # judging runs needs no torch
    from anaphora.measure.model import Measure, ScoredText


@dataclass(frozen=True, slots=True)
class Human:
    """Agreement of scores with annotators, whose ties are left out, as scores have none.

    pairs: the number of pairs compared; ties: the number left out
    accuracy: how often both prefer the same text; ac1: Gwet's AC1 between scores and annotators
    """

    pairs: int
    ties: int
    accuracy: float | None
    ac1: float | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def human_agreement(items: Sequence[ScoredExample], *, minimize: bool = False) -> Human | None:
    """Return how the scores agree with annotators; None if no pair records their preference."""
    both: list[tuple[bool, bool]] = []  # whether the reference is preferred: by the scores, by annotators
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


def _answers(item: ScoredExample) -> tuple[int, int, int] | None:
    preference = item.tags.get("preference")
    if preference is not None:
        word = str(preference).upper()
        return int(word == "REF"), int(word == "SYS"), int(word not in ("REF", "SYS"))
    if "human_reference" not in item.tags:
        return None
    counts = [item.tags.get(f"human_{name}") for name in ("reference", "system", "ties")]
    reference, system, ties = (count if isinstance(count, int) else 0 for count in counts)
    return reference, system, ties


# Runs of any judge on pairs: a language model's preference, a metric, an LLM. These need no torch.

BREAKDOWNS = ("pronoun_pair", "error", "kind")


def judge(
    items: Sequence[ScoredExample], about: RunHeader, breakdowns: Sequence[str] = (), settings: Settings | None = None
) -> tuple[Result, Human | None]:
    """Return the result of scored pairs; breakdowns are by default those that the pairs have tags for."""
    if not breakdowns:
        known = {tag for item in items for tag in item.tags}
        listed = tuple(dict.fromkeys((*about.breakdowns, *BREAKDOWNS)))
        about = replace(about, breakdowns=tuple(name for name in listed if name in known))
    result = evaluate_items(items, about=about, breakdowns=breakdowns, settings=settings)
    return result, human_agreement(items, minimize=result.settings.minimize)


def judge_run(
    run: Run, suite: Suite, breakdowns: Sequence[str] = (), settings: Settings | None = None
) -> tuple[Result, Human | None]:
    """Return the result of a run on a suite of pairs, with the tags of the suite, which may have more than the run."""
    tags: Mapping[str, Mapping[str, Tag]] = {example.id: example.tags for example in suite}
    items = []
    for item in run:
        if item.id not in tags:
            problem = f"the run has {item.id!r}, which is not in {suite.header.name}"
            raise BadInput(run.path, problem, remedy="Pass the pairs that were scored in the run.")
        items.append(item._replace(tags=tags[item.id]))
    return judge(items, run.header, breakdowns, settings)


def with_human_counts(suite: Suite, path: Path) -> Suite:
    """Return the suite with the annotators' judgments of each example's pronoun pair as tags."""
    pair_list = read_pair_list(path)

    def examples() -> Iterator[Example]:
        for example in suite:
            judged = pair_list.get(str(example.tags.get("pronoun_pair")))
            yield example if judged is None else replace(example, tags={**example.tags, **judged.tags()})

    return suite_of(suite.header, examples, suite.path)


# Accuracy of a measure on pairs.


def score_examples(
    measure: Measure, examples: Sequence[Example], progress: Progress | None = None
) -> Iterator[ScoredExample]:
    """Yield the examples with the measure's score of each candidate."""
    texts = [candidate_texts(example, measure.config, measure.readings) for example in examples]
    measure.prepare((text for candidates in texts for text in candidates), progress)
    for example, candidates in zip(examples, texts, strict=True):
        scores = [scored.score for scored in measure.score(candidates)]
        yield ScoredExample(example.id, example.gold, example.tags, scores)


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
    """Return the accuracy of a measure on a suite of pairs, and its agreement with annotators."""
    digest = hashlib.sha256()
    examples = list(suite.examples(digest))[:limit]
    items = list(score_examples(measure, examples, progress))
    about = describe(suite, sha256=digest.hexdigest(), system=f"measure:{name}", context=measure.config.context)
    return judge(items, about, breakdowns, settings)


# Ranking systems on the same sentences.


@dataclass(frozen=True, slots=True)
class Ranked:
    """A system: its mean score per sentence, with an interval from resampled sentences."""

    name: str
    mean: float
    interval: Interval
    pronouns: int


@dataclass(frozen=True, slots=True)
class PairwiseComparison:
    """Two systems: the number of sentences in which each has the higher score, and the difference of their means.

    p: the share of resampled sets of sentences in which the difference has the other sign, two-sided
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
        """The share of sentences that the first wins, without ties."""
        decided = self.wins + self.losses
        return self.wins / decided if decided else None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Systems, the best first, and the comparison of every two."""

    sentences: int
    systems: tuple[Ranked, ...]
    comparisons: tuple[PairwiseComparison, ...]
    details: Mapping[str, Sequence[ScoredText]]

    def to_dict(self) -> dict[str, Any]:
        return {
            "sentences": self.sentences,
            "systems": {
                s.name: {"mean": s.mean, "interval": list(s.interval), "pronouns": s.pronouns} for s in self.systems
            },
            "comparisons": [
                {
                    **{name: getattr(d, name) for name in ("first", "second", "wins", "losses", "ties", "share")},
                    "share_interval": list(wilson(d.wins, d.wins + d.losses)),
                    "delta": d.delta,
                    "interval": list(d.interval),
                    "p_value": d.p,
                }
                for d in self.comparisons
            ],
        }


def texts_of(lines: Sequence[Line], system: int | None, measure: Measure, *, own_context: bool) -> list[Text]:
    """Return the sentences of a system (None: the reference) with the context that the measure reads."""
    config = measure.config
    texts = []
    for line in lines:
        passage = line.reference if system is None else line.systems[system]
        if not own_context:
            passage = (*line.reference[:-1], passage[-1])
        texts.append(text_of(passage, measure.readings, sentences=config.context_sentences, plain=config.plain))
    return texts


def rank(
    measure: Measure,
    systems: Mapping[str, Sequence[Text]],
    *,
    samples: int = 10_000,
    seed: int = 12345,
    confidence: float = 0.95,
    progress: Progress | None = None,
) -> Ranking:
    """Score and rank systems; resampling draws the same sentences for every system."""
    check_samples(samples)
    sizes = {len(texts) for texts in systems.values()}
    if len(sizes) != 1 or not min(sizes):
        raise AnaphoraError("systems must have the same number of sentences, at least one")
    measure.prepare((text for texts in systems.values() for text in texts), progress)
    details = {name: measure.score(texts) for name, texts in systems.items()}
    scores = np.array([[scored.score for scored in details[name]] for name in systems]).T  # (sentences, systems)
    counts = np.ones(len(scores), np.int64)
    resampled = resampled_sums(scores, counts, samples, generator(seed)) / len(scores)  # (samples, systems)
    means, names = scores.mean(0), list(systems)
    ranked = [
        Ranked(
            name,
            float(means[k]),
            percentile_interval(resampled[:, k], confidence),
            sum(len(scored.pronouns) for scored in details[name]),
        )
        for k, name in enumerate(names)
    ]
    order = sorted(range(len(names)), key=lambda k: -means[k])
    comparisons = tuple(
        _compare(names[a], names[b], scores[:, [a, b]], resampled[:, [a, b]], confidence)
        for a, b in combinations(order, 2)
    )
    return Ranking(len(scores), tuple(ranked[k] for k in order), comparisons, details)


def _compare(first: str, second: str, scores: np.ndarray, means: np.ndarray, confidence: float) -> PairwiseComparison:
    differences = scores[:, 0] - scores[:, 1]
    resampled = means[:, 0] - means[:, 1]
    below, above = ((int(side.sum()) + 1) / (len(resampled) + 1) for side in (resampled <= 0, resampled >= 0))
    return PairwiseComparison(
        first,
        second,
        int((differences > 0).sum()),
        int((differences < 0).sum()),
        int((differences == 0).sum()),
        float(differences.mean()),
        percentile_interval(resampled, confidence),
        min(1.0, 2 * min(below, above)),
    )


# `measure:MODEL`: a measure as a system, so that `anaphora score` can compare it with language models and judges.


class MeasureSystem:
    """A measure that scores the target side. Its setting (NC, RC or CRC) decides which context it reads, not --context.

    Settings in the spec: encoder, where the encoder is now; cache, a folder for its states.
    """

    traits = KINDS["measure"].traits

    def __init__(self, what: str, options: Options) -> None:
        name, settings = split_settings(what, KINDS["measure"].settings)
        if options.threads is not None:
            import torch

            torch.set_num_threads(options.threads)
        if options.context.target == "produced":
            raise AnaphoraError("--target-context produced needs a system that translates, and a measure only scores")
        from anaphora.measure.training import load_measure, read_about

        self.options = options
        cache = settings.get("cache")
        self.measure = load_measure(
            Path(name), cache=Path(cache) if cache else None, fallback=settings.get("encoder") or None
        )
        language, target = self.measure.readings.language, options.languages[1]
        if target and target != language:
            raise AnaphoraError(f"{name}: the measure is for {language}, but the suite's target language is {target}")
        self._about = read_about(Path(name))

    def settings(self) -> dict[str, Any]:
        """Return what the scores depend on: how the measure was trained, and its weights."""
        from anaphora.scoring.weights import weights_of

        config, digest = self.measure.config, hashlib.sha256()
        for name, tensor in sorted(weights_of(self.measure).items()):
            digest.update(name.encode() + tensor.cpu().numpy().tobytes())
        return {
            "kind": "measure",
            "setting": config.context,
            "plain_text": config.plain,
            "weights": digest.hexdigest()[:16],
            "encoder": dict(self._about["encoder"]),
            "features": list(self._about["features"]),
            "context": f"0+{config.context_sentences}",
        }

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        """Yield the number of each example with the measure's scores of its candidates."""
        for number, example in enumerate(examples):
            if number not in done:
                [scored] = score_examples(self.measure, [example])
                yield number, CandidateScores(scored.scores)
