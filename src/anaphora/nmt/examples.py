"""Suite examples as a model reads them: each candidate with the inputs that its context gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anaphora.nmt.arrangement import Arrangement, Ids, inputs_of, target_of
from anaphora.nmt.text import Text
from anaphora.suites.example import Example, Passage


@dataclass(frozen=True, slots=True)
class Asked:
    """One candidate in ids: what the encoders read, and the target whose probability is asked for."""

    inputs: tuple[Ids, ...]
    target: Ids


def encode_example(example: Example, text: Text, arrangement: Arrangement) -> list[Asked]:
    """Every candidate of an example; the inputs differ where an encoder reads the candidate's own context."""
    source = [text.encode_source(sentence) if sentence else [] for sentence in _cut(example.source, arrangement)]
    found = []
    for candidate in example.candidates:
        target = [text.encode_target(sentence) if sentence else [] for sentence in _cut(candidate, arrangement)]
        inputs = inputs_of(arrangement, text.marks, source, target[:-1])
        found.append(Asked(inputs, target_of(arrangement, text.marks, target)))
    return found


def _cut(passage: Passage, arrangement: Arrangement) -> Sequence[str]:
    return passage[max(0, len(passage) - 1 - arrangement.reach) :]
