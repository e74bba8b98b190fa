"""Antecedents of pronouns with one protocol: the built-in resolver, given chains, and plugins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any, Protocol

from anaphora.annotate.document import Chain, Document, Mention, head_of
from anaphora.core.errors import AnaphoraError
from anaphora.core.registry import Registry
from anaphora.coref.pronouns import is_pronoun
from anaphora.coref.pronouns import language as language_of

GROUP = "anaphora.linkers"  # entry points of other packages
TARGETS = {"builtin": "anaphora.coref.builtin:BuiltinLinker", "chains": "anaphora.coref:ChainLinker"}


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


# Links from coreference chains: those of the annotation (CorefUD, Stanza), or the clusters of another resolver.

Span = tuple[int, int]  # tokens of the document from start to end (exclusive)


class ChainLinker:
    """Links by the chains of the documents."""

    def __init__(self, setting: str, language: str) -> None:
        if setting:
            raise AnaphoraError(f"the linker 'chains' takes no settings, but {setting!r} was given. Write: chains")
        self._language = language

    def settings(self) -> Mapping[str, Any]:
        return {"linker": "chains"}

    def links(self, document: Document) -> list[Link]:
        if document.chains is None:
            remedy = "Annotate with stanza, or with CoNLL-U that has Entity= (CorefUD); or use --link builtin"
            raise AnaphoraError(f"the annotation has no coreference chains. {remedy}")
        return links_of(document, document.chains, self._language)


def links_of(document: Document, chains: Iterable[Chain], language: str) -> list[Link]:
    """A link for each pronoun: to the last noun phrase before it in its chain, or to none without a chain."""
    word_lists = language_of(language)
    links: dict[tuple[int, int], Link] = {}
    for chain in chains:
        nouns: tuple[Mention, ...] = ()
        earlier: Mention | None = None
        for mention in sorted(chain, key=lambda m: (m.sentence, m.start, -m.end)):
            if document.sentences[mention.sentence][mention.head].upos in ("NOUN", "PROPN"):
                nouns = (mention, *nouns)
            elif mention.end - mention.start == 1:
                link = Link(mention, next(iter(nouns), None), nouns=nouns, earlier=earlier)
                links.setdefault((mention.sentence, mention.start), link)
            earlier = mention
    return [
        links.get((number, index)) or Link(Mention(number, index, index + 1, index), None)
        for number, sentence in enumerate(document.sentences)
        for index in range(len(sentence))
        if is_pronoun(sentence, index, word_lists)
    ]


def chains_of(document: Document, clusters: Iterable[Sequence[Span]]) -> list[Chain]:
    """Clusters of spans over all tokens of a document as chains of mentions; spans that cross sentences are dropped."""
    starts, total = [], 0
    sentence_of: list[int] = []  # by token
    for number, sentence in enumerate(document.sentences):
        starts.append(total)
        total += len(sentence)
        sentence_of += [number] * len(sentence)
    chains = []
    for cluster in clusters:
        mentions = []
        for first, end in sorted(cluster):
            if not 0 <= first < end <= total or sentence_of[first] != sentence_of[end - 1]:
                continue
            number = sentence_of[first]
            start, stop = first - starts[number], end - starts[number]
            mentions.append(Mention(number, start, stop, head_of(document.sentences[number], start, stop)))
        if len(mentions) > 1:
            chains.append(tuple(mentions))
    return chains
