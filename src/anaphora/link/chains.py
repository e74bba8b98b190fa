"""From coreference chains to links: chains that the annotation brought (CorefUD in CoNLL-U, Stanza)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from anaphora.annotate.document import Chain, Document, Mention
from anaphora.core.errors import AnaphoraError
from anaphora.link import Link
from anaphora.link.language import language as language_of
from anaphora.link.pronouns import is_pronoun


class ChainLinker:
    """Links by the chains of the documents."""

    def __init__(self, what: str, language: str) -> None:
        if what:
            raise AnaphoraError(f"chains come with the annotation and take no settings, not {what!r}. Write: chains")
        self._language = language

    def settings(self) -> Mapping[str, Any]:
        return {"linker": "chains"}

    def links(self, document: Document) -> list[Link]:
        if document.chains is None:
            remedy = "Annotate with stanza, or with CoNLL-U that has Entity= (CorefUD); or use --link builtin"
            raise AnaphoraError(f"the annotation has no coreference chains. {remedy}")
        return links_of(document, document.chains, self._language)


def links_of(document: Document, chains: Iterable[Chain], language: str) -> list[Link]:
    """A link for each pronoun: to the last noun phrase before it in its chain; to nothing without a chain."""
    known = language_of(language)
    found: dict[tuple[int, int], Link] = {}
    for chain in chains:
        nouns: tuple[Mention, ...] = ()
        earlier: Mention | None = None
        for mention in sorted(chain, key=lambda m: (m.sentence, m.start, -m.end)):
            if document.sentences[mention.sentence][mention.head].upos in ("NOUN", "PROPN"):
                nouns = (mention, *nouns)
            elif mention.end - mention.start == 1:
                link = Link(mention, next(iter(nouns), None), nouns=nouns, earlier=earlier)
                found.setdefault((mention.sentence, mention.start), link)
            earlier = mention
    return [
        found.get((number, index)) or Link(Mention(number, index, index + 1, index), None)
        for number, sentence in enumerate(document.sentences)
        for index in range(len(sentence))
        if is_pronoun(sentence, index, known)
    ]
