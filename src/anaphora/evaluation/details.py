"""What `generative` found for each example: a table, or a suite of the translations that `study create` reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from anaphora.core.columns import tsv_line
from anaphora.core.files import atomic_writer
from anaphora.evaluation.generative import Generative, Outcome, Texts
from anaphora.evaluation.own_antecedent import Verdict
from anaphora.languages.highlight import Span, find_word, occurrences
from anaphora.suites.example import Example, Passage, Tag
from anaphora.suites.suite import Header, Suite, suite_of

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
    verdict: Verdict | None,
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
    places = occurrences(word, sentence) if word else []
    return places[0] if len(places) == 1 else None
