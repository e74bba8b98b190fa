"""Pronouns linked to their antecedents through one protocol: the built-in resolver, ready chains, neural resolvers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from anaphora.annotate.document import Document, Mention
from anaphora.core.errors import AnaphoraError
from anaphora.core.registry import Registry

LINKERS = Registry(
    "linker",
    {
        "builtin": "anaphora.link.builtin:BuiltinLinker",
        "chains": "anaphora.link.chains:ChainLinker",
        "fastcoref": "anaphora.link.neural:FastCorefLinker",
        "maverick": "anaphora.link.neural:MaverickLinker",
        "coreferee": "anaphora.link.neural:CorefereeLinker",
    },
)


@dataclass(frozen=True, slots=True)
class Link:
    """A pronoun and what it stands for.

    antecedent: the last noun phrase before the pronoun that names the same; None: the pronoun stands for no noun (it is
        pleonastic, or stands for an event), or none was found
    confidence: the probability of just this answer; resolvers that give none are taken at their word (1)
    candidates: all phrases that were weighed with their probabilities, the best first; the rest up to 1 is nothing
    nouns: where a chain is known, all its noun phrases before the pronoun, the last one first
    earlier: where a chain is known, its last mention before the pronoun, whatever that is
    """

    pronoun: Mention
    antecedent: Mention | None
    confidence: float = 1.0
    candidates: tuple[tuple[Mention, float], ...] = ()
    nouns: tuple[Mention, ...] = field(default=(), compare=False)
    earlier: Mention | None = field(default=None, compare=False)

    @property
    def distance(self) -> int | None:
        """How many sentences the antecedent is before the pronoun; 0 in the same."""
        return None if self.antecedent is None else self.pronoun.sentence - self.antecedent.sentence

    @property
    def nothing(self) -> float:
        """The probability that the pronoun stands for no noun."""
        if not self.candidates:
            return self.confidence if self.antecedent is None else 1 - self.confidence
        return max(0.0, 1 - sum(probability for _, probability in self.candidates))


class Linker(Protocol):
    """Finds antecedents in annotated documents."""

    def settings(self) -> Mapping[str, Any]:
        """What the links depend on."""
        ...

    def links(self, document: Document) -> list[Link]:
        """A link for each pronoun of the third person that the language's data names, in the order of the text."""
        ...


def load_linker(spec: str, language: str) -> Linker:
    """A linker by its spec: builtin, chains, fastcoref[:MODEL], maverick[:MODEL], coreferee:PIPELINE."""
    if not language:
        raise AnaphoraError(f"the language of the text is not known, which --link {spec} needs")
    kind, _, what = spec.partition(":")
    linker: Linker = LINKERS.load(kind)(what, language)
    return linker
