"""Batches of prefix trees within a token budget, split where memory does not suffice."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import torch

from anaphora.core.errors import AnaphoraError
from anaphora.scoring.encoded import CandidateScore, EncodedCandidate, Ids
from anaphora.scoring.tree import Tree, build_tree

Item = TypeVar("Item")
Output = TypeVar("Output")
# Of CUDA and others, the processor's on Linux and on Windows, cuBLAS and cuDNN
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
        for place, candidate in enumerate(candidates):
            groups.setdefault((candidate.inputs, candidate.given, shared), []).append((number, place))
    result = []
    for (inputs, given, shared), members in groups.items():
        for part in _within(examples, members, budget):
            tree = build_tree((*start, *given), [examples[number][place].predicted for number, place in part])
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
        targets = {examples[number][place].predicted for _, place in own}
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
    """The number of each example with the scores of its candidates, as soon as it is complete, short ones first.

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
                for (number, place), value in zip(group.members, values, strict=True):
                    scores[number][place] = value
                    if len(scores[number]) == expected[number]:
                        yield number, [value for _, value in sorted(scores.pop(number).items())]


def split_on_oom(
    score: Callable[[Sequence[Item]], list[Output]], batch: Sequence[Item], tokens: Callable[[Item], int]
) -> list[Output]:
    """What `score` returns for a batch; where memory does not suffice, for its two halves.

    tokens: the size of an item, for the error where even a single one is too large
    """
    try:
        return score(batch)
    except (MemoryError, RuntimeError) as error:
        if not out_of_memory(error):
            raise
    # Only here, after the except block, is the memory of the failed attempt released.
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    if len(batch) == 1:
        raise AnaphoraError(
            f"out of memory on a single example of {tokens(batch[0]):,} tokens. Use less --context, or a smaller model"
        )
    half = len(batch) // 2
    return split_on_oom(score, batch[:half], tokens) + split_on_oom(score, batch[half:], tokens)


def out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory did not suffice; libraries have few classes for it, and many messages."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    message = str(error).lower()
    return any(words in message for words in OUT_OF_MEMORY)


def padded_batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Indices sorted by length, in batches whose padded size is within a token budget."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: (lengths[index], index)):
        if batch and lengths[index] * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def find_device(name: str | None) -> torch.device:
    """The device of this name, by default the GPU where there is one; one that cannot be used is an error."""
    chosen = name or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=chosen).device
    except (RuntimeError, AssertionError) as error:  # the latter where torch was built without it
        raise AnaphoraError(f"device {chosen!r} cannot be used: {str(error).partition(chr(10))[0]}") from None


def weights_checksum(model: Any) -> str:
    """A short hash of a part of every tensor: another checkpoint under the same name does not pass for this one."""
    digest = hashlib.sha256()
    with torch.inference_mode():
        for name, tensor in sorted(model.state_dict().items()):
            digest.update(f"{name}{tuple(tensor.shape)}".encode())
            digest.update(tensor.detach().flatten()[:64].float().cpu().numpy().tobytes())
    return digest.hexdigest()[:16]
