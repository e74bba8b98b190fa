"""Examples in token ids. Imports neither NumPy nor torch: systems that ask a server use it as well."""

from __future__ import annotations

from typing import NamedTuple

from anaphora.core.errors import AnaphoraError

Ids = tuple[int, ...]  # token ids
CandidateScore = tuple[float, int]  # sum of log-probabilities, number of tokens it was summed over


class EncodedCandidate(NamedTuple):
    """A candidate in token ids: what the encoders read, what is given of the target, and what is to be predicted."""

    inputs: tuple[Ids, ...]
    given: Ids
    predicted: Ids

    @property
    def longest(self) -> int:
        """The number of positions that the model needs."""
        return max(len(self.given) + len(self.predicted), *map(len, self.inputs), 0)


class EncodedExample(NamedTuple):
    """An example in token ids: the source (empty for a causal model), the prompt, and the candidates.

    truncated: how many of its texts were truncated
    """

    source: Ids
    prompt: Ids
    candidates: tuple[Ids, ...]
    truncated: int = 0

    @property
    def longest(self) -> int:
        """The number of positions that the model needs."""
        return max(len(self.source), len(self.prompt) + max(map(len, self.candidates), default=0))

    def separate(self) -> list[EncodedCandidate]:
        """Return the candidates one by one."""
        return [EncodedCandidate((self.source,), self.prompt, candidate) for candidate in self.candidates]


def too_long(length: int, limit: int, text: str, *, can_truncate: bool = True) -> AnaphoraError:
    """Return the error for a text of more tokens than the model takes."""
    remedy = "Use less --context" + (", or truncate such texts with --truncate" if can_truncate else "")
    return AnaphoraError(f"{length:,} tokens, but the model takes {limit:,}: {text[:60]!r}… {remedy}")
