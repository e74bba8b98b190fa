"""Pronouns in a system's own translations, judged against those of the reference."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anaphora import __version__
from anaphora.align.aligner import Aligner, model_code
from anaphora.align.alignment import Alignment, check_alignment, find_translation, links
from anaphora.align.backend import Pair, Settings
from anaphora.align.tokenize import Text, Tokenization, Treatment, signature
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.evaluation import decision as by
from anaphora.evaluation.compare import check_examples
from anaphora.evaluation.decision import decide
from anaphora.evaluation.own_antecedent import OwnAgreement, Pronoun
from anaphora.evaluation.result import RunSignature, as_documents
from anaphora.languages import names_with
from anaphora.languages.pronouns import (
    Forms,
    normalize_word,
    plain,
    polite_forms,
    pronoun_forms,
    same_class,
    usual_pronouns,
)
from anaphora.runs import Run
from anaphora.stats.intervals import bootstrap, generator, percentile_interval, wilson
from anaphora.stats.resampling import Interval, Resampling
from anaphora.stats.signature import short_hash
from anaphora.suites.example import Example
from anaphora.suites.export import current_translations
from anaphora.suites.suite import Header, Suite

if TYPE_CHECKING:
    from anaphora.evaluation.verdicts import Judged

CORRECT, WRONG, NOT_FOUND = OUTCOMES = ("correct", "wrong", "not found")
UNCLEAR = "unclear"  # annotators were asked, and most of them could not tell
EXPECTED = "expected"  # the tag of a word that is looked for in the translation, instead of a contrast
COMPARE = "compare"  # the tag that says "words" where all words in which the candidates differ decide, not a pronoun
Words = Sequence[str]
Links = Sequence[Sequence[int]]  # for each source word the target words it is aligned to
IsSource = Callable[[Example, str], bool]  # whether a source word is a pronoun whose translation is judged


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one example.

    how: "link", "rescue" (APT §2.3), "words" (looked for in the whole translation) or "people" (judged by annotators)
    """

    id: str
    outcome: str
    how: str
    word: str = ""  # that decided
    source: int | None = None  # where the source pronoun is
    position: int | None = None  # and its translation


