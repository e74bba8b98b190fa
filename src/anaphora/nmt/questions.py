"""What is asked of a model about an example: candidates in ids, within what it reads, and the part that counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from anaphora.core.errors import AnaphoraError
from anaphora.nmt.arrangement import Arrangement, Ids
from anaphora.nmt.examples import Asked, encode_example
from anaphora.nmt.text import Text
from anaphora.suites.example import Example
from anaphora.systems.huggingface.tree import Tree, build_tree


@dataclass(frozen=True, slots=True)
class Wanted:
    """A candidate: what the encoders read, and its target. read: how many of its tokens are given, not predicted."""

    inputs: tuple[Ids, ...]
    target: Ids
    read: int = 0


class Question(NamedTuple):
    """The candidates of one example. truncated: how many texts were cut."""

    candidates: tuple[Wanted, ...]
    truncated: int = 0

    @property
    def shared(self) -> bool:
        """Whether all candidates are continuations of the same, and so are in one tree."""
        return len({(c.inputs, c.target[: c.read]) for c in self.candidates}) == 1


class Unit(NamedTuple):
    """Everything that is asked with the same inputs: one tree.

    members: (question, candidate); whole: whether all candidates of its questions are in it
    """

    inputs: tuple[Ids, ...]
    tree: Tree
    members: list[tuple[int, int]]
    whole: bool

    @property
    def size(self) -> int:
        return len(self.tree) + sum(map(len, self.inputs))


def make_question(
    example: Example, text: Text, arrangement: Arrangement, focus: str, limit: int | None, truncate: bool
) -> Question:
    """An example in ids.

    focus: as in `Options`: the whole candidate, the current sentence given the context, or the first token that differs
    limit: how many tokens the model takes; what is longer is an error, or is cut
    """
    asked = encode_example(example, text, arrangement)
    cut = 0
    if limit is not None:
        asked, cut = _limited(asked, limit, truncate, example)
    wanted = [Wanted(item.inputs, item.target) for item in asked]
    if focus == "current":
        sizes = [len(text.encode_target(candidate[-1])) + 1 for candidate in example.candidates]
        wanted = [replace(w, read=max(0, len(w.target) - size)) for w, size in zip(wanted, sizes, strict=True)]
    elif focus == "pronoun":
        shared = _common([w.target for w in wanted]) if len(wanted) > 1 else 0
        wanted = [replace(w, target=w.target[: shared + 1], read=shared) for w in wanted]
    return Question(tuple(wanted), cut)


def _limited(asked: Sequence[Asked], limit: int, truncate: bool, example: Example) -> tuple[list[Asked], int]:
    """Within what the model takes. Inputs lose their beginning, which is the oldest context; targets their end."""
    long = [text for item in asked for text in (*item.inputs, item.target) if len(text) > limit]
    if not long:
        return list(asked), 0
    if not truncate:
        longest = max(map(len, long))
        raise AnaphoraError(
            f"{longest:,} tokens, but the model takes {limit:,}: {example.source[-1][:60]!r}… "
            "Use less --context, or cut such texts with --truncate"
        )
    cut = [Asked(tuple(ids[-limit:] for ids in item.inputs), item.target[:limit]) for item in asked]
    return cut, len(set(long))


def _common(targets: Sequence[Ids]) -> int:
    """How many tokens all begin with in common; one is left in each to predict."""
    shortest = min(map(len, targets)) - 1
    return next((n for n in range(shortest) if len({target[n] for target in targets}) > 1), shortest)


def units(questions: Sequence[Question], start: int, tokens: int) -> list[Unit]:
    """Candidates with the same inputs and the same beginning in one tree, so that every input is encoded once.

    start: what the decoder reads first; tokens: how large a tree may become, where it is of several questions
    """
    together: dict[tuple[tuple[Ids, ...], Ids, bool], list[tuple[int, int]]] = {}
    for number, question in enumerate(questions):
        shared = question.shared
        for place, wanted in enumerate(question.candidates):
            key = (wanted.inputs, wanted.target[: wanted.read], shared)
            together.setdefault(key, []).append((number, place))
    found = []
    for (inputs, given, shared), members in together.items():
        for part in _parts(questions, members, tokens):
            rests = [_wanted(questions, member).target[len(given) :] for member in part]
            found.append(Unit(inputs, build_tree((start, *given), rests), part, shared))
    return found


def _parts(
    questions: Sequence[Question], members: Sequence[tuple[int, int]], tokens: int
) -> Iterator[list[tuple[int, int]]]:
    """Members in order, as many as fit; those of one question stay together."""
    part: list[tuple[int, int]] = []
    known: set[Ids] = set()
    for member in members:
        target = _wanted(questions, member).target
        if part and part[-1][0] != member[0] and sum(map(len, known | {target})) > tokens:
            yield part
            part, known = [], set()
        part.append(member)
        known.add(target)
    yield part


def _wanted(questions: Sequence[Question], member: tuple[int, int]) -> Wanted:
    return questions[member[0]].candidates[member[1]]


def batches(found: Sequence[Unit], tokens: int) -> Iterator[list[Unit]]:
    """Units of like length together, each batch within a budget of tokens (one unit may exceed it)."""
    batch: list[Unit] = []
    size = 0
    for unit in sorted(found, key=lambda unit: (int(unit.tree.depth.max()), unit.size, unit.members)):
        if batch and size + unit.size > tokens:
            yield batch
            batch, size = [], 0
        batch.append(unit)
        size += unit.size
    if batch:
        yield batch
