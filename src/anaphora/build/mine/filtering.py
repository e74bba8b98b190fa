"""The filters of pronoun mining (ContraPro §3.1): aligned pronouns whose nominal antecedents are aligned as well.

Each step returns its result, or the reason for rejection.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from anaphora.align.alignment import Alignment
from anaphora.annotate.document import Document, Mention, Sentence, Token
from anaphora.core.errors import AnaphoraError, did_you_mean
from anaphora.coref import Link
from anaphora.coref.builtin import join
from anaphora.coref.phrases import span
from anaphora.languages import german_swap
from anaphora.languages.swap import Swap, Variant, load_forms, swap_pronoun

Position = tuple[int, int]  # sentence, token
Links = Mapping[Position, Link]


@dataclass(frozen=True, slots=True)
class Antecedents:
    """The antecedents of a pair of pronouns on both sides, with their confidence.

    fallback: the antecedents are pronouns, since no noun is known
    """

    source: Mention
    target: Mention
    confidence: float
    fallback: bool = False


class WordLinks:
    """The word alignment of a document in both directions; each sentence is indexed when it is first used."""

    def __init__(self, alignments: Sequence[Alignment]) -> None:
        self._alignments = alignments
        self._sides: dict[int, tuple[dict[int, list[int]], dict[int, list[int]]]] = {}

    def targets(self, position: Position) -> list[Position]:
        return [(position[0], j) for j in self._of(position[0])[0].get(position[1], ())]

    def sources(self, position: Position) -> list[Position]:
        return [(position[0], i) for i in self._of(position[0])[1].get(position[1], ())]

    def _of(self, number: int) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        if number not in self._sides:
            forth: dict[int, list[int]] = defaultdict(list)
            back: dict[int, list[int]] = defaultdict(list)
            for i, j in self._alignments[number] if number < len(self._alignments) else ():
                forth[i].append(j)
                back[j].append(i)
            self._sides[number] = forth, back
        return self._sides[number]


def target_pronoun(position: Position, source: Sentence, candidates: Iterable[int], words: WordLinks) -> int | str:
    """Return the target pronoun that is aligned to this source pronoun and to no other, or the reason for rejection."""
    pronouns = set(candidates)
    if not pronouns:
        return "no target pronoun"
    aligned = [j for _, j in words.targets(position) if j in pronouns]
    if not aligned:
        return "not aligned to a pronoun"
    if len(aligned) > 1:
        return "aligned to several"
    others = [i for _, i in words.sources((position[0], aligned[0])) if i != position[1]]
    return "aligned to several" if any(source[i].upos == "PRON" for i in others) else aligned[0]


def antecedents(
    source: Link,
    target: Link | None,
    words: WordLinks,
    document: Document,
    *,
    clausal: bool = False,
    fallback: bool = False,
    by: Mapping[str, float] | None = None,
) -> Antecedents | str:
    """Return the antecedents of both pronouns. Without a target link (the neuter rule), the source's decides.

    With chains, it is the last source noun phrase that is aligned to one of the target. The probabilities of the
    built-in resolver are pooled (`coref.builtin`).
    document: the target document; clausal: whether the target pronoun is often non-referential
    fallback: whether the last pronouns of chains without a noun are accepted
    """
    if target is None:
        return _by_source(source, words, document)
    if not source.candidates and not target.candidates:
        return _by_chains(source, target, words, fallback=fallback)
    joint = join(_weighed(source), _weighed(target), words.targets, clausal=clausal, by=by)
    if joint.source is not None and joint.target is not None:
        return Antecedents(joint.source, joint.target, joint.confidence)
    if source.antecedent is None:
        return "no source antecedent"
    return "no target antecedent" if target.antecedent is None else "antecedents not aligned"


def _by_chains(source: Link, target: Link, words: WordLinks, *, fallback: bool) -> Antecedents | str:
    ours, theirs = source.earlier, target.earlier
    if fallback and not source.nouns and not target.nouns and ours is not None and theirs is not None:
        pronouns = Antecedents(ours, theirs, 1.0, fallback=True)
        return pronouns if aligned(ours, theirs, words) else "antecedents not aligned"
    if not source.nouns:
        return "no source antecedent"
    if not target.nouns:
        return "no target antecedent"
    for ours in source.nouns:
        for theirs in target.nouns:
            if aligned(ours, theirs, words):
                return Antecedents(ours, theirs, 1.0)
    return "antecedents not aligned"


def _by_source(source: Link, words: WordLinks, document: Document) -> Antecedents | str:
    """Return the source's antecedent and the noun that its head is aligned to."""
    if source.antecedent is None:
        return "no source antecedent"
    for ours in source.nouns or (source.antecedent,):
        for number, j in words.targets((ours.sentence, ours.head)):
            if document.sentences[number][j].upos in ("NOUN", "PROPN"):
                start, end = span(document.sentences[number], j)
                return Antecedents(ours, Mention(number, start, end, j), source.confidence)
    return "antecedents not aligned"


