"""Annotated text in one representation, whatever tool made it: Universal Dependencies, a sentence per line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Token:
    """A word, and what is known of it.

    upos, features, relation: as in Universal Dependencies (NOUN; Gender=Masc; nsubj), whatever the tool's own labels
    head: the index of its head in the sentence; None for a root
    xpos: the tool's own tag (Penn, STTS), if it has one
    """

    text: str
    lemma: str = ""
    upos: str = "X"
    features: Mapping[str, str] = field(default_factory=dict, hash=False)
    head: int | None = None
    relation: str = "dep"
    space_after: bool = True
    xpos: str = ""

    @property
    def role(self) -> str:
        """The relation without its subtype: `nsubj` of `nsubj:pass`."""
        return self.relation.partition(":")[0]


@dataclass(frozen=True)
class Sentence:
    """A line of a corpus, which may hold several grammatical sentences, hence several roots."""

    tokens: tuple[Token, ...]

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, index: int) -> Token:
        return self.tokens[index]

    def __iter__(self) -> Iterator[Token]:
        return iter(self.tokens)

    @cached_property
    def text(self) -> str:
        """The line itself, with single spaces."""
        return "".join(t.text + " " * t.space_after for t in self.tokens).rstrip(" ")

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The dependents of each token, in the order of the text."""
        found: list[list[int]] = [[] for _ in self.tokens]
        for index, token in enumerate(self.tokens):
            if token.head is not None:
                found[token.head].append(index)
        return tuple(map(tuple, found))

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Where in the text each token begins."""
        places, place = [], 0
        for token in self.tokens:
            places.append(place)
            place += len(token.text) + token.space_after
        return tuple(places)

    @cached_property
    def words(self) -> tuple[int, ...]:
        """For each token the number of the word at spaces that it is part of, as alignments count words."""
        numbers, number = [], 0
        for token in self.tokens:
            numbers.append(number)
            number += token.space_after
        return tuple(numbers)

    def subtree(self, index: int) -> list[int]:
        """A token and all that depends on it, in the order of the text."""
        found, open_ = [], [index]
        while open_:
            found.append(open_.pop())
            open_.extend(self.children[found[-1]])
        return sorted(found)

    def ancestors(self, index: int) -> Iterator[int]:
        """The head of a token, the head's head, and so on."""
        head = self.tokens[index].head
        while head is not None:
            yield head
            head = self.tokens[head].head


@dataclass(frozen=True, slots=True)
class Mention:
    """Words of a sentence that name something.

    sentence: its number in the document; start, end: the span of its tokens, the end not included
    head: the token that the others depend on
    """

    sentence: int
    start: int
    end: int
    head: int


Chain = tuple[Mention, ...]  # mentions of one and the same thing, in the order of the text


@dataclass(frozen=True, slots=True)
class Document:
    """The sentences of a document, and coreference chains where the annotation has them (None: it has not)."""

    sentences: tuple[Sentence, ...]
    chains: tuple[Chain, ...] | None = None

    def text(self, mention: Mention) -> str:
        """The words of a mention."""
        sentence = self.sentences[mention.sentence]
        return Sentence(sentence.tokens[mention.start : mention.end]).text
