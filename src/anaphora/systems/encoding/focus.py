"""Which part of a candidate is scored: all of it, the current sentence alone, or the word that decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anaphora.core.errors import AnaphoraError
from anaphora.scoring.tree import EncodedExample, common_prefix
from anaphora.suites.example import Example
from anaphora.systems.context import Context, Question
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


def current(encoded: EncodedExample, before: EncodedExample) -> EncodedExample:
    """What follows the target context is predicted, the context is read.

    before: the same with the context alone for a target; where candidates differ in their context, what they share
    """
    given = before.candidates[0]  # its last token, the end of the sentence, is not in common
    return _read(encoded, common_prefix([ids[:-1] for ids in (given, *encoded.candidates)]))


def pronoun(encoded: EncodedExample) -> EncodedExample:
    """The first token in which candidates differ is predicted, what they share before it is read."""
    several = len(encoded.candidates) > 1
    shared = common_prefix([candidate[:-1] for candidate in encoded.candidates]) if several else 0  # predict one each
    read = _read(encoded, shared)
    return read._replace(candidates=tuple(candidate[:1] for candidate in read.candidates))


def _read(encoded: EncodedExample, tokens: int) -> EncodedExample:
    start = encoded.candidates[0][:tokens]
    candidates = tuple(candidate[tokens:] for candidate in encoded.candidates)
    return encoded._replace(prompt=(*encoded.prompt, *start), candidates=candidates)


def focused(
    encoded: Sequence[EncodedExample], befores: Sequence[EncodedExample] | None, focus: str
) -> list[EncodedExample]:
    """EncodedExample questions with the focus that is asked for; befores: see `current`."""
    if focus == "current" and befores is not None:
        return [current(item, before) for item, before in zip(encoded, befores, strict=True)]
    return [pronoun(item) for item in encoded] if focus == "pronoun" else list(encoded)


def encode_examples(
    examples: Sequence[Example], options: Options, encode: Callable[[Sequence[Question]], list[EncodedExample]]
) -> list[EncodedExample]:
    """Examples as tokens, with what is not to be scored among what is read."""
    context, focus = options.context, options.focus
    encoded = encode([context.question(example) for example in examples])
    befores = [context_question(example, context) for example in examples] if focus == "current" else []
    return focused(encoded, encode(befores) if befores else None, focus)
