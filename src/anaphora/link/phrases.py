"""Noun phrases and pronouns of a document, read off the dependencies: what can be an antecedent, and its properties."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from anaphora.annotate.document import Document, Mention, Sentence

ROLES = {
    "nsubj": "subject",
    "csubj": "subject",
    "expl": "subject",
    "obj": "object",
    "iobj": "object",
    "obl": "oblique",
    "nmod": "modifier",
    "appos": "apposition",
    "root": "predicate",
    "xcomp": "predicate",
}
PARTS = frozenset({"flat", "compound", "fixed", "goeswith", "list"})  # a noun within another one's name
# what below a noun belongs to its phrase; clauses and further conjuncts do not
INNER = frozenset({"det", "amod", "nummod", "nmod", "flat", "compound", "fixed", "goeswith", "advmod", "clf"})
CLAUSES = frozenset({"root", "ccomp", "xcomp", "advcl", "acl", "csubj", "parataxis"})


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase.

    role: subject, object, oblique, modifier (of a noun), apposition, predicate or other; conjuncts have their first's
    article: definite, indefinite, demonstrative, possessive, quantified, name or bare
    gender: Masc, Fem, Neut, or "" where it is not known; plural: also of phrases joined by `and`
    """

    mention: Mention
    lemma: str
    role: str
    article: str
    gender: str
    plural: bool
    name: bool
    conjunct: bool


def phrases(document: Document, sentence: int) -> Iterator[Phrase]:
    """The noun phrases of a sentence in the order of their heads."""
    text = document.sentences[sentence]
    for index, token in enumerate(text):
        if token.upos in ("NOUN", "PROPN") and token.role not in PARTS:
            yield _phrase(text, sentence, index)


def _phrase(sentence: Sentence, number: int, index: int) -> Phrase:
    token = sentence[index]
    start, end = span(sentence, index)
    role, conjunct = role_of(sentence, index)
    return Phrase(
        mention=Mention(number, start, end, index),
        lemma=(token.lemma or token.text).lower(),
        role=role,
        article=_article(sentence, index),
        gender=token.features.get("Gender", ""),
        plural=token.features.get("Number") == "Plur"
        or any(sentence[c].role == "conj" for c in sentence.children[index]),
        name=token.upos == "PROPN",
        conjunct=conjunct,
    )


def span(sentence: Sentence, head: int) -> tuple[int, int]:
    """The words of a noun phrase without its preposition, without relative clauses and without what is joined to it."""
    inner = [head]
    for child in sentence.children[head]:
        role = sentence[child].role
        if role in INNER and (role != "advmod" or child > head):
            inner += sentence.subtree(child)
    inner.sort()
    place = inner.index(head)
    start = end = head
    for index in reversed(inner[:place]):  # without a gap, so that what is in between is the phrase's own
        if index != start - 1:
            break
        start = index
    for index in inner[place + 1 :]:
        if index != end + 1:
            break
        end = index
    while end > head and sentence[end].upos == "PUNCT":
        end -= 1
    while start < head and sentence[start].upos == "PUNCT":
        start += 1
    return start, end + 1


def role_of(sentence: Sentence, index: int) -> tuple[str, bool]:
    """What a word is in its clause, and whether it is joined to another one, whose role it has."""
    conjunct = False
    while sentence[index].role == "conj":
        head = sentence[index].head
        if head is None or sentence[head].upos in ("VERB", "AUX"):
            return "predicate", True
        index, conjunct = head, True
    relation = sentence[index].role
    if (
        relation in CLAUSES
        and not any(sentence[c].role == "cop" for c in sentence.children[index])
        and relation != "xcomp"
    ):
        return "other", conjunct
    return ROLES.get(relation, "predicate" if relation in CLAUSES else "other"), conjunct


def _article(sentence: Sentence, index: int) -> str:
    for child in sentence.children[index]:
        token = sentence[child]
        if token.upos in ("DET", "PRON") and child < index:
            features = token.features
            if features.get("Poss") == "Yes" or token.relation in ("nmod:poss", "det:poss"):
                return "possessive"
            if features.get("PronType") == "Dem":
                return "demonstrative"
            if features.get("Definite") == "Def":
                return "definite"
            if features.get("Definite") == "Ind":
                return "indefinite"
            return "quantified"
        if token.relation == "nmod:poss":
            return "possessive"
        if token.upos == "ADP" and token.features.get("Definite") == "Def":  # im, du
            return "definite"
        if token.role == "nummod":
            return "quantified"
    return "name" if sentence[index].upos == "PROPN" else "bare"


def predicate_of(sentence: Sentence, index: int) -> int:
    """The head of the clause that a word is in: a verb, or what is said with `be`."""
    while True:
        token = sentence[index]
        if token.head is None or token.role in CLAUSES or (token.role == "conj" and _clausal(sentence, index)):
            return index
        index = token.head


def _clausal(sentence: Sentence, index: int) -> bool:
    return sentence[index].upos in ("VERB", "AUX") or any(
        sentence[c].role in ("nsubj", "cop") for c in sentence.children[index]
    )


def verb_of(sentence: Sentence, index: int) -> str:
    """The lemma of the predicate that a word is an argument of."""
    head = sentence[index].head
    return sentence[index if head is None else predicate_of(sentence, head)].lemma.lower()
