"""Annotation through one protocol: spaCy, Stanza or ready CoNLL-U, named by a spec such as `spacy:en_core_web_sm`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from anaphora.annotate.document import Chain, Document, Mention, Sentence, Token
from anaphora.core.errors import AnaphoraError
from anaphora.core.registry import Registry

__all__ = ["ANNOTATORS", "Annotator", "Chain", "Document", "Line", "Mention", "Sentence", "Token", "load_annotator"]

Line = str | Sequence[str]  # a sentence as text, which the tool cuts into tokens, or as tokens that are kept

ANNOTATORS = Registry(
    "annotator",
    {
        "spacy": "anaphora.annotate.spacy_pipeline:SpacyAnnotator",
        "stanza": "anaphora.annotate.stanza_pipeline:StanzaAnnotator",
        "conllu": "anaphora.annotate.conllu:ConlluAnnotator",
    },
    extras={"spacy": "mine", "stanza": "stanza"},
)


class Annotator(Protocol):
    """Annotates documents as a stream: documents of lines in, as many documents of as many sentences out."""

    @property
    def language(self) -> str:
        """ISO 639-1, or "" where it is not known."""
        ...

    @property
    def needs_all(self) -> bool:
        """Whether it must be given every line of the corpus in its order, because its annotation is ready."""
        ...

    def settings(self) -> Mapping[str, Any]:
        """What the annotation depends on: the tool, its version, the model."""
        ...

    def annotate(self, documents: Iterable[Sequence[Line]]) -> Iterator[Document]:
        """The documents in their order; batches are the annotator's own affair."""
        ...


def load_annotator(spec: str, language: str = "") -> Annotator:
    """An annotator by its spec: spacy:NAME_OR_PATH, stanza:LANGUAGE, conllu:FILE.

    language: of the text, where the annotator does not know it by itself (CoNLL-U)
    """
    kind, colon, what = spec.partition(":")
    if not colon or not what:
        known = "spacy:NAME_OR_PATH, stanza:LANGUAGE or conllu:FILE"
        raise AnaphoraError(f"not an annotator: {spec!r}. Write {known}")
    annotator: Annotator = ANNOTATORS.load(kind)(what, language)
    if annotator.language == "de" and kind != "conllu":  # ready annotation is taken as it is
        from anaphora.annotate.lexicon import WithGenders
        from anaphora.languages.german_nouns import german_nouns

        lexicon = german_nouns()
        return WithGenders(annotator, lexicon) if lexicon is not None else annotator
    return annotator
