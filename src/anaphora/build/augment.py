"""Antecedent-free augmentation (ContraCAT, Stojanovski et al. 2020, §7)."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby, islice, tee
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from anaphora.align.alignment import Alignment
from anaphora.annotate import Annotator
from anaphora.annotate.document import Document, Mention, Sentence
from anaphora.build.mine.corpus import read_pairs
from anaphora.build.mine.shards import Pair
from anaphora.core.files import atomic_writer
from anaphora.coref import Link, Linker
from anaphora.coref.features import classify
from anaphora.coref.pronouns import Language, is_singular_pronoun, language
from anaphora.languages.german import FORMS
from anaphora.languages.german_swap import case_of, swap_pronoun
from anaphora.suites.example import Passage

BLOCK = 1000  # sentences of a document that are held in memory


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive sentences of one document; first: the number of the first one in its document."""

    document: str
    first: int
    pairs: tuple[Pair, ...]


def read_blocks(
    source: Path, target: Path, *, format: str = "lines", alignments: Path | None = None
) -> Iterator[Block]:
    """Yield the documents of two files, long ones in several blocks, so that a file without boundaries fits in memory.

    format: `lines`, `docids` or `tags`; see `core.documents`
    alignments: a Pharaoh file with a line for each line of the others
    """
    for name, sentences in groupby(read_pairs(source, target, format, alignments), key=itemgetter(0)):
        first = 0
        while pairs := tuple(pair for _, pair in islice(sentences, BLOCK)):
            yield Block(name, first, pairs)
            first += len(pairs)


# The German pronoun that translates English *it*: by a word alignment, or the only one that can.

OTHERS = frozenset({"he", "him", "she", "her"})  # German er, ihn, sie … can translate these as well


def translations(sentence: Sentence, german: Language) -> list[int]:
    """Return the indices of German third-person singular pronouns in a sentence."""
    return [
        index
        for index, token in enumerate(sentence)
        if token.text.lower() in FORMS and is_singular_pronoun(sentence, index, german)
    ]


def aligned_pronoun(
    source: Sentence, it: int, target: Sentence, candidates: Sequence[int], points: Alignment
) -> int | None:
    """Return the candidate that *it* is aligned to, if there is exactly one."""
    words = {j for i, j in points if i == source.words[it]}
    aligned = [index for index in candidates if target.words[index] in words]
    return aligned[0] if len(aligned) == 1 else None


def only_pronoun(source: Sentence, it: int, target: Sentence, candidates: Sequence[int]) -> int | None:
    """Return the only candidate, if *it* is the only pronoun that it can translate and both have a similar role."""
    words = [token.text.lower() for token in source]
    if len(candidates) != 1 or words.count("it") != 1 or OTHERS.intersection(words):
        return None
    subject = source[it].role in ("nsubj", "expl")
    return candidates[0] if (case_of(target, candidates[0]) == "Nom") == subject else None


# Candidates and their augmentations.

KEPT = 8  # sentences of a long document that are kept for its next block


@dataclass(frozen=True, slots=True)
class Settings:
    """The definition of a candidate.

    context: number of preceding sentences, which must not contain the antecedent either (one in the paper)
    drop: kinds of *it* that are excluded; §7.1.2: otherwise the event template gets much worse
    confidence: the least probability that the antecedent precedes the context
    """

    context: int = 1
    drop: tuple[str, ...] = ()
    confidence: float = 0.0


@dataclass(frozen=True, slots=True)
class Augmented:
    """A candidate and its new targets by gender. The current sentence is the last of a passage."""

    document: str
    sentence: int
    line: int
    source: Passage
    target: Passage
    pronoun: str
    case: str
    antecedent: str
    distance: int
    confidence: float
    targets: Mapping[str, Passage]


@dataclass(slots=True)
class Statistics:
    """Counts of documents and sentences, of the outcome for each *it*, of German pronouns, and of new targets."""

    documents: int = 0
    sentences: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    pronouns: Counter[str] = field(default_factory=Counter)
    new: int = 0


class _It(NamedTuple):
    """An *it* whose antecedent precedes the context."""

    pronoun: Mention
    antecedent: Mention
    confidence: float


