"""Which sentences a model reads and produces: how the papers' models differ on the side of the data.

Concatenation models (Tiedemann and Scherrer 2017; 2-to-1, 2-to-2) read previous sentences joined to the current by a
separator token; multi-encoder models (Bawden et al. 2018 §3.2) read them by encoders of their own. Both can be combined
(§3.3: S-HIER-TO-2). More than one previous sentence falls out of the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from anaphora.core.errors import AnaphoraError
from anaphora.scoring.encoded import Ids

SIDES = ("source", "target")
Sentence = Sequence[int]  # ids without an end; empty where there is no such sentence
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class ContextLayout:
    """Where context goes: into the main input, into the target, into encoders of its own.

    source_context: previous source sentences before the current one in the main encoder's input
    target_context: previous target sentences that the decoder produces before the current one
    context_encoders: what each further encoder reads, "source" or "target"
    context_sentences: how many previous sentences each further encoder reads, joined
    """

    source_context: int = 0
    target_context: int = 0
    context_encoders: tuple[str, ...] = ()
    context_sentences: int = 1

    def __post_init__(self) -> None:
        for side in self.context_encoders:
            if side not in SIDES:
                raise AnaphoraError(f"unknown context {side!r} of an encoder. Known: {', '.join(SIDES)}")
        if min(self.source_context, self.target_context) < 0 or self.context_sentences < 1:
            raise AnaphoraError(
                "model.source_context and target_context must be 0 or more, context_sentences 1 or more"
            )

    @property
    def source_reach(self) -> int:
        """The number of previous source sentences that are read."""
        return max(self.source_context, self.context_sentences if "source" in self.context_encoders else 0)

    @property
    def target_reach(self) -> int:
        """The number of previous target sentences that are read or produced."""
        return max(self.target_context, self.context_sentences if "target" in self.context_encoders else 0)

    @property
    def reach(self) -> int:
        return max(self.source_reach, self.target_reach)


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """Token ids with a meaning to the model, the same on both sides.

    separator: between sentences; end: of every sequence; start: read first by the decoder
    """

    separator: int
    end: int
    start: int
    padding: int


def inputs_of(
    layout: ContextLayout, special: SpecialTokens, source: Sequence[Sentence], target: Sequence[Sentence]
) -> tuple[Ids, ...]:
    """Return what the encoders read: the main input, then each context; every one ends with the end token.

    source: a passage, oldest sentence first, the current one last; target: the previous target sentences only
    Sentences that do not exist (empty) leave no separator behind; a context of which nothing exists is just the end.
    """
    *before, current = source
    texts = {"source": before, "target": target}
    main = _joined([*last(before, layout.source_context), current], special)
    further = (_joined(last(texts[side], layout.context_sentences), special) for side in layout.context_encoders)
    return (main, *further)


def target_of(layout: ContextLayout, special: SpecialTokens, target: Sequence[Sentence]) -> Ids:
    """Return what the decoder produces for a passage: previous sentences, the current one, the end token."""
    *before, current = target
    return _joined([*last(before, layout.target_context), current], special)


def last(sentences: Sequence[Item], number: int) -> Sequence[Item]:
    """Return the last N sentences, or all if there are fewer."""
    return sentences[max(0, len(sentences) - number) :]


def _joined(sentences: Sequence[Sentence], special: SpecialTokens) -> Ids:
    ids: list[int] = []
    for sentence in sentences:
        if len(sentence):
            if ids:
                ids.append(special.separator)
            ids += sentence
    return (*ids, special.end)
