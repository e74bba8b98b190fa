"""What cannot be an antecedent by grammar: other arguments of the same predicate, phrases around the pronoun."""

from __future__ import annotations

from anaphora.annotate.document import Sentence
from anaphora.link.phrases import CLAUSES, predicate_of

ARGUMENTS = frozenset({"nsubj", "obj", "iobj", "obl"})
# a clause that is only attached to a noun, with these, is not part of its phrase
LOOSE = frozenset({"advcl", "parataxis", "conj", "ccomp", "list", "dep", "csubj", "nsubj"})


def bound(sentence: Sentence, candidate: int, pronoun: int, *, noun: bool, possessive: bool) -> bool:
    """Whether an earlier word of the sentence is ruled out as the antecedent of a (not reflexive) pronoun.

    noun: the candidate is a noun, not a pronoun; possessive: the pronoun is, and may stand for the subject
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

    Deeper than the relative clause it may stand for the phrase: a generation that played when [it was young].
    """
    below, clauses = pronoun, 0
    for above in sentence.ancestors(pronoun):
        if above == candidate:
            return sentence[below].role not in LOOSE and clauses <= 1
        below = above
        clauses += sentence[above].role in CLAUSES
    return False


def _subjects(sentence: Sentence, head: int) -> list[int]:
    """The subjects of a word's clause, those shared with other verbs included: she came and saw it."""
    verb = predicate_of(sentence, head)
    while True:
        subjects = [child for child in sentence.children[verb] if sentence[child].role == "nsubj"]
        above = sentence[verb].head
        if subjects or above is None or sentence[verb].role not in ("xcomp", "conj"):
            return subjects
        verb = above
