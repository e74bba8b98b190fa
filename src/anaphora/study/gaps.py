"""Gap filling (DiscoMT 2015; APT §3.1): translations with a hidden pronoun, and the options of their language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.align.tokenize import Tokenization, looks_tokenized
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import read_parallel
from anaphora.languages.highlight import Span, occurrences
from anaphora.languages.pronoun_files import pronoun_lists
from anaphora.languages.pronouns import normalise
from anaphora.metrics.columns import Record, read_columns
from anaphora.metrics.discomt.measures import CLASSES
from anaphora.study.model import BAD, OTHER, Item
from anaphora.study.plain_text import APOSTROPHES, find_word, plain_text
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, suite_of


def gap_options(language: str, languages: str, chosen: Sequence[str] = ()) -> tuple[str, ...]:
    """What to choose from: the words named, else the classes of the shared tasks, else those of the pronoun lists."""
    if chosen:
        words = tuple(dict.fromkeys(normalise(word.strip()) for word in chosen if word.strip()))
        if taken := next((word for word in words if word in (OTHER, BAD)), None):
            raise AnaphoraError(f"{taken!r} is always an option: leave it out")
        return words
    if language in CLASSES:
        return tuple(CLASSES[language])
    lists = pronoun_lists(languages)
    return tuple(dict.fromkeys(lists.canonical(word) for word in lists.reference_side or lists.target))


def gap_forms(language: str, languages: str, options: Sequence[str]) -> dict[str, str]:
    """Other forms of the options: ça is cela, c' is ce."""
    forms = {form: name for name, forms in CLASSES.get(language, {}).items() for form in forms}
    try:
        lists = pronoun_lists(languages)
    except AnaphoraError:
        groups: Sequence[Sequence[str]] = ()
    else:
        groups = lists.identical
    for group in groups:
        named = [word for word in group if word in options]
        if len(named) == 1:
            forms |= dict.fromkeys(group, named[0])
    return {form: name for form, name in forms.items() if name in options and form not in options}


def gap_items(examples: Iterable[Example], place: Path) -> list[Item]:
    """One item per candidate, with its pronoun hidden.

    The tag `pronoun` says which word that is (a list where there are several candidates), `pronoun_start` at which
    character it begins, which is needed where the word is there more than once. `system`, `sentence` and `position`
    say whose translation of which pronoun it is.
    """
    items = []
    for example in examples:
        several = len(example.candidates) > 1
        for k, candidate in enumerate(example.candidates):
            name = f"{example.id}#{k}" if several else example.id
            pronoun = str(_of(example, "pronoun", k) or "")
            span = _gap(candidate[-1], pronoun, _of(example, "pronoun_start", k), name, place)
            texts: dict[str, Any] = {tag: _text(_of(example, tag, k)) for tag in ("system", "sentence", "position")}
            texts["sentence"] = texts["sentence"] or example.id
            marks = ((span,),)
            items.append(
                Item(name, example.source, (candidate,), 0, marks, pronoun=pronoun, **texts, tags=example.tags)
            )
    return items


def _of(example: Example, tag: str, k: int) -> Any:
    """A tag of a candidate: the k-th of a list, or the one for all."""
    value = example.tags.get(tag, example.tags.get(f"{tag}s"))
    return value[k] if isinstance(value, list) and k < len(value) else value


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _gap(sentence: str, pronoun: str, start: Any, name: str, place: Path) -> Span:
    if not pronoun:
        remedy = "The tag pronoun names the word of the translation to hide."
        raise BadInput(place, f"{name!r} has no tag pronoun", remedy=remedy)
    if type(start) is int:
        span = start, start + len(pronoun)
        if normalise(sentence[slice(*span)]) != normalise(pronoun):
            raise BadInput(place, f"{name!r}: {pronoun!r} is not at character {start} of the translation")
        return span
    found = occurrences(pronoun, sentence)
    if len(found) != 1:
        times = "not in the translation" if not found else f"{len(found)} times in the translation"
        remedy = "Say where it begins with the tag pronoun_start." if found else ""
        raise BadInput(place, f"{name!r}: {pronoun!r} is {times}", remedy=remedy)
    return found[0]


