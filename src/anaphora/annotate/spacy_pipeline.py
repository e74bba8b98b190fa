"""spaCy pipelines, installed or in a folder; lines are annotated in batches across documents."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from anaphora.annotate import Line
from anaphora.annotate.document import Document, Sentence, Token
from anaphora.annotate.schemes import Scheme, scheme_of, universal
from anaphora.core.errors import AnaphoraError

spacy: Any = import_module("spacy")  # its types are in part missing
Doc: Any = import_module("spacy.tokens").Doc

LINES = 256  # batch size
UNUSED = ["ner", "entity_linker", "entity_ruler", "textcat", "senter"]


class SpacyAnnotator:
    """A spaCy pipeline with a tagger or morphologizer and a parser."""

    needs_all = False

    def __init__(self, name: str, language: str = "") -> None:
        self.name = name
        self._nlp = _load(name)
        self._scheme = scheme_of(self._nlp.get_pipe("parser").labels)
        self._features: dict[int, Mapping[str, str]] = {}
        if language and language != self._nlp.lang:
            raise AnaphoraError(f"spacy:{name} annotates {self._nlp.lang}, not {language}")

    @property
    def language(self) -> str:
        return str(self._nlp.lang)

    def settings(self) -> Mapping[str, Any]:
        meta = self._nlp.meta
        return {"annotator": "spacy", "version": spacy.__version__, "model": f"{meta['name']} {meta['version']}"}

    def annotate(self, documents: Iterable[Sequence[Line]]) -> Iterator[Document]:
        for batch in batches(documents):
            lines = (
                self._nlp.make_doc(" ".join(line.split()))
                if isinstance(line, str)
                else Doc(self._nlp.vocab, words=list(line))
                for document in batch
                for line in document
            )
            annotated = self._nlp.pipe(lines, batch_size=LINES)
            for document in batch:
                sentences = (sentence_of(next(annotated), self._scheme, self._features) for _ in document)
                yield Document(tuple(sentences))


def sentence_of(doc: Any, scheme: Scheme, cache: dict[int, Mapping[str, str]] | None = None) -> Sentence:
    """A spaCy document as a `Sentence`.

    cache: features by spaCy's key; there are few, and creating them is slow
    """
    seen = {} if cache is None else cache
    tokens = []
    for token in doc:
        key = token.morph.key
        features = seen.get(key)
        if features is None:
            features = seen[key] = token.morph.to_dict()
        head = None if token.head.i == token.i else token.head.i
        spaced = bool(token.whitespace_)
        tokens.append(Token(token.text, token.lemma_, token.pos_, features, head, token.dep_, spaced, token.tag_))
    return Sentence(universal(tokens, scheme))


def batches(documents: Iterable[Sequence[Line]], lines: int = 4 * LINES) -> Iterator[list[Sequence[Line]]]:
    """Batches of documents with about this many lines, so that short documents are annotated together."""
    batch: list[Sequence[Line]] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += len(document)
        if size >= lines:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _load(name: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about small differences of versions
            nlp = spacy.load(name, exclude=UNUSED)
    except OSError:
        remedy = f"Install it with: python -m spacy download {name}"
        raise AnaphoraError(f"spacy:{name}: there is no such pipeline. {remedy}, or name its folder") from None
    except Exception as error:  # a folder that is not a pipeline fails in many ways
        raise AnaphoraError(f"spacy:{name}: cannot be loaded: {error}") from None
    if "parser" not in nlp.pipe_names:
        raise AnaphoraError(f"spacy:{name} has no parser, which is needed. Name another pipeline")
    return nlp
