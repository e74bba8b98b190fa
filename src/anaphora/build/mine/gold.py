"""ParCorFull as input of mining: annotated pairs of documents with gold coreference.

Beads of several sentences become one line on both sides, with their mentions, chains and word links.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import index
from pathlib import Path
from typing import Any

from anaphora.align.alignment import Alignment
from anaphora.annotate.document import Document, Mention, head_of
from anaphora.core.errors import BadInput
from anaphora.core.files import text_lines
from anaphora.core.parsing import are_strings, expecting, json_record

Span = tuple[int, int, int]  # line, first token, end (not included)
Position = tuple[int, int]  # line, token


@dataclass(frozen=True, slots=True)
class GoldMention:
    """A gold mention; noun: whether it is a noun phrase; chain: its entity, None if non-referential (it rains)."""

    span: Span
    noun: bool
    chain: str | None

    @property
    def position(self) -> Position:
        return self.span[:2]


@dataclass(frozen=True)
class GoldSide:
    """One language: lines of tokens, and mentions in the order of the text."""

    lines: tuple[tuple[str, ...], ...]
    mentions: tuple[GoldMention, ...]
    chains: Mapping[str, tuple[GoldMention, ...]] = field(init=False)
    words: Mapping[Position, GoldMention] = field(init=False)  # mentions of one word, which pronouns are

    def __post_init__(self) -> None:
        chains: dict[str, list[GoldMention]] = defaultdict(list)
        for mention in self.mentions:
            if mention.chain is not None:
                chains[mention.chain].append(mention)
        object.__setattr__(self, "chains", {name: tuple(mentions) for name, mentions in chains.items()})
        single = {m.position: m for m in self.mentions if m.span[2] - m.span[1] == 1 and not m.noun}
        object.__setattr__(self, "words", single)

    def nouns_before(self, position: Position) -> list[GoldMention]:
        """Return the noun phrases of the pronoun's chain before it, the nearest last."""
        pronoun = self.words.get(position)
        if pronoun is None or pronoun.chain is None:
            return []
        return [m for m in self.chains[pronoun.chain] if m.noun and m.position < position]

    def annotated(self, document: Document) -> Document:
        """Return the annotation of the lines with these chains instead of its own."""

        def mention(line: int, start: int, end: int) -> Mention:
            return Mention(line, start, end, head_of(document.sentences[line], start, end))

        chains = (tuple(mention(*m.span) for m in mentions) for mentions in self.chains.values())
        return replace(document, chains=tuple(chain for chain in chains if len(chain) > 1))


@dataclass(frozen=True, slots=True)
class GoldPair:
    """A document in both languages; alignments: the word links of each line."""

    name: str
    source: GoldSide
    target: GoldSide
    alignments: tuple[Alignment, ...]


def languages_of(path: Path) -> tuple[str, str]:
    """Return the language pair of a file of records."""
    for line in text_lines(path):
        with expecting(path, "a record of ParCorFull with a pair of languages", 1):
            source, target = json_record(line, path, 1, "a record of ParCorFull")["langs"]
        return str(source), str(target)
    raise BadInput(path, "no documents in it")


def read_gold(path: Path, source: str, target: str) -> Iterator[GoldPair]:
    """Yield the documents of a file of ParCorFull's records."""
    for number, line in enumerate(text_lines(path), start=1):
        record = json_record(line, path, number, "a record of ParCorFull")
        with expecting(path, "a record of ParCorFull", number):
            if not {source, target} <= set(record["langs"]):
                languages = "-".join(record["langs"])
                raise BadInput(path, f"a record of {languages}, not {source}-{target}", line=number, remedy="Give -l.")
            pair = _pair(record, source, target)
        yield pair


def _pair(record: Mapping[str, Any], source: str, target: str) -> GoldPair:
    sides = {}
    positions: dict[str, dict[int, Position]] = {}  # sentence → line, tokens before it in the line
    for k, code in enumerate((source, target)):
        sentences = record[code]["sentences"]
        if not all(map(are_strings, sentences)):
            raise TypeError(f"the sentences of {code} must be lists of words")
        beads = [bead[k] for bead in record["alignment"]]
        positions[code] = _positions(beads, [len(s) for s in sentences])
        lines = tuple(tuple(token for n in bead for token in sentences[n]) for bead in beads)
        mentions = _mentions(record[code]["mentions"], positions[code], lines)
        sides[code] = GoldSide(lines, tuple(sorted(mentions, key=lambda m: (*m.position, -m.span[2]))))
    points: list[list[tuple[int, int]]] = [[] for _ in record["alignment"]]
    for (n, i), (m, j), _ in record["word_alignment"]:
        if n in positions[source] and m in positions[target] and positions[source][n][0] == positions[target][m][0]:
            line, before = positions[source][n]
            points[line].append((before + index(i), positions[target][m][1] + index(j)))
    return GoldPair(record["doc"], sides[source], sides[target], tuple(map(tuple, points)))


def _positions(beads: Sequence[Sequence[int]], lengths: Sequence[int]) -> dict[int, Position]:
    positions = {}
    for line, bead in enumerate(beads):
        before = 0
        for number in bead:
            positions[number] = line, before
            before += lengths[number]
    return positions


def _mentions(
    mentions: Sequence[Mapping[str, Any]], positions: Mapping[int, Position], lines: Sequence[Sequence[str]]
) -> Iterator[GoldMention]:
    for mention in mentions:
        if mention["sent"] in positions:
            line, before = positions[mention["sent"]]
            start, end = before + index(mention["start"]), min(before + index(mention["end"]), len(lines[line]))
            if start < end:
                yield GoldMention((line, start, end), mention["type"] == "np", mention["chain"] or None)
