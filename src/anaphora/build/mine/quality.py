"""Evaluating mining on gold documents: annotate, mine, compare with the gold, and compute precision and recall."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import index
from pathlib import Path
from typing import Any

from anaphora.align.alignment import Alignment
from anaphora.annotate import Annotator, default_annotator, load_annotator
from anaphora.annotate.document import Document, Mention, head_of
from anaphora.build.mine.filtering import WordLinks
from anaphora.build.mine.phenomenon import AnnotatedPair
from anaphora.build.mine.pronouns import PronounMatch, Pronouns
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import text_lines
from anaphora.core.parsing import are_strings, expecting, json_record
from anaphora.stats.intervals import wilson

# ParCorFull as input of mining: annotated pairs of documents with gold coreference. Beads of several sentences become
# one line on both sides, with their mentions, chains and word links.

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
    raise BadInput(path, "the file has no documents")


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


# What of it can be mined: pronouns of both sides with the same antecedent.

NOUNS = ("NOUN", "PROPN")
GoldItems = Mapping[Position, frozenset[int]]  # a source pronoun → target pronouns of its sentence with its antecedent


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """A mined item compared with the gold.

    pair: whether the pronouns have the same nominal antecedent; antecedent: whether the mined phrases are right, too
    distance: whether the antecedent is in the sentence of the last noun phrase of the pronoun's chain
    """

    document: str
    label: str
    confidence: float
    pair: bool
    antecedent: bool
    distance: bool


@dataclass(slots=True)
class Evaluation:
    """All mined items, the number of gold items, and the outcome for each source pronoun."""

    items: list[JudgedItem] = field(default_factory=list)
    gold: int = 0
    documents: int = 0
    counts: Counter[str] = field(default_factory=Counter)


def evaluate(pairs: Iterable[tuple[GoldPair, AnnotatedPair]], phenomenon: Pronouns) -> Evaluation:
    """Mine the documents and compare the items with the gold. Gold chains, if used, are part of the annotation."""
    result = Evaluation()
    for gold, pair in pairs:
        truth = gold_items(gold, pair, phenomenon.translations)
        result.documents += 1
        result.gold += len(truth)
        result.items += [judge(gold, pair, match, truth) for match in phenomenon.find(pair, result.counts)]
    return result


def with_gold_chains(gold: GoldPair, pair: AnnotatedPair) -> AnnotatedPair:
    """Return the annotation with the gold chains."""
    source, target = gold.source.annotated(pair.source), gold.target.annotated(pair.target)
    return AnnotatedPair(pair.name, source, target, pair.alignments)


def gold_items(gold: GoldPair, pair: AnnotatedPair, translations: Callable[[str], frozenset[str]]) -> GoldItems:
    """Return the gold items of the pronouns that the phenomenon mines."""
    same = same_chains(gold, pair)
    by_line: dict[int, list[GoldMention]] = defaultdict(list)
    for position, mention in gold.target.words.items():
        if gold.target.nouns_before(position):
            by_line[position[0]].append(mention)
    items = {}
    for position, mention in gold.source.words.items():
        wanted = translations(gold.source.lines[position[0]][position[1]].lower())
        line = gold.target.lines[position[0]]
        targets = frozenset(
            other.span[1]
            for other in by_line[position[0]]
            if line[other.span[1]].lower() in wanted and (mention.chain, other.chain) in same
        )
        if targets and gold.source.nouns_before(position):
            items[position] = targets
    return items


def same_chains(gold: GoldPair, pair: AnnotatedPair) -> set[tuple[str | None, str | None]]:
    """Return pairs of chains with the same entity: the head of a noun phrase is aligned into the other chain."""
    words = WordLinks(gold.alignments)
    ours, theirs = _owners(gold.source), _owners(gold.target)
    same: set[tuple[str | None, str | None]] = set()
    for mention in gold.source.mentions:
        if mention.noun and mention.chain is not None:
            for position in words.targets(_head(pair.source, mention.span)):
                same.update((mention.chain, other) for other in theirs.get(position, ()))
    for mention in gold.target.mentions:
        if mention.noun and mention.chain is not None:
            for position in words.sources(_head(pair.target, mention.span)):
                same.update((other, mention.chain) for other in ours.get(position, ()))
    return same


def judge(gold: GoldPair, pair: AnnotatedPair, match: PronounMatch, truth: GoldItems) -> JudgedItem:
    """Compare a mined item with the gold."""
    position = (match.sentence, match.source)
    paired = match.target in truth.get(position, ())
    ours = gold.source.nouns_before(position)
    theirs = gold.target.nouns_before((match.sentence, match.target))
    both = match.antecedents
    antecedent = (
        paired
        and names_one(pair.source, both.source, [m.span for m in ours])
        and names_one(pair.target, both.target, [m.span for m in theirs])
    )
    distance = antecedent and both.source.sentence == ours[-1].span[0]
    return JudgedItem(gold.name, match.label, both.confidence, paired, antecedent, distance)


def names(document: Document, mention: Mention, spans: Iterable[Span]) -> bool:
    """Return whether a phrase is one of the annotated ones: it has the same head or the same first token."""
    for number, start, end in spans:
        if number != mention.sentence or not start <= mention.head < end:
            continue
        sentence = document.sentences[number]
        head = head_of(sentence, start, min(end, len(sentence)))
        if mention.start == start or mention.start <= head < mention.end:
            return True
    return False


def names_one(document: Document, mention: Mention, spans: Sequence[Span]) -> bool:
    """Return whether a phrase is one of the gold mentions: same head, or same beginning.

    Parsers differ about heads, so that the last of the first nouns is accepted as well: *the big [school bus] of Ann*.
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
    for token in range(start, min(end, len(sentence))):
        if sentence[token].upos in NOUNS:
            last = token
        elif last is not None:
            break
    return last


