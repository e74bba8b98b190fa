"""Filling slots with words, and realizing patterns as sentences through the grammar of a language."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from anaphora.build.templates.template import PRONOUN, Draw, Pattern, Slot, Template, Variant
from anaphora.build.templates.vocabulary import Entry
from anaphora.languages.grammar import CITATION_CASE, PLURAL, Grammar

# Fillings: every combination of words that a template's constraints allow, in the vocabulary's order.

Filled = Mapping[str, Entry]  # slot → the word that fills it


def drawn(draw: Draw, entries: Sequence[Entry]) -> Sequence[Entry]:
    """Return the entries of a word class that can fill a slot."""
    if draw.translations == "first":
        entries = list({entry.source: entry for entry in reversed(entries)}.values())[::-1]
    return entries[:: draw.every][: draw.take]


def fillings(template: Template, variant: Variant, words: Mapping[str, Sequence[Entry]]) -> Iterator[Filled]:
    """Yield all ways to fill the slots of a variant; words: the entries of each word class."""
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
    """Return whether this order of two words is kept; every other entry of `turn` reverses it.

    A pair of words therefore occurs in both orders, but never with the same entry of `turn`: the first word is not
    always the one that comes first in the vocabulary.
    """
    one, other = template.once
    forward = rank[one][filled[one].id] < rank[other][filled[other].id]
    turned = template.turn is not None and rank[template.turn][filled[template.turn].id] % 2 == 1
    return forward is not turned


# Realization.

AGREEING = re.compile(r"\{([^{}]*)\}")  # the words of a phrase that agree: était {affamé}


class Sentence:
    """A pattern that is realized for each gender of the candidates.

    Results are cached, since most sentences and all phrases occur many times.
    """

    def __init__(self, realizer: Realizer, pattern: Pattern, genders: tuple[str, ...]) -> None:
        names = sorted({name for piece in pattern if isinstance(piece, Slot) for name in piece.names})
        self.realizer, self.genders = realizer, genders
        self.names = [name for name in names if name != PRONOUN]
        self.has_pronoun = PRONOUN in names
        self.pieces = [piece if isinstance(piece, str) else _Phrase(realizer, piece) for piece in pattern]
        self._cache: dict[tuple[int, ...], tuple[str, ...]] = {}  # by entry: ids are unique only within a class

    def realize(self, filled: Filled) -> tuple[str, ...]:
        """Return the sentence for each gender, which determines the pronoun and all words that agree with it."""
        key = tuple([id(filled[name]) for name in self.names])
        texts = self._cache.get(key)
        if texts is None:
            if self.has_pronoun:
                texts = tuple(self._text(filled, gender) for gender in self.genders)
            else:
                texts = (self._text(filled, ""),) * len(self.genders)
            self._cache[key] = texts
        return texts

    def _text(self, filled: Filled, gender: str) -> str:
        pieces = [piece if isinstance(piece, str) else piece.realize(filled, gender) for piece in self.pieces]
        return self.realizer.grammar.sentence(pieces)


class _Phrase:
    """A slot that is realized for each gender, with cached results."""

    def __init__(self, realizer: Realizer, slot: Slot) -> None:
        self.realizer, self.slot = realizer, slot
        self.names = [name for name in slot.names if name != PRONOUN]
        self._cache: dict[tuple[str, tuple[int, ...]], str] = {}

    def realize(self, filled: Filled, gender: str) -> str:
        key = gender, tuple([id(filled[name]) for name in self.names])
        text = self._cache.get(key)
        if text is None:
            text = self._cache[key] = self.realizer.phrase(self.slot, filled, gender)
        return text


class Realizer:
    """Realizes patterns in one language; is_target: with the target words of the entries, their genders and forms."""

    def __init__(self, grammar: Grammar, *, is_target: bool) -> None:
        self.grammar = grammar
        self.is_target = is_target
        self._sentences: dict[tuple[Pattern, tuple[str, ...]], Sentence] = {}

    def sentence(self, pattern: Pattern, genders: tuple[str, ...] = ("",)) -> Sentence:
        """Return the sentence of a pattern; templates with the same pattern and candidates share it."""
        key = pattern, genders
        if key not in self._sentences:
            self._sentences[key] = Sentence(self, pattern, genders)
        return self._sentences[key]

    def phrase(self, slot: Slot, filled: Filled, gender: str) -> str:
        """Return the text of a slot."""
        case = next((f for f in slot.features if f in self.grammar.cases), CITATION_CASE)
        if slot.name == PRONOUN:
            return self.grammar.pronoun(case, gender)
        entry = filled[slot.name] if slot.name else Entry("", slot.word, f"{{{slot.word}}}")
        word = self._formed(slot, entry, case)
        if slot.like:
            agreements = [gender if name == PRONOUN else filled[name].agreement or "" for name in slot.like]
            agreement = agreements[0] if len(agreements) == 1 else self.grammar.together(agreements)
            if word == self._text(entry) and agreement in self._forms(entry):  # from the vocabulary
                word = self._forms(entry)[agreement]
            else:  # by rule
                word = AGREEING.sub(lambda match: self.grammar.inflected(match[1], agreement), word)
        word = AGREEING.sub(r"\1", word)
        article = next((f for f in slot.features if f in self.grammar.articles), None)
        return word if article is None else f"{self.grammar.article(article, case, self._gender(slot, entry))} {word}"

    def _text(self, entry: Entry) -> str:
        return entry.target if self.is_target else entry.source

    def _forms(self, entry: Entry) -> Mapping[str, str]:
        return entry.forms if self.is_target else {}

    def _gender(self, slot: Slot, entry: Entry) -> str:
        if PLURAL in slot.features:
            return PLURAL
        return (entry.gender or "") if self.is_target else ""

    def _formed(self, slot: Slot, entry: Entry, case: str) -> str:
        """Return the word in the requested forms and case. Forms of the vocabulary take precedence over rules."""
        forms = self._forms(entry)
        word = self._text(entry)
        for feature in slot.features:
            if feature in forms:
                word = forms[feature]
            elif feature in self.grammar.forms and "{" not in word:
                word = self.grammar.inflected(word, feature)
            elif feature in self.grammar.forms:  # words in braces can still agree afterwards
                parts = AGREEING.split(word)
                parts[1::2] = [f"{{{self.grammar.inflected(part, feature)}}}" for part in parts[1::2]]
                word = "".join(parts)
        return word if case in forms else self.grammar.noun(word, case, self._gender(slot, entry))
