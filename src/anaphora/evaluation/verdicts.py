"""Questions for annotators, and their verdicts in place of the program's (PROTEST: Guillou and Hardmeier 2016).

A study asks annotators about the translations that a program is unsure of. Where they agree, their verdict counts in
the same figures; the rest keeps the program's verdict, and every result says how many were judged by whom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anaphora.core.columns import tsv_line
from anaphora.core.files import atomic_writer
from anaphora.evaluation import own_antecedent as own
from anaphora.evaluation.generative import CORRECT, UNCLEAR, WRONG, Generative, Outcome, Texts
from anaphora.languages.highlight import Span, find_word, occurrences
from anaphora.suites.example import Example, Passage, Tag
from anaphora.suites.suite import Header, Suite, suite_of

RIGHT_ANSWER, WRONG_ANSWER, UNCLEAR_ANSWER = ANSWERS = ("right", "wrong", "unclear")
BY_ANNOTATORS = "people"  # how an outcome was decided
OUTCOME_OF = dict(zip(ANSWERS, (CORRECT, WRONG, UNCLEAR), strict=True))
VERDICT_OF = dict(zip(ANSWERS, (own.AGREES, own.DISAGREES, own.UNCLEAR), strict=True))
UNDECIDED = "unclear to annotators"
Verdicts = Mapping[str, str]  # id of an example → answer of most annotators


@dataclass(frozen=True, slots=True)
class Judged:
    """The numbers of items judged by the program and by annotators.

    not_judged: neither the program nor the annotators came to a decision
    """

    by_machine: int
    by_annotators: int
    not_judged: int

    @property
    def total(self) -> int:
        return self.by_machine + self.by_annotators + self.not_judged

    def share(self, number: int) -> float | None:
        return number / self.total if self.total else None

    def to_dict(self) -> dict[str, Any]:
        return {
            "judged_by_machine": self.by_machine,
            "judged_by_people": self.by_annotators,
            "not_judged": self.not_judged,
            "share_judged_by_machine": self.share(self.by_machine),
            "share_judged_by_people": self.share(self.by_annotators),
        }

    def __str__(self) -> str:
        parts = {"by annotators": self.by_annotators, "by the program": self.by_machine, "not judged": self.not_judged}
        shares = {name: 100 * (self.share(number) or 0) for name, number in parts.items()}
        return "judged " + ", ".join(f"{name} {parts[name]:,} ({share:.1f} %)" for name, share in shares.items())


def judged(items: Iterable[tuple[bool, str]]) -> Judged:
    """Count items by whether the program decided them, and the annotators' answer ("" if there is none)."""
    counted = Counter(
        "annotators" if answer in (RIGHT_ANSWER, WRONG_ANSWER) else "machine" if decided and not answer else "none"
        for decided, answer in items
    )
    return Judged(counted["machine"], counted["annotators"], counted["none"])


def majority(answers: Sequence[str]) -> str:
    """Return the answer of most annotators: a tie is unclear, and without answers there is none ("")."""
    ranked = Counter(answers).most_common(2)
    if not ranked:
        return ""
    return UNCLEAR_ANSWER if len(ranked) > 1 and ranked[0][1] == ranked[1][1] else ranked[0][0]


