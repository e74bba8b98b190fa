"""German sentences in which a pronoun takes another gender, with the right case and agreeing possessives.

Sentences that need other changes are refused with a reason: a relative clause on the pronoun, a predicate that agrees
with it (*er ist der beste*), a possessive with an unclear possessor.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from anaphora.languages.german import FORMS, GENDERS, cases_of, genders_of, possessive, possessor_genders, pronoun
from anaphora.languages.swap import Swap, Variant

if TYPE_CHECKING:
    from anaphora.annotate.document import Sentence

FIRST_OR_SECOND = frozenset({"1", "2"})


def swap_pronoun(sentence: Sentence, index: int) -> Swap | str:
    """Swap a third-person singular pronoun, or return in two words why that is not possible."""
    token = sentence[index]
    if token.text.lower() not in FORMS:
        return "no pronoun"
    case = case_of(sentence, index)
    if case is None:
        return "case unclear"
    genders = genders_of(token.text, case)
    if any(sentence[child].relation == "acl:relcl" for child in sentence.children[index]):
        return "relative clause"
    if case == "Nom" and _agreeing_predicate(sentence, index):
        return "predicate agrees"
    possessives = _possessives(sentence, index, min(genders))
    if possessives is None:
        return "possessive unclear"
    variants = {}
    for gender in GENDERS:
        if gender not in genders:
            words = {i: possessive(sentence[i].text, gender) for i in possessives}
            words[index] = pronoun(gender, case, like=token.text)
            variants[gender] = Variant(words[index], with_words(sentence, words))
    return Swap(case, cases_of(token.text), genders, "Sing", variants)


def case_of(sentence: Sentence, index: int) -> str | None:
    """The case of a pronoun: by its form, a preposition, the clause's other subject, its role, the tagger."""
    token = sentence[index]
    cases = cases_of(token.text)
    if len(cases) == 1:
        return next(iter(cases))
    children = sentence.children[index]
    if any(sentence[child].role == "case" and sentence[child].upos == "ADP" for child in children):
        return "Acc"
    if token.head is not None and _other_subject(sentence, index, token.head):
        return "Acc"
    if token.role in ("nsubj", "expl"):
        return "Nom"
    if token.role in ("obj", "iobj"):
        return "Acc"
    tagged = token.features.get("Case", "")
    return tagged if tagged in cases else None


def with_words(sentence: Sentence, words: Mapping[int, str]) -> str:
    """The text of a sentence with some of its tokens replaced."""
    parts = (words.get(i, t.text) + " " * t.space_after for i, t in enumerate(sentence.tokens))
    return "".join(parts).rstrip(" ")


def _other_subject(sentence: Sentence, index: int, head: int) -> bool:
    """Whether the clause has another subject; *es* before a following subject is an expletive."""
    before_or_plain = sentence[index].role not in ("nsubj", "expl")
    others = [c for c in sentence.children[head] if c != index and sentence[c].role == "nsubj"]
    return any(sentence[c].features.get("Case", "Nom") == "Nom" and (before_or_plain or c < index) for c in others)


def _agreeing_predicate(sentence: Sentence, index: int) -> bool:
    """Whether the predicate agrees with the pronoun: *er ist der beste*, *sie ist eine davon*."""
    head = sentence[index].head
    if head is None or not any(sentence[child].role == "cop" for child in sentence.children[head]):
        return False
    if sentence[head].upos in ("PRON", "DET", "NUM"):
        return True
    return sentence[head].upos == "ADJ" and any(sentence[c].upos == "DET" for c in sentence.children[head])


def _possessives(sentence: Sentence, index: int, gender: str) -> tuple[int, ...] | None:
    """The possessives that refer to the pronoun; None if that is unclear."""
    possessives = []
    for i, token in enumerate(sentence):
        if token.upos not in ("DET", "PRON", "ADV") or gender not in possessor_genders(token.text):
            continue
        if token.text in ("Ihr", "Ihre", "Ihren", "Ihrem", "Ihrer", "Ihres") and i > 0:
            continue  # polite
        if token.text.lower() == "ihr" and token.upos == "PRON" and token.features.get("Poss") != "Yes":
            continue  # to her
        owner = _possessor(sentence, i, index, gender)
        if owner is None:
            return None
        if owner:
            possessives.append(i)
    return tuple(possessives)


def _possessor(sentence: Sentence, possessive_: int, index: int, gender: str) -> bool | None:
    """Whether a possessive refers to the pronoun: the subject of its clause, or the only possible possessor.

    None if both are possible.
    """
    subject = _subject(sentence, possessive_)
    if subject == index:
        between = (i for i in range(index + 1, possessive_) if sentence[i].features.get("Number") == "Plur")
        several = any(sentence[i].upos in ("NOUN", "PROPN") and _can_own(sentence, i, gender) for i in between)
        return None if several else True  # sie sank, und Familien kehrten in ihre Orte zurück
    rivals = [
        i
        for i, token in enumerate(sentence)
        if i != index and i < possessive_ and token.upos in ("NOUN", "PROPN", "PRON") and _can_own(sentence, i, gender)
    ]
    if index > possessive_:
        return False if rivals else None
    return None if rivals else True


def _subject(sentence: Sentence, index: int) -> int | None:
    """The subject of the clause of a token, or of the next clause above that has one."""
    for above in sentence.ancestors(index):
        subjects = [child for child in sentence.children[above] if sentence[child].role == "nsubj"]
        if subjects and index not in sentence.subtree(subjects[0]):
            return subjects[0]
    return None


def _can_own(sentence: Sentence, index: int, gender: str) -> bool:
    """Whether a noun or pronoun can be the possessor by person and gender (a plural has *ihr*)."""
    features = sentence[index].features
    if features.get("Person", "3") in FIRST_OR_SECOND or features.get("PronType", "Prs") not in ("Prs", "Dem", "Rel"):
        return False
    if features.get("Poss") == "Yes" or features.get("Reflex") == "Yes":
        return False
    if features.get("Number") == "Plur":
        return gender == "Fem"
    own = features.get("Gender", gender)
    return own == gender or {own, gender} == {"Masc", "Neut"}
