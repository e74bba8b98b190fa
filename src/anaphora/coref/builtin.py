"""The built-in resolver: a log-linear ranking of earlier mentions, composed along chains of pronouns.

For each pronoun, the noun phrases and pronouns of the last sentences and the answer "non-referential" get a score, the
sum of the weights of their features; a softmax over the scores gives a distribution. The mass of an earlier pronoun is
passed on to its antecedents, so that a doubtful link makes all links that depend on it doubtful, and the confidence of
an antecedent is a probability. The resolver needs only the annotation; where a translation is aligned, `join` combines
the answers of both sides.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from anaphora.annotate.document import Document, Mention, Sentence
from anaphora.core.errors import AnaphoraError
from anaphora.core.parsing import read_toml
from anaphora.coref import Link
from anaphora.coref.features import Candidate, Kind, Pronoun, nonreferential_features, own_features, pair_features
from anaphora.coref.phrases import Phrase, phrases, role_of, verb_of, violates_binding
from anaphora.coref.pronouns import Language, is_plural_pronoun, is_pronoun, pronoun_role
from anaphora.coref.pronouns import language as language_of
from anaphora.languages.pronouns import normalize_word

WINDOW = 5  # sentences before that of the pronoun
MINIMUM = 0.001  # smaller probabilities are dropped
Weights = Mapping[str, float]
Use = tuple[str, str, str]  # a noun in the document: its lemma, its role, its verb


@dataclass(frozen=True, slots=True)
class Belief:
    """The probabilities of a pronoun's antecedents, the last phrase of each noun; the rest is non-referential."""

    phrases: Mapping[str, tuple[float, Phrase]]  # by noun

    @property
    def nonreferential(self) -> float:
        return max(0.0, 1 - sum(probability for probability, _ in self.phrases.values()))


@dataclass(frozen=True, slots=True)
class Question:
    """A pronoun, its candidates and their features; the last features are those of a non-referential pronoun."""

    pronoun: Pronoun
    candidates: tuple[Candidate, ...]
    features: tuple[tuple[str, ...], ...]


@cache
def weights(code: str) -> Weights:
    """The weights of a language: those of antecedents, which all languages share, and its own for non-reference."""
    data = read_toml(files("anaphora.coref") / "data" / "weights.toml")
    return {**data["antecedent"], **data[language_of(code).like]}


def questions(document: Document, language: Language) -> Iterator[Question]:
    """The pronouns of a document with their candidates, in text order."""
    nouns = [  # the noun phrases of each sentence by head, each with the verb of which it is an argument
        {p.mention.head: (p, verb_of(sentence, p.mention.head)) for p in phrases(document, number)}
        for number, sentence in enumerate(document.sentences)
    ]
    uses = {(noun.lemma, noun.role, verb) for by_head in nouns for noun, verb in by_head.values()}
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
                elif phrase.lemma in persons:  # a name that was a person once remains one
                    own = (*own, "person")
                known = phrase.lemma, phrase.role, verb, phrase, own, phrase.plural, person
                before.append(Candidate(number, index, Kind.NOUN, *known))
            elif is_pronoun(sentence, index, language):
                pronoun = _pronoun(sentence, number, index, language)
                yield _question(pronoun, before, sentence, language, uses)
                before.append(_mention(pronoun))
            elif sentence[index].upos == "PRON" and normalize_word(sentence[index].text) in language.demonstratives:
                before.append(_demonstrative(sentence, number, index))


