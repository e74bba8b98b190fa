"""A sentence in which a pronoun takes another gender, in languages whose forms are in a data file (`swap_forms.py`).

Predicates and participles that agree with the pronoun follow. Each must have the form that the rules expect of it as it
is, otherwise the rules do not know enough: then the pronoun is not swapped, with a reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from anaphora.annotate.document import Sentence
from anaphora.languages.german import as_in
from anaphora.languages.swap_forms import PronounRow, SwapForms, load_forms

__all__ = ["Swappable", "load_forms", "swappable"]

WITH_PRONOUN = frozenset({"amod", "det", "nummod", "appos", "acl", "flat", "fixed", "nmod"})  # elle-même, eux deux


@dataclass(frozen=True, slots=True)
class Swappable:
    """A pronoun that can take other genders; agreeing: tokens that go with it, with their forms by gender."""

    sentence: Sentence
    index: int
    row: PronounRow
    gender: str
    agreeing: Mapping[int, Mapping[str, str]]
    forms: SwapForms

    @property
    def case(self) -> str:
        return self.row.case

    @property
    def number(self) -> str:
        return self.row.number

    def others(self) -> dict[str, tuple[str, str]]:
        """By gender, the pronoun and the sentence with it."""
        own = self.sentence[self.index].text
        found = {}
        for gender, form in self.row.forms.items():
            if gender != self.gender:
                pronoun = as_in(form, own)
                found[gender] = pronoun, self._text(gender, pronoun)
        return found

    def _text(self, gender: str, pronoun: str) -> str:
        words = {index: as_in(forms[gender], self.sentence[index].text) for index, forms in self.agreeing.items()}
        words[self.index] = pronoun
        parts = [words.get(i, token.text) + " " * token.space_after for i, token in enumerate(self.sentence)]
        text, place = "".join(parts), sum(map(len, parts[: self.index]))
        for pattern, new in self.forms.joins:  # only where the pronoun itself is met
            match = next((m for m in pattern.finditer(text) if m.start() <= place < m.end()), None)
            if match:
                made = match.expand(new)
                text = text[: match.start()] + made + text[match.end() :]
                place = match.start() + len(made) - len(pronoun)
        return text.rstrip(" ")


def swappable(sentence: Sentence, index: int, forms: SwapForms) -> Swappable | str:
    """How a pronoun can be changed, or, in a few words, why not."""
    token = sentence[index]
    form = token.text.lower()
    if not any(form in row.forms.values() for row in forms.rows):
        return "no pronoun"
    row = next((r for r in forms.rows if form in r.forms.values() and token.role in r.relations), None)
    gender = row.gender(form) if row else None
    if row is None or gender is None:
        return "case unclear"
    children = [sentence[child] for child in sentence.children[index]]
    if any(child.relation == "acl:relcl" for child in children):
        return "relative clause"
    if any(child.role in WITH_PRONOUN for child in children) or _hyphen(sentence, index):
        return "predicate agrees"
    places = _agreeing(sentence, index, row, gender, forms)
    if isinstance(places, str):
        return places
    agreeing = {}
    for place in places:
        found = _forms(sentence, place, gender, row, forms)
        if found is None:
            return "agreement unclear"
        agreeing[place] = found
    if any(_doubtful(sentence, place, index, forms) for place in range(len(sentence)) if place not in agreeing):
        return "agreement unclear"
    return Swappable(sentence, index, row, gender, agreeing, forms)


def _agreeing(sentence: Sentence, index: int, row: PronounRow, gender: str, forms: SwapForms) -> tuple[int, ...] | str:
    """The words that have the pronoun's gender from it."""
    head = sentence[index].head
    if row.case == "stressed" or head is None or sentence[index].role not in ("nsubj", "expl", "obj"):
        return ()
    below = sentence.children[head]
    copula = any(sentence[child].role == "cop" for child in below)
    subject = sentence[index].role != "obj"
    if subject and copula and _nominal(sentence, head):
        return "predicate agrees"
    if subject and copula and sentence[head].upos == "VERB" and not _participle(sentence, head):
        return "agreement unclear"  # `active` as a verb: the tagger did not understand it
    found: list[int] = []
    if subject:
        agrees = copula or _with_subject(sentence, head, forms)
        if agrees and _inflects(sentence, head):
            reflexive = any(sentence[c].features.get("Reflex") == "Yes" for c in below)
            if reflexive and gender == "Masc":
                return "agreement unclear"  # il s'est lavé, but also il s'est dit
            found += _joined(sentence, head)
        if _has_object(sentence, head):
            return tuple(found)  # what follows is said of the object: il la rend heureuse
    elif _participle(sentence, head) and not _with_subject(sentence, head, forms) and _auxiliary(sentence, head, forms):
        found.append(head)
    for child in below:
        if sentence[child].role == "xcomp" and _inflects(sentence, child):
            found += _joined(sentence, child)
    return tuple(found)


