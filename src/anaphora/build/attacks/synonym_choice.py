"""Which synonym of another gender an antecedent can have (ContraCAT §5.2.3): what several resources agree on.

The paper goes from the English antecedent's most frequent sense in WordNet to a synset of GermaNet, which is not free.
Here the German antecedent itself says which sense is meant, and every resource can object: the thesaurus must have both
nouns in one sense; both must translate the English antecedent, or another word of its first sense in WordNet; what they
translate must be much the same; and where the suite's own text has the synonym, it must sometimes translate that word.
Without a dictionary only nouns of one sense are left.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from anaphora.build.attacks.letters import begins_sentence
from anaphora.languages.german_mentions import words_of
from anaphora.languages.german_noun_forms import Noun, NounTable
from anaphora.languages.thesaurus import Dictionary, Thesaurus
from anaphora.languages.thesaurus.wordnet import WordNet
from anaphora.suites.suite import Suite

# set by reading a sample of attacked ContraPro; docs/attacks.md has the precision on another one
SHARED = 0.23  # of all that two synonyms translate, at least
SHARED_IF_USED = 0.15  # … where the text has the synonym for the same English noun
OFTEN = 4  # sentences with a noun, from which on they tell what it translates
USED = 0.08  # of these sentences, at least, must have the English noun
SMALL = ("chen", "lein")  # Gässchen is a small Gasse


@dataclass(frozen=True)
class Usage:
    """The text of a suite: what stands on the other side where a noun is used."""

    suite: Suite

    @cached_property
    def _sentences(self) -> dict[str, list[frozenset[str]]]:
        found: dict[str, list[frozenset[str]]] = defaultdict(list)
        pairs = {
            pair
            for example in self.suite
            for pair in zip(example.source, example.candidates[example.gold or 0], strict=True)
        }
        for source, target in sorted(pairs):
            words = frozenset(word.text.lower().removesuffix("'s") for word in words_of(source))
            nouns = (w.text for w in words_of(target) if w.text[0].isupper() and not begins_sentence(target, w.start))
            for form in set(nouns):
                found[form].append(words)
        return found

    def counts(self, noun: Noun, word: str) -> tuple[int, int]:
        """In how many sentences a noun is, and in how many of them where the source has this English word."""
        forms = {form for forms in noun.forms.values() for form in forms}
        sentences = [sentence for form in forms for sentence in self._sentences.get(form, ())]
        wanted = {word, f"{word}s", f"{word}es"}
        return len(sentences), sum(bool(wanted & sentence) for sentence in sentences)


@dataclass(frozen=True, slots=True)
class Synonyms:
    """Synonyms of nouns from what is at hand.

    least: the share of common translations that two nouns must have; less gives more synonyms, and more wrong ones
    """

    nouns: NounTable
    thesaurus: Thesaurus
    dictionary: Dictionary | None = None
    wordnet: WordNet | None = None
    usage: Usage | None = None
    least: float = SHARED

    def of(self, noun: Noun, source: str) -> list[Noun]:
        """The synonyms of another gender: first those that the text uses most, then those that share most translations.

        source: the English noun that it translates
        """
        words = dict.fromkeys([source.lower(), *(self.wordnet.first_sense(source) if self.wordnet else ())])
        known = (self.nouns.noun(lemma) for sense in self.thesaurus.senses(noun.lemma) for lemma in sense)
        found = list({other.lemma: other for other in known if other is not None and _fits(noun, other)}.values())
        used = {o.lemma: self.usage.counts(o, source.lower()) if self.usage else (0, 0) for o in found}
        if self.dictionary is None:
            found = [other for other in found if self._has_one_sense(noun) and self._has_one_sense(other)]
        else:
            translations = frozenset[str]().union(*map(self.dictionary.translations, words))
            shared = {other.lemma: self._shared(noun, other, self.dictionary) for other in found}
            found = [other for other in found if {noun.lemma, other.lemma} <= translations]
            found = [o for o in found if shared[o.lemma] >= self._least(used[o.lemma][1])]
            found.sort(key=lambda other: -shared[other.lemma])
        found = [other for other in found if not _otherwise(*used[other.lemma])]
        return sorted(found, key=lambda other: (-used[other.lemma][1], -used[other.lemma][0]))

    def _least(self, with_word: int) -> float:
        return min(SHARED_IF_USED, self.least) if with_word else self.least

    def _has_one_sense(self, noun: Noun) -> bool:
        return len(self.thesaurus.senses(noun.lemma)) == 1

    @staticmethod
    def _shared(noun: Noun, other: Noun, dictionary: Dictionary) -> float:
        one, two = dictionary.words(noun.lemma), dictionary.words(other.lemma)
        return len(one & two) / len(one | two) if one & two else 0.0


def _otherwise(sentences: int, with_word: int) -> bool:
    """Whether a noun is often used, but seldom for the English one: Bein may be a bone, but is a leg."""
    return sentences >= OFTEN and with_word < USED * sentences


def _fits(noun: Noun, other: Noun) -> bool:
    """Another gender, and neither a part of the other: Haus and Wohnhaus; no diminutive."""
    one, two = noun.lemma.lower(), other.lemma.lower()
    return noun.gender != other.gender and one not in two and two not in one and not two.endswith(SMALL)
