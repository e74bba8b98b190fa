"""ParCorFull (Lapshinova-Koltunski et al. 2018) as JSON Lines: parallel documents with coreference by hand.

A record holds `en` and one more language, each with tokenised `sentences` and `mentions` (span, chain, type).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.core.files import text_lines
from anaphora.core.parsing import expecting, json_record

Span = tuple[int, int, int]  # sentence, first token, end (not included)

# the types of pronouns that are judged; others point out of the text, or are in doubt
JUDGED = frozenset({"anaphoric", "cataphoric", "pleonastic"})


@dataclass(frozen=True, slots=True)
class GoldPronoun:
    """A pronoun of one word and the noun phrases before it that name the same; none: it stands for no noun.

    chain: the spans of all earlier mentions of it, pronouns and clauses included
    """

    sentence: int
    token: int
    text: str
    phrases: tuple[Span, ...]
    chain: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class GoldSide:
    """One language of a document; plurals: the pronouns of the plural, apart from the others."""

    sentences: tuple[tuple[str, ...], ...]
    pronouns: tuple[GoldPronoun, ...]
    plurals: tuple[GoldPronoun, ...] = ()


@dataclass(frozen=True, slots=True)
class GoldDocument:
    """A parallel document with its hand-annotated sides."""

    name: str
    sides: Mapping[str, GoldSide]


def read_parcorfull(path: Path) -> Iterator[GoldDocument]:
    """The documents of a file."""
    for number, line in enumerate(text_lines(path), start=1):
        record = json_record(line, path, number, "a record of ParCorFull")
        with expecting(path, "a record of ParCorFull", number):
            sides = {code: _side(record[code]) for code in record["langs"]}
            document = GoldDocument(record["doc"], sides)
        yield document


def _side(side: Mapping[str, Any]) -> GoldSide:
    chains: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for mention in side["mentions"]:
        if mention["chain"]:
            chains[mention["chain"]].append(mention)
    found: dict[bool, dict[tuple[int, int], GoldPronoun]] = {False: {}, True: {}}
    for mention in side["mentions"]:
        kind = mention["attributes"].get("type")
        single = mention["type"] == "pronoun" and mention["end"] - mention["start"] == 1
        if single and kind in JUDGED and (mention["chain"] or kind == "pleonastic"):
            plural = mention["attributes"].get("agreement") == "plural"
            found[plural][mention["sent"], mention["start"]] = _pronoun(mention, chains.get(mention["chain"], []))
    sentences = tuple(tuple(sentence) for sentence in side["sentences"])
    singular, plural = (tuple(places[place] for place in sorted(places)) for places in found.values())
    return GoldSide(sentences, singular, plural)


def _pronoun(mention: Mapping[str, Any], chain: list[Mapping[str, Any]]) -> GoldPronoun:
    place = mention["sent"], mention["start"]
    before = sorted((m for m in chain if (m["sent"], m["start"]) < place), key=lambda m: (m["sent"], m["start"]))
    spans = [((m["sent"], m["start"], m["end"]), m["type"]) for m in before]
    return GoldPronoun(
        *place, mention["text"], tuple(s for s, kind in spans if kind == "np"), tuple(s for s, _ in spans)
    )
