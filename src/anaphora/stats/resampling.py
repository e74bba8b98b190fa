"""The settings of intervals and p-values. Imports no NumPy, so that the command line can create its options from it."""

from __future__ import annotations

from dataclasses import dataclass

from anaphora.core.errors import AnaphoraError, check_name

TESTS = ("bootstrap", "randomization")
EARLIER_NAMES = {"randomisation": "randomization"}  # of tests in version 0.1.0
MAX_SAMPLES = 10_000_000
Interval = tuple[float, float]


def check_samples(*numbers: int) -> None:
    """Raise an error for more samples or trials than fit into memory."""
    if max(numbers) > MAX_SAMPLES:
        raise AnaphoraError(f"more than {MAX_SAMPLES:,} samples or trials would not fit into memory. Draw fewer")


@dataclass(frozen=True, slots=True)
class Resampling:
    """Settings of resampling, with one default for all commands.

    samples: number of bootstrap samples
    test: the test whose p-value is reported as p_value
    trials: number of draws of approximate randomization; None: the same as samples
    """

    samples: int = 10_000
    seed: int = 12345
    confidence: float = 0.95
    test: str = "randomization"
    trials: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "test", EARLIER_NAMES.get(self.test, self.test))
        if not 0 < self.confidence < 1 or min(self.samples, self.randomizations) < 1:
            raise AnaphoraError("confidence must be between 0 and 1, and samples and trials at least 1")
        check_samples(self.samples, self.randomizations)
        check_name("test", self.test, TESTS)

    @property
    def randomizations(self) -> int:
        """Number of draws of approximate randomization."""
        return self.samples if self.trials is None else self.trials
