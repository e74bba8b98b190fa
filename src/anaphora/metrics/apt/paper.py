"""APT as the paper defines it (§2.2–2.4): from the pronouns of the source to the reference and to the candidate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from anaphora.align.alignment import find_translation, links
from anaphora.core.errors import AnaphoraError
from anaphora.languages.pronouns import PronounLists, normalize_word, pronoun_in
from anaphora.metrics.apt.task import NONE, Outcome, Side, Task, Translation, Triple, Words, case_of, confusion_of


class Occurrence(NamedTuple):
    """A source pronoun in its place."""

    sentence: int
    position: int
    pronoun: str


def outcomes(task: Task) -> list[Outcome]:
    """The triples of every system; the reference's side is found once."""
    found = occurrences(task)
    references = translations(found, task.reference, task)
    return [_outcome(system, found, references, task) for system in task.systems]


def occurrences(task: Task) -> list[Occurrence]:
    """The pronouns of the source: by the list, by their tags, or by both where tags and pronouns are given."""
    wanted = frozenset(task.pronouns or (() if task.source_tags else task.lists.pronouns))
    if not wanted and not task.source_tags:
        raise AnaphoraError(
            f"there is no list of source pronouns for {task.lists.pair}: name them with --pronouns, "
            "or tag the source (--source-tags)"
        )
    found = []
    for number, sentence in enumerate(task.source):
        for position, token in enumerate(sentence):
            if task.source_tags and task.source_tags[number][position] not in task.pronoun_tags:
                continue
            word = normalize_word(token)
            pronoun = pronoun_in(word, wanted, task.lists.source_separators) if wanted else word
            if pronoun is not None:
                found.append(Occurrence(number, position, pronoun))
    return found


def translations(found: Sequence[Occurrence], text: Translation, task: Task) -> list[Side]:
    """The word of a translation that each source pronoun became."""
    sides = []
    last = -1
    linked: list[list[int]] = []
    forms: list[str | None] = []
    for number, position, pronoun in found:
        if number != last:
            last = number
            linked = links(text.alignments[number], len(task.source[number]))
            forms = pronoun_forms(number, text, task)
        sides.append(_side(position, linked, forms, task.lists.likely(pronoun), task))
    return sides


def pronoun_forms(number: int, text: Translation, task: Task) -> list[str | None]:
    """The pronoun that each word of a sentence is, or None: by its tag where there are tags, else by the list."""
    lists = task.lists
    words = [normalize_word(token) for token in text.sentences[number]]
    forms = [pronoun_in(word, lists.target_pronouns, lists.separators) for word in words]
    if text.tags is None:
        return forms
    tagged = zip(words, forms, text.tags[number], strict=True)
    return [(form or word) if tag in task.pronoun_tags else None for word, form, tag in tagged]


def _side(
    position: int,
    linked: Sequence[Sequence[int]],
    forms: Sequence[str | None],
    likely: frozenset[str] | None,
    task: Task,
) -> Side:
    found = find_translation(
        position,
        linked,
        len(forms),
        is_pronoun=lambda j: forms[j] is not None,
        is_likely=lambda j: forms[j] is not None if likely is None else forms[j] in likely,
        rescue=task.rescue,
    )
    form = None if found is None else forms[found.position]
    return Side() if found is None or form is None else Side((found.position,), (form,), found.rescued)


def _outcome(system: Translation, found: Sequence[Occurrence], references: Sequence[Side], task: Task) -> Outcome:
    triples = []
    pairs: Counter[tuple[str, str]] = Counter()
    for place, reference, candidate in zip(found, references, translations(found, system, task), strict=True):
        source = Side((place.position,), (place.pronoun,))
        case = case_of(_word(reference), _word(candidate), task.lists)
        triples.append(Triple(place.sentence, source, reference, candidate, case))
        pairs[_label(reference, task.lists), _label(candidate, task.lists)] += 1
    return Outcome(system.name, triples, [place.pronoun for place in found], confusion_of(pairs))


def _word(side: Side) -> str | None:
    return side.words[0] if side.words else None


def _label(side: Side, lists: PronounLists) -> str:
    return lists.canonical(side.words[0]) if side.words else NONE


def split(line: str) -> Words:
    """The words of a line, between any white space."""
    return line.split()
