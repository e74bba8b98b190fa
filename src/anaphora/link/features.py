"""What speaks for an antecedent, and what for none: names of yes-or-no features, whose weights are in `weights.toml`.

The classical ones of rule-based resolution: agreement, recency, grammatical role, parallelism, definiteness and
repetition (Lappin & Leass 1994; Mitkov 1998), binding (`binding.py`), persons, and the surroundings of pronouns that
stand for no noun: pleonastic ones and those for events.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from anaphora.annotate.document import Document, Sentence
from anaphora.languages.pronouns import normalise
from anaphora.link.language import Language
from anaphora.link.phrases import Phrase, verb_of

FAR = 4  # sentences, and more
RANKS = ("rank 0", "rank 1", "rank 2", "rank 3", *("rank 4–6",) * 3, *("rank 7–11",) * 5)
LONG = 4  # words
AHEAD = 8  # words in which a pleonastic pronoun is followed by what it announces


class Kind(Enum):
    """What an earlier mention is."""

    NOUN = "noun"
    PRONOUN = "pronoun"
    DEMONSTRATIVE = "demonstrative"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An earlier mention as the pronouns after it see it.

    plural: also of phrases joined by `and`; person: a noun for persons, which only plural pronouns stand for
    word: the lemma of a noun phrase, the form of a pronoun; verb: the lemma of the predicate it is an argument of
    """

    sentence: int
    token: int
    kind: Kind
    word: str
    role: str
    verb: str
    phrase: Phrase | None = None
    features: tuple[str, ...] = ()  # those that do not depend on the pronoun
    plural: bool = False
    person: bool = False


@dataclass(frozen=True, slots=True)
class Pronoun:
    """A pronoun to be linked; genders: those that its antecedent can have, none if it can have any."""

    sentence: int
    token: int
    word: str
    role: str
    verb: str
    genders: frozenset[str]
    plural: bool = False


def own_features(phrase: Phrase, document: Document, seen: int, language: Language) -> tuple[str, ...]:
    """Of a noun phrase by itself; seen: how often its noun has occurred in the document so far."""
    sentence = document.sentences[phrase.mention.sentence]
    below = sentence.children[phrase.mention.head]
    found = [f"article {phrase.article}", f"role {phrase.role}"]
    found += ["conjunct"] * phrase.conjunct
    found += ["time"] * (phrase.lemma in language.time)
    found += ["vague"] * (phrase.lemma in language.vague)
    found += ["person"] * is_person(phrase, sentence, language)
    found += ["repeated"] * (seen > 1) + ["frequent"] * (seen > 3)
    found += ["negated"] * any(normalise(sentence[child].text) in language.negations for child in below)
    found += ["relative clause"] * any(sentence[child].relation == "acl:relcl" for child in below)
    found += ["long"] * (phrase.mention.end - phrase.mention.start >= LONG)
    found += ["first"] * (phrase.mention.start == 0)
    return tuple(found)


def is_person(phrase: Phrase, sentence: Sentence, language: Language) -> bool:
    """Whether a name is a person's: with a title, as the subject of a human verb, as a speaker (`Mary: …`)."""
    if not phrase.name or not language.human_verbs:
        return False
    mention = phrase.mention
    titled = any(normalise(token.text) in language.titles for token in sentence.tokens[mention.start : mention.head])
    speaks = mention.start == 0 and mention.end < len(sentence) and sentence[mention.end].text in (":", ",")
    return titled or speaks or (phrase.role == "subject" and verb_of(sentence, mention.head) in language.human_verbs)


def pair_features(candidate: Candidate, pronoun: Pronoun, rank: int, language: Language) -> Iterator[str]:
    """Of a mention as the antecedent of a pronoun; rank: how many different fitting nouns are nearer."""
    distance = pronoun.sentence - candidate.sentence
    yield DISTANCES[min(distance, FAR)]
    yield RANKS[min(rank, len(RANKS) - 1)]
    if candidate.kind is not Kind.NOUN:
        yield f"{candidate.kind.value} at {min(distance, FAR - 1)}"
        if candidate.word == pronoun.word:
            yield "same pronoun"
    if candidate.role == pronoun.role:
        yield "parallel"
        if pronoun.role == "subject" and distance == 0:
            yield "subject again"
        if pronoun.role == "subject" and distance == 1 and pronoun.token <= 2:
            yield "topic"
        if candidate.verb == pronoun.verb and candidate.verb not in language.light:
            yield "same verb"
    if pronoun.genders and candidate.kind is not Kind.DEMONSTRATIVE:
        yield agreement(candidate, pronoun, language)


DISTANCES = tuple(f"distance {number}" for number in range(FAR + 1))


def agreement(candidate: Candidate, pronoun: Pronoun, language: Language) -> str:
    """Whether the genders fit."""
    if candidate.phrase is None:
        fits = language.genders(candidate.word) & pronoun.genders
        return "pronoun gender fits" if fits else "pronoun gender differs"
    if not candidate.phrase.gender:
        return "gender unknown"
    if candidate.phrase.gender in pronoun.genders:
        return "gender fits"
    return "gender of a name differs" if candidate.phrase.name else "gender differs"


def nothing_features(sentence: Sentence, pronoun: Pronoun, language: Language) -> Iterator[str]:
    """Of a pronoun that stands for no noun: it is pleonastic, or stands for an event or a whole clause."""
    index = pronoun.token
    token = sentence[index]
    head = index if token.head is None else token.head
    lemma, below = sentence[head].lemma.lower(), sentence.children[head]
    after = [child for child in below if child > index]
    yield "nothing"
    yield f"nothing, {pronoun.word}"
    yield f"nothing, {pronoun.role}"
    if index == 0:
        yield "nothing, first word"
    if token.role == "expl":
        yield "expletive"
    if any(sentence[child].role in ("csubj", "ccomp") for child in after):
        yield "clause follows"
    if pronoun.role == "subject":
        yield from _as_subject(sentence, pronoun, head, lemma, language)
    else:
        if lemma in language.doing:
            yield "do it"
        if lemma in language.saying:
            yield "say it"
        if any(sentence[child].role == "xcomp" for child in after):
            yield "object with predicate"
    yield from _by_words(sentence, index, language)


def _as_subject(sentence: Sentence, pronoun: Pronoun, head: int, lemma: str, language: Language) -> Iterator[str]:
    below = sentence.children[head]
    after = [child for child in below if child > pronoun.token]
    if any(sentence[child].role == "cop" for child in below):
        yield f"is {sentence[head].upos}"
        if any(sentence[child].relation == "acl:relcl" for child in after):
            yield "cleft"
        if lemma in language.time:
            yield "is time"
    if sentence[head].upos in ("ADJ", "NOUN") and any(sentence[c].role in ("xcomp", "advcl", "acl") for c in after):
        yield "announces"
    if lemma in language.impersonal or any(normalise(sentence[child].text) in language.impersonal for child in below):
        yield "impersonal verb"
    if lemma in language.lasting:
        yield "lasting verb"
    if any(sentence[child].role == "nsubj" and child != pronoun.token for child in below):
        yield "another subject"


def _by_words(sentence: Sentence, index: int, language: Language) -> Iterator[str]:
    """What parsers often get wrong is looked for in the words themselves."""
    ahead = [normalise(token.text) for token in sentence.tokens[index + 1 : index + 1 + AHEAD]]
    if any(word in language.openers for word in ahead[1:5]):
        yield "opener ahead"
    before = sentence.tokens[max(0, index - 2) : index]
    if any(normalise(token.text) in language.questions for token in before):
        yield "question before"
    if before and normalise(before[-1].text) == "worth":
        yield "worth it"
