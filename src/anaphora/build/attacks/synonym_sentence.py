"""Replacing the antecedent in a German sentence: the noun phrase, its relative pronoun, and pronouns that refer to it.

A sentence is rejected with a reason unless the result is certain: few correct items are better than many doubtful ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from anaphora.align.tokenize import normalize
from anaphora.build.attacks.attack import find
from anaphora.languages import match_case
from anaphora.languages.german import (
    CONTRACTED,
    JOINED,
    PREPOSITIONS,
    PRONOUNS,
    Noun,
    NounTable,
    Word,
    case_in_clause,
    determiner,
    in_phrase,
    mentions,
    phrases,
    possessive,
    possessor_genders,
    pronoun,
    relatives,
    words_of,
)

FORMS = "der|die|das|den|dem|dessen|deren|welche[rsnm]?"
BEHIND = re.compile(rf"\s*,\s*(?:(?:{'|'.join(PREPOSITIONS)})\s+)?(?P<form>{FORMS})\b")
HE = frozenset({"he", "him", "his", "himself", "he's"})
SHE = frozenset({"she", "her", "hers", "herself", "she's", "they", "them", "their", "theirs", "they're", "they've"})
IT = frozenset({"it", "its", "itself", "it's", "it'll", "it'd"})
PEOPLE = {"Masc": HE, "Fem": SHE, "Neut": HE}  # whose pronouns have the same form in German
YOU = frozenset({"you", "your", "yours", "you're", "you've", "you'll", "you'd"})


class Unsure(Exception):  # noqa: N818
    """The reason why a sentence is not changed."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase in a sentence: the words from its determiner to its noun, with their positions."""

    words: tuple[Word, ...]
    before: str  # the word before it, if only a space is between
    noun: Noun

    @property
    def span(self) -> tuple[int, int]:
        return self.words[0].start, self.words[-1].end


def phrase_in(sentence: str, antecedent: str, nouns: NounTable, head: str | None = None) -> Phrase:
    """Return the noun phrase of an antecedent.

    head: its noun, if known; otherwise the first noun of the antecedent's words
    """
    match = find(antecedent, sentence)
    if match is None:
        raise Unsure("the antecedent's words are not in its sentence")
    if find(antecedent, sentence[match.end() :]):
        raise Unsure("the antecedent's words are there twice")
    words = words_of(sentence)
    inside = [k for k, word in enumerate(words) if match.start() <= word.start and word.end <= match.end()]
    index = next((k for k in inside if words[k].text == head or (head is None and words[k].text[0].isupper())), None)
    while head is None and index in inside[:-1] and determiner(words[index].text):  # Die at the beginning
        index = next((k for k in inside if k > index and words[k].text[0].isupper()), None)
    noun = nouns.of_form(words[index].text) if index is not None else None
    if index is None or noun is None:
        raise Unsure("the noun, or its gender, is not known")
    first = _first(sentence, words, index)
    before = words[first - 1] if first else None
    joined = before is not None and not sentence[before.end : words[first].start].strip()
    return Phrase(tuple(words[first : index + 1]), before.text if before and joined else "", noun)


def _first(sentence: str, words: Sequence[Word], index: int) -> int:
    """Return the index of the determiner with which the noun phrase of a noun begins."""
    for k in range(index - 1, -1, -1):
        if sentence[words[k].end : words[k + 1].start].strip():
            break
        if determiner(words[k].text) or words[k].text.lower() in CONTRACTED:
            return k
        if not words[k].text[0].islower():
            break
    raise Unsure("the antecedent has no determiner")


def replaced(sentence: str, phrase: Phrase, new: Noun, opinions: Sequence[str]) -> tuple[str, str, int]:
    """Return the sentence with another noun in a phrase, the new phrase, and the position of its end.

    opinions: cases proposed for it, which must agree, and are used only if the forms are ambiguous
    """
    start, end = phrase.span
    forms = dict(phrases([word.text for word in phrase.words], phrase.before, phrase.noun, new))
    if not forms:
        raise Unsure("determiner, adjectives and noun do not agree")
    if phrase.before.lower() not in PREPOSITIONS:
        clause = case_in_clause(sentence[:start], sentence[end:])
        opinions = [*opinions, *([clause] if clause else [])]
    if len(set(forms.values())) == 1:
        words = next(iter(forms.values()))
    elif len(stated := set(opinions)) == 1 and stated <= set(forms):
        words = forms[stated.pop()]
    else:
        raise Unsure("the case is not clear")
    text = " ".join(words)
    before, article = phrase.before.lower(), phrase.words[0].text.lower()
    whole = JOINED.get((before, words[0].lower()))
    if whole is not None and (before, article) not in JOINED:  # in der Tür, im Eingang; but in dem Brief, in dem Buch
        start -= len(phrase.before) + 1
        text = " ".join([match_case(whole, phrase.before), *words[1:]])
    tail = _relative(sentence, end, phrase.noun.gender, new.gender)
    return sentence[:start] + text + tail, " ".join(words), start + len(text)


def _relative(sentence: str, end: int, old: str, new: str) -> str:
    """Return the rest of a sentence after the noun, with the relative pronoun in the new gender."""
    match = BEHIND.match(sentence, end)
    if match is None:
        return sentence[end:]
    words = words_of(sentence)
    index = next(k for k, word in enumerate(words) if word.start == match.start("form"))
    forms = relatives(match["form"], old, new)
    if in_phrase(sentence, words, index) or len(forms) != 1:
        raise Unsure("a relative pronoun is not clear")
    return sentence[end : match.start("form")] + forms.pop() + sentence[match.end("form") :]


def followed(text: str, source: str, genders: tuple[str, str], start: int, *, alone: int) -> str:
    """Return a sentence in which pronouns that refer to the antecedent have the new gender.

    genders: the old and the new one; start: the position from which pronouns are considered
    source: the source sentence, which distinguishes he and she from it
    alone: the number of `it` in the source that are the pronoun under test
    """
    old, new = genders
    mentioned = mentions(text, old, start)
    relative = BEHIND.match(text, start) if start else None  # directly after the noun phrase: its gender is right
    if any(word.start > (relative.start("form") if relative else start - 1) for word in mentioned.others):
        raise Unsure("a demonstrative or relative pronoun may take it up")
    english = _english(source)
    polite = any(word in YOU for word in english)  # a sentence-initial Sie or Ihr may be
    pronouns = [w for w in mentioned.pronouns if not (polite and w.text.startswith(("Sie", "Ihr")))]
    people, things = (sum(word in known for word in english) for known in (PEOPLE[old], IT))
    if not pronouns or (people >= len(pronouns) and things <= alone):
        return text
    if people or things - alone != len(pronouns) or old == "Neut":
        raise Unsure("another pronoun may take it up")
    for word in reversed(pronouns):
        text = text[: word.start] + _changed(text, word, old, new) + text[word.end :]
    return text


def count_it(source: str) -> int:
    """Return the number of *it* and *its* in an English sentence."""
    return sum(word in IT for word in _english(source))


def _english(source: str) -> list[str]:
    return re.findall(r"[\w']+", normalize(source).lower())


def _changed(text: str, word: Word, old: str, new: str) -> str:
    form = word.text.lower()
    words = words_of(text)
    owning = in_phrase(text, words, next(k for k, w in enumerate(words) if w.start == word.start))
    if possessor_genders(form) and (owning or form not in PRONOUNS[old].values()):
        return possessive(word.text, new)
    forms = {pronoun(new, case, like=word.text) for case, own in PRONOUNS[old].items() if own == form}
    if len(forms) != 1:
        raise Unsure("another pronoun may take it up")
    return forms.pop()
