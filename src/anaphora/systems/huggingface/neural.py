"""What the torch systems share: batches of prefix trees under a token budget, plain batches, running out of memory."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Any

import torch
from transformers import PreTrainedModel

from anaphora.core.finite import all_finite
from anaphora.scoring.batching import SourceGroup, group_by_source, out_of_memory, score_groups
from anaphora.scoring.packed import PackedModel, UnsupportedModel
from anaphora.scoring.padded import score_padded
from anaphora.scoring.tree import CandidateScore, EncodedExample, build_tree
from anaphora.suites.example import Example
from anaphora.systems.context import Question
from anaphora.systems.encoding.focus import encode_examples
from anaphora.systems.encoding.tokens import answer
from anaphora.systems.options import Options
from anaphora.systems.scored import Answer

TOLERANCE = 1e-3  # how far tree and plain scores of the trial may be apart (rounding of float32 is about 1e-5)


class NeuralSystem:
    """Scores examples with a torch model. A subclass says how text becomes tokens."""

    has_focus = True  # may score a part of a candidate

    def __init__(self, model: PreTrainedModel, options: Options) -> None:
        self.model, self.options = model.eval(), options
        if options.threads is not None:
            torch.set_num_threads(options.threads)
        self.packed = None if options.plain else self._packed()

    def encode(self, questions: Sequence[Question]) -> list[EncodedExample]:
        """Token ids of questions; a text that is too long is an error or is cut, as the options say."""
        raise NotImplementedError

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, Answer]]:
        """Each example's number with its answer, as they are computed, short ones first.

        Batches are made as if nothing were done, and those with nothing left to do are passed over: so that scores
        do not depend on where an earlier process was interrupted, to the last digit.
        """
        encoded = encode_examples(examples, self.options, self.encode)
        budget = self.options.batch_tokens
        if self.packed is None:
            scores = score_padded(self.model, encoded, budget, done)
        else:
            groups = group_by_source([item.separate() for item in encoded], budget)
            scores = score_groups(groups, self._scores, budget, done=done)
        for number, values in scores:
            item = encoded[number]
            yield number, answer(item.candidates, values, item.truncated)

    def _scores(self, batch: Sequence[SourceGroup]) -> list[list[CandidateScore]]:
        """Switch to packed attention only while scoring, so that the model can still generate between batches."""
        assert self.packed is not None
        sources = [group.inputs[0] for group in batch] if self.packed.encoder_decoder else None
        with self.packed.attached():
            return self.packed.score([group.tree for group in batch], sources, self.options.margins_only)

    def _packed(self) -> PackedModel:
        """The model on packed rows, tried against plain scoring on a made-up tree."""
        packed = PackedModel(self.model)
        trial = _trial(self.model)
        plain = [scores for _, scores in sorted(score_padded(self.model, trial, 512))]
        values = [score for scores in plain for score, _ in scores]
        all_finite(values, f"{type(self.model).__name__}: scores of a trial", "Check the model's files and precision.")
        sources = [encoded.source for encoded in trial] if packed.encoder_decoder else None
        trees = [build_tree(encoded.prompt, encoded.candidates) for encoded in trial]
        try:
            with packed.attached():
                tree = packed.score(trees, sources, margins=False)
        except Exception as error:
            if isinstance(error, UnsupportedModel) or out_of_memory(error):
                raise
            raise UnsupportedModel(
                f"{type(self.model).__name__} cannot be computed through the prefix tree ({type(error).__name__}: "
                f"{error}). Score it in plain batches with --plain"
            ) from error
        far = max(
            abs(a[0] - b[0]) for one, other in zip(plain, tree, strict=True) for a, b in zip(one, other, strict=True)
        )
        near = max(TOLERANCE, 64 * torch.finfo(self.model.dtype).eps)  # half precision rounds more, and may
        if not far <= near * max(1.0, max(map(abs, values)) / 100):
            raise UnsupportedModel(
                f"{type(self.model).__name__}: scores through the prefix tree differ from plain ones by {far:.2g}, its "
                "attention does something the tree scorer does not know. Score it in plain batches with --plain"
            )
        return packed


def _trial(model: Any) -> list[EncodedExample]:
    """Small trees of arbitrary tokens, with branches at different depths."""
    size = model.get_output_embeddings().weight.shape[0]
    tokens = [7 + (31 * i) % max(1, min(size, 1000) - 8) for i in range(24)]
    start = (getattr(model.config, "decoder_start_token_id", None) or 0,)
    source = (*tokens[:9],) if model.config.is_encoder_decoder else ()
    shared, one, other = (*tokens[:5],), (*tokens[5:12],), (*tokens[12:15],)
    trees = [(shared + one, shared + other, other), (one + other, one + shared)]
    return [
        EncodedExample(source[: 9 - 3 * k], (*start, *tokens[:k]), candidates) for k, candidates in enumerate(trees)
    ]
