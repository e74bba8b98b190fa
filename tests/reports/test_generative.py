"""The table of generative accuracy: how contrastive accuracy compares with it, in words."""

from __future__ import annotations

import pytest

from anaphora.evaluation.generative import Counts, Gap, Generative
from anaphora.reports.generative import generative_table


@pytest.mark.parametrize(
    ("gap", "said"),
    [
        (Gap(0.444, -0.07, (-0.12, -0.02)), "0.444, lower by 0.070 (difference −0.070 [−0.120, −0.020])"),
        (Gap(0.8, 0.1, (-0.01, 0.2)), "0.800, higher by 0.100 (difference +0.100 [−0.010, +0.200])"),
        (Gap(0.5, 0.0, (-0.1, 0.1)), "0.500, the same (difference +0.000 [−0.100, +0.100])"),
    ],
)
def test_higher_lower_or_the_same(gap: Gap, said: str) -> None:
    """newcomer.md B16: it said "higher by −0.070"."""
    result = Generative("suite", "en-de", "x", Counts(1, 1, 0, (0.1, 0.9)), {}, (), "gen|x", gap=gap)
    assert f"contrastive accuracy on the same examples {said}" in generative_table([result]).render("table")
