"""Binary features of candidate antecedents, by name; their weights are in `data/weights.toml`.

They are the classical ones of rule-based resolution: agreement, recency, grammatical role, parallelism, definiteness
and repetition (Lappin & Leass 1994; Mitkov 1998), and animacy. Binding is in `phrases.py`; the features of
non-referential pronouns follow below.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from anaphora.annotate.document import Document, Sentence
from anaphora.coref.phrases import Phrase, verb_of
from anaphora.coref.pronouns import Language, pronoun_role
from anaphora.languages.pronouns import normalize_word

FAR = 4  # sentences or more
RANKS = ("rank 0", "rank 1", "rank 2", "rank 3", *("rank 4–6",) * 3, *("rank 7–11",) * 5)
LONG = 4  # words


class Kind(Enum):
    """The kind of an earlier mention."""

    NOUN = "noun"
    PRONOUN = "pronoun"
    DEMONSTRATIVE = "demonstrative"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An earlier mention, a candidate antecedent of the pronouns after it.

    plural: also true of phrases joined by *and*; person: a noun for persons, to which only plural pronouns refer
    word: the lemma of a noun phrase, the form of a pronoun; verb: the lemma of the predicate it is an argument of
    """

    sentence: int
    token: int
    kind: Kind
    word: str
    role: str
    verb: str
    phrase: Phrase | None = None
    features: tuple[str, ...] = ()  # independent of the pronoun
    plural: bool = False
    person: bool = False


@dataclass(frozen=True, slots=True)
class Pronoun:
    """A pronoun to be linked; genders: those that its antecedent can have, empty if it can have any."""

    sentence: int
    token: int
    word: str
    role: str
    verb: str
    genders: frozenset[str]
    plural: bool = False


def own_features(phrase: Phrase, document: Document, seen: int, language: Language) -> tuple[str, ...]:
    """The features of a noun phrase by itself; seen: how often its noun has occurred in the document so far."""
    sentence = document.sentences[phrase.mention.sentence]
    below = sentence.children[phrase.mention.head]
    features = [f"article {phrase.article}", f"role {phrase.role}"]
    features += ["conjunct"] * phrase.conjunct
    features += ["time"] * (phrase.lemma in language.time)
    features += ["vague"] * (phrase.lemma in language.vague)
    features += ["person"] * is_person(phrase, sentence, language)
    features += ["repeated"] * (seen > 1) + ["frequent"] * (seen > 3)
    features += ["negated"] * any(normalize_word(sentence[child].text) in language.negations for child in below)
    features += ["relative clause"] * any(sentence[child].relation == "acl:relcl" for child in below)
    features += ["long"] * (phrase.mention.end - phrase.mention.start >= LONG)
    features += ["first"] * (phrase.mention.start == 0)
    return tuple(features)


def is_person(phrase: Phrase, sentence: Sentence, language: Language) -> bool:
    """Whether a name is that of a person: after a title, as the subject of a human verb, or as a speaker (Mary: …)."""
    if not phrase.name or not language.human_verbs:
        return False
    mention = phrase.mention
    titled = any(
        normalize_word(token.text) in language.titles for token in sentence.tokens[mention.start : mention.head]
    )
    speaks = mention.start == 0 and mention.end < len(sentence) and sentence[mention.end].text in (":", ",")
    return titled or speaks or (phrase.role == "subject" and verb_of(sentence, mention.head) in language.human_verbs)


def pair_features(candidate: Candidate, pronoun: Pronoun, rank: int, language: Language) -> Iterator[str]:
    """The features of a mention as the antecedent of a pronoun; rank: the number of nearer nouns that fit."""
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
    """The feature that says whether the genders agree."""
    if candidate.phrase is None:
        fits = language.genders(candidate.word) & pronoun.genders
        return "pronoun gender fits" if fits else "pronoun gender differs"
    if not candidate.phrase.gender:
        return "gender unknown"
    if candidate.phrase.gender in pronoun.genders:
        return "gender fits"
    return "gender of a name differs" if candidate.phrase.name else "gender differs"


# Non-referential pronouns: pleonastic ones (it rains) and those that refer to an event (do it).

AHEAD = 8  # words among which the clause that a pleonastic pronoun announces begins
PLEONASTIC = frozenset(
    {
        "announces",
        "another subject",
        "clause follows",
        "cleft",
        "expletive",
        "impersonal verb",
        "is time",
        "lasting verb",
        "worth it",
    }
)
ANNOUNCING = frozenset({"object with predicate", "opener ahead"})  # make it easier to …
EVENT = frozenset({"do it", "say it"})
CERTAIN = frozenset({"impersonal verb", "is time", "worth it"})  # rules without known exceptions


def classify(sentence: Sentence, index: int, language: Language) -> str | None:
    """`pleonastic`, `event`, or None if no rule applies (which does not mean that there is an antecedent)."""
    features = _features(sentence, index, language)
    if features & PLEONASTIC or features >= ANNOUNCING:
        return "pleonastic"
    return "event" if features & EVENT else None


def classify_certain(sentence: Sentence, index: int, language: Language, *, doing: bool = False) -> str | None:
    """The same by the rules without known exceptions.

    doing: also apply the rule for verbs of doing (do it), which is not certain in German (es schaffen)
    """
    features = _features(sentence, index, language)
    if features & CERTAIN or features >= ANNOUNCING:
        return "pleonastic"
    return "event" if doing and "do it" in features else None


def _features(sentence: Sentence, index: int, language: Language) -> set[str]:
    form = normalize_word(sentence[index].text)
    role = pronoun_role(sentence, index, language)
    pronoun = Pronoun(0, index, form, role, verb_of(sentence, index), language.genders(form))
    return set(nonreferential_features(sentence, pronoun, language))


def nonreferential_features(sentence: Sentence, pronoun: Pronoun, language: Language) -> Iterator[str]:
    """The features of a pronoun as a non-referential one: pleonastic, or referring to an event or a clause."""
    index = pronoun.token
    token = sentence[index]
    head = index if token.head is None else token.head
    lemma, below = sentence[head].lemma.lower(), sentence.children[head]
    after = [child for child in below if child > index]
    yield "non-referential"
    yield f"non-referential, {pronoun.word}"
    yield f"non-referential, {pronoun.role}"
    if index == 0:
        yield "non-referential, first word"
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
    if lemma in language.impersonal or any(
        normalize_word(sentence[child].text) in language.impersonal for child in below
    ):
        yield "impersonal verb"
    if lemma in language.lasting:
        yield "lasting verb"
    if any(sentence[child].role == "nsubj" and child != pronoun.token for child in below):
        yield "another subject"


def _by_words(sentence: Sentence, index: int, language: Language) -> Iterator[str]:
    """Features of the words alone, for constructions that parsers often get wrong."""
    ahead = [normalize_word(token.text) for token in sentence.tokens[index + 1 : index + 1 + AHEAD]]
    if any(word in language.openers for word in ahead[1:5]):
        yield "opener ahead"
    before = sentence.tokens[max(0, index - 2) : index]
    if any(normalize_word(token.text) in language.questions for token in before):
        yield "question before"
    if before and normalize_word(before[-1].text) == "worth":
        yield "worth it"
