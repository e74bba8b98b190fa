"""A job for tests, which the nodes of a cluster can import."""

from __future__ import annotations

from collections.abc import Sequence

from anaphora.build.mine.jobs import StageJob
from anaphora.core.errors import AnaphoraError


class Wrong(StageJob):
    """Refuses in these words; breaks where there are none."""

    def __init__(self, message: str) -> None:
        self.message = message

    def __call__(self, inputs: Sequence[bytes]) -> bytes:
        raise AnaphoraError(self.message) if self.message else ZeroDivisionError
