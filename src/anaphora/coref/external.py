"""Links from coreference chains: those of the annotation (CorefUD, Stanza), or the clusters of another resolver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anaphora.annotate.document import Chain, Document, Mention, head_of
from anaphora.core.errors import AnaphoraError
from anaphora.coref import Link
from anaphora.coref.pronouns import is_pronoun
from anaphora.coref.pronouns import language as language_of

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