def _hyphen(sentence: Sentence, index: int) -> bool:
    """`elle-même`, in however many tokens."""
    following = sentence[index + 1].text if index + 1 < len(sentence) else ""
    return not sentence[index].space_after and following.startswith("-")


def _doubtful(sentence: Sentence, index: int, pronoun: int, forms: SwapForms) -> bool:
    """Whether a word may have its gender from the pronoun without the rules knowing: as part of what is said of it."""
    token, predicate = sentence[index], sentence[pronoun].head
    if token.upos not in ("ADJ", "VERB") or not _inflects(sentence, index):
        return False
    lemma = token.lemma.lower()
    if token.upos == "ADJ" and forms.adjective(lemma, "Fem", "Sing") == lemma:
        return False  # rapide
    if _auxiliary(sentence, index, forms) and not _with_subject(sentence, index, forms):
        return False  # elle a mangé
    subject = sentence[pronoun].role != "obj"
    for below, above in zip((index, *sentence.ancestors(index)), sentence.ancestors(index), strict=False):
        if _has_other_subject(sentence, below, pronoun):
            return False
        if above == predicate:
            of_object = sentence[below].role == "xcomp" and subject and _has_object(sentence, above)
            return not of_object  # il la rend heureuse
        if sentence[above].upos in ("NOUN", "PROPN", "PRON"):
            return False
    return index == predicate and subject


def _nominal(sentence: Sentence, head: int) -> bool:
    """`il est le premier`, `elle est une des deux`: what is said of the pronoun agrees with it, in unknown ways."""
    determined = any(sentence[c].upos in ("DET", "NUM") for c in sentence.children[head])
    return sentence[head].upos in ("PRON", "DET", "NUM") or (sentence[head].upos == "ADJ" and determined)


def _joined(sentence: Sentence, head: int) -> Iterator[int]:
    """A predicate and those joined to it that have no subject of their own: grande et belle."""
    yield head
    for child in sentence.children[head]:
        own = any(sentence[c].role in ("aux", "cop", "nsubj", "csubj") for c in sentence.children[child])
        if sentence[child].role == "conj" and _inflects(sentence, child) and not own:
            yield from _joined(sentence, child)


def _participle(sentence: Sentence, index: int) -> bool:
    return sentence[index].features.get("VerbForm") == "Part" and sentence[index].features.get("Tense") != "Pres"


def _inflects(sentence: Sentence, index: int) -> bool:
    return sentence[index].upos == "ADJ" or _participle(sentence, index)


def _has_other_subject(sentence: Sentence, index: int, pronoun: int) -> bool:
    return any(child != pronoun and sentence[child].role in ("nsubj", "csubj") for child in sentence.children[index])


def _has_object(sentence: Sentence, index: int) -> bool:
    return any(sentence[child].role == "obj" for child in sentence.children[index])


def _with_subject(sentence: Sentence, index: int, forms: SwapForms) -> bool:
    """Whether a participle agrees with its subject: it has an auxiliary of that kind. Several: elle a été vue."""
    return any(
        sentence[child].role == "aux"
        and (sentence[child].relation == "aux:pass" or sentence[child].lemma.lower() in forms.subject)
        for child in sentence.children[index]
    )


def _auxiliary(sentence: Sentence, index: int, forms: SwapForms) -> bool:
    """Whether it has one with which it agrees with an object before it."""
    found = [sentence[c].lemma.lower() for c in sentence.children[index] if sentence[c].role == "aux"]
    return bool(found) and not any(lemma in forms.never for lemma in found)


def _forms(sentence: Sentence, index: int, gender: str, row: PronounRow, forms: SwapForms) -> Mapping[str, str] | None:
    """A word by gender; None unless it has the form that the rules expect of the pronoun's gender."""
    token = sentence[index]
    text = token.text.lower()
    found = {}
    for new in row.forms:
        if _participle(sentence, index):
            made = forms.participle(text, gender, row.number, new)
        else:
            made = forms.adjective(token.lemma.lower(), new, row.number)
        if made is None:
            return None
        found[new] = made
    return found if found[gender] == text else None
