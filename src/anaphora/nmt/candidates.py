"""Candidates of suite examples for trained models: encoded, limited to what the model reads, and scored."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch

from anaphora.core.errors import BadInput
from anaphora.core.finite import all_finite
from anaphora.nmt.checkpoint import load_model
from anaphora.nmt.config import Config
from anaphora.nmt.data import make_batch
from anaphora.nmt.layout import ContextLayout, SpecialTokens, inputs_of, last, target_of
from anaphora.nmt.text import TEXT_FILES, Text
from anaphora.scoring.batching import SourceGroup, group_by_source, padded_batches, score_groups
from anaphora.scoring.encoded import CandidateScore, EncodedCandidate, Ids, too_long
from anaphora.scoring.packed import PackedModel
from anaphora.scoring.stepwise import StepwiseScorer
from anaphora.scoring.tree import Tree
from anaphora.scoring.weights import find_device, weights_checksum
from anaphora.suites.example import Example, common_prefix

Scorer = Callable[[Sequence[Tree], Sequence[tuple[Ids, ...]], bool], list[list[CandidateScore]]]
Scores = Iterator[tuple[int, list[CandidateScore]]]  # the number of each example, with the scores of its candidates


class EncodedQuestion(NamedTuple):
    """The candidates of one example. truncated: the number of texts that were truncated."""

    candidates: tuple[EncodedCandidate, ...]
    truncated: int = 0


def encode_candidates(example: Example, text: Text, layout: ContextLayout) -> list[EncodedCandidate]:
    """Return every candidate of an example; the inputs differ where an encoder reads the candidate's own context."""
    size = layout.reach + 1
    source = [text.encode_source(sentence) if sentence else [] for sentence in last(example.source, size)]
    encoded = []
    for candidate in example.candidates:
        target = [text.encode_target(sentence) if sentence else [] for sentence in last(candidate, size)]
        inputs = inputs_of(layout, text.special, source, target[:-1])
        encoded.append(EncodedCandidate(inputs, (), target_of(layout, text.special, target)))
    return encoded


def encode_question(
    example: Example, text: Text, layout: ContextLayout, scope: str, limit: int | None, truncate: bool
) -> EncodedQuestion:
    """Return an example in token ids.

    scope: as in `Options`: the whole candidate, the current sentence given the context, or the first token that differs
    limit: the most tokens that the model reads; a longer text is an error, or is truncated
    """
    encoded, truncated = encode_candidates(example, text, layout), 0
    if limit is not None:
        encoded, truncated = _limited(encoded, limit, truncate, example)
    if scope == "current":
        sizes = [len(text.encode_target(candidate[-1])) + 1 for candidate in example.candidates]
        encoded = [_given(c, max(0, len(c.predicted) - size)) for c, size in zip(encoded, sizes, strict=True)]
    elif scope == "pronoun":
        several = len(encoded) > 1
        shared = common_prefix([c.predicted[:-1] for c in encoded]) if several else 0  # one is left to predict
        encoded = [_given(c._replace(predicted=c.predicted[: shared + 1]), shared) for c in encoded]
    return EncodedQuestion(tuple(encoded), truncated)


def _given(candidate: EncodedCandidate, tokens: int) -> EncodedCandidate:
    """Return the candidate with its first tokens given instead of predicted."""
    return candidate._replace(given=candidate.predicted[:tokens], predicted=candidate.predicted[tokens:])


def _limited(
    encoded: Sequence[EncodedCandidate], limit: int, truncate: bool, example: Example
) -> tuple[list[EncodedCandidate], int]:
    """Truncate inputs at their beginning, which is the oldest context, and targets at their end."""
    long = [ids for candidate in encoded for ids in (*candidate.inputs, candidate.predicted) if len(ids) > limit]
    if not long:
        return list(encoded), 0
    if not truncate:
        raise too_long(max(map(len, long)), limit, example.source[-1])
    cut = [
        candidate._replace(
            inputs=tuple(ids[-limit:] for ids in candidate.inputs), predicted=candidate.predicted[:limit]
        )
        for candidate in encoded
    ]
    return cut, len(set(long))


@torch.inference_mode()
def padded_scores(
    model: Any, targets: Sequence[tuple[tuple[Ids, ...], Ids]], special: SpecialTokens, budget: int
) -> list[float]:
    """The sum of log-probabilities of every target after its inputs, in order; the model is in evaluation mode."""
    device = next(model.parameters()).device
    scores = [0.0] * len(targets)
    for numbers in padded_batches([max(len(target), *map(len, inputs)) for inputs, target in targets], budget):
        inputs, outputs = zip(*(targets[number] for number in numbers), strict=True)
        batch = make_batch(inputs, outputs, special.start, special.padding).to(device)
        logits = model(batch).float()
        chosen = torch.log_softmax(logits, -1).gather(2, batch.predict.ids[:, :, None])[:, :, 0]
        sums = chosen.masked_fill(~batch.predict.mask, 0.0).double().sum(1)
        for number, score in zip(numbers, sums.tolist(), strict=True):
            scores[number] = score
    return all_finite(scores, "the model's scores of candidates", "Check the model's files, or lower its rate.")


# Trained models, one or an ensemble, with the scorer that suits each