def suite_of_details(
    details: Path, source: Path, hypotheses: Sequence[Path], names: Sequence[str], languages: str
) -> Suite:
    """The gaps of `anaphora apt --details`: every pronoun that a translation has a word for.

    Those without one are not asked, as there is nothing to hide. The texts are those that `apt` had, plain or
    tokenized; they are shown as plain text.
    """
    sources, *lines = read_parallel(source, *hypotheses)
    table = read_columns(details)
    table.require(["system", "sentence", "position", "candidate_position", "candidate"], "apt --details writes them.")
    first, _, second = languages.partition("-")
    shown = plain_text(sources, first, tokenized=looks_tokenized(sources))
    texts = {
        name: _Translation.of(text, [r for r in table.records if r.cells["system"] == name], second)
        for name, text in zip(names or map(str, hypotheses), lines, strict=True)
    }

    def examples() -> Iterator[Example]:
        for record in table.records:
            if record.cells["candidate"]:
                yield _detail(record, shown, texts)

    return suite_of(Header(details.stem, first, second), examples, details)


@dataclass(frozen=True, slots=True)
class _Translation:
    """A translation: its sentences as words, as `apt` has counted them, and as they are shown."""

    words: Sequence[Sequence[str]]
    shown: Sequence[str]

    @classmethod
    def of(cls, lines: Sequence[str], records: Sequence[Record], language: str) -> _Translation:
        """The words by which every pronoun of the details is where they say it is."""
        tokenized = looks_tokenized(lines)
        shown = plain_text(lines, language, tokenized=tokenized)
        divided = _divided(lines, language, tokenized=tokenized)
        wanted = [record.cells for record in records if record.cells["candidate"]]
        fitting = (words for words in divided if all(_word(cells, words) for cells in wanted))
        return cls(next(fitting, [line.split() for line in lines]), shown)


def _divided(lines: Sequence[str], language: str, *, tokenized: bool) -> Iterator[list[list[str]]]:
    """The ways in which `apt` may have divided a text into words: as it is, or as Moses does it.

    Signs are made one before, as in the text that it measures; 0.1.0 left them as they are.
    """
    for how in ("none",) if tokenized else ("moses", "none"):
        for normalize in (True, False):
            yield Tokenization(how, normalize, ("", language)).target(lines).sentences


def _word(cells: Mapping[str, str], words: Sequence[Sequence[str]]) -> tuple[int, int, int] | None:
    """Sentence, word and character at which a pronoun of the details begins; None if it is not there."""
    try:
        number, place = int(cells["sentence"]), int(cells["candidate_position"].split()[0])
        offset = words[number][place].translate(APOSTROPHES).lower().index(_pronoun(cells))
    except (ValueError, IndexError):
        return None
    return number, place, offset


def _pronoun(cells: Mapping[str, str]) -> str:
    return cells["candidate"].split()[0].translate(APOSTROPHES).lower()


def _detail(record: Record, sources: Sequence[str], texts: Mapping[str, _Translation]) -> Example:
    cells = record.cells
    if cells["system"] not in texts:
        problem = f"no translation of the system {cells['system']!r}"
        remedy = f"Name the translations with --name, in their order. There are {', '.join(texts)}."
        raise BadInput(record.path, problem, line=record.line, remedy=remedy)
    text, length = texts[cells["system"]], len(_pronoun(cells))
    found = _word(cells, text.words)
    if found is None:
        problem = f"{cells['candidate']!r} is not word {cells['candidate_position']} of line {cells['sentence']}"
        remedy = "Give the texts that `apt` had, as they were (words and sentences count from 0)."
        raise BadInput(record.path, problem, line=record.line, remedy=remedy)
    number, place, offset = found
    span = find_word(text.shown[number], text.words[number], place, offset, length)
    if span is None:
        problem = f"line {cells['sentence']} is not made of its words, {cells['candidate']!r} among them"
        raise BadInput(record.path, problem, line=record.line, remedy="Tokenize the text before `apt`, and give that.")
    current = (number - 2, number - 1, number)
    passage = tuple(text.shown[k] if k >= 0 else "" for k in current)
    before = tuple(sources[k] if k >= 0 else "" for k in current)
    tags = {name: cells[name] for name in ("system", "sentence", "position")}
    name = f"{cells['system']}/{cells['sentence']}.{cells['position'].replace(' ', '+')}"
    hidden = passage[-1][slice(*span)]
    return Example(name, before, (passage,), 0, {**tags, "pronoun": hidden, "pronoun_start": span[0]})
