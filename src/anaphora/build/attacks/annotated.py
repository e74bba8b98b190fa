"""Antecedents and tags from annotation: for suites whose tags do not say them, or to check words by their tags.

An antecedent is believed where two resolvers agree: the pronoun of the source and the one of the right translation,
linked independently in the two languages, must find theirs in the same sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import tee
from typing import TypeVar

from anaphora.annotate import Annotator, load_annotator
from anaphora.annotate.document import Document, Mention, Sentence
from anaphora.build.attacks.attack import Antecedent, Tags, by_annotation, find, from_tags, sentence_of
from anaphora.build.attacks.possessive import Finder, Tagger
from anaphora.core.errors import AnaphoraError
from anaphora.coref import Link, Linker, load_linker
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite

CONFIDENCE = 0.5  # of the link in each language
Item = TypeVar("Item")


def by_annotators(
    suite: Suite, source: str | None, target: str | None, link: str = "builtin"
) -> tuple[Finder | None, Tagger | None]:
    """How to find the antecedents of a suite and the tags of their words; None: as without annotation.

    source, target: the specs of annotators. A suite whose tags name its antecedents needs that of the source only.
    """
    header = suite.header
    if any(from_tags(example) for example in suite):
        if source is None:
            return None, None
        tags = dict(tagged(suite, load_annotator(source, header.source_language)))
        return None, lambda example, _: tags.get(example.id)
    if source is None or target is None:
        missing = "--annotate-source" if source is None else "--annotate-target"
        raise AnaphoraError(f"antecedents are found in both languages, and {missing} is missing. Add: {missing} SPEC")
    sides = [
        (load_annotator(spec, language), load_linker(link, language))
        for spec, language in ((source, header.source_language), (target, header.target_language))
    ]
    found = {identifier: (antecedent, tags) for identifier, antecedent, tags in linked(suite, *sides)}
    if not found:
        raise AnaphoraError(f"{suite.path or header.name}: the annotation finds no antecedent in any example")
    return (
        lambda example: found[example.id][0] if example.id in found else None,
        lambda example, _: found[example.id][1] if example.id in found else None,
    )


def tagged(suite: Suite, annotator: Annotator) -> Iterator[tuple[str, Sequence[Tags]]]:
    """The tags of the words of each source antecedent that the suite names, by the example's id."""

    def named() -> Iterator[tuple[Example, Antecedent, str]]:
        for example in suite:
            antecedent = from_tags(example)
            place = sentence_of(example.source, antecedent) if antecedent else None
            if antecedent is not None and place is not None:
                yield example, antecedent, example.source[place]

    for (example, antecedent, _), document in _annotated(named(), lambda row: [row[2]], annotator):
        sentence = document.sentences[0]
        match = find(antecedent.source, sentence.text)
        if match is not None:
            tokens = [t for t, o in zip(sentence, sentence.offsets, strict=True) if match.start() <= o < match.end()]
            yield example.id, by_annotation(tokens)


def linked(
    suite: Suite, source: tuple[Annotator, Linker], target: tuple[Annotator, Linker]
) -> Iterator[tuple[str, Antecedent, Sequence[Tags]]]:
    """The antecedents on which the two languages agree, and the tags of the source's words."""
    examples = (example for example in suite if example.gold is not None)
    both = _annotated(examples, lambda example: example.source, source[0])
    for (example, english), german in _annotated(both, lambda row: row[0].candidates[row[0].gold or 0], target[0]):
        first = _source_link(example, english, source[1].links(english))
        second = _target_link(example, german, target[1].links(german))
        if first is None or second is None or first.sentence != second.sentence:
            continue
        distance = len(example.source) - 1 - first.sentence
        tokens = english.sentences[first.sentence].tokens[first.start : first.end]
        yield example.id, Antecedent(distance, english.text(first), german.text(second)), by_annotation(tokens)


def _source_link(example: Example, document: Document, links: Sequence[Link]) -> Mention | None:
    """What the source pronoun of the current sentence stands for, if there is one answer."""
    last = len(document.sentences) - 1
    pronoun = str(example.tags.get("source_pronoun") or "it").lower()
    words = document.sentences[last]
    found = {
        _believed(k) for k in links if k.pronoun.sentence == last and words[k.pronoun.head].text.lower() == pronoun
    }
    return found.pop() if len(found) == 1 else None


def _target_link(example: Example, document: Document, links: Sequence[Link]) -> Mention | None:
    """What the pronoun stands for in which the right translation differs from another one."""
    gold = example.gold or 0
    last = len(document.sentences) - 1
    sentence = document.sentences[last]
    right = _squeezed(example.candidates[gold][-1])
    places = [_difference(right, _squeezed(c[-1])) for k, c in enumerate(example.candidates) if k != gold]
    tokens = {_token_at(sentence, place) for place in places}
    for link in links:
        if link.pronoun.sentence == last and link.pronoun.head in tokens:
            return _believed(link)
    return None


def _believed(link: Link) -> Mention | None:
    return link.antecedent if link.confidence >= CONFIDENCE else None


def _difference(one: str, other: str) -> int:
    """The first place where two sentences differ."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _token_at(sentence: Sentence, place: int) -> int:
    return max((k for k, offset in enumerate(sentence.offsets) if offset <= place), default=0)


def _squeezed(sentence: str) -> str:
    return " ".join(sentence.split())


def _annotated(
    items: Iterator[Item], lines: Callable[[Item], Sequence[str]], annotator: Annotator
) -> Iterator[tuple[Item, Document]]:
    """Items with their lines annotated, as a stream: as many are held as the annotator takes at a time."""
    kept, sent = tee(items)
    return zip(kept, annotator.annotate(list(lines(item)) for item in sent), strict=False)
