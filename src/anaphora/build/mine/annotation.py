"""Annotated text on disk: compact, quick to read, and the same again when it is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anaphora.annotate.document import Document, Mention, Sentence, Token
from anaphora.build.mine.piece import pack, unpack

# what is the same for many tokens is written once for a shard, and told by its number
Kind = tuple[str, str, str, bool, str]  # part of speech, features, relation, space after, the tool's own tag


def pack_documents(documents: Iterable[Document]) -> bytes:
    """A shard of annotation: the kinds of tokens, then a line for each document."""
    numbers: dict[Kind, int] = {}
    rows = [_row(document, numbers) for document in documents]
    return pack([[list(kind) for kind in numbers], *rows])


def unpack_documents(data: bytes) -> Iterator[Document]:
    """What `pack_documents` made."""
    rows = unpack(data)
    kinds = [(upos, _features(features), relation, space, xpos) for upos, features, relation, space, xpos in next(rows)]
    for row in rows:
        chains = row.get("chains")
        yield Document(
            tuple(_sentence(fields, kinds) for fields in row["sentences"]),
            None if chains is None else tuple(tuple(Mention(*mention) for mention in chain) for chain in chains),
        )


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a sentence, their parts of speech and their features: what alignment needs, and quick to read."""

    texts: Sequence[str]
    kinds: Sequence[tuple[str, Mapping[str, str]]]


def unpack_words(data: bytes) -> Iterator[list[Words]]:
    """The sentences of each document as words."""
    rows = unpack(data)
    kinds = [(upos, _features(features)) for upos, features, *_ in next(rows)]
    for row in rows:
        yield [Words(fields[0], [kinds[number] for number in fields[2]]) for fields in row["sentences"]]


def _row(document: Document, numbers: dict[Kind, int]) -> dict[str, Any]:
    row: dict[str, Any] = {"sentences": [_fields(sentence, numbers) for sentence in document.sentences]}
    if document.chains is not None:
        row["chains"] = [[[m.sentence, m.start, m.end, m.head] for m in chain] for chain in document.chains]
    return row


def _fields(sentence: Sentence, numbers: dict[Kind, int]) -> list[list[Any]]:
    """Texts, lemmas, kinds and heads; -1 is the head of a root."""
    kinds = []
    for token in sentence.tokens:
        features = "|".join(f"{key}={value}" for key, value in token.features.items())
        kind = token.upos, features, token.relation, token.space_after, token.xpos
        kinds.append(numbers.setdefault(kind, len(numbers)))
    return [
        [token.text for token in sentence.tokens],
        [token.lemma for token in sentence.tokens],
        kinds,
        [-1 if token.head is None else token.head for token in sentence.tokens],
    ]


def _sentence(fields: list[list[Any]], kinds: list[Any]) -> Sentence:
    tokens = []
    for text, lemma, number, head in zip(*fields, strict=True):
        upos, features, relation, space, xpos = kinds[number]
        tokens.append(Token(text, lemma, upos, features, None if head < 0 else head, relation, space, xpos))
    return Sentence(tuple(tokens))


def _features(text: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in text.split("|")) if text else {}
