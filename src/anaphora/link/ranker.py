"""The built-in resolver: a log-linear ranking of earlier mentions, composed along chains of pronouns.

For each pronoun, the noun phrases and pronouns of the last sentences and the answer "nothing" (pleonastic, or an event)
get a score, the sum of the weights of their features; the scores make a distribution. The mass that falls on an earlier
pronoun goes on to what that one stands for. So a doubtful link makes all that builds on it doubtful, and the
confidence of an antecedent is what it says: a probability.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from anaphora.annotate.document import Document, Sentence
from anaphora.core.parsing import read_toml
from anaphora.languages.pronouns import normalise
from anaphora.link.binding import bound
from anaphora.link.features import (
    Candidate,
    Kind,
    Pronoun,
    nothing_features,
    own_features,
    pair_features,
)
from anaphora.link.language import Language
from anaphora.link.language import language as language_of
from anaphora.link.phrases import Phrase, phrases, role_of, verb_of
from anaphora.link.pronouns import is_plural_pronoun, is_pronoun, pronoun_role

WINDOW = 5  # sentences before that of the pronoun
LITTLE = 0.001  # probabilities below this are not carried on
Weights = Mapping[str, float]
Use = tuple[str, str, str]  # of a noun somewhere in the document: its lemma, its role, its verb


@dataclass(frozen=True, slots=True)
class Belief:
    """What a pronoun stands for: phrases (the last one of each noun) with probabilities, the rest is nothing."""

    phrases: Mapping[str, tuple[float, Phrase]]  # by noun

    @property
    def nothing(self) -> float:
        return max(0.0, 1 - sum(probability for probability, _ in self.phrases.values()))


@dataclass(frozen=True, slots=True)
class Question:
    """A pronoun and its candidates with their features; the last ones are those of "nothing"."""

    pronoun: Pronoun
    candidates: tuple[Candidate, ...]
    features: tuple[tuple[str, ...], ...]


@cache
def weights(code: str) -> Weights:
    """The weights of a language: those of antecedents, which all share, and its own for "nothing"."""
    data = read_toml(files("anaphora.link") / "data" / "weights.toml")
    return {**data["antecedent"], **data[language_of(code).like]}


def questions(document: Document, language: Language) -> Iterator[Question]:
    """Each pronoun of a document, in the order of the text."""
    nouns = [_nouns(document, number) for number in range(len(document.sentences))]
    uses = {(noun.lemma, noun.role, verb) for found in nouns for noun, verb in found.values()}
    seen: Counter[str] = Counter()
    persons: set[str] = set()
    before: deque[Candidate] = deque()
    for number, sentence in enumerate(document.sentences):
        while before and number - before[0].sentence > WINDOW:
            before.popleft()
        for index in range(len(sentence)):
            if index in nouns[number]:
                phrase, verb = nouns[number][index]
                person = language.is_person(phrase.lemma)
                seen[phrase.lemma] += 1
                own = own_features(phrase, document, seen[phrase.lemma], language)
                if "person" in own:
                    persons.add(phrase.lemma)
                elif phrase.lemma in persons:  # once known as a person, a name is one
                    own = (*own, "person")
                known = phrase.lemma, phrase.role, verb, phrase, own, phrase.plural, person
                before.append(Candidate(number, index, Kind.NOUN, *known))
            elif is_pronoun(sentence, index, language):
                pronoun = _pronoun(sentence, number, index, language)
                yield _question(pronoun, before, sentence, language, uses)
                before.append(_mention(pronoun))
            elif sentence[index].upos == "PRON" and normalise(sentence[index].text) in language.demonstratives:
                before.append(_demonstrative(sentence, number, index))


def _nouns(document: Document, number: int) -> dict[int, tuple[Phrase, str]]:
    """The noun phrases of a sentence by their heads, each with the verb it is an argument of."""
    sentence = document.sentences[number]
    return {p.mention.head: (p, verb_of(sentence, p.mention.head)) for p in phrases(document, number)}


def believe(question: Question, scores: Sequence[float], beliefs: Mapping[tuple[int, int], Belief]) -> Belief:
    """From the scores of the candidates to what the pronoun stands for.

    "Nothing" stands against all of them together: its mass is multiplied by their number, so that it does not become
    unlikely where nouns are many.
    beliefs: of the pronouns before, by sentence and token
    """
    highest = max(scores)
    masses = [math.exp(score - highest) for score in scores]
    masses[-1] *= len(scores)
    total = sum(masses)
    found: dict[str, tuple[float, Phrase]] = {}

    def add(noun: str, probability: float, phrase: Phrase) -> None:
        sofar, known = found.get(noun, (0.0, phrase))
        found[noun] = (sofar + probability, max(known, phrase, key=_place))

    for candidate, mass in zip(question.candidates, masses, strict=False):
        if candidate.phrase is not None:
            add(candidate.word, mass / total, candidate.phrase)
        elif candidate.kind is Kind.PRONOUN:
            for noun, (probability, phrase) in beliefs[candidate.sentence, candidate.token].phrases.items():
                add(noun, probability * mass / total, phrase)
    return Belief(
        {noun: (probability, phrase) for noun, (probability, phrase) in found.items() if probability > LITTLE}
    )


def resolve(document: Document, language: Language, by: Weights | None = None) -> Iterator[tuple[Pronoun, Belief]]:
    """What each pronoun of a document stands for, with probabilities."""
    weight = (by if by is not None else weights(language.code)).get
    beliefs: dict[tuple[int, int], Belief] = {}
    for question in questions(document, language):
        scores = [sum(weight(name, 0.0) for name in names) for names in question.features]
        belief = believe(question, scores, beliefs)
        beliefs[question.pronoun.sentence, question.pronoun.token] = belief
        yield question.pronoun, belief


def _place(phrase: Phrase) -> tuple[int, int]:
    return phrase.mention.sentence, phrase.mention.head


def _question(
    pronoun: Pronoun, before: deque[Candidate], sentence: Sentence, language: Language, uses: Container[Use]
) -> Question:
    """The candidates, nearest first, so that each knows how many fitting nouns are nearer."""
    remarkable = pronoun.verb not in language.light
    candidates: list[Candidate] = []
    features: list[tuple[str, ...]] = []
    nearer: set[str] = set()
    for candidate in reversed(before):
        if candidate.plural != pronoun.plural or (candidate.person and not pronoun.plural):
            continue
        if _ruled_out(candidate, pronoun, sentence):
            continue
        found = (*candidate.features, *pair_features(candidate, pronoun, len(nearer), language))
        if remarkable and candidate.phrase and (candidate.word, pronoun.role, pronoun.verb) in uses:
            found = (*found, "noun with this verb")
        candidates.append(candidate)
        features.append(found)
        if candidate.phrase and "person" not in found and "gender differs" not in found:
            nearer.add(candidate.word)
    features.append(tuple(nothing_features(sentence, pronoun, language)))
    return Question(pronoun, tuple(candidates), tuple(features))


def _ruled_out(candidate: Candidate, pronoun: Pronoun, sentence: Sentence) -> bool:
    noun, possessive = candidate.kind is Kind.NOUN, pronoun.role == "possessive"
    return candidate.sentence == pronoun.sentence and bound(
        sentence, candidate.token, pronoun.token, noun=noun, possessive=possessive
    )


def _pronoun(sentence: Sentence, number: int, index: int, language: Language) -> Pronoun:
    form = normalise(sentence[index].text)
    role = pronoun_role(sentence, index, language)
    plural = is_plural_pronoun(sentence, index, language)
    return Pronoun(number, index, form, role, verb_of(sentence, index), language.genders(form), plural)


def _mention(pronoun: Pronoun) -> Candidate:
    own = ("pronoun", f"role {pronoun.role}")
    return Candidate(
        pronoun.sentence,
        pronoun.token,
        Kind.PRONOUN,
        pronoun.word,
        pronoun.role,
        pronoun.verb,
        features=own,
        plural=pronoun.plural,
    )


def _demonstrative(sentence: Sentence, number: int, index: int) -> Candidate:
    role = role_of(sentence, index)[0]
    form, verb = normalise(sentence[index].text), verb_of(sentence, index)
    return Candidate(number, index, Kind.DEMONSTRATIVE, form, role, verb, features=("demonstrative", f"role {role}"))
