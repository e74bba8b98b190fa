"""Filling slots: every combination of words that a template's constraints allow, in the vocabulary's order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from anaphora.build.templates.template import Draw, Template, Variant
from anaphora.build.templates.vocabulary import Entry

Filled = dict[str, Entry]


def drawn(draw: Draw, entries: Sequence[Entry]) -> Sequence[Entry]:
    """The entries of a word class that a slot may hold."""
    if draw.translations == "first":
        entries = list({entry.source: entry for entry in reversed(entries)}.values())[::-1]
    return entries[:: draw.every][: draw.take]


def fillings(template: Template, variant: Variant, words: Mapping[str, Sequence[Entry]]) -> Iterator[Filled]:
    """All ways to fill the slots of a variant; words: the entries of each word class."""
    names = list(variant.slots)
    classes = [draw.word_class for draw in variant.slots.values()]
    held = {name: drawn(draw, words[draw.word_class]) for name, draw in variant.slots.items()}
    same_class = [(a, b) for a, b in itertools.combinations(range(len(names)), 2) if classes[a] == classes[b]]
    differing = [names.index(name) for name in template.different_gender]
    rank = {name: {entry.id: n for n, entry in enumerate(held[name])} for name in names}
    for chosen in itertools.product(*held.values()):
        if any(chosen[a] is chosen[b] for a, b in same_class):
            continue
        if len({chosen[k].gender for k in differing}) < len(differing):
            continue
        filled = dict(zip(names, chosen, strict=True))
        if not template.once or _in_one_order(template, filled, rank):
            yield filled


def _in_one_order(template: Template, filled: Filled, rank: Mapping[str, Mapping[str, int]]) -> bool:
    """Whether this order of two words is the one that is kept; every other entry of `turn` turns it round.

    So a pair of words comes in both orders, though never with the same entry of `turn`: what stands first is not
    always what the vocabulary has first.
    """
    one, other = template.once
    forward = rank[one][filled[one].id] < rank[other][filled[other].id]
    turned = template.turn is not None and rank[template.turn][filled[template.turn].id] % 2 == 1
    return forward is not turned
