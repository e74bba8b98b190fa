"""Sentences in which a pronoun takes another gender, for languages with a table [swap] in their data file.

Predicates and participles that agree with the pronoun change with it. Each must have the form that the rules expect of
it; otherwise the rules do not cover the sentence, and the pronoun is not swapped, with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from anaphora.core.errors import AnaphoraError
from anaphora.languages import GENDERS, NUMBERS, match_case, names_with, table

if TYPE_CHECKING:
    from anaphora.annotate.document import Sentence

UNKNOWN = "?"

Endings = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PronounRow:
    """Pronouns that differ only in gender; relations: the dependency relations in which they occur."""

    case: str
    number: str
    relations: frozenset[str]
    forms: Mapping[str, str]

    def gender(self, form: str) -> str | None:
        """The gender of a form; None if it is not a form of the row, or has more than one gender."""
        genders = [gender for gender, own in self.forms.items() if own == form]
        return genders[0] if len(genders) == 1 else None


@dataclass(frozen=True, slots=True)
class SwapForms:
    """The forms of a language that depend on the gender of a pronoun.

    subject: auxiliaries with which a participle agrees with its subject; never: those with which it never agrees
    participles: masculine and feminine endings by number
    lemmas: wrong lemmas of taggers, and the right ones
    words, feminine: feminine adjectives from the masculine singular; plurals are formed from the singular
    never_masculine: endings of wrong lemmas
    joins: what happens where a pronoun meets other words (s'il, si elle)
    """

    rows: tuple[PronounRow, ...]
    subject: frozenset[str]
    never: frozenset[str]
    participles: Mapping[str, Endings]
    lemmas: Mapping[str, str]
    words: Mapping[str, str]
    feminine: Endings
    never_masculine: tuple[str, ...]
    masculine_plural: Endings
    feminine_plural: Endings
    joins: tuple[tuple[re.Pattern[str], str], ...]

    def participle(self, form: str, gender: str, number: str, new: str) -> str | None:
        """A participle in another gender; None if its ending is ambiguous."""
        order = 1 if gender == "Masc" else -1
        fitting = [pair[::order] for pair in self.participles.get(number, ()) if form.endswith(pair[::order][0])]
        longest = max((len(old) for old, _ in fitting), default=0)
        made = {form.removesuffix(old) + other for old, other in fitting if len(old) == longest}
        if len(made) != 1:
            return None  # unknown, or two ways: pris, prises; finis, finies
        return form if new == gender else made.pop()

    def adjective(self, lemma: str, gender: str, number: str) -> str | None:
        """An adjective in a gender and number; None if no rule applies."""
        lemma = self.lemmas.get(lemma, lemma)
        if self.never_masculine and lemma.endswith(self.never_masculine):
            return None
        form: str | None = lemma
        if gender == "Fem":
            form = self.words.get(lemma) or changed(lemma, self.feminine)
        if number == "Plur" and form is not None:
            form = changed(form, self.masculine_plural if gender == "Masc" else self.feminine_plural)
        return form


def changed(word: str, endings: Endings) -> str | None:
    """A word with its longest matching ending replaced; None if there is no rule."""
    for old, new in sorted(endings, key=lambda pair: -len(pair[0])):
        if word.endswith(old):
            return None if new == UNKNOWN else word[: len(word) - len(old)] + new
    return None


@cache
def load_forms(language: str) -> SwapForms:
    """The forms of a language."""
    data = table(language, "swap")
    if data is None:
        known = ", ".join(names_with("swap"))
        raise AnaphoraError(
            f"the forms for swapping pronouns of {language!r} are not known (known: {known}). "
            f"Add a table [swap] to {language}.toml: see docs/extending.md"
        )
    adjectives, auxiliaries = data["adjectives"], data["auxiliaries"]
    return SwapForms(
        rows=tuple(
            PronounRow(
                row["case"],
                NUMBERS[row["number"]],
                frozenset(row["relations"]),
                {gender: row[letter] for letter, gender in GENDERS.items() if letter in row},
            )
            for row in data["pronouns"]
        ),
        subject=frozenset(auxiliaries["subject"]),
        never=frozenset(auxiliaries.get("never", ())),
        participles={NUMBERS[number]: _endings(pairs) for number, pairs in data["participles"].items()},
        lemmas=adjectives.get("lemmas", {}),
        words=adjectives["words"],
        feminine=_endings(adjectives["feminine"]),
        never_masculine=tuple(adjectives.get("never_masculine", ())),
        masculine_plural=_endings(adjectives["masculine_plural"]),
        feminine_plural=_endings(adjectives["feminine_plural"]),
        joins=tuple((re.compile(join["at"]), join["write"]) for join in data.get("joins", ())),
    )


def _endings(pairs: Sequence[Sequence[str]]) -> Endings:
    return tuple((old, new) for old, new in pairs)


# The sentence

WITH_PRONOUN = frozenset({"amod", "det", "nummod", "appos", "acl", "flat", "fixed", "nmod"})  # elle-même, eux deux


class Variant(NamedTuple):
    """A sentence with another pronoun."""

    pronoun: str
    text: str


@dataclass(frozen=True, slots=True)
class Swap:
    """A pronoun and the same sentence with pronouns of other genders.

    case: its case in the sentence; cases, genders: those that its form can have (*sie*; *ihm*)
    variants: by gender
    """

    case: str
    cases: frozenset[str]
    genders: frozenset[str]
    number: str
    variants: Mapping[str, Variant]


def swap_pronoun(sentence: Sentence, index: int, forms: SwapForms) -> Swap | str:
    """Swap a pronoun, or return in two words why that is not possible."""
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
    following = sentence[index + 1].text if index + 1 < len(sentence) else ""
    hyphenated = not token.space_after and following.startswith("-")  # elle-même, in one or several tokens
    if any(child.role in WITH_PRONOUN for child in children) or hyphenated:
        return "predicate agrees"
    positions = _agreeing(sentence, index, row, gender, forms)
    if isinstance(positions, str):
        return positions
    agreeing: dict[int, Mapping[str, str]] = {}  # forms by gender
    for position in positions:
        inflected = _forms(sentence, position, gender, row, forms)
        if inflected is None:
            return "agreement unclear"
        agreeing[position] = inflected
    if any(
        _doubtful(sentence, position, index, forms) for position in range(len(sentence)) if position not in agreeing
    ):
        return "agreement unclear"
    variants = {}
    for other, word in row.forms.items():
        if other != gender:
            words = {i: match_case(inflected[other], sentence[i].text) for i, inflected in agreeing.items()}
            words[index] = match_case(word, token.text)
            variants[other] = Variant(words[index], _text(sentence, words, index, forms))
    return Swap(row.case, frozenset({row.case}), frozenset({gender}), row.number, variants)


def _text(sentence: Sentence, words: Mapping[int, str], index: int, forms: SwapForms) -> str:
    parts = [words.get(i, token.text) + " " * token.space_after for i, token in enumerate(sentence)]
    text, position = "".join(parts), sum(map(len, parts[:index]))
    for pattern, new in forms.joins:  # only where the pronoun itself is met
        match = next((m for m in pattern.finditer(text) if m.start() <= position < m.end()), None)
        if match:
            joined = match.expand(new)
            text = text[: match.start()] + joined + text[match.end() :]
            position = match.start() + len(joined) - len(words[index])
    return text.rstrip(" ")


def _agreeing(sentence: Sentence, index: int, row: PronounRow, gender: str, forms: SwapForms) -> tuple[int, ...] | str:
    """The tokens that agree with the pronoun."""
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
    tokens: list[int] = []
    if subject:
        agrees = copula or _with_subject(sentence, head, forms)
        if agrees and _inflects(sentence, head):
            reflexive = any(sentence[c].features.get("Reflex") == "Yes" for c in below)
            if reflexive and gender == "Masc":
                return "agreement unclear"  # il s'est lavé, but also il s'est dit
            tokens += _joined(sentence, head)
        if _has_object(sentence, head):
            return tuple(tokens)  # what follows describes the object: il la rend heureuse
    elif _participle(sentence, head) and not _with_subject(sentence, head, forms) and _auxiliary(sentence, head, forms):
        tokens.append(head)
    for child in below:
        if sentence[child].role == "xcomp" and _inflects(sentence, child):
            tokens += _joined(sentence, child)
    return tuple(tokens)


def _doubtful(sentence: Sentence, index: int, pronoun: int, forms: SwapForms) -> bool:
    """Whether a token may agree with the pronoun in a way that the rules do not cover."""
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
        if any(child != pronoun and sentence[child].role in ("nsubj", "csubj") for child in sentence.children[below]):
            return False
        if above == predicate:
            of_object = sentence[below].role == "xcomp" and subject and _has_object(sentence, above)
            return not of_object  # il la rend heureuse
        if sentence[above].upos in ("NOUN", "PROPN", "PRON"):
            return False
    return index == predicate and subject


def _nominal(sentence: Sentence, head: int) -> bool:
    """Whether the predicate is nominal and agrees in unknown ways: *il est le premier*, *elle est une des deux*."""
    determined = any(sentence[c].upos in ("DET", "NUM") for c in sentence.children[head])
    return sentence[head].upos in ("PRON", "DET", "NUM") or (sentence[head].upos == "ADJ" and determined)


def _joined(sentence: Sentence, head: int) -> Iterator[int]:
    """A predicate and its conjuncts without a subject of their own: *grande et belle*."""
    yield head
    for child in sentence.children[head]:
        own = any(sentence[c].role in ("aux", "cop", "nsubj", "csubj") for c in sentence.children[child])
        if sentence[child].role == "conj" and _inflects(sentence, child) and not own:
            yield from _joined(sentence, child)


def _participle(sentence: Sentence, index: int) -> bool:
    return sentence[index].features.get("VerbForm") == "Part" and sentence[index].features.get("Tense") != "Pres"


def _inflects(sentence: Sentence, index: int) -> bool:
    return sentence[index].upos == "ADJ" or _participle(sentence, index)


def _has_object(sentence: Sentence, index: int) -> bool:
    return any(sentence[child].role == "obj" for child in sentence.children[index])


def _with_subject(sentence: Sentence, index: int, forms: SwapForms) -> bool:
    """Whether a participle has an auxiliary with which it agrees with its subject, among others: *elle a été vue*."""
    return any(
        sentence[child].role == "aux"
        and (sentence[child].relation == "aux:pass" or sentence[child].lemma.lower() in forms.subject)
        for child in sentence.children[index]
    )


def _auxiliary(sentence: Sentence, index: int, forms: SwapForms) -> bool:
    """Whether a participle has an auxiliary with which it agrees with a preceding object."""
    lemmas = [sentence[c].lemma.lower() for c in sentence.children[index] if sentence[c].role == "aux"]
    return bool(lemmas) and not any(lemma in forms.never for lemma in lemmas)


def _forms(sentence: Sentence, index: int, gender: str, row: PronounRow, forms: SwapForms) -> Mapping[str, str] | None:
    """The forms of a token by gender; None unless its own form is the one that the rules expect."""
    token = sentence[index]
    text = token.text.lower()
    inflected = {}
    for new in row.forms:
        if _participle(sentence, index):
            inflected_form = forms.participle(text, gender, row.number, new)
        else:
            inflected_form = forms.adjective(token.lemma.lower(), new, row.number)
        if inflected_form is None:
            return None
        inflected[new] = inflected_form
    return inflected if inflected[gender] == text else None