@dataclass(frozen=True, slots=True)
class Contrast:
    """The words in which the candidates of an example differ.

    position: of the gold candidate's first word that another one has not; gold, others: evidence for either
    pronouns: whether these are forms of pronouns
    """

    position: int
    gold: frozenset[str]
    others: frozenset[str]
    pronouns: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of each outcome, and the share of correct ones with its interval."""

    correct: int
    wrong: int
    not_found: int
    interval: Interval
    unclear: int | None = None  # None: annotators were not asked

    @property
    def total(self) -> int:
        return self.correct + self.wrong + self.not_found + (self.unclear or 0)

    @property
    def accuracy(self) -> float | None:
        return self.correct / self.total if self.total else None

    @property
    def among_found(self) -> float | None:
        """The share of correct ones among those found, which favors a system that avoids pronouns."""
        decided = self.correct + self.wrong
        return self.correct / decided if decided else None

    def to_dict(self) -> dict[str, object]:
        return {
            "total": self.total,
            "correct": self.correct,
            "wrong": self.wrong,
            "not_found": self.not_found,
            **({} if self.unclear is None else {"unclear": self.unclear}),
            "accuracy": self.accuracy,
            "interval": list(self.interval),
            "accuracy_among_found": self.among_found,
        }


def contrast(candidates: Sequence[Words], gold: int, forms: Forms, polite: frozenset[str] = frozenset()) -> Contrast:
    """Return the words in which tokenized candidates differ, compared in lower case."""
    words = [plain(candidate, polite) for candidate in candidates]
    right = words[gold]
    rest = [candidate for number, candidate in enumerate(words) if number != gold and candidate != right]
    firsts = []
    for other in rest:
        pairs = enumerate(zip(right, other, strict=False))
        firsts.append((next((k for k, (a, b) in pairs if a != b), min(len(right), len(other))), other))
    position = min((first for first, _ in firsts), default=0)
    alternatives = frozenset(other[first] for first, other in firsts if first < len(other))
    known = frozenset().union(*forms.values())
    if position < len(right) and right[position] in known and alternatives and alternatives <= known:
        mine = same_class(right[position], alternatives, forms)
        theirs = [same_class(word, frozenset({right[position]}), forms) for word in alternatives]
        return Contrast(position, mine, frozenset().union(*theirs) - mine, pronouns=True)
    shared = set(right).intersection(*map(set, rest)) if rest else set(right)
    other_words = frozenset(word for other in rest for word in other)
    return Contrast(position, frozenset(right) - shared, other_words - set(right), pronouns=False)


def judge(
    example: Example,
    source: Words,
    candidates: Sequence[Words],
    translation: Words,
    *,
    gold_links: Links,
    links: Links,
    forms: Forms,
    is_source: IsSource,
    pronouns: frozenset[str] = frozenset(),
    polite: frozenset[str] = frozenset(),
) -> Outcome:
    """One example, whose texts are tokenized and aligned from source to the gold candidate and to the translation.

    pronouns: further ones of the target language, a link to which is believed (das, dieser)
    polite: words that are a form of address with a capital (German Sie)
    """
    expected = expected_words(example)
    if expected:
        present = expected <= set(_lowercase(translation))
        word = " ".join(sorted(expected)) if present else ""
        return Outcome(example.id, CORRECT if present else NOT_FOUND, "words", word)
    assert example.gold is not None
    if example.tags.get(COMPARE) == "words":
        differing = contrast([_lowercase(candidate) for candidate in candidates], example.gold, {})
        return _by_words(example.id, differing, _lowercase(translation))
    contrasted = contrast(candidates, example.gold, forms, polite)
    written = plain(translation, polite)
    positions = [n for n, word in enumerate(source) if is_source(example, normalize_word(word))]
    if not contrasted.pronouns or not positions:
        return _by_words(example.id, contrasted, written)
    position = _source_position(positions, contrasted.position, gold_links, len(candidates[example.gold]))
    known = pronouns.union(*forms.values())
    decisive = contrasted.gold | contrasted.others
    translated = find_translation(
        position,
        links,
        len(written),
        is_pronoun=lambda word: written[word] in known,
        is_likely=lambda word: written[word] in decisive,
    )
    if translated is None:
        return Outcome(example.id, NOT_FOUND, "rescue", source=position)
    word = written[translated.position]
    outcome = CORRECT if word in contrasted.gold else WRONG if word in contrasted.others else NOT_FOUND
    return Outcome(example.id, outcome, "rescue" if translated.rescued else "link", word, position, translated.position)


def expected_words(example: Example) -> frozenset[str]:
    """The words that a suite without wrong translations expects in the right one (CTXPRO), in lower case."""
    expected = example.tags.get(EXPECTED)
    return frozenset(map(normalize_word, expected.split())) if isinstance(expected, str) else frozenset()


def _lowercase(words: Words) -> list[str]:
    return [normalize_word(word) for word in words]


def count(
    outcomes: Sequence[tuple[Example, Outcome]],
    breakdowns: Sequence[str],
    confidence: float = 0.95,
    *,
    asked: bool = False,
) -> tuple[Counts, dict[str, dict[str, Counts]]]:
    """Outcomes in all and by breakdowns. asked: annotators were asked about some, so that outcomes may be unclear"""
    values = [(example.tags, outcome.outcome) for example, outcome in outcomes]
    return by.counted(breakdowns, values, lambda numbers: _counts(numbers, confidence, asked))


def _counts(numbers: Mapping[str, int], confidence: float, asked: bool) -> Counts:
    correct, wrong, not_found = (numbers.get(outcome, 0) for outcome in OUTCOMES)
    unclear = numbers.get(UNCLEAR, 0)
    interval = wilson(correct, correct + wrong + not_found + unclear, confidence)
    return Counts(correct, wrong, not_found, interval, unclear if asked else None)


def _by_words(name: str, contrasted: Contrast, written: Words) -> Outcome:
    """The outcome by the share of the words of either side that the translation has."""
    present = frozenset(written)
    right, wrong = (len(side & present) / len(side) if side else 0.0 for side in (contrasted.gold, contrasted.others))
    outcome = CORRECT if right > wrong else WRONG if wrong > right else NOT_FOUND
    side = {CORRECT: contrasted.gold, WRONG: contrasted.others}.get(outcome, frozenset())
    return Outcome(name, outcome, "words", next((word for word in written if word in side), ""))


def _source_position(positions: Sequence[int], gold: int, gold_links: Links, length: int) -> int:
    """The source pronoun of the example: the one aligned to the gold pronoun, else the one nearest to it."""
    linked = [position for position in positions if gold in gold_links[position]]
    share = gold / max(1, length - 1)
    return min(linked or positions, key=lambda position: abs(position / max(1, len(gold_links) - 1) - share))


# Generative accuracy of a suite: its translations are aligned, judged and compared with contrastive accuracy.


@dataclass(frozen=True)
class Texts:
    """A suite's current sentences in words, line by line with its examples: those that have a right answer."""

    header: Header
    examples: tuple[Example, ...]
    numbers: tuple[int, ...]  # of the examples among all of the suite, which translations are counted by
    source: list[list[str]]
    candidates: list[list[list[str]]]
    sha256: str = ""
    words: Tokenization = field(default_factory=Tokenization)  # how they and their translations are divided
    treatments: Mapping[str, Treatment] = field(default_factory=dict)  # what was done to source and candidates

    @property
    def gold(self) -> list[list[str]]:
        return [words[example.gold or 0] for example, words in zip(self.examples, self.candidates, strict=True)]