@dataclass(frozen=True)
class Loaded:
    """Models with the same vocabulary and context layout, in evaluation mode.

    scorers: for each model what scores its trees; limit: how many tokens they take, None where there is no end
    fingerprint: which models they are, for the header of a run
    languages: of the first model, as in en-de; empty where its config does not say them
    """

    models: tuple[Any, ...]
    scorers: tuple[Scorer, ...]
    text: Text
    layout: ContextLayout
    limit: int | None
    fingerprint: dict[str, Any]
    languages: str = ""


def load_models(names: str, device: str | None = None) -> Loaded:
    """Load models by the paths of their folders, separated by commas."""
    paths = [Path(names)] if Path(names).is_dir() else [Path(name) for name in names.split(",")]
    target_device = find_device(device)
    models, configs, texts = [], [], []
    for path in paths:
        model, config, text = load_model(path)
        models.append(model.to(target_device).eval())
        configs.append(config)
        texts.append(text)
        _check_together(path, paths[0], config, configs[0])
    limits = [config.model.max_length for config in configs if config.model.kind != "recurrent"]
    return Loaded(
        tuple(models),
        tuple(_scorer(model, config, texts[0].special) for model, config in zip(models, configs, strict=True)),
        texts[0],
        configs[0].model.layout,
        min(limits, default=None),
        {
            "architecture": ",".join(config.model.kind for config in configs),
            "parameters": sum(parameter.numel() for model in models for parameter in model.parameters()),
            "weights": ",".join(weights_checksum(model) for model in models),
            "vocabulary": f"{texts[0].size}@{_vocabulary(paths[0])[:8]}",
            "dtype": str(next(models[0].parameters()).dtype).removeprefix("torch."),
        },
        configs[0].data.languages,
    )


def _check_together(path: Path, first: Path, config: Config, other: Config) -> None:
    """Raise an error unless models predict the same words from the same inputs, as in an ensemble."""
    if _vocabulary(path) != _vocabulary(first):
        remedy = "Models of an ensemble share theirs: train them with training.start_from, or from the same text."
        raise BadInput(path, f"a different vocabulary from that of {first}", remedy=remedy)
    if config.model.layout != other.model.layout:
        problem = f"reads different sentences from {first} ({config.model.layout}, {other.model.layout})"
        raise BadInput(path, problem, remedy="All models of an ensemble must read the same.")


def _scorer(model: Any, config: Config, special: SpecialTokens) -> Scorer:
    """Return the packed scorer for Hugging Face models, and the stepwise one for others."""
    if config.model.kind == "transformer":
        from transformers import PreTrainedModel

        packed = PackedModel(next(part for part in model.modules() if isinstance(part, PreTrainedModel)))

        def score(
            trees: Sequence[Tree], inputs: Sequence[tuple[Ids, ...]], margins: bool
        ) -> list[list[CandidateScore]]:
            with packed.attached():
                return packed.score(trees, [first for first, *_ in inputs], margins)

        return score
    return StepwiseScorer(model, special.padding).score


def _vocabulary(folder: Path) -> str:
    """Return a checksum of everything that turns text into ids."""
    digest = hashlib.sha256()
    for name in TEXT_FILES:
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class CandidateScorer:
    """One or more models that score together: a candidate's score is the mean of theirs."""

    loaded: Loaded
    batch_tokens: int

    def through_trees(self, questions: Sequence[EncodedQuestion], margins: bool, done: Container[int] = ()) -> Scores:
        """Scores through prefix trees, short examples first.

        margins: leave out of the scores what all candidates of an example share, where their inputs are the same
        done: examples that need no answer; batches are made as if they did
        """

        def score(batch: Sequence[SourceGroup]) -> list[list[CandidateScore]]:
            trees, inputs = [group.tree for group in batch], [group.inputs for group in batch]
            leave_out = margins and batch[0].complete
            by_model = [scorer(trees, inputs, leave_out) for scorer in self.loaded.scorers]
            return [
                [
                    (sum(score for score, _ in values) / len(values), values[0][1])
                    for values in zip(*of_tree, strict=True)
                ]
                for of_tree in zip(*by_model, strict=True)
            ]

        start = (self.loaded.text.special.start,)
        groups = group_by_source([question.candidates for question in questions], self.batch_tokens, start)
        yield from score_groups(groups, score, self.batch_tokens, depth_first=True, done=done)

    def one_by_one(self, questions: Sequence[EncodedQuestion]) -> Scores:
        """Yield the scores of candidates one by one, in padded batches; what is given of a target is subtracted."""
        candidates = [candidate for question in questions for candidate in question.candidates]
        totals = self._padded([(c.inputs, (*c.given, *c.predicted)) for c in candidates])
        given = iter(self._padded([(c.inputs, c.given) for c in candidates if c.given]))
        sums = iter(totals)
        for number, question in enumerate(questions):
            yield (
                number,
                [(next(sums) - (next(given) if c.given else 0.0), len(c.predicted)) for c in question.candidates],
            )

    def _padded(self, targets: Sequence[tuple[tuple[Ids, ...], Ids]]) -> list[float]:
        special = self.loaded.text.special
        by_model = [padded_scores(model, targets, special, self.batch_tokens) for model in self.loaded.models]
        return [sum(scores) / len(scores) for scores in zip(*by_model, strict=True)]
