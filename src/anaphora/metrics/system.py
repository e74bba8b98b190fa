"""`metric:NAME?reference=FILE`: would a metric notice a wrong pronoun? Each candidate is scored like a translation.

The reference is another translation of the suite's sentences. The right candidate cannot be the reference: it would be
compared with itself, and every metric would prefer it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Any

from anaphora.align.tokenize import DEFAULT
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import open_binary
from anaphora.core.parsing import shown
from anaphora.metrics.corpus import METEORS, METRICS, Measured, Texts
from anaphora.runs import CandidateScores, equal_pairs
from anaphora.suites.example import Example, Passage
from anaphora.suites.export import translated_passages
from anaphora.suites.suite import Suite
from anaphora.systems import KINDS
from anaphora.systems.context import Options, split_settings

REFERENCE_FREE = ("qe", "kiwi")  # in the names of COMET models that read source and translation only
AT_A_TIME = 64  # examples that COMET scores before they are kept: it may take seconds for each
TEXT = "candidates"


class MetricSystem:
    """A metric of `anaphora metrics` that scores each candidate as a sentence; negated where lower is better (TER).

    Settings in the spec:
    reference: a file with a translation of each example, a line or a document for each
    model: the COMET model
    """

    traits = KINDS["metric"].traits

    def __init__(self, what: str, options: Options) -> None:
        self.name, settings = split_settings(what, KINDS["metric"].settings)
        self._function, self._options = METRICS.load(self.name), dict[str, Any]()
        self.options, self.reference = options, Path(settings["reference"]) if settings.get("reference") else None
        if options.margins_only:
            raise AnaphoraError("--margins-only is not supported by metric: systems. Leave it out")
        if "model" in settings and self.name != "comet":
            raise AnaphoraError(f"{self.name} has no model. Leave model= out, or use metric:comet")
        free = self.name == "comet" and any(part in settings.get("model", "").lower() for part in REFERENCE_FREE)
        self._check_reference(free)
        if self.name == "comet":
            from anaphora.metrics.external import MODEL, load_comet

            model = settings.get("model") or MODEL
            self._options = {"comet_model": model, "loaded": load_comet(model), "reference_free": free}
        elif self.name == "bleu":
            self._options = {"effective_order": True}  # as sacreBLEU recommends for sentences
        elif self.name == "meteor":
            self._options = {"corpus": self.reference}  # its function words, whichever examples are scored
        self._references: dict[str, Passage] = {}
        self._signature, self._negated = "", False

    def read_suite(self, suite: Suite) -> None:
        """Read the references, which belong to the examples of the whole suite, in their order."""
        if self.reference is not None:
            self._references = _read_references(self.reference, suite)
        measured = self._measured(["a"], ["b"], ["c"])
        self._signature, self._negated = measured.signature, measured.lower_is_better

    def settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = {"metric": self._signature}
        if self._negated:
            settings["negated"] = True
        if self.reference is not None:
            with open_binary(self.reference) as stream:
                settings["reference"] = hashlib.sha256(stream.read()).hexdigest()
        return settings

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        """Each example's number with the metric's values, in order."""
        size = AT_A_TIME if self.name == "comet" else max(len(examples), 1)
        for start in range(0, len(examples), size):
            numbers = range(start, min(start + size, len(examples)))
            if any(number not in done for number in numbers):
                scored = self._scores([examples[number] for number in numbers])
                yield from (
                    (number, scores) for number, scores in zip(numbers, scored, strict=True) if number not in done
                )

    def _scores(self, examples: Sequence[Example]) -> Iterator[CandidateScores]:
        questions = [self.options.context.scoring_input(example) for example in examples]
        references = [self._reference(example) for example in examples]
        rows = [
            (reference, target, question.source)
            for question, reference in zip(questions, references, strict=True)
            for target in question.targets
        ]
        sums = self._measured(*map(list, zip(*rows, strict=True))).sums[TEXT]
        values = iter(sums.figures(sums.rows)["score"].tolist())
        for question in questions:
            scores = [-next(values) if self._negated else next(values) for _ in question.targets]
            yield CandidateScores(scores, None, equal_pairs(question.targets))

    def _measured(self, references: list[str], targets: list[str], sources: list[str]) -> Measured:
        tokenize = "moses" if self.name in METEORS else DEFAULT  # the same for all parts of a suite
        texts = Texts(references, {TEXT: targets}, sources, self.options.languages, tokenize)
        measured: Measured = self._function(texts, **self._options)
        return measured

    def _reference(self, example: Example) -> str:
        """The reference of an example, with the context that its candidates have."""
        if self.reference is None:
            return ""
        passage, context = self._references.get(example.id), self.options.context
        if passage is None:
            raise AnaphoraError(f"{self.reference}: no reference is known for example {shown(example.id)}")
        size = 0 if context.target == "none" else min(context.sentences, example.context_size)
        if len(passage) <= size:
            problem = f"--context {context.sentences} needs references with context, a document for each example"
            remedy = "Leave --context out, or translate what `anaphora suites convert --to sources --documents` writes"
            raise BadInput(self.reference, problem, remedy=remedy)
        return context.join(passage[-1 - size :])

    def _check_reference(self, free: bool) -> None:
        if free and self.reference is not None:
            raise AnaphoraError("this COMET model reads no reference. Leave reference= out")
        if not free and self.reference is None:
            raise AnaphoraError(
                f"metric:{self.name} needs a reference: metric:{self.name}?reference=FILE, with another translation of "
                "each example. The right candidate cannot be the reference, as every metric would prefer it"
            )


def _read_references(path: Path, suite: Suite) -> dict[str, Passage]:
    """The references by the ids of the examples; every example has one, and not all are right candidates."""
    examples = list(suite)
    references = {}
    copied = 0
    for example, passage in zip(examples, translated_passages(path, suite), strict=True):
        if not passage[-1].strip():
            remedy = "Every example needs one: leave those without one out of the suite."
            raise BadInput(path, f"the reference of example {shown(example.id)} is empty", remedy=remedy)
        references[example.id] = passage
        copied += example.gold is not None and passage[-1] == example.candidates[example.gold][-1]
    if copied == len(examples):
        problem = "the reference of every example is its right candidate, which every metric prefers"
        raise BadInput(path, problem, remedy="Pass another translation of the same sentences.")
    return references
