"""Both sides of a translation weigh in: an antecedent must fit the source pronoun and, aligned to it, the target's.

The gender of a German or French pronoun rules out most nouns that English *it* could stand for, and English animacy and
word order help the other way. The probabilities of two phrases that are aligned are multiplied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from anaphora.annotate.document import Mention
from anaphora.link import Link

TWICE = 4  # how much likelier "nothing" is than a noun beforehand, which both sides count and only one should
UNALIGNED = 0.02  # what a source phrase gets for a target phrase that is not there, or not aligned

Place = tuple[int, int]  # sentence, token


@dataclass(frozen=True, slots=True)
class JointLink:
    """A pronoun on both sides and what both stand for; None: for no noun, or for none that the other side confirms."""

    source: Mention | None
    target: Mention | None
    confidence: float


def join(source: Link, target: Link, aligned: Callable[[Place], Iterable[Place]]) -> JointLink:
    """Combine the candidates of two pronouns that translate each other.

    aligned: for a token of the source (its sentence and place) the tokens of the target that it is aligned to
    """
    by_head = {(m.sentence, m.head): (m, p) for m, p in target.candidates}
    best = JointLink(None, None, 0.0)
    total = nothing = source.nothing * target.nothing / TWICE
    for mention, probability in source.candidates:
        found = [by_head[place] for place in aligned((mention.sentence, mention.head)) if place in by_head]
        other, share = max(found, key=lambda pair: pair[1], default=(None, UNALIGNED))
        mass = probability * share
        total += mass
        if other is not None and mass > best.confidence:
            best = JointLink(mention, other, mass)
    if total == 0 or nothing >= best.confidence:
        return JointLink(None, None, nothing / total if total else 0.0)
    return JointLink(best.source, best.target, best.confidence / total)
