"""How good are mined pronouns? Against documents whose coreference people have annotated on both sides (ParCorFull).

A gold item is a source pronoun that stands for a noun, in a sentence with a target pronoun that stands for the same.
Chains of two languages are the same thing where noun phrases of them are aligned. What was mined is right if its
pronouns are such a pair and both antecedents are noun phrases of their chains, before the pronoun.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from anaphora.annotate.document import Document, Mention, head_of
from anaphora.build.mine.filtering import Place, WordLinks
from anaphora.build.mine.gold import GoldMention, GoldPair, GoldSide, Span
from anaphora.build.mine.pair import AnnotatedPair
from anaphora.build.mine.pronouns import Found, Pronouns
from anaphora.coref.gold import names

NOUNS = ("NOUN", "PROPN")


@dataclass(frozen=True, slots=True)
class GoldItem:
    """A source pronoun and the target pronouns of its sentence that stand for the same thing."""

    place: Place
    targets: frozenset[int]


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """What was mined beside the truth.

    pair: the pronouns stand for the same thing, a noun; antecedent: and for these phrases
    distance: it is as many sentences away as the last noun phrase of the pronoun's chain
    """

    document: str
    label: str
    confidence: float
    pair: bool
    antecedent: bool
    distance: bool


@dataclass(slots=True)
class Evaluation:
    """All that was mined, how many items there were to be found, and what became of each source pronoun."""

    items: list[JudgedItem] = field(default_factory=list)
    gold: int = 0
    documents: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, other: Evaluation) -> None:
        """Further documents."""
        self.items += other.items
        self.gold += other.gold
        self.documents += other.documents
        self.counts += other.counts


def evaluate(pairs: Iterable[tuple[GoldPair, AnnotatedPair]], phenomenon: Pronouns) -> Evaluation:
    """Mine the documents and judge what is found. Chains of people, if wanted, are in the annotation already."""
    result = Evaluation()
    for gold, pair in pairs:
        truth = gold_items(gold, pair, phenomenon.translations)
        result.documents += 1
        result.gold += len(truth)
        result.items += [judge(gold, pair, found, truth) for found in phenomenon.find(pair, result.counts)]
    return result


def with_gold_chains(gold: GoldPair, pair: AnnotatedPair) -> AnnotatedPair:
    """The annotation with the chains that people see."""
    source, target = gold.source.annotated(pair.source), gold.target.annotated(pair.target)
    return AnnotatedPair(pair.name, source, target, pair.alignments)


def gold_items(
    gold: GoldPair, pair: AnnotatedPair, translations: Callable[[str], frozenset[str]]
) -> dict[Place, GoldItem]:
    """The pronouns that could be mined, by place; which words are looked for is the phenomenon's."""
    same = same_chains(gold, pair)
    by_line: dict[int, list[GoldMention]] = defaultdict(list)
    for place, mention in gold.target.words.items():
        if gold.target.nouns_before(place):
            by_line[place[0]].append(mention)
    items = {}
    for place, mention in gold.source.words.items():
        wanted = translations(gold.source.lines[place[0]][place[1]].lower())
        if not wanted or not gold.source.nouns_before(place):
            continue
        line = gold.target.lines[place[0]]
        targets = frozenset(
            other.span[1]
            for other in by_line[place[0]]
            if line[other.span[1]].lower() in wanted and (mention.chain, other.chain) in same
        )
        if targets:
            items[place] = GoldItem(place, targets)
    return items


def same_chains(gold: GoldPair, pair: AnnotatedPair) -> set[tuple[str | None, str | None]]:
    """Chains of the two languages that name the same: the head of a noun phrase is aligned into one of the other's."""
    words = WordLinks(gold.alignments)
    ours, theirs = _owners(gold.source), _owners(gold.target)
    same: set[tuple[str | None, str | None]] = set()
    for mention in gold.source.mentions:
        if mention.noun and mention.chain is not None:
            for place in words.targets(_head(pair.source, mention.span)):
                same.update((mention.chain, other) for other in theirs.get(place, ()))
    for mention in gold.target.mentions:
        if mention.noun and mention.chain is not None:
            for place in words.sources(_head(pair.target, mention.span)):
                same.update((other, mention.chain) for other in ours.get(place, ()))
    return same


def judge(gold: GoldPair, pair: AnnotatedPair, found: Found, truth: dict[Place, GoldItem]) -> JudgedItem:
    """Whether what was found is right."""
    place = (found.sentence, found.source)
    item = truth.get(place)
    paired = item is not None and found.target in item.targets
    ours = gold.source.nouns_before(place)
    theirs = gold.target.nouns_before((found.sentence, found.target))
    both = found.antecedents
    antecedent = (
        paired
        and names_one(pair.source, both.source, [m.span for m in ours])
        and names_one(pair.target, both.target, [m.span for m in theirs])
    )
    distance = antecedent and both.source.sentence == ours[-1].span[0]
    return JudgedItem(gold.name, found.label, both.confidence, paired, antecedent, distance)


def names_one(document: Document, mention: Mention, spans: Sequence[Span]) -> bool:
    """Whether a phrase is one of the annotated ones: the same head, or the same beginning.

    Parsers differ about heads, so that the last of the first nouns counts as one, too: *the big [school bus] of Ann*.
    """
    if names(document, mention, spans):
        return True
    return any(
        number == mention.sentence and _first_nouns(document, number, start, end) == mention.head
        for number, start, end in spans
    )


def _first_nouns(document: Document, number: int, start: int, end: int) -> int | None:
    sentence = document.sentences[number]
    last = None
    for index in range(start, min(end, len(sentence))):
        if sentence[index].upos in NOUNS:
            last = index
        elif last is not None:
            break
    return last


def _owners(side: GoldSide) -> dict[Place, set[str]]:
    """For each token the chains of the noun phrases it is in."""
    owners: dict[Place, set[str]] = defaultdict(set)
    for mention in side.mentions:
        if mention.noun and mention.chain is not None:
            line, start, end = mention.span
            for index in range(start, end):
                owners[line, index].add(mention.chain)
    return owners


def _head(document: Document, span: Span) -> Place:
    line, start, end = span
    return line, head_of(document.sentences[line], start, end)
