"""Noun phrases read off the dependencies, with the properties that matter for antecedents, and binding constraints."""

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
PARTS = frozenset({"flat", "compound", "fixed", "goeswith", "list"})  # a noun inside the name of another one
# dependents of a noun that belong to its phrase; clauses and further conjuncts do not
INNER = frozenset({"det", "amod", "nummod", "nmod", "flat", "compound", "fixed", "goeswith", "advmod", "clf"})
CLAUSES = frozenset({"root", "ccomp", "xcomp", "advcl", "acl", "csubj", "parataxis"})


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase.

    role: subject, object, oblique, modifier (of a noun), apposition, predicate or other; conjuncts have the role of
        their first conjunct
    article: definite, indefinite, demonstrative, possessive, quantified, name or bare
    gender: Masc, Fem, Neut, or "" if unknown; plural: also true of phrases joined by *and*
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
    """The span of a noun phrase without its preposition, its relative clauses and its conjuncts."""
    inner = [head]
    for child in sentence.children[head]:
        role = sentence[child].role
        if role in INNER and (role != "advmod" or child > head):
            inner += sentence.subtree(child)
    inner.sort()
    position = inner.index(head)
    start = end = head
    for index in reversed(inner[:position]):  # only contiguous tokens
        if index != start - 1:
            break
        start = index
    for index in inner[position + 1 :]:
        if index != end + 1:
            break
        end = index
    while end > head and sentence[end].upos == "PUNCT":
        end -= 1
    while start < head and sentence[start].upos == "PUNCT":
        start += 1
    return start, end + 1


def role_of(sentence: Sentence, index: int) -> tuple[str, bool]:
    """The role of a token in its clause, and whether it is a conjunct, which has the role of its first conjunct."""
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
    """The head of the clause of a token: a verb, or the predicate of a copula."""
    while True:
        token = sentence[index]
        if token.head is None or token.role in CLAUSES:
            return index
        if token.role == "conj":
            predicate = any(sentence[c].role in ("nsubj", "cop") for c in sentence.children[index])
            if predicate or token.upos in ("VERB", "AUX"):
                return index
        index = token.head


def verb_of(sentence: Sentence, index: int) -> str:
    """The lemma of the predicate of which a token is an argument."""
    head = sentence[index].head
    return sentence[index if head is None else predicate_of(sentence, head)].lemma.lower()


ARGUMENTS = frozenset({"nsubj", "obj", "iobj", "obl"})
# a clause attached to a noun by one of these is not part of its phrase
LOOSE = frozenset({"advcl", "parataxis", "conj", "ccomp", "list", "dep", "csubj", "nsubj"})


def violates_binding(sentence: Sentence, candidate: int, pronoun: int, *, noun: bool, possessive: bool) -> bool:
    """Whether grammar rules out an earlier token of the sentence as the antecedent of a non-reflexive pronoun.

    Ruled out are other arguments of the same predicate and phrases that contain the pronoun.
    noun: the candidate is a noun, not a pronoun; possessive: the pronoun is possessive and may refer to the subject
    """
    if noun and _within(sentence, candidate, pronoun):
        return True
    head = sentence[pronoun].head
    if possessive or head is None or sentence[candidate].head is None:
        return False
    top = candidate
    while sentence[top].role == "conj" and (above := sentence[top].head) is not None:
        top = above
    if sentence[top].head == head and sentence[top].role in ARGUMENTS | {"expl"}:
        return True
    return sentence[pronoun].role in ARGUMENTS - {"nsubj"} and top in _subjects(sentence, head)


def _within(sentence: Sentence, candidate: int, pronoun: int) -> bool:
    """Whether the pronoun is inside the candidate's phrase: the owner of [its car].

    Below a relative clause it may refer to the phrase: a generation that played when [it was young].
    """
    below, clauses = pronoun, 0
    for above in sentence.ancestors(pronoun):
        if above == candidate:
            return sentence[below].role not in LOOSE and clauses <= 1
        below = above
        clauses += sentence[above].role in CLAUSES
    return False


def _subjects(sentence: Sentence, head: int) -> list[int]:
    """The subjects of the clause of a token, including those shared with other verbs: she came and saw it."""
    verb = predicate_of(sentence, head)
    while True:
        subjects = [child for child in sentence.children[verb] if sentence[child].role == "nsubj"]
        above = sentence[verb].head
        if subjects or above is None or sentence[verb].role not in ("xcomp", "conj"):
            return subjects
        verb = above
