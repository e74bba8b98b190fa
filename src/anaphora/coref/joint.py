"""Antecedents from both sides of a translation: the source pronoun's and, aligned to it, the target pronoun's.

The gender of a German or French pronoun rules out most antecedents of English *it*, and English animacy and word order
help in the other direction. The two distributions are not independent. Their probabilities are therefore not
multiplied but pooled log-linearly, with weights that make the result a probability again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from anaphora.annotate.document import Mention
from anaphora.core.parsing import read_toml
from anaphora.coref import Link

LEAST = 1e-4  # smaller probabilities are raised to this

Position = tuple[int, int]  # sentence, token
Weights = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class JointLink:
    """The antecedent of a pronoun on both sides; None: non-referential, or not confirmed by the other side."""

    source: Mention | None
    target: Mention | None
    confidence: float


@dataclass(frozen=True, slots=True)
class Weighed:
    """A possible antecedent of both pronouns with its features; without phrases: the pronouns are non-referential."""

    source: Mention | None
    target: Mention | None
    features: Mapping[str, float]


@cache
def joint_weights() -> Weights:
    """The weights for pooling."""
    return read_toml(files("anaphora.coref") / "data" / "joint.toml")


def weighed(
    source: Link, target: Link, aligned: Callable[[Position], Iterable[Position]], *, clausal: bool
) -> list[Weighed]:
    """The source's candidates with the aligned candidates of the target, and "non-referential" as the last choice."""
    by_head = {(m.sentence, m.head): (m, p) for m, p in target.candidates}
    choices = []
    for mention, probability in source.candidates:
        others = [by_head[head] for head in aligned((mention.sentence, mention.head)) if head in by_head]
        other = max(others, key=lambda pair: pair[1], default=None)
        features = {"source": _log(probability)}
        if other is None:
            choices.append(Weighed(mention, None, features | {"unaligned": 1.0}))
        else:
            choices.append(Weighed(mention, other[0], features | {"target": _log(other[1])}))
    nonreferential = {
        "non-referential, source": _log(source.nonreferential),
        "non-referential, target": _log(target.nonreferential),
        "non-referential": 1.0,
        "non-referential, clausal": float(clausal),
    }
    return [*choices, Weighed(None, None, nonreferential)]


def join(
    source: Link,
    target: Link,
    aligned: Callable[[Position], Iterable[Position]],
    *,
    clausal: bool = False,
    by: Weights | None = None,
) -> JointLink:
    """Combine the candidates of two pronouns that translate each other.

    aligned: the target tokens (sentence, token) to which a source token is aligned
    clausal: the target pronoun is often non-referential, as German *es*
    """
    weight = (by if by is not None else joint_weights()).get
    choices = weighed(source, target, aligned, clausal=clausal)
    scores = [sum(weight(name, 0.0) * value for name, value in choice.features.items()) for choice in choices]
    highest = max(scores)
    masses = [math.exp(score - highest) for score in scores]
    total = sum(masses)
    best, mass = max(
        ((choice, mass) for choice, mass in zip(choices, masses, strict=True) if choice.target or not choice.source),
        key=lambda pair: pair[1],
    )
    return JointLink(best.source, best.target, mass / total)


def _log(probability: float) -> float:
    return math.log(max(probability, LEAST))
