"""Antecedents of pronouns behind one protocol: the built-in resolver, given chains, and plugins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any, Protocol

from anaphora.annotate.document import Document, Mention
from anaphora.core.errors import AnaphoraError
from anaphora.core.registry import Registry

GROUP = "anaphora.linkers"  # entry points of other packages
TARGETS = {"builtin": "anaphora.coref.builtin:BuiltinLinker", "chains": "anaphora.coref.external:ChainLinker"}


@dataclass(frozen=True, slots=True)
class Link:
    """A pronoun and its antecedent.

    antecedent: the last noun phrase before the pronoun with the same referent; None if the pronoun is non-referential
        (pleonastic, or it refers to an event) or if no antecedent was found
    confidence: the probability of this answer; 1 for resolvers that report none
    candidates: all noun phrases that were considered with their probabilities, best first; the rest of the probability
        mass is that of a non-referential pronoun
    nouns: the noun phrases of the chain before the pronoun, last one first, where the chain is known
    earlier: the last mention of the chain before the pronoun, of any kind, where the chain is known
    """

    pronoun: Mention
    antecedent: Mention | None
    confidence: float = 1.0
    candidates: tuple[tuple[Mention, float], ...] = ()
    nouns: tuple[Mention, ...] = field(default=(), compare=False)
    earlier: Mention | None = field(default=None, compare=False)

    @property
    def distance(self) -> int | None:
        """The number of sentences from the antecedent to the pronoun; 0 in the same sentence."""
        return None if self.antecedent is None else self.pronoun.sentence - self.antecedent.sentence

    @property
    def nonreferential(self) -> float:
        """The probability that the pronoun has no noun phrase as its antecedent."""
        if not self.candidates:
            return self.confidence if self.antecedent is None else 1 - self.confidence
        return max(0.0, 1 - sum(probability for _, probability in self.candidates))


class Linker(Protocol):
    """Finds antecedents in annotated documents."""

    def settings(self) -> Mapping[str, Any]:
        """The settings that the links depend on."""
        ...

    def links(self, document: Document) -> list[Link]:
        """A link for each third-person pronoun in the language's data, in text order."""
        ...


def load_linker(spec: str, language: str) -> Linker:
    """A linker from its spec, NAME or NAME:SETTING: builtin, chains, or a plugin (entry points `anaphora.linkers`)."""
    if not language:
        raise AnaphoraError(f"--link {spec} needs the language of the text, which is unknown")
    name, _, setting = spec.partition(":")
    plugins = {point.name: point.value for point in entry_points(group=GROUP)}
    linker: Linker = Registry("linker", plugins | TARGETS).load(name)(setting, language)
    return linker
