"""Pronouns with manual coreference annotation (ParCorFull, Lapshinova-Koltunski et al. 2018), and links judged by it.

A record of the JSON Lines file holds `en` and one more language, each with tokenized `sentences` and `mentions` (span,
chain, type).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.annotate.document import Document, Mention
from anaphora.build.mine.quality import names
from anaphora.core.files import text_lines
from anaphora.core.parsing import expecting, json_record
from anaphora.coref import Link
from anaphora.languages.pronouns import normalize_word

Span = tuple[int, int, int]  # sentence, first token, end (not included)

# the types of pronouns that are judged; others refer outside of the text, or are in doubt
JUDGED = frozenset({"anaphoric", "cataphoric", "pleonastic"})


@dataclass(frozen=True, slots=True)
class GoldPronoun:
    """A pronoun of one word and the earlier noun phrases with the same referent; none if it is non-referential.

    chain: the spans of all earlier mentions of its referent, including pronouns and clauses
    """

    sentence: int
    token: int
    text: str
    phrases: tuple[Span, ...]
    chain: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class GoldSide:
    """One language of a document; plurals: the plural pronouns, which are not among the others."""

    sentences: tuple[tuple[str, ...], ...]
    pronouns: tuple[GoldPronoun, ...]
    plurals: tuple[GoldPronoun, ...] = ()


@dataclass(frozen=True, slots=True)
class GoldDocument:
    """A parallel document with hand-annotated coreference on each side."""

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
    pronouns: dict[bool, dict[tuple[int, int], GoldPronoun]] = {False: {}, True: {}}
    for mention in side["mentions"]:
        kind = mention["attributes"].get("type")
        single = mention["type"] == "pronoun" and mention["end"] - mention["start"] == 1
        if single and kind in JUDGED and (mention["chain"] or kind == "pleonastic"):
            plural = mention["attributes"].get("agreement") == "plural"
            pronouns[plural][mention["sent"], mention["start"]] = _pronoun(mention, chains.get(mention["chain"], []))
    sentences = tuple(tuple(sentence) for sentence in side["sentences"])
    singular, plural = (tuple(by_start[start] for start in sorted(by_start)) for by_start in pronouns.values())
    return GoldSide(sentences, singular, plural)


def _pronoun(mention: Mapping[str, Any], chain: list[Mapping[str, Any]]) -> GoldPronoun:
    start = mention["sent"], mention["start"]
    before = sorted((m for m in chain if (m["sent"], m["start"]) < start), key=lambda m: (m["sent"], m["start"]))
    spans = [((m["sent"], m["start"], m["end"]), m["type"]) for m in before]
    return GoldPronoun(
        *start, mention["text"], tuple(s for s, kind in spans if kind == "np"), tuple(s for s, _ in spans)
    )


@dataclass(frozen=True, slots=True)
class Judged:
    """A link compared with the gold annotation.

    noun: the pronoun has a noun phrase as its antecedent; linked: the link has an antecedent
    right: the antecedent is one of the gold ones; or there is none, and the link has none
    best_right: the likeliest phrase is a gold one, even if "non-referential" was likelier
    """

    word: str
    noun: bool
    linked: bool
    right: bool
    best_right: bool
    confidence: float  # of the likeliest phrase


def judge(document: Document, links: Iterable[Link], gold: Sequence[GoldPronoun]) -> list[Judged]:
    """Compare links with the annotated pronouns; a pronoun without a link counts as non-referential."""
    by_token = {(link.pronoun.sentence, link.pronoun.head): link for link in links}
    judged = []
    for pronoun in gold:
        link = by_token.get((pronoun.sentence, pronoun.token))
        best, confidence = _best(link)
        best_right = best is not None and names(document, best, pronoun.phrases)
        linked = link is not None and link.antecedent is not None
        right = best_right if linked else not pronoun.phrases
        judged.append(
            Judged(normalize_word(pronoun.text), bool(pronoun.phrases), linked, right, best_right, confidence)
        )
    return judged


def _best(link: Link | None) -> tuple[Mention | None, float]:
    if link is None:
        return None, 0.0
    if link.candidates:
        return link.candidates[0]
    return link.antecedent, link.confidence if link.antecedent is not None else 0.0


def accuracy(judged: Sequence[Judged]) -> float:
    """The share of pronouns with the right link, to a noun phrase or to none."""
    return sum(j.right for j in judged) / len(judged)


def precision(judged: Sequence[Judged], confidence: float) -> tuple[int, float]:
    """The number of pronouns whose best phrase has at least this confidence, and the share of right ones among them."""
    chosen = [j for j in judged if j.confidence >= confidence]
    return len(chosen), sum(j.best_right for j in chosen) / len(chosen) if chosen else 0.0