def augment(
    blocks: Iterable[Block],
    source: Annotator,
    target: Annotator,
    linker: Linker,
    settings: Settings,
    statistics: Statistics,
) -> Iterator[Augmented]:
    """Yield candidates with their augmentations, and update the statistics."""
    ours, theirs, others = tee(blocks, 3)
    annotated = source.annotate([pair.source for pair in block.pairs] for block in theirs)
    ready = target.annotate([pair.target for pair in block.pairs] for block in others) if target.needs_all else None
    if ready is None:
        del others  # so that no blocks are buffered for it
    before: tuple[Pair, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    for block, english in zip(ours, annotated, strict=True):
        statistics.documents += block.first == 0
        statistics.sentences += len(block.pairs)
        before, sentences = (before[-KEPT:], sentences[-KEPT:]) if block.first else ((), ())
        new = len(before)
        english, pairs = english.preceded_by(sentences), (*before, *block.pairs)
        candidates = list(_antecedent_free(english, new, linker, settings, statistics))
        germans = _germans(pairs, new, candidates, target, ready)
        for it in candidates:
            outcome = _augmented(pairs, it, english, germans[it.pronoun.sentence], settings, block, new)
            if isinstance(outcome, str):
                statistics.outcomes[outcome] += 1
                continue
            statistics.outcomes["candidate"] += 1
            statistics.pronouns[outcome.pronoun.lower()] += 1
            statistics.new += len(set(outcome.targets.values()))
            yield outcome
        before, sentences = pairs, english.sentences
    if ready is not None:
        next(ready, None)  # raises an error if the annotation has more documents than the corpus


def _germans(
    pairs: tuple[Pair, ...], new: int, candidates: list[_It], annotator: Annotator, ready: Iterator[Document] | None
) -> dict[int, Sentence]:
    """Return annotated German sentences by number: those needed, or all of the block if annotation is precomputed."""
    if ready is not None:
        return dict(enumerate(next(ready).sentences, start=new))
    numbers = sorted({it.pronoun.sentence for it in candidates})
    if not numbers:
        return {}
    (document,) = annotator.annotate([[pairs[number].target for number in numbers]])
    return dict(zip(numbers, document.sentences, strict=True))


def _antecedent_free(
    document: Document, new: int, linker: Linker, settings: Settings, statistics: Statistics
) -> Iterator[_It]:
    """Yield each *it* whose antecedent precedes the context and count why the others are excluded."""
    for link in linker.links(document):
        sentence = document.sentences[link.pronoun.sentence]
        if link.pronoun.sentence < new or sentence[link.pronoun.head].text.lower() != "it":
            continue
        outcome = _far(link, settings)
        if settings.drop and not isinstance(outcome, str):
            kind = classify(sentence, link.pronoun.head, language("en"))
            if kind is None and link.nonreferential > 0.5:  # by the linker, if not by rule
                kind = "event"
            outcome = kind if kind in settings.drop else outcome
        if isinstance(outcome, str):
            statistics.outcomes[outcome] += 1
        elif outcome is not None:
            yield outcome


def _far(link: Link, settings: Settings) -> _It | str:
    """Return the antecedent before the context, if it is more probable than a nearer one."""
    weighed = link.candidates or (((link.antecedent, link.confidence),) if link.antecedent is not None else ())
    if not weighed:
        return "no antecedent"
    nearest = link.pronoun.sentence - settings.context
    far = [(mention, probability) for mention, probability in weighed if mention.sentence < nearest]
    mass = sum(probability for _, probability in far)
    if not far or weighed[0] != far[0] or mass <= sum(p for _, p in weighed) - mass:
        return "antecedent near"
    return _It(link.pronoun, far[0][0], mass) if mass >= settings.confidence else "not sure enough"


def _augmented(
    pairs: tuple[Pair, ...], it: _It, english: Document, german: Sentence, settings: Settings, block: Block, new: int
) -> Augmented | str:
    """Return the example with its new targets, or the reason why there are none."""
    number = it.pronoun.sentence
    pair = pairs[number]
    candidates = translations(german, language("de"))
    source = english.sentences[number]
    if pair.alignment is not None:
        index = aligned_pronoun(source, it.pronoun.head, german, candidates, pair.alignment)
    else:
        index = only_pronoun(source, it.pronoun.head, german, candidates)
    if index is None:
        return "German pronoun unclear" if candidates else "no German pronoun"
    kind = classify(german, index, language("de")) if settings.drop else None
    if kind in settings.drop:
        return str(kind)
    swap = swap_pronoun(german, index)
    if isinstance(swap, str):
        return swap
    passage = pairs[number - settings.context : number + 1]
    before = tuple(p.target for p in passage[:-1])
    return Augmented(
        document=block.document,
        sentence=block.first + number - new,
        line=pair.line,
        source=tuple(p.source for p in passage),
        target=tuple(p.target for p in passage),
        pronoun=german[index].text,
        case=swap.case,
        antecedent=english.text(it.antecedent),
        distance=number - it.antecedent.sentence,
        confidence=it.confidence,
        targets={gender: (*before, variant.text) for gender, variant in swap.variants.items()},
    )


# Output: line files for fine-tuning, and all details as JSON Lines.


def write_augmented(candidates: Iterable[Augmented], directory: Path, *, separator: str = " <SEP> ") -> list[Path]:
    """Write four line files and a JSON Lines file, and return their paths.

    candidates.*: the original sentences, the paper's baseline; augmented.*: each of them followed by its new versions.
    Sentences of a passage are joined with the separator.
    """
    names = [f"{name}.{code}" for name in ("candidates", "augmented") for code in ("en", "de")] + ["augmented.jsonl"]
    paths = [directory / name for name in names]
    with contextlib.ExitStack() as stack:
        old_source, old_target, all_source, all_target, records = (
            stack.enter_context(atomic_writer(path)) for path in paths
        )

        def line(passage: Passage) -> bytes:
            return (separator.join(passage) + "\n").encode()

        for example in candidates:
            old_source.write(line(example.source))
            old_target.write(line(example.target))
            for target in (example.target, *dict.fromkeys(example.targets.values())):  # ihm has two genders
                all_source.write(line(example.source))
                all_target.write(line(target))
            record = asdict(example) | {"confidence": round(example.confidence, 4)}
            records.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
    return paths


def statistics_document(statistics: Statistics, **more: Any) -> Mapping[str, Any]:
    """Return the statistics as JSON."""
    return {
        "documents": statistics.documents,
        "sentences": statistics.sentences,
        "pronouns": statistics.outcomes.total(),
        "candidates": statistics.outcomes["candidate"],
        "new_examples": statistics.new,
        "outcomes": dict(statistics.outcomes.most_common()),
        "german_pronouns": dict(statistics.pronouns.most_common()),
        **more,
    }