@dataclass(frozen=True, slots=True)
class Gap:
    """Contrastive accuracy on the same examples, and how much higher it is than generative accuracy."""

    contrastive: float
    difference: float
    interval: Interval

    def to_dict(self) -> dict[str, Any]:
        return {
            "contrastive_accuracy": self.contrastive,
            "difference": self.difference,
            "interval": list(self.interval),
        }


@dataclass(frozen=True, slots=True)
class Generative:
    """The result of `generative` for one system."""

    suite: str
    languages: str
    system: str
    counts: Counts
    breakdowns: Mapping[str, Mapping[str, Counts]]
    outcomes: tuple[Outcome, ...]
    signature: str
    ceiling: float | None = None  # the accuracy of the right candidates themselves, judged in the same way
    gap: Gap | None = None
    how: Mapping[str, int] = field(default_factory=dict)  # link, rescue, words → examples decided by it
    texts: Mapping[str, Treatment] = field(default_factory=dict)  # what was done to each before words were counted
    own: OwnAgreement | None = None  # agreement with the antecedents in the system's own translations
    judged: Judged | None = None  # how many were judged by annotators, if they were asked

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object: by the reference, or by the own antecedent with the reference's part inside."""
        if self.own is None:
            return self._by_reference()
        return {
            "suite": self.suite,
            "system": self.system,
            "antecedent": "own",
            **self.own.to_dict(),
            "reference": self._by_reference() if self.counts.total else None,
            "signature": self.signature,
        }

    def _by_reference(self) -> dict[str, Any]:
        return {
            "suite": self.suite,
            "system": self.system,
            **self.counts.to_dict(),
            **(self.judged.to_dict() if self.judged else {}),
            "breakdowns": as_documents(self.breakdowns),
            "found_by": dict(self.how),
            "references": self.ceiling,
            "gap": self.gap.to_dict() if self.gap else None,
            "texts": {name: treatment.to_dict() for name, treatment in self.texts.items()},
            "signature": self.signature,
        }


def read_texts(suite: Suite, tokenize: str = "auto", *, normalize: bool = True, required: bool = True) -> Texts:
    """The sentences of a suite's examples as words. required: whether some example must have a right answer"""
    header = suite.header
    digest = hashlib.sha256()
    judged = {
        number: example
        for number, example in enumerate(suite.examples(digest))
        if example.gold is not None or expected_words(example)
    }
    if not judged and required:
        problem, remedy = "no example has a gold candidate to judge translations by", "See --antecedent own."
        raise BadInput(suite.path or header.name, problem, remedy=remedy)
    examples = tuple(judged.values())
    words = Tokenization(tokenize, normalize, (header.source_language, header.target_language))
    every = examples or tuple(suite)  # if none is judged, all show whether the text is tokenized
    source = words.source(example.source[-1] for example in every)
    target = words.target(candidate[-1] for example in every for candidate in example.candidates)
    sentences = iter(target.sentences)
    candidates = [[next(sentences) for _ in example.candidates] for example in examples]
    treatments = {"source": source.treatment, "candidates": target.treatment}
    sources = source.sentences[: len(examples)]
    return Texts(header, examples, tuple(judged), sources, candidates, digest.hexdigest(), words, treatments)


def read_translations(path: Path, texts: Texts, suite: Suite) -> Text:
    """A system's translations of the current sentences: a line, or a document, per example of the suite.

    They are divided into words as the texts are.
    """
    lines = current_translations(path, suite)
    if not texts.numbers:
        return Text([], texts.words.target(lines).treatment)
    return texts.words.target(lines[number] for number in texts.numbers)


def alignment_label(settings: Settings, corpus: Sequence[Pair] = (), saved: Path | None = None) -> str:
    """The aligner of texts as signatures name it; a corpus and a saved aligner with their hashes.

    saved: the folder of an aligner that was trained before
    """
    label = Aligner(settings).name
    if saved is not None:
        label += f"@{model_code(saved)}"
    if corpus:
        lines = ("\t".join(map(" ".join, pair)) for pair in corpus)
        label += f"+{len(corpus)}@{short_hash(lines)}"
    return label