def overruled(outcomes: Sequence[Outcome], verdicts: Verdicts) -> tuple[list[Outcome], Judged]:
    """Return outcomes with the annotators' verdicts where there are any."""
    changed = [
        replace(outcome, outcome=OUTCOME_OF[verdicts[outcome.id]], how=BY_ANNOTATORS)
        if verdicts.get(outcome.id)
        else outcome
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


# Questions for annotators: the outcome of each example, as a table or as a suite that `study create` reads.

COLUMNS = ("system", "id", "outcome", "found", "how", "source_position", "position")
OWN_COLUMNS = ("verdict", "reason", "antecedent", "noun", "classes", "pronoun")
Words = Sequence[Sequence[str]]


def has_texts(path: Path) -> bool:
    """Return whether details under this name hold the texts, as JSON Lines."""
    return path.name.endswith((".jsonl", ".jsonl.gz"))


def write_table(path: Path, results: Sequence[Generative]) -> None:
    """Write a row per system and example: those judged by the reference first, then the others."""
    own = any(result.own is not None for result in results)
    columns = [*COLUMNS, *(OWN_COLUMNS if own else ())]
    with atomic_writer(path) as out:
        out.write((tsv_line(columns) + "\n").encode())
        for result in results:
            for row in _rows(result, len(columns)):
                out.write((tsv_line((result.system, *row)) + "\n").encode())


def _rows(result: Generative, width: int) -> Iterator[list[str]]:
    verdicts = {verdict.id: verdict for verdict in result.own.verdicts} if result.own else {}
    rows: dict[str, list[str]] = {}
    for outcome in result.outcomes:
        positions = ("" if index is None else str(index) for index in (outcome.source, outcome.position))
        rows[outcome.id] = [outcome.id, outcome.outcome, outcome.word, outcome.how, *positions]
    for identifier in dict.fromkeys([*rows, *verdicts]):
        row = rows.get(identifier, [identifier, *[""] * 5])
        if (v := verdicts.get(identifier)) is not None:
            row = [*row, v.verdict, v.reason, v.antecedent, v.noun, " ".join(v.classes), v.pronoun]
        yield [*row, *[""] * (width - 1 - len(row))]


def suite_of_outcomes(
    suite: Suite,
    texts: Texts,
    results: Sequence[Generative],
    passages: Mapping[str, Sequence[Passage]],
    words: Mapping[str, Words],
) -> Suite:
    """Return the translations of all systems as a suite with one candidate per example.

    The tags say whose translation of which example it is (`system`, `sentence`), how it was judged (`outcome`, `how`,
    `verdict`, `reason`), and where the pronouns begin (`source_pronoun_start`, `pronoun_start`) if they were found.

    passages: the translations by system, one for each example of the suite; words: current sentences of the texts
    """
    about = suite.header
    examples = list(suite)
    line_of = {number: line for line, number in enumerate(texts.numbers)}

    def judged() -> Iterator[Example]:
        for result in results:
            outcomes = {outcome.id: outcome for outcome in result.outcomes}
            verdicts = {verdict.id: verdict for verdict in result.own.verdicts} if result.own else {}
            for number, example in enumerate(examples):
                outcome, verdict = outcomes.get(example.id), verdicts.get(example.id)
                if (result.own is None and outcome is None) or (result.own is not None and verdict is None):
                    continue
                line = line_of.get(number)
                sentences = (None, None) if line is None else (texts.source[line], words[result.system][line])
                passage = passages[result.system][number]
                yield _judged(example, result.system, passage, sentences, outcome, verdict)

    header = Header(f"{about.name}-details", about.source_language, about.target_language)
    return suite_of(header, judged)


def _judged(
    example: Example,
    system: str,
    passage: Passage,
    words: tuple[Sequence[str] | None, Sequence[str] | None],
    outcome: Outcome | None,
    verdict: own.Verdict | None,
) -> Example:
    tags: dict[str, Tag] = {"system": system, "sentence": example.id}
    tags |= {} if outcome is None else {"outcome": outcome.outcome, "how": outcome.how}
    tags |= {} if verdict is None else {"verdict": verdict.verdict}
    tags |= {"reason": verdict.reason} if verdict and verdict.reason else {}
    distance = example.tags.get("distance")
    tags |= {"distance": distance} if type(distance) is int else {}
    named = example.tags.get("source_pronoun")
    source = _span(
        example.source[-1], words[0], outcome.source if outcome else None, named if isinstance(named, str) else ""
    )
    written = _span(passage[-1], words[1], outcome.position if outcome else None, verdict.pronoun if verdict else "")
    for name, span, sentence in (("source_pronoun", source, example.source[-1]), ("pronoun", written, passage[-1])):
        if span is not None:
            tags |= {name: sentence[slice(*span)], f"{name}_start": span[0]}
    shape = ("",) * (len(example.source) - len(passage)) + passage[-len(example.source) :]
    return Example(f"{system}/{example.id}", example.source, (shape,), None, tags)


def _span(sentence: str, words: Sequence[str] | None, position: int | None, word: str) -> Span | None:
    """Return where a word is in a sentence: at its position among the words, or where it is the only one."""
    if words is not None and position is not None:
        return find_word(sentence, words, position, 0, len(words[position]))
    spans = occurrences(word, sentence) if word else []
    return spans[0] if len(spans) == 1 else None
