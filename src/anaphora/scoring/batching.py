"""Batches within a token budget, of prefix trees and of padded sequences, split where memory does not suffice."""

from __future__ import annotations

import gc
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from anaphora.core.errors import AnaphoraError
from anaphora.scoring.encoded import CandidateScore, EncodedCandidate, EncodedExample, Ids
from anaphora.scoring.tree import Tree, build_tree

Item = TypeVar("Item")
Output = TypeVar("Output")
# messages of CUDA and others, of the processor's memory on Linux and on Windows, of cuBLAS and cuDNN
OUT_OF_MEMORY = ("out of memory", "can't allocate", "not enough memory", "_alloc_failed")


class SourceGroup(NamedTuple):
    """All candidates that are scored after the same inputs and the same given tokens: one tree.

    members: (example, candidate); complete: whether all candidates of its examples are in it
    """

    inputs: tuple[Ids, ...]
    tree: Tree
    members: list[tuple[int, int]]
    complete: bool

    @property
    def size(self) -> int:
        """Tokens that the model reads."""
        return len(self.tree) + sum(map(len, self.inputs))


def group_by_source(examples: Sequence[Sequence[EncodedCandidate]], budget: int, start: Ids = ()) -> list[SourceGroup]:
    """Group candidates with the same inputs and the same beginning, so that every distinct input is encoded once.

    budget: the most tokens of a tree; what is asked about one source is split between examples where it is more
    start: what the decoder reads before the given tokens
    """
    groups: dict[tuple[tuple[Ids, ...], Ids, bool], list[tuple[int, int]]] = {}
    for number, candidates in enumerate(examples):
        shared = len({(c.inputs, c.given) for c in candidates}) == 1
        for index, candidate in enumerate(candidates):
            groups.setdefault((candidate.inputs, candidate.given, shared), []).append((number, index))
    result = []
    for (inputs, given, shared), members in groups.items():
        for part in _within(examples, members, budget):
            tree = build_tree((*start, *given), [examples[number][index].predicted for number, index in part])
            result.append(SourceGroup(inputs, tree, part, shared))
    return result


def _within(
    examples: Sequence[Sequence[EncodedCandidate]], members: Sequence[tuple[int, int]], budget: int
) -> Iterator[list[tuple[int, int]]]:
    """Members in order, at most as many as fit the budget; those of one example stay together."""
    by_example: dict[int, list[tuple[int, int]]] = {}
    for member in members:
        by_example.setdefault(member[0], []).append(member)
    part: list[tuple[int, int]] = []
    known: set[Ids] = set()
    for number, own in by_example.items():
        targets = {examples[number][index].predicted for _, index in own}
        known |= targets
        if part and sum(map(len, known)) > budget:
            yield part
            part, known = [], targets
        part += own
    yield part


def token_batches(groups: Sequence[SourceGroup], budget: int, depth_first: bool) -> Iterator[list[SourceGroup]]:
    """Groups of similar length together, each batch within a token budget (a single group may exceed it).

    depth_first: sort by the depth of the tree, which is what a model that decodes step by step takes time for
    """

    def key(group: SourceGroup) -> tuple[int, int, list[tuple[int, int]]]:
        if depth_first:
            return int(group.tree.depth.max()), group.size, group.members
        return len(group.tree), sum(map(len, group.inputs)), group.members

    batch: list[SourceGroup] = []
    size = 0
    for group in sorted(groups, key=key):
        if batch and size + group.size > budget:
            yield batch
            batch, size = [], 0
        batch.append(group)
        size += group.size
    if batch:
        yield batch


def score_groups(
    groups: Sequence[SourceGroup],
    score: Callable[[Sequence[SourceGroup]], list[list[CandidateScore]]],
    budget: int,
    *,
    depth_first: bool = False,
    done: Container[int] = (),
) -> Iterator[tuple[int, list[CandidateScore]]]:
    """Yield the number of each example with the scores of its candidates, as soon as it is complete, short ones first.

    Batches are made as if nothing were done, and those with nothing left to do are passed over: so scores do not
    depend on where an earlier process was interrupted, to the last digit. Groups that are complete and groups that are
    not never share a batch.
    """
    expected: dict[int, int] = {}
    for group in groups:
        for number, _ in group.members:
            expected[number] = expected.get(number, 0) + 1
    scores: dict[int, dict[int, CandidateScore]] = {number: {} for number in expected}
    for complete in (True, False):
        chosen = [group for group in groups if group.complete is complete]
        for batch in token_batches(chosen, budget, depth_first):
            if all(number in done for group in batch for number, _ in group.members):
                continue
            for group, values in zip(batch, split_on_oom(score, batch, lambda group: group.size), strict=True):
                for (number, index), value in zip(group.members, values, strict=True):
                    scores[number][index] = value
                    if len(scores[number]) == expected[number]:
                        yield number, [value for _, value in sorted(scores.pop(number).items())]


