"""Questions from what `apt --details` and `generative --details` wrote, and the answers merged back into the figures.

A program judges most translations, and annotators are asked about the rest: `--only` says which outcomes that is.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anaphora.align.tokenize import Tokenization, looks_tokenized
from anaphora.core.columns import Record, read_columns
from anaphora.core.documents import read_parallel
from anaphora.core.errors import AnaphoraError, BadInput, did_you_mean
from anaphora.core.parsing import is_count
from anaphora.evaluation.verdicts import majority
from anaphora.languages.highlight import STRAIGHT as APOSTROPHES
from anaphora.languages.highlight import Span, find_word
from anaphora.metrics.apt.task import CASES
from anaphora.stats.signature import short_hash
from anaphora.study.analysis import Key
from anaphora.study.create import DIGEST, text_digest
from anaphora.study.model import VERDICTS, Study
from anaphora.study.store import Answer
from anaphora.suites.example import Example, Tag
from anaphora.suites.suite import Header, Suite, suite_of

OUTCOMES = ("correct", "wrong", "agrees", "disagrees", "not-found", "unclear")  # of `generative`
RANGE = re.compile("([1-6])-([1-6])")
ONLY_IS = f"They are {', '.join(OUTCOMES)} (of generative), and cases such as 3-6 (of apt)"
COLUMNS = ("system", "sentence", "position", "source", "candidate_position", "candidate", "case")


def suite_of_details(
    details: Path,
    source: Path,
    hypotheses: Sequence[Path],
    names: Sequence[str],
    languages: str,
    *,
    gaps: bool = True,
) -> Suite:
    """Return the pronouns of `anaphora apt --details`: every one, or those that have a counterpart in a translation.

    The texts are those that `apt` read, plain or tokenized; they are shown as plain text.

    gaps: leave out the pronouns without a counterpart, in which there is no gap
    """
    sources, *lines = read_parallel(source, *hypotheses)
    table = read_columns(details)
    if not gaps and "outcome" in table.names and "case" not in table.names:
        remedy = "Write them as JSON Lines, with the texts: anaphora generative … --details FILE.jsonl"
        raise BadInput(details, "the details of `generative` as a table have no texts", remedy=remedy)
    needed = [name for name in COLUMNS if name not in ("source", "case")] if gaps else COLUMNS
    table.require(needed, "apt --details writes them.")
    first, _, second = languages.partition("-")
    wanted = [record for record in table.records if record.cells["candidate"] or not gaps]
    systems = tuple(names) or tuple(map(str, hypotheses))
    texts = {
        name: _Text.of(text, [r.cells for r in wanted if r.cells["system"] == name], second, "candidate")
        for name, text in zip(systems, lines, strict=True)
    }
    cells = [] if gaps else [record.cells for record in wanted]
    shown = _Text.of(sources, cells, first, "source")

    def examples() -> Iterator[Example]:
        return (_detail(record, shown, texts) for record in wanted)

    return suite_of(Header(details.stem, first, second), examples, details)


PLACE = {"candidate": "candidate_position", "source": "position"}  # the columns of words and of their positions


@dataclass(frozen=True, slots=True)
class _Text:
    """A text: its sentences as given, as the words that `apt` counted, and as they are shown."""

    lines: Sequence[str]
    words: Sequence[Sequence[str]]
    shown: Sequence[str]

    @classmethod
    def of(cls, lines: Sequence[str], cells: Sequence[Mapping[str, str]], language: str, column: str) -> _Text:
        """Find the tokenization in which every pronoun of the details is at its position."""
        tokenized = looks_tokenized(lines)
        shown = plain_text(lines, language, tokenized=tokenized)
        wanted = [row for row in cells if row[column]]
        # what `apt` may have done: no tokenization or Moses', on normalized or (0.1.0) raw text
        for how, normalize in itertools.product(("none",) if tokenized else ("moses", "none"), (True, False)):
            words = Tokenization(how, normalize, ("", language)).target(lines).sentences
            if all(_word(row, words, column) for row in wanted):
                return cls(lines, words, shown)
        return cls(lines, [line.split() for line in lines], shown)

    def span(self, cells: Mapping[str, str], column: str) -> Span | None:
        """Return where the pronoun of a column is in its sentence as it is shown."""
        begin = _word(cells, self.words, column)
        if begin is None:
            return None
        number, position, offset = begin
        return find_word(self.shown[number], self.words[number], position, offset, len(_pronoun(cells, column)))

    def passage(self, number: int) -> tuple[str, ...]:
        return tuple(self.shown[k] if k >= 0 else "" for k in (number - 2, number - 1, number))


def _word(cells: Mapping[str, str], words: Sequence[Sequence[str]], column: str) -> tuple[int, int, int] | None:
    """Return sentence, word and character at which a pronoun of the details begins; None if it is not there."""
    try:
        number, position = int(cells["sentence"]), int(cells[PLACE[column]].split()[0])
        offset = words[number][position].translate(APOSTROPHES).lower().index(_pronoun(cells, column))
    except (ValueError, IndexError):
        return None
    return None if number < 0 or position < 0 else (number, position, offset)


def _pronoun(cells: Mapping[str, str], column: str) -> str:
    return cells[column].split()[0].translate(APOSTROPHES).lower()


def _detail(record: Record, source: _Text, texts: Mapping[str, _Text]) -> Example:
    cells = record.cells
    if cells["system"] not in texts:
        problem = f"no translation of the system {cells['system']!r}"
        remedy = f"Name the translations with --name, in their order. There are {', '.join(texts)}."
        raise BadInput(record.path, problem, line=record.line, remedy=remedy)
    text = texts[cells["system"]]
    number = _sentence(record, len(text.lines))
    span = None
    if cells["candidate"]:
        if _word(cells, text.words, "candidate") is None:
            problem = f"{cells['candidate']!r} is not word {cells['candidate_position']} of line {cells['sentence']}"
            remedy = "Give the texts that `apt` read (words and sentences count from 0)."
            raise BadInput(record.path, problem, line=record.line, remedy=remedy)
        span = text.span(cells, "candidate")
        if span is None:
            problem = f"line {cells['sentence']} is not made of its words, {cells['candidate']!r} among them"
            remedy = "Tokenize the text before `apt`, and give that."
            raise BadInput(record.path, problem, line=record.line, remedy=remedy)
    tags: dict[str, Tag] = {name: cells[name] for name in ("system", "sentence", "position")}
    tags |= {"case": cells["case"]} if "case" in cells else {}
    tags[DIGEST] = text_digest(source.lines[number], text.lines[number])
    spans = {"pronoun": (span, text)}
    if cells.get("source"):
        spans["source_pronoun"] = source.span(cells, "source"), source
    for name, (span, its) in spans.items():
        if span is not None:
            tags |= {name: its.shown[number][slice(*span)], f"{name}_start": span[0]}
    name = f"{cells['system']}/{cells['sentence']}.{cells['position'].replace(' ', '+')}"
    return Example(name, source.passage(number), (text.passage(number),), 0, tags)


def _sentence(record: Record, lines: int) -> int:
    text = record.cells["sentence"]
    if not (is_count(text) and int(text) < lines):
        problem = f"there is no line {text!r}: the texts have {lines:,} lines, which count from 0"
        raise BadInput(record.path, problem, line=record.line, remedy="Give the texts that `apt` read.")
    return int(text)


# Detokenized sentences.

SPACE_BEFORE_NOT = re.compile(r"(?<=\w) (?=n't\b)")  # is n't: Moses' rules leave it


def plain_text(lines: Sequence[str], language: str, *, tokenized: bool) -> list[str]:
    """Return plain lines; those of a tokenized text are detokenized by Moses' rules for the language."""
    plain = [" ".join(html.unescape(line).split()) for line in lines]
    if not tokenized:
        return plain
    try:
        from sacremoses import MosesDetokenizer  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        problem = "tokenized text needs sacremoses, which is not installed"
        raise AnaphoraError(f'{problem}. Install it with: pip install "anaphora[align]"') from None
    together = MosesDetokenizer(lang=language)
    # the rules expect a straight apostrophe; the original one is restored
    joined = (_like(line, together.detokenize(line.translate(APOSTROPHES).split())) for line in plain)
    return [SPACE_BEFORE_NOT.sub("", line) for line in joined]