def judge_texts(
    texts: Texts, translation: Sequence[Sequence[str]], gold_alignments: Sequence[Alignment], own: Sequence[Alignment]
) -> list[Outcome]:
    """The outcome of every example."""
    header = texts.header
    forms = pronoun_forms(header.target_language)
    if not forms:
        raise AnaphoraError(
            f"the pronouns of {header.target_language!r} are not known. Known: {', '.join(names_with('forms'))}. "
            "Add a data file for the language (docs/extending.md)"
        )
    pair = f"{header.source_language}-{header.target_language}"
    usual, pronouns = usual_pronouns(pair)

    def is_source(example: Example, word: str) -> bool:
        named = example.tags.get("source_pronoun")
        return word == named.lower() if isinstance(named, str) else word in usual

    outcomes = []
    for n, example in enumerate(texts.examples):
        words = texts.source[n]
        check_alignment(own[n], len(words), len(translation[n]), Path("the alignment"), n + 1)
        outcomes.append(
            judge(
                example,
                words,
                texts.candidates[n],
                translation[n],
                gold_links=links(gold_alignments[n], len(words)),
                links=links(own[n], len(words)),
                forms=forms,
                is_source=is_source,
                pronouns=pronouns,
                polite=polite_forms(header.target_language),
            )
        )
    return outcomes


def evaluate_translations(
    texts: Texts,
    system: str,
    outcomes: Sequence[Outcome],
    aligned: str,
    *,
    treatment: Treatment | None = None,
    references: Sequence[Outcome] = (),
    by_tags: Sequence[str] = (),
    run: Run | None = None,
    own: OwnAgreement | None = None,
    judged: Judged | None = None,
    answers: str | None = None,
) -> Generative:
    """Counts of outcomes in all and by breakdowns, and the gap to a run of the same suite, if there is one.

    aligned: how, for the signature; treatment: what was done to the translations before their words were counted
    references: outcomes of the correct candidates themselves; errors there are alignment errors, not the system's
    own: agreement with the antecedents in the system's own translations, if that is judged as well
    judged, answers: how many of the outcomes are verdicts of annotators, and which answers these are, for the signature
    """
    pairs = list(zip(texts.examples, outcomes, strict=True))
    wanted = by.parse_all(by_tags or texts.header.breakdowns)
    if by_tags:
        by.check_known(wanted.values(), {tag for example in texts.examples for tag in example.tags})
    counts, groups = count(pairs, list(by_tags or texts.header.breakdowns), asked=judged is not None)
    how = Counter(outcome.how for outcome in outcomes)
    treatments = {**texts.treatments, **({system: treatment} if treatment else {})}
    line = RunSignature("gen").suite(texts.header.name, texts.sha256)
    if run is not None:  # the gap depends on how the run was scored
        line.measured(run.header.measurement)
    line.extend(signature(treatments.values(), normalize=texts.words.normalize))
    line.add("align", aligned).add("notfound", "wrong")
    if own is not None:
        line.add("ante", "own")
    line.add("people", answers)
    named = str(line.add("v", __version__))
    gap = None if run is None else gap_to(run, pairs)
    about = texts.header
    ceiling = sum(o.outcome == CORRECT for o in references) / len(references) if references else None
    return Generative(
        *(about.name, about.languages, system, counts, groups, tuple(outcomes), named, ceiling, gap, how, treatments),
        own=own,
        judged=judged,
    )


def pronouns_of(
    texts: Texts, translation: Sequence[Sequence[str]], alignments: Sequence[Alignment], outcomes: Sequence[Outcome]
) -> dict[int, Pronoun]:
    """The positions of pronouns, for the agreement with own antecedents, by the examples' numbers in the suite."""
    pronouns = {}
    for n, (number, outcome) in enumerate(zip(texts.numbers, outcomes, strict=True)):
        words = (texts.source[n], translation[n], alignments[n])
        if outcome.how == "words":  # it was not looked for
            pronouns[number] = Pronoun(*words)
        else:
            rescued = outcome.how == "rescue"
            pronouns[number] = Pronoun(*words, outcome.source, outcome.position, rescued, outcome.outcome)
    return pronouns


def gap_to(run: Run, outcomes: Sequence[tuple[Example, Outcome]]) -> Gap:
    """Contrastive minus generative accuracy on the same examples, with a bootstrap interval."""
    check_examples(run, (example for example, _ in outcomes))
    contrastive = {
        item.id: decide(item, minimize=False, normalize="sum").correct for item in run if item.gold is not None
    }
    ours = np.array([outcome.outcome == CORRECT for _, outcome in outcomes], float)
    theirs = np.array([contrastive[example.id] for example, _ in outcomes], float)
    rows, counts = np.unique(np.column_stack([theirs - ours, np.ones(len(ours))]), axis=0, return_counts=True)
    resampling = Resampling()
    values = bootstrap(rows, counts, resampling.samples, generator(resampling.seed))
    interval = percentile_interval(values, resampling.confidence)
    return Gap(float(theirs.mean()), float((theirs - ours).mean()), interval)
