"""Baselines that understand nothing: a suite is valid to the extent that they fail on it.

No baseline translates anything. They answer always the same, choose by length, see the current sentence alone, or
count words (naive Bayes). Where a baseline cannot decide, its guess counts as one over the number of candidates it
cannot tell apart, so that the order of the candidates, which names the right one in most published sets, does not help.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import atomic_writer
from anaphora.core.parsing import read_json_object
from anaphora.stats.intervals import generator, wilson
from anaphora.stats.resampling import Interval, Resampling
from anaphora.stats.signature import Signature, with_hash
from anaphora.suites.example import ORIGINAL, Example, Passage, common_prefix, split_words
from anaphora.suites.suite import Suite
from anaphora.table import Rendered

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

FOLDS = 10
RUNS = 100  # runs of neighbors, which often share a document, that examples of unknown origin are grouped into
PARTS = ("current", "source_context", "target_context")  # what a bag of words sees
SMOOTHING = 1.0  # added to every count of a word
EQUAL = 1e-9  # log-probabilities that differ by less are equal
AT_ONCE = 20_000  # examples that are scored at a time, to bound memory


@dataclass(frozen=True, slots=True)
class Baseline:
    """The accuracy of a baseline.

    correct: examples it gets right; a guess among k candidates counts 1/k
    choice: what it always chooses: a word, or shortest or longest
    """

    total: int
    correct: float
    interval: Interval
    choice: str | None = None

    @property
    def accuracy(self) -> float:
        return self.correct / self.total

    def to_dict(self) -> dict[str, Any]:
        figures = {"accuracy": self.accuracy, "interval": list(self.interval), "total": self.total}
        return figures | ({"choice": self.choice} if self.choice is not None else {})


@dataclass(frozen=True, slots=True)
class Baselines(Rendered):
    """The baselines of a suite. A baseline is None if the suite does not have what it looks at; `notes` say why.

    majority: always the word that is right most often
    length: always the shortest candidate, or always the longest: the better of the two
    context_blind: an upper bound, the best accuracy of any scorer that sees only the current sentences
    current, source_context, target_context: a bag of words over this part of the passage, cross-validated
    several_words: share of examples whose candidates differ in more than one word
    repeated: examples whose current sentences occur more than once, without which the bound is 1
    priors: examples without a right answer, which are left out
    """

    TABLES = "anaphora.reports.data_tables:baselines_table"

    suite: str
    sha256: str
    languages: str
    majority: Baseline
    length: Baseline
    context_blind: Baseline
    current: Baseline | None
    source_context: Baseline | None
    target_context: Baseline | None
    several_words: Baseline
    repeated: int
    priors: int
    folds: int
    seed: int
    confidence: float
    notes: tuple[str, ...]

    @property
    def signature(self) -> str:
        line = Signature("base").add("s", with_hash(self.suite, self.sha256)).add("bow", f"nb{SMOOTHING:g}")
        line.add("folds", self.folds).add("seed", self.seed)
        return str(line.confidence(Resampling(confidence=self.confidence)))

    def to_dict(self) -> dict[str, Any]:
        bags = {"current": self.current, "source_context": self.source_context, "target_context": self.target_context}
        several = self.several_words
        return {
            "suite": self.suite,
            "sha256": self.sha256,
            "languages": self.languages,
            "total": self.majority.total,
            "majority": self.majority.to_dict(),
            "length": self.length.to_dict(),
            "context_blind": self.context_blind.to_dict() | {"repeated": self.repeated},
            "bag_of_words": {name: bag.to_dict() if bag is not None else None for name, bag in bags.items()},
            "several_words": {
                "share": several.accuracy,
                "interval": list(several.interval),
                "count": int(several.correct),
                "total": several.total,
            },
            "priors": self.priors,
            "folds": self.folds,
            "confidence": self.confidence,
            "notes": list(self.notes),
            "signature": self.signature,
        }


def suite_baselines(suite: Suite, *, folds: int = FOLDS, seed: int = 12345, confidence: float = 0.95) -> Baselines:
    """Compute the baselines of a suite.

    folds: parts of the cross-validation; examples of one document, block or original are in one part
    seed: which documents are in which part
    """
    if folds < 2:
        raise AnaphoraError("cross-validation needs 2 folds or more")
    Resampling(confidence=confidence)  # checks it
    digest = hashlib.sha256()
    gathered = _Gathered(suite.header.blocks)
    for example in suite.examples(digest):
        gathered.add(example)
    total = len(gathered.gold)
    if not total:
        without = f": all {gathered.priors:,} examples are priors" if gathered.priors else ""
        problem = f"no example has a right answer (gold){without}"
        raise BadInput(suite.path or suite.header.name, problem, remedy="Use a suite with right answers.")

    def baseline(correct: float, choice: str | None = None) -> Baseline:
        return Baseline(total, correct, wilson(correct, total, confidence), choice)

    fold = assign_folds(gathered.origins(), gathered.passages, folds, seed)
    candidates = gathered.candidates()
    notes = []
    bags: dict[str, Baseline | None] = dict.fromkeys(PARTS)
    for name, bag in gathered.bags.items():
        if not bag.entries:
            notes.append(f"{name}: the suite has no words there")
        elif fold is None:
            notes.append(f"{name}: all examples belong to one document, so that none are left to learn from")
        else:
            bags[name] = baseline(float(naive_bayes(bag, candidates, fold).sum()))
    if untold := gathered.origins_known.count(False):
        name = "1 example names" if untold == 1 else f"{untold:,} examples name"
        notes.append(f"{name} no document; neighbors are kept in one fold")
    if alone := sum(len(classes) == 1 for classes in gathered.classes):
        have = "1 example has" if alone == 1 else f"{alone:,} examples have"
        notes.append(f"{have} a single candidate, which every baseline gets right")
    bound, repeated = gathered.context_blind()
    return Baselines(
        suite.header.name,
        digest.hexdigest(),
        suite.header.languages,
        baseline(*gathered.majority()),
        baseline(*max((correct, choice) for choice, correct in gathered.lengths.items())),
        baseline(bound),
        bags["current"],
        bags["source_context"],
        bags["target_context"],
        baseline(gathered.several_words),
        repeated,
        gathered.priors,
        int(fold.max()) + 1 if fold is not None else 0,
        seed,
        confidence,
        tuple(notes),
    )


# What is read of an example.


def words_of(text: str) -> list[str]:
    """Return the words and signs of a text in lower case."""
    return split_words(text.lower())


def differing_words(candidates: Sequence[Passage]) -> list[list[str]]:
    """Return for each candidate the words between the beginning and the end that all candidates have in common."""
    texts = [words_of(candidate[-1]) for candidate in candidates]
    if all(text == texts[0] for text in texts):  # they differ in the context
        texts = [words_of(" ".join(candidate)) for candidate in candidates]
    start = common_prefix(texts)
    end = common_prefix([text[start:][::-1] for text in texts])
    return [text[start : len(text) - end] for text in texts]


def classes_of(example: Example, differing: Sequence[Sequence[str]]) -> list[str]:
    """Return the word that stands for each candidate.

    It is that of the tag candidate_pronouns, or the first differing word that no other candidate has, or the first.
    """
    tag = example.tags.get("candidate_pronouns")
    pronouns = tag if isinstance(tag, list) and len(tag) == len(differing) else [None] * len(differing)
    labels = []
    for k, (pronoun, words) in enumerate(zip(pronouns, differing, strict=True)):
        others = {word for other, its in enumerate(differing) if other != k for word in its}
        own = (word for word in words if word not in others)
        labels.append(pronoun.lower() if isinstance(pronoun, str) else next(own, words[0] if words else ""))
    return labels


class _Bag:
    """The words of examples as numbers."""

    def __init__(self) -> None:
        self.vocabulary: dict[str, int] = {}
        self.entries: list[int] = []
        self.sizes: list[int] = []

    def add(self, sentences: Iterable[str]) -> None:
        """Add the different words of an example."""
        words = sorted({word for sentence in sentences for word in words_of(sentence)})
        self.entries += [self.vocabulary.setdefault(word, len(self.vocabulary)) for word in words]
        self.sizes.append(len(words))


class _Gathered:
    """The counts of one pass over a suite, and its texts as numbers."""

    def __init__(self, blocks: str | None) -> None:
        self.grouping = [tag for tag in ("document", blocks, ORIGINAL) if tag is not None]
        self.gold: list[int] = []
        self.names: dict[str, int] = {}  # words that stand for candidates, as numbers
        self.classes: list[list[int]] = []
        self.origins_known: list[bool] = []
        self.tagged: list[Hashable] = []
        self.passages: list[Hashable] = []
        self.bags = {name: _Bag() for name in PARTS}
        self.lengths = {"shortest": 0.0, "longest": 0.0}
        self.answers: defaultdict[Hashable, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
        self.asked: Counter[Hashable] = Counter()
        self.several_words = self.priors = 0

    def add(self, example: Example) -> None:
        if example.gold is None:
            self.priors += 1
            return
        gold, current = example.gold, [candidate[-1] for candidate in example.candidates]
        differing = differing_words(example.candidates)
        self.gold.append(gold)
        self.classes.append([self.names.setdefault(c, len(self.names)) for c in classes_of(example, differing)])
        self.several_words += max(map(len, differing)) > 1
        lengths = [len(text) for text in current]
        for choice, length in (("shortest", min(lengths)), ("longest", max(lengths))):
            self.lengths[choice] += (lengths[gold] == length) / lengths.count(length)
        question = example.source[-1], frozenset(current)
        self.asked[question] += 1
        self.answers[question][current[gold]] += 1 / current.count(current[gold])
        self.bags["current"].add(example.source[-1:])
        self.bags["source_context"].add(example.source[:-1])
        self.bags["target_context"].add(example.candidates[gold][:-1])
        tags = ((tag, example.tags.get(tag)) for tag in self.grouping)
        origin = next(((tag, str(value)) for tag, value in tags if value is not None), None)
        self.origins_known.append(origin is not None)
        self.tagged.append(origin)
        self.passages.append(example.source)

    def origins(self) -> list[Hashable]:
        """Return what each example comes from: a document, a block, an original, or a run of neighbors."""
        size = max(1, len(self.tagged) // RUNS)
        return [k // size if origin is None else origin for k, origin in enumerate(self.tagged)]

    def majority(self) -> tuple[float, str]:
        """Return how often the word that is right most often is right, and the word.

        Where it is not a candidate, an example counts as a guess. If several words are right equally often, it is the
        one that is a candidate most often.
        """
        rows = list(zip(self.classes, self.gold, strict=True))
        right = Counter(classes[gold] for classes, gold in rows)
        offered = Counter(word for classes in self.classes for word in set(classes))
        word = max(sorted(self.names), key=lambda name: (right[self.names[name]], offered[self.names[name]]))
        number, correct = self.names[word], 0.0
        for classes, gold in rows:
            present = classes.count(number)
            correct += (classes[gold] == number) / present if present else 1 / len(classes)
        return correct, word

    def context_blind(self) -> tuple[float, int]:
        """Return the best that any choice by the current sentences gets, and how many examples share theirs."""
        best = sum(max(answers.values()) for answers in self.answers.values())
        return best, sum(count for count in self.asked.values() if count > 1)

    def candidates(self) -> _Candidates:
        sizes = np.array([len(classes) for classes in self.classes])
        flat = np.array([c for classes in self.classes for c in classes])
        return _Candidates(flat, sizes, np.array(self.gold), len(self.names))


# Cross-validated naive Bayes.


def assign_folds(origins: Sequence[Hashable], passages: Sequence[Hashable], folds: int, seed: int) -> Ints | None:
    """Return the fold of each example; examples of one origin, or with one source passage, are in the same fold.

    None if everything belongs together. Groups go in random order to the fold that has the fewest examples.
    """
    parents: dict[Hashable, Hashable] = {}

    def root(node: Hashable) -> Hashable:
        while (parent := parents.setdefault(node, node)) != node:
            parents[node] = parents[parent]
            node = parent
        return node

    for origin, passage in zip(origins, passages, strict=True):
        parents[root(("passage", passage))] = root(("origin", origin))
    roots = [root(("origin", origin)) for origin in origins]
    sizes = Counter(roots)
    if len(sizes) < 2:
        return None
    groups = list(sizes)
    filled = [0] * min(folds, len(groups))
    fold: dict[Hashable, int] = {}
    for index in generator(seed).permutation(len(groups)):
        group = groups[index]
        fold[group] = filled.index(min(filled))
        filled[fold[group]] += sizes[group]
    return np.array([fold[group] for group in roots])


@dataclass(frozen=True, slots=True)
class _Candidates:
    """The candidates of all examples one after the other.

    classes: (candidates,) the word that stands for each, as a number below `words`
    sizes, gold: (examples,) the number of candidates, and which is right
    """

    classes: Ints
    sizes: Ints
    gold: Ints
    words: int


def naive_bayes(bag: _Bag, candidates: _Candidates, fold: Ints) -> Floats:
    """Return for each example 1 where the right candidate is chosen, 1/k where it is one of k equals, otherwise 0.

    Words that are right are the classes, all equally probable in advance; a class that was never right in the other
    folds is not chosen. Counts of the other folds are those of all folds less those of one, so that counting takes one
    pass. They are kept by sorted keys, because a suite may have as many classes as examples.
    """
    words, sizes, vocabulary = np.array(bag.entries), np.array(bag.sizes), len(bag.vocabulary)
    folds = int(fold.max()) + 1
    starts = np.cumsum(candidates.sizes) - candidates.sizes
    right = candidates.classes[starts + candidates.gold]
    in_fold = np.repeat(fold, sizes)
    keys = np.repeat(right, sizes) * vocabulary + words
    everywhere, here = _counts(keys), _counts(keys * folds + in_fold)
    per_fold = np.bincount(np.repeat(right, sizes) * folds + in_fold, minlength=candidates.words * folds)
    totals = per_fold.reshape(-1, folds)
    learned = totals.sum(axis=1, keepdims=True) - totals  # (classes, folds): words of a class outside of a fold
    first_words = np.cumsum(sizes) - sizes
    credit = np.empty(len(sizes))
    for begin in range(0, len(sizes), AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        of_example = np.repeat(np.arange(len(sizes))[part], candidates.sizes[part])  # (candidates,)
        low = starts[begin]
        classes = candidates.classes[low : low + len(of_example)]
        lengths = sizes[of_example]
        of_candidate = np.repeat(np.arange(len(of_example)), lengths)  # (words of all candidates,)
        offsets = np.arange(len(of_candidate)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        seen = words[np.repeat(first_words[of_example], lengths) + offsets]
        key, out = classes[of_candidate] * vocabulary + seen, fold[of_example][of_candidate]
        count = _look_up(everywhere, key) - _look_up(here, key * folds + out)
        size = learned[classes[of_candidate], out]
        logs = np.log(count + SMOOTHING) - np.log(size + SMOOTHING * vocabulary)
        score = np.bincount(of_candidate, weights=logs, minlength=len(of_example))
        score[learned[classes, fold[of_example]] == 0] = -np.inf
        local = starts[part] - low
        best = np.repeat(np.maximum.reduceat(score, local), candidates.sizes[part])
        equal = score >= best - EQUAL
        credit[part] = equal[local + candidates.gold[part]] / np.add.reduceat(equal.astype(np.int64), local)
    return credit


def _counts(keys: Ints) -> tuple[Ints, Ints]:
    distinct, counts = np.unique(keys, return_counts=True)
    return distinct, counts


def _look_up(counted: tuple[Ints, Ints], keys: Ints) -> Ints:
    distinct, counts = counted
    index = np.minimum(np.searchsorted(distinct, keys), len(distinct) - 1)
    return np.where(distinct[index] == keys, counts[index], 0)


# Baselines next to a suite file, where `suites show` finds them.


def saved_path(suite: Path) -> Path:
    """Return the file next to a suite file that holds its baselines."""
    return suite.with_name(f"{suite.name}.baselines.json")


def save(baselines: Baselines, suite: Path) -> Path:
    """Write the baselines of a suite next to its file."""
    path = saved_path(suite)
    with atomic_writer(path) as out:
        out.write(json.dumps(baselines.to_dict(), ensure_ascii=False, indent=2).encode() + b"\n")
    return path


def saved(suite: Path, sha256: str) -> Mapping[str, Any] | None:
    """Return the baselines that were saved for a suite; None if there are none, or if the suite has changed since."""
    path = saved_path(suite)
    if not path.is_file():
        return None
    document = read_json_object(path, f"Compute them again with: anaphora suites baselines {suite} --keep")
    return document if document.get("sha256") == sha256 else None
