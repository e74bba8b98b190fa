"""Verdicts of annotators in place of the program's, and who judged how many (PROTEST: Guillou and Hardmeier 2016).

A study asks annotators about the translations that a program is unsure of. Where they agree, their verdict counts in
the same figures; the rest keeps the program's verdict, and every result says how many were judged by whom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anaphora.evaluation import own_antecedent as own
from anaphora.evaluation.generative import CORRECT, UNCLEAR, WRONG, Outcome

RIGHT_ANSWER, WRONG_ANSWER, UNCLEAR_ANSWER = ANSWERS = ("right", "wrong", "unclear")
PEOPLE = "people"  # how an outcome was decided
OUTCOME_OF = dict(zip(ANSWERS, (CORRECT, WRONG, UNCLEAR), strict=True))
VERDICT_OF = dict(zip(ANSWERS, (own.AGREES, own.DISAGREES, own.UNCLEAR), strict=True))
UNDECIDED = "unclear to annotators"
Verdicts = Mapping[str, str]  # id of an example → answer of most annotators


@dataclass(frozen=True, slots=True)
class Judged:
    """How many were judged by the program and by annotators.

    not_judged: neither the program nor the annotators came to a decision
    """

    by_machine: int
    by_people: int
    not_judged: int

    @property
    def total(self) -> int:
        return self.by_machine + self.by_people + self.not_judged

    def share(self, number: int) -> float | None:
        return number / self.total if self.total else None

    def to_dict(self) -> dict[str, Any]:
        return {
            "judged_by_machine": self.by_machine,
            "judged_by_people": self.by_people,
            "not_judged": self.not_judged,
            "share_judged_by_machine": self.share(self.by_machine),
            "share_judged_by_people": self.share(self.by_people),
        }

    def __str__(self) -> str:
        parts = {"by annotators": self.by_people, "by the program": self.by_machine, "not judged": self.not_judged}
        shares = {name: 100 * (self.share(number) or 0) for name, number in parts.items()}
        return "judged " + ", ".join(f"{name} {parts[name]:,} ({share:.1f} %)" for name, share in shares.items())


def judged(items: Iterable[tuple[bool, str]]) -> Judged:
    """Count items by whether the program decided them, and the annotators' answer ("" if there is none)."""
    counted = Counter(
        "people" if answer in (RIGHT_ANSWER, WRONG_ANSWER) else "machine" if decided and not answer else "nobody"
        for decided, answer in items
    )
    return Judged(counted["machine"], counted["people"], counted["nobody"])


def majority(answers: Sequence[str]) -> str:
    """Return the answer of most annotators: a tie is unclear, and without answers there is none ("")."""
    ranked = Counter(answers).most_common(2)
    if not ranked:
        return ""
    return UNCLEAR_ANSWER if len(ranked) > 1 and ranked[0][1] == ranked[1][1] else ranked[0][0]


def overruled(outcomes: Sequence[Outcome], verdicts: Verdicts) -> tuple[list[Outcome], Judged]:
    """Return outcomes with the annotators' verdicts where there are any."""
    changed = [
        replace(outcome, outcome=OUTCOME_OF[verdicts[outcome.id]], how=PEOPLE) if verdicts.get(outcome.id) else outcome
        for outcome in outcomes
    ]
    return changed, judged((o.outcome in (CORRECT, WRONG), verdicts.get(o.id, "")) for o in outcomes)


def overruled_agreement(verdicts: Sequence[own.Verdict], answers: Verdicts) -> tuple[list[own.Verdict], Judged]:
    """Return verdicts on the agreement with own antecedents with those of annotators where there are any."""

    def changed(verdict: own.Verdict) -> own.Verdict:
        answer = answers.get(verdict.id)
        if not answer:
            return verdict
        return replace(verdict, verdict=VERDICT_OF[answer], reason=UNDECIDED if answer == UNCLEAR_ANSWER else "")

    decided = (own.AGREES, own.DISAGREES)
    return list(map(changed, verdicts)), judged((v.verdict in decided, answers.get(v.id, "")) for v in verdicts)