def _like(line: str, joined: str) -> str:
    """Return the joined text with the characters of its line, if only spaces differ."""
    signs = iter("".join(line.split()))
    if "".join(line.split()).translate(APOSTROPHES) != "".join(joined.split()):
        return joined
    return "".join(sign if sign.isspace() else next(signs) for sign in joined)


# Which of them annotators are asked about.


def selected(suite: Suite, only: Sequence[str]) -> Suite:
    """Return the examples with one of these outcomes; words that belong to another command select nothing.

    only: outcomes and verdicts of `generative`, cases of `apt` (3, or 3-6 for several)
    """
    words, cases = _wanted(only)

    def is_wanted(example: Example) -> bool:
        tags = example.tags
        # in details of own antecedents the verdict says what is not found or unclear, and the outcome what is wrong
        outcome = str(tags.get("outcome", ""))
        verdict = str(tags.get("verdict", outcome)).replace(" ", "-")
        by_reference = outcome in words and outcome in ("correct", "wrong")
        return verdict in words or by_reference or str(tags.get("case", "")) in cases

    if not any(map(is_wanted, suite)):
        path = suite.path or Path(suite.header.name)
        remedy = "See the column outcome, verdict or case of the details."
        if not any({"outcome", "verdict", "case"} & example.tags.keys() for example in suite):
            remedy = "Write the outcomes with: anaphora generative SUITE -t FILE --details FILE.jsonl"
        raise BadInput(path, f"nothing to annotate: no example is {', '.join(only)}", remedy=remedy)
    return suite_of(suite.header, lambda: filter(is_wanted, suite), suite.path)