def believe(question: Question, scores: Sequence[float], beliefs: Mapping[tuple[int, int], Belief]) -> Belief:
    """The antecedents of a pronoun from the scores of its candidates.

    "Non-referential" competes with all of them together: its mass is multiplied by their number, so that it does not
    become unlikely where there are many nouns.
    beliefs: those of the earlier pronouns, by sentence and token
    """
    highest = max(scores)
    masses = [math.exp(score - highest) for score in scores]
    masses[-1] *= len(scores)
    total = sum(masses)
    antecedents: dict[str, tuple[float, Phrase]] = {}

    def add(noun: str, probability: float, phrase: Phrase) -> None:
        total_so_far, last = antecedents.get(noun, (0.0, phrase))
        latest = max(last, phrase, key=lambda phrase: (phrase.mention.sentence, phrase.mention.head))
        antecedents[noun] = (total_so_far + probability, latest)

    for candidate, mass in zip(question.candidates, masses, strict=False):
        if candidate.phrase is not None:
            add(candidate.word, mass / total, candidate.phrase)
        elif candidate.kind is Kind.PRONOUN:
            for noun, (probability, phrase) in beliefs[candidate.sentence, candidate.token].phrases.items():
                add(noun, probability * mass / total, phrase)
    return Belief(
        {noun: (probability, phrase) for noun, (probability, phrase) in antecedents.items() if probability > MINIMUM}
    )


def resolve(document: Document, language: Language, by: Weights | None = None) -> Iterator[tuple[Pronoun, Belief]]:
    """The pronouns of a document with the probabilities of their antecedents."""
    weight = (by if by is not None else weights(language.code)).get
    beliefs: dict[tuple[int, int], Belief] = {}
    for question in questions(document, language):
        scores = [sum(weight(name, 0.0) for name in names) for names in question.features]
        belief = believe(question, scores, beliefs)
        beliefs[question.pronoun.sentence, question.pronoun.token] = belief
        yield question.pronoun, belief


def _question(
    pronoun: Pronoun, before: deque[Candidate], sentence: Sentence, language: Language, uses: Container[Use]
) -> Question:
    """A pronoun with its candidates, nearest first, each with the number of nearer nouns that fit."""
    remarkable = pronoun.verb not in language.light
    candidates: list[Candidate] = []
    features: list[tuple[str, ...]] = []
    nearer: set[str] = set()
    for candidate in reversed(before):
        if candidate.plural != pronoun.plural or (candidate.person and not pronoun.plural):
            continue
        noun, possessive = candidate.kind is Kind.NOUN, pronoun.role == "possessive"
        if candidate.sentence == pronoun.sentence and violates_binding(
            sentence, candidate.token, pronoun.token, noun=noun, possessive=possessive
        ):
            continue
        names = (*candidate.features, *pair_features(candidate, pronoun, len(nearer), language))
        if remarkable and candidate.phrase and (candidate.word, pronoun.role, pronoun.verb) in uses:
            names = (*names, "noun with this verb")
        candidates.append(candidate)
        features.append(names)
        if candidate.phrase and "person" not in names and "gender differs" not in names:
            nearer.add(candidate.word)
    features.append(tuple(nonreferential_features(sentence, pronoun, language)))
    return Question(pronoun, tuple(candidates), tuple(features))


def _pronoun(sentence: Sentence, number: int, index: int, language: Language) -> Pronoun:
    form = normalize_word(sentence[index].text)
    role = pronoun_role(sentence, index, language)
    plural = is_plural_pronoun(sentence, index, language)
    return Pronoun(number, index, form, role, verb_of(sentence, index), language.genders(form), plural)


def _mention(pronoun: Pronoun) -> Candidate:
    own = ("pronoun", f"role {pronoun.role}")
    known = pronoun.sentence, pronoun.token, Kind.PRONOUN, pronoun.word, pronoun.role, pronoun.verb
    return Candidate(*known, features=own, plural=pronoun.plural)


def _demonstrative(sentence: Sentence, number: int, index: int) -> Candidate:
    role = role_of(sentence, index)[0]
    form, verb = normalize_word(sentence[index].text), verb_of(sentence, index)
    return Candidate(number, index, Kind.DEMONSTRATIVE, form, role, verb, features=("demonstrative", f"role {role}"))


class BuiltinLinker:
    """The built-in resolver as a linker. by: other weights than those of the data file."""

    def __init__(self, setting: str, language: str, by: Weights | None = None) -> None:
        if setting:
            raise AnaphoraError(f"the linker 'builtin' takes no settings, but {setting!r} was given. Write: builtin")
        self._language, self._by = language_of(language), by

    def settings(self) -> Mapping[str, Any]:
        return {"linker": "builtin", "language": self._language.code}

    def links(self, document: Document) -> list[Link]:
        return [_link(pronoun, belief) for pronoun, belief in resolve(document, self._language, self._by)]


