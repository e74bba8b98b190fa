"""Generative accuracy of a suite: its translations aligned and judged, beside what contrastive scoring says."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from anaphora import __version__
from anaphora.align.aligner import Aligner, SystemAlignments, align_systems
from anaphora.align.alignment import Alignment, check_alignment, links
from anaphora.align.backend import Pair, Progress, Settings
from anaphora.align.saved import model_code
from anaphora.align.tokenize import Text, Tokenization, Treatment, signature
from anaphora.core.errors import AnaphoraError
from anaphora.evaluation import breakdown as by
from anaphora.evaluation.decision import decide
from anaphora.evaluation.generative import CORRECT, Counts, Outcome, count, judge
from anaphora.evaluation.signature import Signature
from anaphora.languages.forms import known_languages, polite_forms, pronoun_forms
from anaphora.languages.pronoun_files import known_pairs, pronoun_lists
from anaphora.stats.intervals import Interval, bootstrap, generator, percentile_interval
from anaphora.suites.example import Example
from anaphora.suites.sources import current_translations
from anaphora.suites.suite import Header, Suite
from anaphora.systems.run import Run

SOURCE_PRONOUNS = frozenset({"it", "they", "them"})  # where an example does not say which, and no list does


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
    """What `generative` says of one system."""

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

    def to_dict(self) -> dict[str, Any]:
        return {
            "suite": self.suite,
            "system": self.system,
            **self.counts.to_dict(),
            "breakdowns": {n: {g: c.to_dict() for g, c in groups.items()} for n, groups in self.breakdowns.items()},
            "found_by": dict(self.how),
            "references": self.ceiling,
            "gap": self.gap.to_dict() if self.gap else None,
            "texts": {name: treatment.to_dict() for name, treatment in self.texts.items()},
            "signature": self.signature,
        }


def read_texts(suite: Suite, tokenize: str = "auto", *, normalize: bool = True) -> Texts:
    """The sentences of a suite's examples as words."""
    header = suite.header
    digest = hashlib.sha256()
    found = [(number, example) for number, example in enumerate(suite.examples(digest)) if example.gold is not None]
    if not found:
        raise AnaphoraError(f"{header.name}: no example has a right answer that a translation could be judged by")
    examples = tuple(example for _, example in found)
    words = Tokenization(tokenize, normalize, (header.source_language, header.target_language))
    source = words.source(example.source[-1] for example in examples)
    target = words.target(candidate[-1] for example in examples for candidate in example.candidates)
    sentences = iter(target.sentences)
    candidates = [[next(sentences) for _ in example.candidates] for example in examples]
    numbers = tuple(number for number, _ in found)
    treatments = {"source": source.treatment, "candidates": target.treatment}
    return Texts(header, examples, numbers, source.sentences, candidates, digest.hexdigest(), words, treatments)


def read_translations(path: Path, texts: Texts, suite: Suite) -> Text:
    """A system's translations of the current sentences: a line, or a document, per example of the suite.

    They are divided into words as the texts are.
    """
    lines = current_translations(path, suite)
    return texts.words.target(lines[number] for number in texts.numbers)


def align_texts(
    texts: Texts,
    translations: Mapping[str, list[list[str]]],
    *,
    corpus: Sequence[Pair] = (),
    settings: Settings | None = None,
    aligner: Aligner | None = None,
    progress: Progress | None = None,
) -> SystemAlignments:
    """The source with the right candidates, and with every system's translations."""
    return align_systems(
        texts.source, texts.gold, translations, corpus=corpus, settings=settings, aligner=aligner, progress=progress
    )


def alignment_label(settings: Settings, corpus: Sequence[Pair] = (), saved: Path | None = None) -> str:
    """How texts were aligned, for a signature, as APT's says it; a corpus and a saved aligner with their hashes.

    saved: the folder of an aligner that was trained before
    """
    label = Aligner(settings).name
    if saved is not None:
        label += f"@{model_code(saved)}"
    if corpus:
        digest = hashlib.sha256()
        for source, target in corpus:
            digest.update(f"{' '.join(source)}\t{' '.join(target)}\n".encode())
        label += f"+{len(corpus)}@{digest.hexdigest()[:6]}"
    return label