def _owners(side: GoldSide) -> dict[Position, set[str]]:
    """Return the chains of the noun phrases that contain each token."""
    owners: dict[Position, set[str]] = defaultdict(set)
    for mention in side.mentions:
        if mention.noun and mention.chain is not None:
            line, start, end = mention.span
            for index in range(start, end):
                owners[line, index].add(mention.chain)
    return owners


def _head(document: Document, span: Span) -> Position:
    line, start, end = span
    return line, head_of(document.sentences[line], start, end)


# Figures: precision and recall, by confidence and by class.

STEPS = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True, slots=True)
class Shares:
    """Counts of mined items and of right ones.

    gold: the number of gold items
    pairs: pronouns with the same nominal antecedent; right: with the right antecedents on both sides, too
    near: with the right distance, too
    """

    confidence: float
    items: int
    gold: int
    pairs: int
    right: int
    near: int
    labels: Mapping[str, int]

    @property
    def precision(self) -> float:
        return self.right / self.items if self.items else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.gold if self.gold else 0.0

    @property
    def f(self) -> float:
        return 2 * self.right / (self.items + self.gold) if self.items + self.gold else 0.0

    def to_dict(self) -> dict[str, Any]:
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f": self.f,
            "pair_precision": self.pairs / self.items if self.items else 0.0,
            "antecedent_accuracy": self.right / self.pairs if self.pairs else 0.0,
            "distance_accuracy": self.near / self.right if self.right else 0.0,
            "items": self.items,
            "right": self.right,
            "gold": self.gold,
            "intervals": {
                "precision": wilson(self.right, self.items),
                "recall": wilson(self.right, self.gold),
                "antecedent_accuracy": wilson(self.right, self.pairs),
            },
        }


def share(items: Sequence[JudgedItem], gold: int, confidence: float = 0.0) -> Shares:
    """Return the counts for items of at least this confidence."""
    chosen = [item for item in items if item.confidence >= confidence]
    return Shares(
        confidence=confidence,
        items=len(chosen),
        gold=gold,
        pairs=sum(item.pair for item in chosen),
        right=sum(item.antecedent for item in chosen),
        near=sum(item.distance for item in chosen),
        labels=Counter(item.label for item in chosen),
    )


