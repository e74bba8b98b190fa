"""What the torch systems share: batches of prefix trees under a token budget, plain batches, running out of memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from transformers import PreTrainedModel

from anaphora.core.finite import all_finite
from anaphora.suites.example import Example
from anaphora.systems.context import Question
from anaphora.systems.encoding.focus import encode_examples
from anaphora.systems.encoding.tokens import Encoded, Ids, answer
from anaphora.systems.huggingface.memory import in_halves, out_of_memory
from anaphora.systems.huggingface.packed import PackedModel, Scores, UnsupportedModel
from anaphora.systems.huggingface.plain import score_plain
from anaphora.systems.huggingface.tree import Tree, build_tree
from anaphora.systems.options import Options
from anaphora.systems.scored import Answer

TOLERANCE = 1e-3  # how far tree and plain scores of the trial may be apart (rounding of float32 is about 1e-5)


class Unit(NamedTuple):
    """Everything that is asked about one source: the candidates of all its examples in one tree."""

    source: Ids
    tree: Tree
    members: list[tuple[int, int]]  # example, number of its candidates

    @property
    def size(self) -> int:
        return len(self.tree) + len(self.source)


class NeuralSystem:
    """Scores examples with a torch model. A subclass says how text becomes tokens."""

    has_focus = True  # may score a part of a candidate

    def __init__(self, model: PreTrainedModel, options: Options) -> None:
        self.model, self.options = model.eval(), options
        if options.threads is not None:
            torch.set_num_threads(options.threads)
        self.packed = None if options.plain else self._packed()

    def encode(self, questions: Sequence[Question]) -> list[Encoded]:
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
            for number, found in score_plain(self.model, encoded, budget, done):
                yield number, answer(encoded[number], found)
            return
        for batch in batches(units(encoded, budget), budget):
            if any(number not in done for unit in batch for number, _ in unit.members):
                for unit, scores in zip(batch, in_halves(self._scores, batch, lambda unit: unit.size), strict=True):
                    place = 0
                    for number, size in unit.members:
                        yield number, answer(encoded[number], scores[place : place + size])
                        place += size

    def _scores(self, batch: Sequence[Unit]) -> list[Scores]:
        """The model is on packed rows only here, so that it may generate while somebody waits for the next scores."""
        assert self.packed is not None
        sources = [unit.source for unit in batch] if self.packed.encoder_decoder else None
        with self.packed.attached():
            return self.packed.score([unit.tree for unit in batch], sources, self.options.margins_only)

    def _packed(self) -> PackedModel:
        """The model on packed rows, tried against plain scoring on a made-up tree."""
        packed = PackedModel(self.model)
        trial = _trial(self.model)
        plain = [scores for _, scores in sorted(score_plain(self.model, trial, 512))]
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


def units(encoded: Sequence[Encoded], tokens: int) -> list[Unit]:
    """Questions with the same source (and prompt) in one tree, so that each distinct source is encoded once.

    tokens: how large a tree may become; what is asked about one source is split where it is more
    """
    together: defaultdict[tuple[Ids, Ids], list[int]] = defaultdict(list)
    for number, item in enumerate(encoded):
        together[item.source, item.prompt].append(number)
    result = []
    for (source, prompt), numbers in together.items():
        for part in _parts(encoded, numbers, tokens):
            tree = build_tree(prompt, [candidate for n in part for candidate in encoded[n].candidates])
            result.append(Unit(source, tree, [(n, len(encoded[n].candidates)) for n in part]))
    return result


def _parts(encoded: Sequence[Encoded], numbers: Sequence[int], tokens: int) -> Iterator[list[int]]:
    part: list[int] = []
    known: set[Ids] = set()
    for number in numbers:
        known.update(encoded[number].candidates)
        if part and sum(map(len, known)) > tokens:
            yield part
            part, known = [], set(encoded[number].candidates)
        part.append(number)
    yield part


def batches(units: Sequence[Unit], tokens: int) -> Iterator[list[Unit]]:
    """Units of like length together, each batch within a budget of tokens (one unit may exceed it)."""
    batch: list[Unit] = []
    size = 0
    for unit in sorted(units, key=lambda unit: (len(unit.tree), len(unit.source), unit.members)):
        if batch and size + unit.size > tokens:
            yield batch
            batch, size = [], 0
        batch.append(unit)
        size += unit.size
    if batch:
        yield batch


def _trial(model: Any) -> list[Encoded]:
    """Small trees of arbitrary tokens, with branches at different depths."""
    size = model.get_output_embeddings().weight.shape[0]
    tokens = [7 + (31 * i) % max(1, min(size, 1000) - 8) for i in range(24)]
    start = (getattr(model.config, "decoder_start_token_id", None) or 0,)
    source = (*tokens[:9],) if model.config.is_encoder_decoder else ()
    shared, one, other = (*tokens[:5],), (*tokens[5:12],), (*tokens[12:15],)
    trees = [(shared + one, shared + other, other), (one + other, one + shared)]
    return [Encoded(source[: 9 - 3 * k], (*start, *tokens[:k]), candidates) for k, candidates in enumerate(trees)]