def judge_texts(
    texts: Texts, translation: Sequence[Sequence[str]], gold_alignments: Sequence[Alignment], own: Sequence[Alignment]
) -> list[Outcome]:
    """The outcome of every example."""
    header = texts.header
    forms = pronoun_forms(header.target_language)
    if not forms:
        raise AnaphoraError(
            f"the pronouns of {header.target_language!r} are not known. Known: {', '.join(known_languages())}; another "
            "language is a file in anaphora/languages/data/forms"
        )
    pair = f"{header.source_language}-{header.target_language}"
    lists = pronoun_lists(pair) if pair in known_pairs() else None
    pronouns = lists.target_pronouns if lists else frozenset[str]()
    usual = frozenset(lists.pronouns) if lists else SOURCE_PRONOUNS

    def is_source(example: Example, word: str) -> bool:
        named = example.tags.get("source_pronoun")
        return word == named.lower() if isinstance(named, str) else word in usual

    found = []
    for n, example in enumerate(texts.examples):
        words = texts.source[n]
        check_alignment(own[n], len(words), len(translation[n]), Path("the alignment"), n + 1)
        found.append(
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
    return found


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
) -> Generative:
    """Counts of outcomes in all and by breakdowns, and the gap to a run of the same suite, if there is one.

    aligned: how, for the signature; treatment: what was done to the translations before their words were counted
    references: outcomes of the right candidates themselves; what is amiss there is not a system's fault
    """
    pairs = list(zip(texts.examples, outcomes, strict=True))
    wanted = by.named(by_tags or texts.header.breakdowns)
    if by_tags:
        by.check_known(wanted.values(), {tag for example in texts.examples for tag in example.tags})
    counts, groups = count(pairs, list(by_tags or texts.header.breakdowns))
    how: dict[str, int] = {}
    for outcome in outcomes:
        how[outcome.how] = how.get(outcome.how, 0) + 1
    treatments = {**texts.treatments, **({system: treatment} if treatment else {})}
    line = Signature("gen").suite(texts.header.name, texts.sha256)
    if run is not None:  # the gap depends on how the run was scored
        line.measured(run.header.measurement)
    for part in signature(treatments.values(), normalize=texts.words.normalize):
        line.add(*part.split(":"))
    line.add("align", aligned).add("notfound", "wrong")
    named = str(line.add("v", __version__))
    gap = None if run is None else gap_to(run, pairs)
    about = texts.header
    ceiling = sum(o.outcome == CORRECT for o in references) / len(references) if references else None
    return Generative(
        about.name, about.languages, system, counts, groups, tuple(outcomes), named, ceiling, gap, how, treatments
    )


def gap_to(run: Run, outcomes: Sequence[tuple[Example, Outcome]], samples: int = 10_000, seed: int = 12345) -> Gap:
    """Contrastive minus generative accuracy on the same examples, with a bootstrap interval."""
    contrastive = {
        item.id: decide(item, minimize=False, normalize="sum").correct for item in run if item.gold is not None
    }
    missing = next((example.id for example, _ in outcomes if example.id not in contrastive), None)
    if missing is not None:
        raise AnaphoraError(f"{run.path}: example {missing} is not in the run. Score the suite that is translated")
    ours = np.array([outcome.outcome == CORRECT for _, outcome in outcomes], float)
    theirs = np.array([contrastive[example.id] for example, _ in outcomes], float)
    rows, counts = np.unique(np.column_stack([theirs - ours, np.ones(len(ours))]), axis=0, return_counts=True)
    values = bootstrap(rows, counts, samples, generator(seed))
    return Gap(float(theirs.mean()), float((theirs - ours).mean()), percentile_interval(values))
