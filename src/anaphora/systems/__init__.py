"""Systems: anything that scores the candidates of examples, found by a short spec such as `scores:FILE`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from anaphora.errors import AnaphoraError
from anaphora.registry import Registry
from anaphora.suites.example import Example
from anaphora.systems.scored import Scored


class System(Protocol):
    """Gives every candidate of an example a score."""

    def score(self, examples: Iterable[Example]) -> Iterator[Scored]: ...


SYSTEMS = Registry("system", {"scores": "anaphora.systems.scores:ScoreFile"})


def load_system(spec: str) -> System:
    """The system that a spec names: a kind, a colon, and what the kind takes."""
    kind, colon, argument = spec.partition(":")
    if not colon or not argument:
        raise AnaphoraError(f"not a system: {spec!r}. Write KIND:WHAT, for example scores:my.scores")
    system: System = SYSTEMS.load(kind)(argument)
    return system
