"""The built-in resolver as a linker: needs nothing but the annotation; English, German, French."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anaphora.annotate.document import Document, Mention
from anaphora.core.errors import AnaphoraError
from anaphora.link import Link
from anaphora.link.features import Pronoun
from anaphora.link.language import language as language_of
from anaphora.link.ranker import Belief, Weights, resolve


class BuiltinLinker:
    """Ranks noun phrases by rules and features; see `ranker.py`. by: other weights than those of the data file."""

    def __init__(self, what: str, language: str, by: Weights | None = None) -> None:
        if what:
            raise AnaphoraError(f"the built-in resolver takes no settings, not {what!r}. Write: builtin")
        self._language, self._by = language_of(language), by

    def settings(self) -> Mapping[str, Any]:
        return {"linker": "builtin", "language": self._language.code}

    def links(self, document: Document) -> list[Link]:
        return [_link(pronoun, belief) for pronoun, belief in resolve(document, self._language, self._by)]


def _link(pronoun: Pronoun, belief: Belief) -> Link:
    """The best phrase where it is likelier than nothing."""
    ranked = sorted(((p, phrase.mention) for p, phrase in belief.phrases.values()), key=lambda pair: -pair[0])
    mention = Mention(pronoun.sentence, pronoun.token, pronoun.token + 1, pronoun.token)
    candidates = tuple((phrase, probability) for probability, phrase in ranked)
    if not ranked or belief.nothing >= ranked[0][0]:
        return Link(mention, None, belief.nothing, candidates)
    return Link(mention, ranked[0][1], ranked[0][0], candidates)