def split_on_oom(
    score: Callable[[Sequence[Item]], list[Output]], batch: Sequence[Item], tokens: Callable[[Item], int]
) -> list[Output]:
    """Return what `score` returns for a batch; where memory does not suffice, for its two halves.

    tokens: the size of an item, for the error where even a single one is too large
    """
    output = _within_memory(score, batch)
    if output is None and len(batch) == 1:
        gc.collect()  # the last resort, as it takes long where millions of objects are alive
        output = _within_memory(score, batch)
        if output is None:
            size = tokens(batch[0])
            raise AnaphoraError(
                f"out of memory on a single example of {size:,} tokens. Use less --context, or a smaller model"
            )
    if output is not None:
        return output
    half = len(batch) // 2
    return split_on_oom(score, batch[:half], tokens) + split_on_oom(score, batch[half:], tokens)


def _within_memory(score: Callable[[Sequence[Item]], list[Output]], batch: Sequence[Item]) -> list[Output] | None:
    """Return what `score` returns for a batch, or None where memory does not suffice."""
    try:
        return score(batch)
    except (MemoryError, RuntimeError) as error:
        if not out_of_memory(error):
            raise
    # Only here, after the except block, can the memory of the failed attempt be released: that of its reference cycles
    # by collecting young objects, which takes no time.
    gc.collect(1)
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return None


def out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory did not suffice; libraries have few classes for it, and many messages."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    message = str(error).lower()
    return any(words in message for words in OUT_OF_MEMORY)


def padded_batches(lengths: Sequence[int], budget: int, most: int | None = None) -> Iterator[list[int]]:
    """Yield indices sorted by length, in batches of at most `most` whose padded size is within a token budget."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: (lengths[index], index)):
        if batch and (lengths[index] * (len(batch) + 1) > budget or len(batch) == most):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


# Each candidate by itself in padded batches, as every toolkit scores them: the baseline of the tree scorer.


@dataclass(frozen=True, slots=True)
class Padded:
    """ids: (b, t), padded on the right; lengths: (b,), at least 1."""

    ids: Tensor
    lengths: Tensor

    @property
    def mask(self) -> Tensor:
        """(b, t), true where there is a token."""
        return torch.arange(self.ids.shape[1], device=self.ids.device)[None, :] < self.lengths[:, None]

    def to(self, device: torch.device | str) -> Padded:
        return Padded(self.ids.to(device), self.lengths.to(device))

    def __getitem__(self, rows: Tensor | slice) -> Padded:
        return Padded(self.ids[rows], self.lengths[rows])


def select_rows(structure: Any, rows: Tensor) -> Any:
    """Return rows of a tensor, or of all tensors in a tree of tuples: in the order given, each any number of times."""
    if isinstance(structure, Tensor):
        return structure.index_select(0, rows)
    parts = [select_rows(part, rows) for part in structure]
    return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)


def pad(rows: Sequence[Ids], padding: int) -> Padded:
    """Sequences of ids side by side, padded on the right."""
    lengths = torch.tensor([len(row) for row in rows])
    longest = int(lengths.max())
    return Padded(torch.tensor([[*row, *[padding] * (longest - len(row))] for row in rows]), lengths)


def score_padded(
    model: Any, encoded: Sequence[EncodedExample], batch_tokens: int, done: Container[int] = ()
) -> Iterator[tuple[int, list[CandidateScore]]]:
    """Yield the number of each question with (sum, tokens) of its candidates; batches are sorted by length.

    done: questions that need no answer; batches are made as if they did
    """
    rows = [(n, k, candidate) for n, item in enumerate(encoded) for k, candidate in enumerate(item.separate())]
    scored: dict[int, dict[int, CandidateScore]] = {n: {} for n in range(len(encoded))}

    def score(candidates: Sequence[EncodedCandidate]) -> list[CandidateScore]:
        values = token_log_probabilities(model, candidates)
        return [(float(one.double().sum()), len(one)) for one in values]

    for numbers in padded_batches([candidate.longest for *_, candidate in rows], batch_tokens):
        batch = [rows[number] for number in numbers]
        if all(n in done for n, *_ in batch):
            continue
        scores = split_on_oom(score, [candidate for *_, candidate in batch], lambda candidate: candidate.longest)
        for (n, k, _), value in zip(batch, scores, strict=True):
            scored[n][k] = value
            if len(scored[n]) == len(encoded[n].candidates):
                complete = scored.pop(n)
                yield n, [complete[i] for i in range(len(complete))]


@torch.inference_mode()
def token_log_probabilities(model: Any, candidates: Sequence[EncodedCandidate]) -> list[Tensor]:
    """The log-probabilities of the tokens of each candidate, in one padded batch through a Hugging Face model."""
    device = next(model.parameters()).device
    read = pad([(*one.given, *one.predicted[:-1]) for one in candidates], 0).to(device)  # padding is masked
    if model.config.is_encoder_decoder:
        sources = pad([one.inputs[0] for one in candidates], 0).to(device)
        arguments = {"input_ids": sources.ids, "attention_mask": sources.mask.long(), "decoder_input_ids": read.ids}
    else:
        arguments = {"input_ids": read.ids, "attention_mask": read.mask.long()}
    logits = model(**arguments, use_cache=False).logits
    values = []
    for row, one in enumerate(candidates):
        first, tokens = len(one.given) - 1, torch.tensor(one.predicted, device=device)
        predicted = torch.log_softmax(logits[row, first : first + len(tokens)].float(), -1)
        values.append(predicted.gather(1, tokens[:, None])[:, 0])
    return values
