"""From patterns and words to sentences, through the grammar of a language."""

from __future__ import annotations

import re
from collections.abc import Mapping

from anaphora.build.templates.pattern import PRONOUN, Pattern, Slot
from anaphora.build.templates.vocabulary import Entry
from anaphora.languages.grammar import CITATION_CASE, PLURAL, Grammar

Filled = Mapping[str, Entry]  # slot → the word that fills it
AGREEING = re.compile(r"\{([^{}]*)\}")  # the words of a phrase that agree: était {affamé}


class Sentence:
    """A pattern ready to be said, once for each gender of the candidates.

    It remembers what it said: most sentences, and all phrases, come many times.
    """

    def __init__(self, realiser: Realiser, pattern: Pattern, genders: tuple[str, ...]) -> None:
        names = sorted({name for piece in pattern if isinstance(piece, Slot) for name in piece.names})
        self.realiser, self.genders = realiser, genders
        self.names = [name for name in names if name != PRONOUN]
        self.has_pronoun = PRONOUN in names
        self.pieces = [piece if isinstance(piece, str) else _Phrase(realiser, piece) for piece in pattern]
        self._said: dict[tuple[int, ...], tuple[str, ...]] = {}  # by the entries themselves: ids are those of a class

    def say(self, filled: Filled) -> tuple[str, ...]:
        """The sentence for each gender, which decides the pronoun and all that agrees with it."""
        key = tuple([id(filled[name]) for name in self.names])
        texts = self._said.get(key)
        if texts is None:
            if self.has_pronoun:
                texts = tuple(self._text(filled, gender) for gender in self.genders)
            else:
                texts = (self._text(filled, ""),) * len(self.genders)
            self._said[key] = texts
        return texts

    def _text(self, filled: Filled, gender: str) -> str:
        pieces = [piece if isinstance(piece, str) else piece.say(filled, gender) for piece in self.pieces]
        return self.realiser.grammar.sentence(pieces)


class _Phrase:
    """What stands for a pair of braces."""

    def __init__(self, realiser: Realiser, slot: Slot) -> None:
        self.realiser, self.slot = realiser, slot
        self.names = [name for name in slot.names if name != PRONOUN]
        self._said: dict[tuple[str, tuple[int, ...]], str] = {}

    def say(self, filled: Filled, gender: str) -> str:
        key = gender, tuple([id(filled[name]) for name in self.names])
        text = self._said.get(key)
        if text is None:
            text = self._said[key] = self.realiser.phrase(self.slot, filled, gender)
        return text


class Realiser:
    """Says patterns in one language; is_target: with the target words of the entries, their genders and forms."""

    def __init__(self, grammar: Grammar, *, is_target: bool) -> None:
        self.grammar = grammar
        self.is_target = is_target
        self._sentences: dict[tuple[Pattern, tuple[str, ...]], Sentence] = {}

    def sentence(self, pattern: Pattern, genders: tuple[str, ...] = ("",)) -> Sentence:
        """The same object for the same pattern and candidates, whatever template it is in."""
        key = pattern, genders
        if key not in self._sentences:
            self._sentences[key] = Sentence(self, pattern, genders)
        return self._sentences[key]

    def phrase(self, slot: Slot, filled: Filled, gender: str) -> str:
        """What stands in a sentence for a pair of braces."""
        case = next((f for f in slot.features if f in self.grammar.cases), CITATION_CASE)
        if slot.name == PRONOUN:
            return self.grammar.pronoun(case, gender)
        entry = filled[slot.name] if slot.name else Entry("", slot.word, f"{{{slot.word}}}")
        word = self._formed(slot, entry, case)
        if slot.like:
            word = self._agreeing(word, entry, self._agreement(slot, filled, gender))
        word = AGREEING.sub(r"\1", word)
        article = next((f for f in slot.features if f in self.grammar.articles), None)
        return word if article is None else f"{self._article(article, case, slot, entry)} {word}"

    def _text(self, entry: Entry) -> str:
        return entry.target if self.is_target else entry.source

    def _forms(self, entry: Entry) -> Mapping[str, str]:
        return entry.forms if self.is_target else {}

    def _gender(self, slot: Slot, entry: Entry) -> str:
        if PLURAL in slot.features:
            return PLURAL
        return (entry.gender or "") if self.is_target else ""

    def _article(self, kind: str, case: str, slot: Slot, entry: Entry) -> str:
        return self.grammar.article(kind, case, self._gender(slot, entry))

    def _formed(self, slot: Slot, entry: Entry, case: str) -> str:
        """The word in the forms and the case that are asked for. Forms of the vocabulary go before rules."""
        forms = self._forms(entry)
        word = self._text(entry)
        for feature in slot.features:
            if feature in forms:
                word = forms[feature]
            elif feature in self.grammar.forms:
                word = self._inflected(word, feature)
        return word if case in forms else self.grammar.noun(word, case, self._gender(slot, entry))

    def _inflected(self, word: str, form: str) -> str:
        """A form of a word; what stands in braces still agrees afterwards."""
        if "{" not in word:
            return self.grammar.inflected(word, form)
        return AGREEING.sub(lambda match: f"{{{self.grammar.inflected(match[1], form)}}}", word)

    def _agreeing(self, word: str, entry: Entry, agreement: str) -> str:
        """A word or phrase in agreement: as the vocabulary gives it, else what stands in braces agrees by rule."""
        if word == self._text(entry) and agreement in self._forms(entry):
            return self._forms(entry)[agreement]
        return AGREEING.sub(lambda match: self.grammar.inflected(match[1], agreement), word)

    def _agreement(self, slot: Slot, filled: Filled, gender: str) -> str:
        agreements = [gender if name == PRONOUN else filled[name].agreement or "" for name in slot.like]
        return agreements[0] if len(agreements) == 1 else self.grammar.together(agreements)
