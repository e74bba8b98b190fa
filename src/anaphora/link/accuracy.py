"""How often links are right, against coreference annotated by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from anaphora.annotate.document import Document, Mention, head_of
from anaphora.languages.pronouns import normalise
from anaphora.link import Link
from anaphora.link.parcorfull import GoldPronoun, Span


@dataclass(frozen=True, slots=True)
class Judged:
    """A link beside the truth.

    noun: the pronoun does stand for a noun; linked: an antecedent was given
    right: the antecedent is one of the true ones; or none was given, and there is none
    best_right: the likeliest phrase is a true one, whether or not "nothing" was likelier still
    """

    word: str
    noun: bool
    linked: bool
    right: bool
    best_right: bool
    confidence: float  # of the likeliest phrase


def judge(document: Document, links: Iterable[Link], gold: Sequence[GoldPronoun]) -> list[Judged]:
    """The links of the pronouns that are annotated; a pronoun without a link counts as linked to nothing."""
    found = {(link.pronoun.sentence, link.pronoun.head): link for link in links}
    judged = []
    for pronoun in gold:
        link = found.get((pronoun.sentence, pronoun.token))
        best, confidence = _best(link)
        best_right = best is not None and names(document, best, pronoun.phrases)
        linked = link is not None and link.antecedent is not None
        right = best_right if linked else not pronoun.phrases
        judged.append(Judged(normalise(pronoun.text), bool(pronoun.phrases), linked, right, best_right, confidence))
    return judged


def names(document: Document, mention: Mention, spans: Iterable[Span]) -> bool:
    """Whether a phrase is one of the annotated ones: they share their head, or begin alike."""
    for number, start, end in spans:
        if number != mention.sentence or not start <= mention.head < end:
            continue
        sentence = document.sentences[number]
        head = head_of(sentence, start, min(end, len(sentence)))
        if mention.start == start or mention.start <= head < mention.end:
            return True
    return False


def _best(link: Link | None) -> tuple[Mention | None, float]:
    if link is None:
        return None, 0.0
    if link.candidates:
        return link.candidates[0]
    return link.antecedent, link.confidence if link.antecedent is not None else 0.0


def accuracy(judged: Sequence[Judged]) -> float:
    """The share of pronouns that are linked rightly, be it to a noun or to nothing."""
    return sum(j.right for j in judged) / len(judged)


def precision(judged: Sequence[Judged], confidence: float) -> tuple[int, float]:
    """How many pronouns have a phrase of at least this confidence, and the share of those that are right."""
    chosen = [j for j in judged if j.confidence >= confidence]
    return len(chosen), sum(j.best_right for j in chosen) / len(chosen) if chosen else 0.0
