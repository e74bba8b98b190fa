"""Which part of a candidate is scored: all of it, the current sentence alone, or the word that decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anaphora.core.errors import AnaphoraError
from anaphora.suites.example import Example
from anaphora.systems.context import Context, Question
from anaphora.systems.encoding.tokens import Encoded, Ids
from anaphora.systems.options import Options

FOCUSES = ("candidate", "current", "pronoun")


def check_focus(focus: str) -> None:
    if focus not in FOCUSES:
        raise AnaphoraError(f"unknown focus {focus!r}. Known: {', '.join(FOCUSES)}")


def context_question(example: Example, context: Context) -> Question:
    """The source of an example with its target context alone, to find where the current sentence begins."""
    cut = example.with_context(context.sentences)
    before = cut.candidates[example.gold or 0][:-1] if context.target != "none" else ()
    return Question(context.join(cut.source), (context.join(before),))


def current(encoded: Encoded, before: Encoded) -> Encoded:
    """What follows the target context is predicted, the context is read.

    before: the same with the context alone for a target; where candidates differ in their context, what they share
    """
    given = before.candidates[0]  # its last token, the end of the sentence, is not in common
    return _read(encoded, min(_common(given, candidate) for candidate in encoded.candidates))


def pronoun(encoded: Encoded) -> Encoded:
    """The first token in which candidates differ is predicted, what they share before it is read."""
    first = encoded.candidates[0]
    shared = (
        min(_common(first, candidate) for candidate in encoded.candidates[1:]) if len(encoded.candidates) > 1 else 0
    )
    read = _read(encoded, shared)
    return read._replace(candidates=tuple(candidate[:1] for candidate in read.candidates))


def _read(encoded: Encoded, tokens: int) -> Encoded:
    start = encoded.candidates[0][:tokens]
    candidates = tuple(candidate[tokens:] for candidate in encoded.candidates)
    return encoded._replace(prompt=(*encoded.prompt, *start), candidates=candidates)


def _common(one: Ids, other: Ids) -> int:
    """How many tokens two sequences begin with in common; one is left in each to predict."""
    n = 0
    while n < min(len(one), len(other)) - 1 and one[n] == other[n]:
        n += 1
    return n


def focused(encoded: Sequence[Encoded], befores: Sequence[Encoded] | None, focus: str) -> list[Encoded]:
    """Encoded questions with the focus that is asked for; befores: see `current`."""
    if focus == "current" and befores is not None:
        return [current(item, before) for item, before in zip(encoded, befores, strict=True)]
    return [pronoun(item) for item in encoded] if focus == "pronoun" else list(encoded)


def encode_examples(
    examples: Sequence[Example], options: Options, encode: Callable[[Sequence[Question]], list[Encoded]]
) -> list[Encoded]:
    """Examples as tokens, with what is not to be scored among what is read."""
    context, focus = options.context, options.focus
    encoded = encode([context.question(example) for example in examples])
    befores = [context_question(example, context) for example in examples] if focus == "current" else []
    return focused(encoded, encode(befores) if befores else None, focus)
