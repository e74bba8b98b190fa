"""APT and human judgments of pronouns: its six cases (APT §4.3, Table 5), and equivalent pronouns (APT §2.5)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from anaphora.core.columns import Columns, Record, read_columns
from anaphora.core.errors import AnaphoraError, BadInput, did_you_mean
from anaphora.languages.pronouns import PronounLists, normalize_word, pronoun_lists
from anaphora.metrics.apt.task import CASES
from anaphora.stats.intervals import wilson
from anaphora.stats.resampling import Interval

JUDGMENTS = ("correct", "incorrect", "bad")
JUDGMENT_COLUMNS = ("judgment", "judgement")  # the name now, and that of version 0.1.0
OTHER, BAD = "other", "bad"
SEPARATOR = re.compile(r"[|,;/]")  # between the answers to a gap; the option "ça/cela" is two that are both right
Key = tuple[str, ...]  # system (where there are several), sentence, position


@dataclass(frozen=True, slots=True)
class JudgmentCounts:
    """Counts of pronouns that were judged correct, incorrect, or not judged because the sentence is bad."""

    correct: int
    incorrect: int
    bad: int

    @property
    def total(self) -> int:
        return self.correct + self.incorrect + self.bad

    def share(self, judgment: str) -> float | None:
        return int(getattr(self, judgment)) / self.total if self.total else None

    def interval(self) -> Interval:
        """Wilson interval of the share that is correct."""
        return wilson(self.correct, self.total)

    def to_dict(self) -> dict[str, Any]:
        counts = {judgment: getattr(self, judgment) for judgment in JUDGMENTS}
        shares = {judgment: self.share(judgment) for judgment in JUDGMENTS}
        return {**counts, "total": self.total, "shares": shares, "interval": list(self.interval())}


@dataclass(frozen=True, slots=True)
class CaseJudgments:
    """Table 5: the judgments of the pronouns in each case."""

    cases: tuple[JudgmentCounts, ...]
    unjudged: int  # pronouns of APT without a judgment
    unmatched: int  # judgments of pronouns that APT does not have

    @property
    def total(self) -> JudgmentCounts:
        return JudgmentCounts(*(sum(getattr(case, judgment) for case in self.cases) for judgment in JUDGMENTS))

    def to_dict(self) -> dict[str, Any]:
        return {
            "cases": {f"c{number}": case.to_dict() for number, case in enumerate(self.cases, start=1)},
            "total": self.total.to_dict(),
            "unjudged": self.unjudged,
            "unmatched": self.unmatched,
        }


def same_forms(languages: str) -> Callable[[str], str]:
    """One form of each pronoun, by the lists of a language pair."""
    lists = pronoun_lists(languages)
    return lambda word: lists.canonical(normalize_word(word))


def judge_cases(
    details: Path,
    judgments: Path,
    *,
    options: Sequence[str] = (),
    form: Callable[[str], str] = normalize_word,
) -> CaseJudgments:
    """Join the output of `anaphora apt --details` with judgments of the same pronouns.

    details: a table with columns sentence, position, case (1 to 6), and system where there are several
    judgments: a table with columns sentence, position, system as above, and either judgment (correct, incorrect, bad)
        or answers (the options that an annotator found right, among them other and bad), which are compared with the
        details' column candidate; a column annotator distinguishes several judgments of one pronoun
    options: the pronouns that could be chosen; those that are answers somewhere, unless given
    """
    cases_table, judged = read_columns(details), read_columns(judgments)
    keys = _keys(cases_table, judged)
    pronouns = _pronouns(cases_table, keys)
    word = next((name for name in JUDGMENT_COLUMNS if name in judged.names), None)
    verdict = _by_word(word) if word else _by_gap(judged, cases_table, options, form)
    counts: Counter[tuple[int, str]] = Counter()
    seen: dict[Key, int] = {}
    met: set[Key] = set()
    unmatched = 0
    for record in judged.records:
        key = tuple(record.cells[name] for name in keys)
        once = (*key, record.cells.get("annotator", ""))
        if once in seen:
            problem = f"the pronoun is also judged in line {seen[once]:,}"
            raise BadInput(judgments, problem, line=record.line, remedy="Name the annotators in a column annotator.")
        seen[once] = record.line
        if key not in pronouns:
            unmatched += 1
            continue
        met.add(key)
        case, candidate = pronouns[key]
        counts[case, verdict(record, candidate)] += 1
    if not met:
        remedy = f"The columns {', '.join(keys)} must match in both files."
        raise BadInput(judgments, f"none of the judged pronouns is in {details}", remedy=remedy)
    cases = tuple(JudgmentCounts(*(counts[case, j] for j in JUDGMENTS)) for case in CASES)
    return CaseJudgments(cases, len(pronouns) - len(met), unmatched)


def _keys(details: Columns, judgments: Columns) -> tuple[str, ...]:
    several = "system" in details.names or "system" in judgments.names
    keys = ("system", "sentence", "position") if several else ("sentence", "position")
    details.require([*keys, "case"], "Write the file with: anaphora apt … --details FILE")
    judgments.require(keys)
    if not {*JUDGMENT_COLUMNS, "answers"} & {*judgments.names}:
        judgments.require(["judgment"], "There must be a column judgment, or a column answers.")
    return keys


def _pronouns(details: Columns, keys: Sequence[str]) -> Mapping[Key, tuple[int, str]]:
    pronouns: dict[Key, tuple[int, str]] = {}
    for record in details.records:
        key = tuple(record.cells[name] for name in keys)
        if key in pronouns:
            raise BadInput(details.path, "the pronoun occurs twice", line=record.line)
        case = record.cells["case"].removeprefix("c")
        if case not in map(str, CASES):
            raise BadInput(details.path, f"not a case from 1 to 6: {record.cells['case']!r}", line=record.line)
        pronouns[key] = int(case), record.cells.get("candidate", "")
    return pronouns


def _by_word(column: str) -> Callable[[Record, str], str]:
    """Judge by a column with the words correct, incorrect or bad."""

    def judge(record: Record, candidate: str) -> str:
        word = record.cells[column].casefold().removesuffix(" translation")
        if word not in JUDGMENTS:
            problem = f"unknown judgment {word!r}{did_you_mean(word, JUDGMENTS)}"
            raise BadInput(record.path, problem, line=record.line, remedy=f"Known: {', '.join(JUDGMENTS)}.")
        return word

    return judge


def _by_gap(
    judgments: Columns, details: Columns, options: Sequence[str], form: Callable[[str], str]
) -> Callable[[Record, str], str]:
    """Judge by filled gaps (APT §3.1): the candidate's pronoun is among the answers, or it is not.

    form: maps the forms of a pronoun to one of them (c' to ce); words that are not options are "other"
    """
    details.require(["candidate"], "Answers to gaps are compared with the candidate's pronoun.")

    def answers(record: Record) -> frozenset[str]:
        words = (word.strip() for word in SEPARATOR.split(record.cells["answers"]))
        words_chosen = frozenset(form(word).removesuffix(" translation") for word in words if word)
        if not words_chosen:
            raise BadInput(record.path, "no answer", line=record.line, remedy="Leave the line out.")
        return words_chosen

    chosen = map(form, options) if options else (a for record in judgments.records for a in answers(record))
    known = frozenset(chosen) - {OTHER, BAD}

    def judge(record: Record, candidate: str) -> str:
        """A candidate without a pronoun is never correct: there is nothing that an answer could coincide with.

        Where APT found several words, one that is an answer is enough.
        """
        accepted = answers(record)
        if BAD in accepted:
            return "bad"
        words = {word if word in known else OTHER for word in map(form, candidate.split())}
        return "correct" if words & accepted else "incorrect"

    return judge


# Learning which pronouns are equivalent from translations that annotators marked as correct or wrong (APT §2.5).

LEAST_SHARE = 0.05  # rarer pairs are left out
ABOVE = 0.5  # the probability that a kept pair exceeds
YES, NO = ("1", "yes", "true", "correct"), ("0", "no", "false", "incorrect")


class Sample(NamedTuple):
    """A pronoun of a translation (t), the reference's (r), and whether an annotator judged it correct (c)."""

    candidate: str
    reference: str
    correct: bool


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Counts of a candidate pronoun in place of another one of the reference, and of those that were correct."""

    candidate: str
    reference: str
    count: int
    correct: int

    @property
    def probability(self) -> float:
        """p(c = 1 | t, r)."""
        return self.correct / self.count


@dataclass(frozen=True, slots=True)
class Learned:
    """The pairs of a sample, the most frequent first, and the pairs that are kept.

    The formula tells (t, r) from (r, t); the metric's lists do not (Table 2), so that a pair that is kept in either
    order makes the two pronouns equivalent.
    """

    samples: int
    pairs: tuple[PairCounts, ...]
    least_share: float = LEAST_SHARE
    above: float = ABOVE

    def is_kept(self, pair: PairCounts) -> bool:
        return pair.count >= self.least_share * self.samples - 1e-9 and pair.probability > self.above

    @property
    def equivalent(self) -> tuple[tuple[str, str], ...]:
        """The list for the metric: two pronouns each, in alphabetical order."""
        pairs = {(min(p.candidate, p.reference), max(p.candidate, p.reference)) for p in self.pairs if self.is_kept(p)}
        return tuple(sorted(pairs))

    def to_dict(self) -> dict[str, Any]:
        return {
            "samples": self.samples,
            "least_share": self.least_share,
            "above": self.above,
            "pairs": [
                {**asdict(pair), "probability": pair.probability, "kept": self.is_kept(pair)} for pair in self.pairs
            ],
            "equivalent": [list(group) for group in self.equivalent],
        }


def learn_equivalents(
    samples: Iterable[Sample],
    *,
    lists: PronounLists | None = None,
    least_share: float = LEAST_SHARE,
    above: float = ABOVE,
) -> Learned:
    """Count pairs of different pronouns; the share is of all samples, those with equal pronouns included.

    lists: identical forms are counted as one pronoun (c' as ce), if their lists are given
    """
    form = lists.canonical if lists else str
    counts: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    total = 0
    for candidate, reference, correct in samples:
        total += 1
        pair = form(normalize_word(candidate)), form(normalize_word(reference))
        if pair[0] != pair[1]:
            counts[pair] += 1
            right[pair] += correct
    if not total:
        raise AnaphoraError("no samples to learn from")
    ordered = sorted(counts, key=lambda pair: (-counts[pair], pair))
    return Learned(total, tuple(PairCounts(*pair, counts[pair], right[pair]) for pair in ordered), least_share, above)


def read_samples(path: Path) -> list[Sample]:
    """A table with the columns candidate, reference and correct (1 or 0, yes or no)."""
    table = read_columns(path)
    table.require(["candidate", "reference", "correct"], "One row per pronoun that a person has judged.")
    samples = []
    for record in table.records:
        candidate, reference, verdict = (record.cells[name] for name in ("candidate", "reference", "correct"))
        if not candidate or not reference:
            raise BadInput(path, "a pronoun is missing", line=record.line, remedy="Leave out rows without a pronoun.")
        if verdict.casefold() not in YES + NO:
            raise BadInput(path, f"neither correct nor wrong: {verdict!r}", line=record.line, remedy="Write 1 or 0.")
        samples.append(Sample(candidate, reference, verdict.casefold() in YES))
    return samples
