"""Are APT's six cases what people judge? Its pronouns joined with human judgements (APT §4.3, Table 5)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.core.columns import Columns, Record, read_columns
from anaphora.core.errors import BadInput, did_you_mean
from anaphora.languages.pronouns import normalize_word, pronoun_lists
from anaphora.metrics.apt.task import CASES
from anaphora.stats.intervals import Interval, wilson

JUDGEMENTS = ("correct", "incorrect", "bad")
OTHER, BAD = "other", "bad"
SEPARATOR = re.compile(r"[|,;/]")  # between the answers to a gap; the option "ça/cela" is two that are both right
Key = tuple[str, ...]  # system (where there are several), sentence, position


@dataclass(frozen=True, slots=True)
class Judged:
    """How often pronouns of a case were judged correct, incorrect, or not judged because the sentence is bad."""

    correct: int
    incorrect: int
    bad: int

    @property
    def total(self) -> int:
        return self.correct + self.incorrect + self.bad

    def share(self, judgement: str) -> float | None:
        return int(getattr(self, judgement)) / self.total if self.total else None

    def interval(self, confidence: float = 0.95) -> Interval:
        """Of the share that is correct."""
        return wilson(self.correct, self.total, confidence)

    def to_dict(self) -> dict[str, Any]:
        counts = {judgement: getattr(self, judgement) for judgement in JUDGEMENTS}
        shares = {judgement: self.share(judgement) for judgement in JUDGEMENTS}
        return {**counts, "total": self.total, "shares": shares, "interval": list(self.interval())}


@dataclass(frozen=True, slots=True)
class CaseJudgements:
    """Table 5: the judgements of the pronouns in each case."""

    cases: tuple[Judged, ...]
    unjudged: int  # pronouns of APT that nobody judged
    unmatched: int  # judgements of pronouns that APT does not have

    @property
    def total(self) -> Judged:
        return Judged(*(sum(getattr(case, judgement) for case in self.cases) for judgement in JUDGEMENTS))

    def to_dict(self) -> dict[str, Any]:
        return {
            "cases": {f"c{number}": case.to_dict() for number, case in enumerate(self.cases, start=1)},
            "total": self.total.to_dict(),
            "unjudged": self.unjudged,
            "unmatched": self.unmatched,
        }


@dataclass(frozen=True, slots=True)
class Gaps:
    """How a filled gap becomes a judgement (APT §3.1): the candidate's pronoun is among the answers, or it is not.

    options: the pronouns that annotators could choose; every other word of the candidate is "other"
    form: maps the forms of a pronoun to one of them (c' to ce)
    """

    options: frozenset[str]
    form: Callable[[str], str]

    def judge(self, answers: frozenset[str], candidate: str) -> str:
        """A candidate without a pronoun is never correct: there is nothing that an answer could coincide with.

        Where APT found several words, one that is an answer is enough.
        """
        if BAD in answers:
            return "bad"
        forms = map(self.form, candidate.split())
        chosen = {form if form in self.options else OTHER for form in forms}
        return "correct" if chosen & answers else "incorrect"


def same_forms(languages: str) -> Callable[[str], str]:
    """One form of each pronoun, by the lists of a language pair."""
    lists = pronoun_lists(languages)
    return lambda word: lists.canonical(normalize_word(word))


def judge_cases(
    details: Path,
    judgements: Path,
    *,
    options: Sequence[str] = (),
    form: Callable[[str], str] = normalize_word,
) -> CaseJudgements:
    """Join what `anaphora apt --details` wrote with judgements of the same pronouns.

    details: a table with columns sentence, position, case (1 to 6), and system where there are several
    judgements: a table with columns sentence, position, system as above, and either judgement (correct, incorrect, bad)
        or answers (the options that an annotator found right, among them other and bad), which are compared with the
        details' column candidate; a column annotator tells apart several judgements of one pronoun
    options: the pronouns that could be chosen; those that are answers somewhere, unless given
    """
    found, judged = read_columns(details), read_columns(judgements)
    keys = _keys(found, judged)
    pronouns = _pronouns(found, keys)
    verdict = _by_word if "judgement" in judged.names else _by_gap(judged, found, options, form)
    counts: Counter[tuple[int, str]] = Counter()
    seen: dict[Key, int] = {}
    met: set[Key] = set()
    unmatched = 0
    for record in judged.records:
        key = tuple(record.cells[name] for name in keys)
        once = (*key, record.cells.get("annotator", ""))
        if once in seen:
            problem = f"the pronoun is also judged in line {seen[once]:,}"
            raise BadInput(judgements, problem, line=record.line, remedy="Name the annotators in a column annotator.")
        seen[once] = record.line
        if key not in pronouns:
            unmatched += 1
            continue
        met.add(key)
        case, candidate = pronouns[key]
        counts[case, verdict(record, candidate)] += 1
    if not met:
        remedy = f"The columns {', '.join(keys)} must say the same in both files."
        raise BadInput(judgements, f"none of the judged pronouns is in {details}", remedy=remedy)
    cases = tuple(Judged(*(counts[case, j] for j in JUDGEMENTS)) for case in CASES)
    return CaseJudgements(cases, len(pronouns) - len(met), unmatched)


def _keys(details: Columns, judgements: Columns) -> tuple[str, ...]:
    """The columns that tell pronouns apart; the system is one where either file names it."""
    several = "system" in details.names or "system" in judgements.names
    keys = ("system", "sentence", "position") if several else ("sentence", "position")
    details.require([*keys, "case"], "Write the file with: anaphora apt … --details FILE")
    judgements.require(keys)
    if "judgement" not in judgements.names and "answers" not in judgements.names:
        judgements.require(["judgement"], "There must be a column judgement, or a column answers.")
    return keys


def _pronouns(details: Columns, keys: Sequence[str]) -> Mapping[Key, tuple[int, str]]:
    """Of each pronoun its case and its translation by the candidate."""
    pronouns: dict[Key, tuple[int, str]] = {}
    for record in details.records:
        key = tuple(record.cells[name] for name in keys)
        if key in pronouns:
            raise BadInput(details.path, "the pronoun is there twice", line=record.line)
        case = record.cells["case"].removeprefix("c")
        if case not in map(str, CASES):
            raise BadInput(details.path, f"not a case from 1 to 6: {record.cells['case']!r}", line=record.line)
        pronouns[key] = int(case), record.cells.get("candidate", "")
    return pronouns


def _by_word(record: Record, candidate: str) -> str:
    word = record.cells["judgement"].casefold().removesuffix(" translation")
    if word not in JUDGEMENTS:
        problem = f"unknown judgement {word!r}{did_you_mean(word, JUDGEMENTS)}"
        raise BadInput(record.path, problem, line=record.line, remedy=f"Known: {', '.join(JUDGEMENTS)}.")
    return word


def _by_gap(
    judgements: Columns, details: Columns, options: Sequence[str], form: Callable[[str], str]
) -> Callable[[Record, str], str]:
    details.require(["candidate"], "Answers to gaps are compared with the candidate's pronoun.")

    def answers(record: Record) -> frozenset[str]:
        words = (word.strip() for word in SEPARATOR.split(record.cells["answers"]))
        found = frozenset(form(word).removesuffix(" translation") for word in words if word)
        if not found:
            raise BadInput(record.path, "no answer", line=record.line, remedy="Leave the line out.")
        return found

    chosen = map(form, options) if options else (a for record in judgements.records for a in answers(record))
    gaps = Gaps(frozenset(chosen) - {OTHER, BAD}, form)
    return lambda record, candidate: gaps.judge(answers(record), candidate)
