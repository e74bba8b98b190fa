"""Contrastive evaluation: from scores to accuracy with intervals, by any breakdown, in one pass and constant memory."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from anaphora.evaluation import decision as by
from anaphora.evaluation.decision import Breakdown, Key, Priors, decide, proportion, unit_of
from anaphora.evaluation.result import Proportion, Result, Settings
from anaphora.runs import Run, RunHeader, ScoredExample, describe
from anaphora.stats.intervals import bootstrap, generator, percentile_interval
from anaphora.suites.example import Example, Tag
from anaphora.suites.suite import Suite
from anaphora.systems.scores import ScoreArray, ScoreFile

MAX_SHOWN = 3  # invalid answers that are kept as examples
MAX_PENDING = 10_000  # counts under different values of the tags, kept before they are added to the groups


class Tally:
    """Counts of correct answers and totals, overall and per resampled unit."""

    __slots__ = ("correct", "total", "units")

    def __init__(self, by_unit: bool) -> None:
        self.total = self.correct = 0
        self.units: defaultdict[Hashable, list[int]] | None = defaultdict(lambda: [0, 0]) if by_unit else None

    def add(self, correct: bool, unit: Hashable = None) -> None:
        self.total += 1
        self.correct += correct
        if self.units is not None:
            counts = self.units[unit]
            counts[0] += correct
            counts[1] += 1

    def merge(self, other: Tally) -> None:
        self.total += other.total
        self.correct += other.correct
        if self.units is not None and other.units is not None:
            for unit, (correct, total) in other.units.items():
                counts = self.units[unit]
                counts[0] += correct
                counts[1] += total

    def figure(self, settings: Settings) -> Proportion:
        """Return the share with its interval. Every figure restarts from the seed, so figures are independent."""
        if settings.interval == "wilson" or self.total == 0:
            return proportion(self.correct, self.total, settings.confidence)
        if self.units is None:
            outcomes = Counter({(1, 1): self.correct, (0, 1): self.total - self.correct})
        else:
            outcomes = Counter(map(tuple, self.units.values()))  # type: ignore[arg-type]
        rows, counts = zip(*sorted((row, n) for row, n in outcomes.items() if n), strict=True)
        values = bootstrap(np.array(rows, float), np.array(counts), settings.samples, generator(settings.seed))
        return Proportion(self.total, self.correct, percentile_interval(values, settings.confidence))


class Evaluation:
    """Accumulates scored examples; `figures` returns the results.

    An example is counted once, under the values of all tags that breakdowns ask for; the counts are passed on to the
    breakdowns' groups at the end, or when there are many. That is cheap for each example, and little is kept.
    """

    def __init__(self, breakdowns: Mapping[str, Breakdown], settings: Settings, about: RunHeader | None = None) -> None:
        self.breakdowns, self.settings = breakdowns, settings
        self._all = self._tally()
        self.ties = self.unanswered = 0
        self.answers: list[str] = []  # some of the invalid ones
        self.tags: set[str] = set()
        self.priors = Priors()
        self._blocks_tag = about.blocks if about is not None else None
        self._cut = about.cut_blocks if about is not None else ()
        self._limited = about is not None and about.settings.get("limit") is not None
        self._blocks: dict[object, bool] = {}
        self._joint = by.joint(breakdowns.values())
        self._pending: defaultdict[Key, Tally] = defaultdict(self._tally)
        self._groups: dict[str, defaultdict[str | None, Tally]] = {n: defaultdict(self._tally) for n in breakdowns}

    def _tally(self) -> Tally:
        return Tally(self.settings.resample is not None)

    def add(self, item: ScoredExample) -> None:
        settings, tags = self.settings, item.tags
        self.tags.update(tags)
        decision = decide(item, minimize=settings.minimize, normalize=settings.normalize)
        if item.unanswered:
            self.unanswered += 1
            if len(self.answers) < MAX_SHOWN and item.extra.get("answer"):
                self.answers.append(str(item.extra["answer"]))
        if item.gold is None:
            self.priors.add(tags, decision.chosen)
            return
        correct = decision.correct
        self.ties += decision.tie and not item.unanswered  # a missing answer is not a tie
        unit = unit_of(item, settings.resample)
        self._pending[by.keyed(self._joint, tags)].add(correct, unit)
        if len(self._pending) > MAX_PENDING:
            self._hand_on()
        if self._blocks_tag is not None:
            block = tags.get(self._blocks_tag)
            if not isinstance(block, list | dict | None):  # as `select` sees it: these name no block
                self._blocks[block] = self._blocks.get(block, True) and correct

    def _hand_on(self) -> None:
        for tally in self._pending.values():
            self._all.merge(tally)
        for name, breakdown in self.breakdowns.items():
            groups = self._groups[name]
            indices = [self._joint.tags.index(tag) for tag in breakdown.tags]
            for key, tally in self._pending.items():
                groups[breakdown.group(tuple([key[index] for index in indices]))].merge(tally)
        self._pending.clear()

    def overall(self) -> Proportion:
        """Return the figure of all examples."""
        self._hand_on()
        return self._all.figure(self.settings)

    def figures(self) -> tuple[dict[str, dict[str, Proportion]], dict[str, int]]:
        """Return the figures of each breakdown, and the number of examples that are in none of its groups."""
        self._hand_on()
        figures: dict[str, dict[str, Proportion]] = {}
        untagged: dict[str, int] = {}
        for name, tallies in self._groups.items():
            groups = {group: tally for group, tally in tallies.items() if group is not None}
            figures[name] = {g: groups[g].figure(self.settings) for g in sorted(groups, key=by.order)}
            if None in tallies:
                untagged[name] = tallies[None].total
        return figures, untagged

    def blocks(self) -> tuple[Proportion | None, int]:
        """The proportion of blocks that are right in every example, and the number of incomplete blocks left out."""
        if not self._blocks:
            return None, 0
        cut: set[object] = set(self._cut or ())
        if self._cut is None and self._limited:  # a run of version 0.1 does not say it: the last one may be cut
            cut = set(list(self._blocks)[-1:])
        whole = [right for block, right in self._blocks.items() if block not in cut]
        figure = proportion(sum(whole), len(whole), self.settings.confidence)
        return figure if whole else None, len(self._blocks) - len(whole)


def evaluate_items(
    items: Iterable[ScoredExample],
    *,
    about: RunHeader,
    breakdowns: Sequence[str] = (),
    settings: Settings | None = None,
) -> Result:
    """Return the Result of scored examples.

    about: the suite and the system
    breakdowns: what was asked for, where a tag that no example has is an error; else what the suite's paper reports,
        as far as its examples have the tags
    """
    settings = settings or Settings()
    wanted = by.parse_all(breakdowns or about.breakdowns)
    evaluation = Evaluation(wanted, settings, about)
    for item in items:
        evaluation.add(item)
    if breakdowns:
        by.check_known(wanted.values(), evaluation.tags)
    figures, untagged = evaluation.figures()
    blocks, cut_blocks = evaluation.blocks()
    return Result(
        suite=about.suite,
        sha256=about.sha256,
        languages=about.languages,
        system=about.system,
        figure=evaluation.overall(),
        ties=evaluation.ties,
        unanswered=evaluation.unanswered,
        answers=tuple(evaluation.answers),
        breakdowns={name: groups for name, groups in figures.items() if groups},
        untagged={name: n for name, n in untagged.items() if figures[name]},
        blocks=blocks,
        cut_blocks=cut_blocks,
        priors=evaluation.priors.figures(settings.confidence),
        unpaired=evaluation.priors.unpaired(),
        settings=settings,
        version=about.version,
        context=about.context,
        protocol=about.measurement.settings,
    )


def evaluate_run(run: Run, *, breakdowns: Sequence[str] = (), settings: Settings | None = None) -> Result:
    """Evaluate a run."""
    result = evaluate_items(run, about=run.header, breakdowns=breakdowns, settings=settings)
    return replace(result, scored=lambda: run)


def evaluate_scores(
    suite: Suite, scores: Path | ScoreArray, *, breakdowns: Sequence[str] = (), settings: Settings | None = None
) -> Result:
    """Evaluate a suite with scores from a file or from memory, in one pass over both."""
    digest = hashlib.sha256()
    settings = settings or Settings()
    given = scores if isinstance(scores, ScoreArray) else ScoreFile(scores, are=settings.scores_are)

    def scored(examples: Iterable[Example]) -> Iterable[ScoredExample]:
        if settings.scores_are == settings.normalize == "mean":  # they are compared as they are: a mean of one token
            return (item._replace(tokens=[1] * len(item.scores)) for item in given.as_written(examples))
        return given.score(examples)

    about = describe(suite, sha256="", system=given.spec)
    result = evaluate_items(scored(suite.examples(digest)), about=about, breakdowns=breakdowns, settings=settings)
    # the hash is known once all lines are read
    return replace(result, sha256=digest.hexdigest(), scored=lambda: scored(suite))


# What is right without understanding: choosing at random, or always giving the most frequent answer.

ANSWERS = ("reference_pronoun", "reference_gender")  # tags that say what the right answer is


def guessing(questions: Iterable[tuple[int, Mapping[str, Tag]]]) -> float | None:
    """Return the accuracy of the better of the two; None if there are no questions.

    questions: of each example that has a right answer the number of candidates, and its tags
    """
    total, at_random = 0, 0.0
    answers: Counter[tuple[str, str]] = Counter()
    for candidates, tags in questions:
        total += 1
        at_random += 1 / candidates
        answers.update((name, str(tags[name])) for name in ANSWERS if name in tags)
    return max(at_random, max(answers.values(), default=0)) / total if total else None