def _wanted(only: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    words: set[str] = set()
    cases: set[str] = set()
    for word in (word.strip() for word in only):
        between = RANGE.fullmatch(word)
        if between is not None and between[1] <= between[2]:
            cases |= {str(case) for case in CASES if int(between[1]) <= case <= int(between[2])}
        elif word in map(str, CASES):
            cases.add(word)
        elif word in OUTCOMES:
            words.add(word)
        else:
            raise AnaphoraError(f"cannot ask only about {word!r}{did_you_mean(word, OUTCOMES)}. {ONLY_IS}")
    return frozenset(words), frozenset(cases)


# Answers, merged back into the figures of the command that the questions came from.

ItemKey = tuple[str, str]  # sentence (the id of an example in `generative`), position


@dataclass(frozen=True, slots=True)
class Answers:
    """What annotators answered in a study of verdicts.

    verdicts: by system and item, the answer of most annotators; a tie is unclear, and "" is an item without answers
    """

    folder: Path
    verdicts: Mapping[str, Mapping[ItemKey, str]]
    digests: Mapping[str, Mapping[ItemKey, str]]

    @property
    def signature(self) -> str:
        """How many verdicts, and the hash of all of them."""
        given = [
            f"{system}\t{sentence}\t{position}\t{verdict}"
            for system, items in sorted(self.verdicts.items())
            for (sentence, position), verdict in sorted(items.items())
            if verdict
        ]
        return f"{len(given)}@{short_hash(given)}"

    def check(self, system: str, key: ItemKey, digest: str) -> None:
        """Raise an error unless the texts are those that annotators saw. digest: of the texts"""
        if self.digests[system][key] != digest:
            name = "/".join(filter(None, (system, *key)))
            problem = f"item {name}: the sentence, its context or its translation is not the one that annotators saw"
            raise BadInput(self.folder, problem, remedy="Give the files that the study was created from.")

    def foreign(self, what: str, name: str) -> BadInput:
        """Return the error for a system or an item that is not among those evaluated."""
        remedy = "Give the files that the study was created from, under the same names (--name)."
        problem = f"the answers are about the {what} {name!r}, which is not evaluated here"
        return BadInput(self.folder, problem, remedy=remedy)


def answers_of(study: Study, current: Mapping[Key, Answer], folder: Path, systems: Sequence[str]) -> Answers:
    """Return the verdicts of annotators on these systems; an error if the study is about others, or no such study."""
    if study.mode != VERDICTS:
        problem = f"a study of {study.mode} has no verdicts"
        remedy = "Create one of the details: anaphora study create --from FILE.jsonl --only wrong,not-found -o STUDY"
        raise BadInput(folder, problem, remedy=remedy)
    given: dict[str, list[str]] = {}
    for (_, name), answer in current.items():
        given.setdefault(name, []).append(answer.choice[0])
    verdicts: dict[str, dict[ItemKey, str]] = {}
    digests: dict[str, dict[ItemKey, str]] = {}
    for item in study.items:
        key = item.sentence, item.position
        verdicts.setdefault(item.system, {})[key] = majority(given.get(item.id, []))
        digests.setdefault(item.system, {})[key] = str(item.tags.get(DIGEST, ""))
    answers = Answers(folder, verdicts, digests)
    if other := next((system for system in verdicts if system not in systems), None):
        raise answers.foreign("system", other)
    return answers
