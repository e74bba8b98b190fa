"""Annotated text in one representation for all tools: Universal Dependencies, one sentence per line."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Token:
    """A word and its annotation.

    upos, features, relation: Universal Dependencies (NOUN; Gender=Masc; nsubj), whatever labels the tool has
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
    """A line of a corpus; it may hold several grammatical sentences and thus several roots."""

    tokens: tuple[Token, ...]

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, index: int) -> Token:
        return self.tokens[index]

    def __iter__(self) -> Iterator[Token]:
        return iter(self.tokens)

    @cached_property
    def text(self) -> str:
        """The line with single spaces."""
        return "".join(t.text + " " * t.space_after for t in self.tokens).rstrip(" ")

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The dependents of each token, in text order."""
        dependents: list[list[int]] = [[] for _ in self.tokens]
        for index, token in enumerate(self.tokens):
            if token.head is not None:
                dependents[token.head].append(index)
        return tuple(map(tuple, dependents))

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """The start of each token in the text."""
        offsets, offset = [], 0
        for token in self.tokens:
            offsets.append(offset)
            offset += len(token.text) + token.space_after
        return tuple(offsets)

    @cached_property
    def words(self) -> tuple[int, ...]:
        """The index of the space-separated word of each token, as alignments count words."""
        numbers, number = [], 0
        for token in self.tokens:
            numbers.append(number)
            number += token.space_after
        return tuple(numbers)

    def subtree(self, index: int) -> list[int]:
        """A token and all its descendants, in text order."""
        subtree, queue = [], [index]
        while queue:
            subtree.append(queue.pop())
            queue.extend(self.children[subtree[-1]])
        return sorted(subtree)

    def ancestors(self, index: int) -> Iterator[int]:
        """The head of a token, the head's head, and so on."""
        head = self.tokens[index].head
        while head is not None:
            yield head
            head = self.tokens[head].head


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention of a referent.

    sentence: the index of its sentence; start, end: the span of its tokens, end exclusive
    head: the token on which the others depend
    """

    sentence: int
    start: int
    end: int
    head: int


Chain = tuple[Mention, ...]  # mentions of the same referent, in text order


@dataclass(frozen=True, slots=True)
class Document:
    """The sentences of a document, and its coreference chains (None if the annotation has none)."""

    sentences: tuple[Sentence, ...]
    chains: tuple[Chain, ...] | None = None

    def text(self, mention: Mention) -> str:
        """The words of a mention."""
        sentence = self.sentences[mention.sentence]
        return Sentence(sentence.tokens[mention.start : mention.end]).text

    def preceded_by(self, context: Sequence[Sentence]) -> Document:
        """Return the document with sentences before it, which are not part of its chains."""
        chains = self.chains
        if chains is not None and context:
            chains = tuple(tuple(replace(m, sentence=m.sentence + len(context)) for m in chain) for chain in chains)
        return Document((*context, *self.sentences), chains)


# Conversion of dependency trees: a content word changes places with the function word above it.


@dataclass(slots=True)
class Tree:
    """Heads (None for a root) and relations, one each per token; changed in place."""

    heads: list[int | None]
    relations: list[str]


def promote(tree: Tree, child: int, function: str) -> None:
    """Swap a word with its head, which becomes its dependent with this relation; its siblings become dependents, too.

    >>> tree = Tree([1, None, 1], ["nsubj", "root", "pd"])  # It is old
    >>> promote(tree, 2, "cop")
    >>> tree.heads, tree.relations
    ([2, 2, None], ['nsubj', 'cop', 'root'])
    """
    parent = tree.heads[child]
    if parent is None:
        raise ValueError("a root has no head whose place it could take")
    tree.heads[child], tree.relations[child] = tree.heads[parent], tree.relations[parent]
    for index, head in enumerate(tree.heads):
        if head == parent and index != child:
            tree.heads[index] = child
    tree.heads[parent], tree.relations[parent] = child, function


# From the syntactic words of UD to the tokens of a text: *im* is two words in UD and one token here.


@dataclass(frozen=True, slots=True)
class Contraction:
    """The words from first to last (inclusive) that are written as one."""

    first: int
    last: int
    text: str
    space_after: bool


def contracted(words: Sequence[Token], contractions: Sequence[Contraction]) -> tuple[Sentence, list[int]]:
    """The sentence of tokens, and the token of each word."""
    spaced = list(words)
    merged: dict[int, Contraction] = {}
    for c in contractions:
        parts = spaced[c.first : c.last + 1]
        if "".join(part.text for part in parts) == c.text:
            for i in range(c.first, c.last + 1):
                spaced[i] = replace(spaced[i], space_after=c.space_after if i == c.last else False)
        else:
            merged[c.first] = c
    token_of: list[int] = []
    tokens: list[Token] = []
    for i, word in enumerate(spaced):
        if len(token_of) > i:  # within a contraction
            continue
        if whole := merged.get(i):
            parts = spaced[i : whole.last + 1]
            features = {key: value for part in reversed(parts) for key, value in part.features.items()}
            outer = next((p for p in parts if p.head is None or not i <= p.head <= whole.last), word)
            word = replace(
                word,
                text=whole.text,
                features=features,
                head=outer.head,
                relation=outer.relation,
                space_after=whole.space_after,
            )
            token_of += [len(tokens)] * len(parts)
        else:
            token_of.append(len(tokens))
        tokens.append(word)
    heads = (None if word.head is None else token_of[word.head] for word in tokens)
    return Sentence(tuple(replace(w, head=h) for w, h in zip(tokens, heads, strict=True))), token_of


# The number of a subject by its verb, which is more reliable than the tagger.


def is_plural(sentence: Sentence, index: int) -> bool:
    """Return whether a word is plural: by the finite verb if it is a subject, otherwise by the tagger."""
    token = sentence[index]
    number = None
    if token.role in ("nsubj", "expl") and token.head is not None:
        below = (sentence[child] for child in sentence.children[token.head])
        verbs = (sentence[token.head], *(child for child in below if child.role in ("aux", "cop")))
        number = next((v.features.get("Number") for v in verbs if v.features.get("VerbForm") == "Fin"), None)
    return (number or token.features.get("Number")) == "Plur"


# Coreference chains in CoNLL-U, as in CorefUD and GUM: `Entity=(e1-person-1(e2)` opens, `e1)` closes.

BRACKET = re.compile(r"\((?P<opened>[^()]+)(?P<both>\))?|(?P<closed>[^()]+)\)")
PART = re.compile(r"\[(\d+)/\d+\]$")


class Entities:
    """Collects the chains of a document token by token."""

    def __init__(self) -> None:
        self._open: dict[str, list[int]] = defaultdict(list)
        self._spans: list[tuple[str, int, int]] = []  # of the sentence: entity, first and last token
        self._chains: dict[str, list[Mention]] = defaultdict(list)
        self._seen = False

    def note(self, token: int, text: str) -> None:
        """Read the `Entity=` of a token of the current sentence."""
        self._seen = True
        for match in BRACKET.finditer(text):
            if opened := match["opened"]:
                entity = opened.partition("-")[0]
                if match["both"]:
                    self._spans.append((entity, token, token))
                else:
                    self._open[entity].append(token)
            elif self._open[entity := match["closed"].partition("-")[0]]:
                self._spans.append((entity, self._open[entity].pop(), token))

    def end_of_sentence(self, number: int, sentence: Sentence) -> None:
        """Add the mentions of the sentence; open ones are dropped, since no mention crosses a sentence."""
        for entity, first, last in sorted(self._spans, key=lambda span: (span[1], -span[2])):
            part = PART.search(entity)
            if part is None or part[1] == "1":
                mention = Mention(number, first, last + 1, head_of(sentence, first, last + 1))
                self._chains[PART.sub("", entity)].append(mention)
        self._spans.clear()
        self._open.clear()

    def chains(self) -> tuple[Chain, ...] | None:
        """The chains with two mentions or more; None if nothing was annotated."""
        return tuple(tuple(c) for c in self._chains.values() if len(c) > 1) if self._seen else None


def head_of(sentence: Sentence, start: int, end: int) -> int:
    """The head of a span: the token whose head is outside, and the first content word if there are several."""
    tops = [i for i in range(start, end) if (h := sentence[i].head) is None or not start <= h < end]
    words = (i for i in tops if sentence[i].upos not in ("PUNCT", "ADP", "CCONJ", "SCONJ", "DET"))
    return next(words, tops[0] if tops else start)
