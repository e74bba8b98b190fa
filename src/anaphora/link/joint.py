"""Both sides of a translation weigh in: an antecedent must fit the source pronoun and, aligned to it, the target's.

The gender of a German or French pronoun rules out most nouns that English *it* could stand for, and English animacy and
word order help the other way. The two opinions are not independent, so their probabilities are not just multiplied but
pooled log-linearly, with weights that make the result a probability again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from anaphora.annotate.document import Mention
from anaphora.core.parsing import read_toml
from anaphora.link import Link

LEAST = 1e-4  # a probability; nothing is less likely

Place = tuple[int, int]  # sentence, token
Weights = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class JointLink:
    """A pronoun on both sides and what both stand for; None: for no noun, or for none that the other side confirms."""

    source: Mention | None
    target: Mention | None
    confidence: float


@dataclass(frozen=True, slots=True)
class Weighed:
    """A phrase that both may stand for, with its features; without phrases: for nothing."""

    source: Mention | None
    target: Mention | None
    features: Mapping[str, float]


@cache
def joint_weights() -> Weights:
    """The weights of the pool."""
    return read_toml(files("anaphora.link") / "data" / "joint.toml")


def weighed(source: Link, target: Link, aligned: Callable[[Place], Iterable[Place]], *, clausal: bool) -> list[Weighed]:
    """The source's candidates with the target's that they are aligned to, and "nothing" as the last."""
    by_head = {(m.sentence, m.head): (m, p) for m, p in target.candidates}
    found = []
    for mention, probability in source.candidates:
        others = [by_head[place] for place in aligned((mention.sentence, mention.head)) if place in by_head]
        other = max(others, key=lambda pair: pair[1], default=None)
        features = {"source": _log(probability)}
        if other is None:
            found.append(Weighed(mention, None, features | {"unaligned": 1.0}))
        else:
            found.append(Weighed(mention, other[0], features | {"target": _log(other[1])}))
    nothing = {"nothing, source": _log(source.nothing), "nothing, target": _log(target.nothing), "nothing": 1.0}
    return [*found, Weighed(None, None, nothing | {"nothing, clausal": float(clausal)})]


def join(
    source: Link,
    target: Link,
    aligned: Callable[[Place], Iterable[Place]],
    *,
    clausal: bool = False,
    by: Weights | None = None,
) -> JointLink:
    """Combine the candidates of two pronouns that translate each other.

    aligned: for a token of the source (its sentence and place) the tokens of the target that it is aligned to
    clausal: the target's pronoun often stands for no noun, as German *es* does
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
