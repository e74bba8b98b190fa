"""Non-referential pronouns: pleonastic ones (it rains) and those that refer to an event (do it)."""

from __future__ import annotations

from collections.abc import Iterator

from anaphora.annotate.document import Sentence
from anaphora.coref.features import Pronoun
from anaphora.coref.phrases import verb_of
from anaphora.coref.pronouns import Language, pronoun_role
from anaphora.languages.pronouns import normalize_word

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
