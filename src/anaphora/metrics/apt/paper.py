"""APT as the paper defines it (§2.2–2.4): from the pronouns of the source to the reference and to the candidate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from anaphora.align.alignment import find_translation, links
from anaphora.core.errors import AnaphoraError
from anaphora.languages.pronouns import normalize_word, pronoun_in
from anaphora.metrics.apt.task import (
    NONE,
    Occurrence,
    Outcome,
    Side,
    Task,
    Translation,
    Triple,
    case_of,
    confusion_of,
)


def outcomes(task: Task) -> list[Outcome]:
    """The triples of every system; the reference's side is found once."""
    occurrences = find_occurrences(task)
    references = translations(occurrences, task.reference, task)
    return [_outcome(system, occurrences, references, task) for system in task.systems]


def find_occurrences(task: Task) -> list[Occurrence]:
    """The pronouns of the source: by the list, by their tags, or by both where tags and pronouns are given."""
    wanted = frozenset(task.pronouns or (() if task.source_tags else task.lists.pronouns))
    if not wanted and not task.source_tags:
        raise AnaphoraError(
            f"there is no list of source pronouns for {task.lists.pair}: name them with --pronouns, "
            "or tag the source (--source-tags)"
        )
    occurrences = []
    for number, sentence in enumerate(task.source):
        for position, token in enumerate(sentence):
            if task.source_tags and task.source_tags[number][position] not in task.pronoun_tags:
                continue
            word = normalize_word(token)
            pronoun = pronoun_in(word, wanted, task.lists.source_separators) if wanted else word
            if pronoun is not None:
                occurrences.append(Occurrence(number, position, pronoun))
    return occurrences


def translations(occurrences: Sequence[Occurrence], text: Translation, task: Task) -> list[Side]:
    """The word of a translation that each source pronoun became."""
    sides = []
    last = -1
    linked: list[list[int]] = []
    forms: list[str | None] = []
    for number, position, pronoun in occurrences:
        if number != last:
            last = number
            linked = links(text.alignments[number], len(task.source[number]))
            forms = pronoun_forms(number, text, task)
        sides.append(_side(position, linked, forms, task.lists.likely(pronoun), task.rescue))
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
    rescue: bool,
) -> Side:
    translation = find_translation(
        position,
        linked,
        len(forms),
        is_pronoun=lambda j: forms[j] is not None,
        is_likely=lambda j: forms[j] is not None if likely is None else forms[j] in likely,
        rescue=rescue,
    )
    if translation is None or (form := forms[translation.position]) is None:
        return Side()
    return Side((translation.position,), (form,), translation.rescued)


def _outcome(system: Translation, occurrences: Sequence[Occurrence], references: Sequence[Side], task: Task) -> Outcome:
    triples = []
    pairs: Counter[tuple[str, str]] = Counter()
    for occurrence, reference, candidate in zip(
        occurrences, references, translations(occurrences, system, task), strict=True
    ):
        right, word = (side.words[0] if side.words else None for side in (reference, candidate))
        row, column = (NONE if form is None else task.lists.canonical(form) for form in (right, word))
        pairs[row, column] += 1
        source = Side((occurrence.position,), (occurrence.pronoun,))
        triples.append(Triple(occurrence.sentence, source, reference, candidate, case_of(right, word, task.lists)))
    return Outcome(system.name, triples, [occurrence.pronoun for occurrence in occurrences], confusion_of(pairs))