def aligned(source: Mention, target: Mention, words: WordLinks) -> bool:
    """Return whether the head of one of two phrases is aligned to a word of the other."""
    forth = words.targets((source.sentence, source.head))
    back = words.sources((target.sentence, target.head))
    return any(n == target.sentence and target.start <= j < target.end for n, j in forth) or any(
        n == source.sentence and source.start <= i < source.end for n, i in back
    )


def other_case(source: Token, case: str, cases: frozenset[str]) -> bool:
    """Return whether the source contradicts the case of a target pronoun with an ambiguous form.

    If *it* is a subject, *sie* is hardly an object, and vice versa; passives can become either.
    """
    if not {"Nom", "Acc"} <= cases or source.relation == "nsubj:pass":
        return False
    return (source.role in ("nsubj", "expl", "csubj")) != (case == "Nom")


def disagreement(noun: Token, genders: frozenset[str], number: str) -> str | None:
    """Return why a noun cannot be the antecedent of a pronoun with these genders, or None."""
    if noun.features.get("Number", number) != number:
        return "number does not agree"
    gender = noun.features.get("Gender")
    if gender is None:
        return "gender unknown"
    return None if gender in genders else "gender does not agree"


def _weighed(link: Link) -> Link:
    """Return a link of a chain as one with probabilities: its last noun phrase has all of it."""
    if link.candidates or link.antecedent is None:
        return link
    return Link(link.pronoun, link.antecedent, link.confidence, ((link.antecedent, link.confidence),), link.nouns)


# Contrastive variants of a target sentence: its pronoun in the other genders, with agreement (§3.1).

SWAPS = ("german", "agreement")  # German has a module of its own; other languages have a table [swap]
Swapper = Callable[[Sentence, int], Swap | str]


def load_swap(name: str, language: str) -> Swapper:
    """Return the function that makes variants, by its name in the data of a language pair."""
    if name not in SWAPS:
        raise AnaphoraError(f"unknown swap {name!r}{did_you_mean(name, SWAPS)}. Known: {', '.join(SWAPS)}")
    if name == "agreement":
        return partial(swap_pronoun, forms=load_forms(language))
    if language != "de":
        raise AnaphoraError(f"the swap 'german' is for German, not {language!r}")
    return german_swap.swap_pronoun


def contrast(sentence: Sentence, swap: Swap) -> Swap | str:
    """Return the swap without duplicate variants (mit ihm), or why it cannot be used."""
    variants: dict[Variant, str] = {}
    for gender, variant in swap.variants.items():
        variants.setdefault(variant, gender)
    if not variants:
        return "no other form"
    if any(variant.text == sentence.text for variant in variants):
        return "variants do not differ"
    return replace(swap, variants={gender: variant for variant, gender in variants.items()})