def curve(evaluation: Evaluation, steps: Sequence[float] = STEPS) -> list[Shares]:
    """Return the counts at several levels of confidence."""
    return [share(evaluation.items, evaluation.gold, step) for step in steps]


def shares(evaluation: Evaluation, confidence: float = 0.0) -> dict[str, Shares]:
    """Return the counts by class. The number of gold items of a class is unknown, since mining defines the classes."""
    labels = sorted({item.label for item in evaluation.items})
    return {label: share([item for item in evaluation.items if item.label == label], 0, confidence) for label in labels}


def document_of(evaluation: Evaluation, confidence: float, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return all figures as a JSON document."""
    rejected = {name: count for name, count in evaluation.counts.most_common() if name not in ("pronouns", "items")}
    return {
        **share(evaluation.items, evaluation.gold, confidence).to_dict(),
        "pronouns": evaluation.counts["pronouns"],
        "documents": evaluation.documents,
        "labels": {
            label: {"items": counts.items, "right": counts.right, "precision": counts.precision}
            for label, counts in shares(evaluation, confidence).items()
        },
        "rejections": rejected,
        "curve": [
            {"confidence": row.confidence, "items": row.items, "precision": row.precision, "recall": row.recall}
            for row in curve(evaluation)
        ],
        **about,
    }


# The command `build mine-evaluate`.


def evaluate_mining(
    path: Path,
    *,
    chains: str,
    languages: str | None,
    annotate: tuple[str | None, str | None],
    progress: Callable[[int, int], None] | None = None,
    confidence: float | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Evaluate mining on the gold documents of a file, and return the figures as a JSON document.

    confidence: rejections are counted at this level; options: those of `Pronouns`
    """
    source, dash, target = languages.partition("-") if languages else ("", "-", "")
    if languages and not (source and dash and target):
        raise AnaphoraError(f"not a language pair: {languages!r}. Write: en-de")
    source, target = (source, target) if languages else languages_of(path)
    if chains == "gold":
        options |= {"link_source": "chains", "link_target": "chains"}
    phenomenon = Pronouns(source, target, confidence=confidence, **options)
    everything = Pronouns(source, target, confidence=0, **options)  # for the curve
    gold = list(read_gold(path, source, target))
    annotators = tuple(
        load_annotator(spec or default_annotator(code, f"--annotate-{side}"), code)
        for spec, code, side in zip(annotate, (source, target), ("source", "target"), strict=True)
    )
    counts: Counter[str] = Counter()

    def documents() -> Iterator[tuple[GoldPair, AnnotatedPair]]:
        for done, (truth, annotated_pair) in enumerate(annotated(gold, *annotators), start=1):
            pair = with_gold_chains(truth, annotated_pair) if chains == "gold" else annotated_pair
            yield truth, pair
            for _ in phenomenon.find(pair, counts):
                pass
            if progress is not None:
                progress(done, len(gold))

    result = replace(evaluate(documents(), everything), counts=counts)
    settings = phenomenon.settings()
    about = {
        "languages": f"{source}-{target}",
        "chains": chains,
        "settings": dict(settings),
        "annotation": {side: dict(a.settings()) for side, a in zip(("source", "target"), annotators, strict=True)},
    }
    return document_of(result, float(settings["confidence"]), about)


def annotated(gold: list[GoldPair], source: Annotator, target: Annotator) -> Iterator[tuple[GoldPair, AnnotatedPair]]:
    """Yield the documents with both sides annotated; the tokens are those of the records."""
    ours: Iterator[Document] = source.annotate(pair.source.lines for pair in gold)
    theirs: Iterator[Document] = target.annotate(pair.target.lines for pair in gold)
    for pair, first, second in zip(gold, ours, theirs, strict=True):
        yield pair, AnnotatedPair(pair.name, first, second, pair.alignments)