def _link(pronoun: Pronoun, belief: Belief) -> Link:
    """A link to the best phrase if it is likelier than that the pronoun is non-referential."""
    ranked = sorted(((p, phrase.mention) for p, phrase in belief.phrases.values()), key=lambda pair: -pair[0])
    mention = Mention(pronoun.sentence, pronoun.token, pronoun.token + 1, pronoun.token)
    candidates = tuple((phrase, probability) for probability, phrase in ranked)
    if not ranked or belief.nonreferential >= ranked[0][0]:
        return Link(mention, None, belief.nonreferential, candidates)
    return Link(mention, ranked[0][1], ranked[0][0], candidates)


# Antecedents from both sides of a translation: the source pronoun's and, aligned to it, the target pronoun's.
#
# The gender of a German or French pronoun rules out most antecedents of English *it*, and English animacy and word
# order help in the other direction. The two distributions are not independent. Their probabilities are therefore not
# multiplied but pooled log-linearly, with weights that make the result a probability again.

LEAST = 1e-4  # smaller probabilities are raised to this

Position = tuple[int, int]  # sentence, token


@dataclass(frozen=True, slots=True)
class JointLink:
    """The antecedent of a pronoun on both sides; None: non-referential, or not confirmed by the other side."""

    source: Mention | None
    target: Mention | None
    confidence: float


@dataclass(frozen=True, slots=True)
class Weighed:
    """A possible antecedent of both pronouns with its features; without phrases: the pronouns are non-referential."""

    source: Mention | None
    target: Mention | None
    features: Mapping[str, float]


@cache
def joint_weights() -> Weights:
    """The weights for pooling."""
    return read_toml(files("anaphora.coref") / "data" / "joint.toml")


def weighed(
    source: Link, target: Link, aligned: Callable[[Position], Iterable[Position]], *, clausal: bool
) -> list[Weighed]:
    """The source's candidates with the aligned candidates of the target, and "non-referential" as the last choice."""
    by_head = {(m.sentence, m.head): (m, p) for m, p in target.candidates}
    choices = []
    for mention, probability in source.candidates:
        others = [by_head[head] for head in aligned((mention.sentence, mention.head)) if head in by_head]
        other = max(others, key=lambda pair: pair[1], default=None)
        features = {"source": _log(probability)}
        if other is None:
            choices.append(Weighed(mention, None, features | {"unaligned": 1.0}))
        else:
            choices.append(Weighed(mention, other[0], features | {"target": _log(other[1])}))
    nonreferential = {
        "non-referential, source": _log(source.nonreferential),
        "non-referential, target": _log(target.nonreferential),
        "non-referential": 1.0,
        "non-referential, clausal": float(clausal),
    }
    return [*choices, Weighed(None, None, nonreferential)]


def join(
    source: Link,
    target: Link,
    aligned: Callable[[Position], Iterable[Position]],
    *,
    clausal: bool = False,
    by: Weights | None = None,
) -> JointLink:
    """Combine the candidates of two pronouns that translate each other.

    aligned: the target tokens (sentence, token) to which a source token is aligned
    clausal: the target pronoun is often non-referential, as German *es*
    """
    weight = (by if by is not None else joint_weights()).get
    choices = weighed(source, target, aligned, clausal=clausal)
    scores = [sum(weight(name, 0.0) * value for name, value in choice.features.items()) for choice in choices]
    highest = max(scores)
    masses = [math.exp(score - highest) for score in scores]
    total = sum(masses)
    best, mass = max(
        ((choice, mass) for choice, mass in zip(choices, masses, strict=True) if choice.target or not choice.source),
        key=lambda pair: pair[1],
    )
    return JointLink(best.source, best.target, mass / total)


def _log(probability: float) -> float:
    return math.log(max(probability, LEAST))
