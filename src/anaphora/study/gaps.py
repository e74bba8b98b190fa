"""Gap filling (DiscoMT 2015; APT §3.1): translations with a hidden pronoun, and the options of their language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from anaphora.errors import AnaphoraError, BadInput
from anaphora.files import read_parallel
from anaphora.languages.highlight import Span, occurrences
from anaphora.languages.pronoun_files import pronoun_lists
from anaphora.languages.pronouns import normalise
from anaphora.metrics.columns import Record, read_columns
from anaphora.metrics.discomt.classes import CLASSES
from anaphora.study.model import BAD, OTHER, Item
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

    Those without one are not asked, as there is nothing to hide.
    """
    lines = dict(zip(names or map(str, hypotheses), read_parallel(source, *hypotheses)[1:], strict=True))
    sources = read_parallel(source)[0]
    table = read_columns(details)
    table.require(["system", "sentence", "position", "candidate_position", "candidate"], "apt --details writes them.")

    def examples() -> Iterator[Example]:
        for record in table.records:
            if record.cells["candidate"]:
                yield _detail(record, sources, lines)

    first, _, second = languages.partition("-")
    return suite_of(Header(details.stem, first, second), examples, details)


def _detail(record: Record, sources: list[str], lines: dict[str, list[str]]) -> Example:
    cells = record.cells
    if cells["system"] not in lines:
        known = ", ".join(lines)
        remedy = f"Name the translations with --name, in their order. There are {known}."
        raise BadInput(
            record.path, f"no translation of the system {cells['system']!r}", line=record.line, remedy=remedy
        )
    texts = lines[cells["system"]]
    try:
        number, place = int(cells["sentence"]), int(cells["candidate_position"].split()[0])
        words = texts[number].split()
        start = sum(len(word) + 1 for word in words[:place])
        pronoun = cells["candidate"].split()[0]
        if pronoun.lower() not in words[place].lower():
            raise ValueError
    except (ValueError, IndexError):
        problem = f"{cells['candidate']!r} is not word {cells['candidate_position']} of line {cells['sentence']}"
        remedy = "Give the texts that `apt` had, tokenised as they were (words and sentences count from 0)."
        raise BadInput(record.path, problem, line=record.line, remedy=remedy) from None
    hidden = words[place][words[place].lower().index(pronoun.lower()) :][: len(pronoun)]
    start += words[place].lower().index(pronoun.lower())
    passage = [" ".join(texts[k].split()) if k >= 0 else "" for k in (number - 2, number - 1, number)]
    before = tuple(sources[k] if k >= 0 else "" for k in (number - 2, number - 1, number))
    tags = {name: cells[name] for name in ("system", "sentence", "position")}
    name = f"{cells['system']}/{cells['sentence']}.{cells['position'].replace(' ', '+')}"
    return Example(name, before, (tuple(passage),), 0, {**tags, "pronoun": hidden, "pronoun_start": start})
