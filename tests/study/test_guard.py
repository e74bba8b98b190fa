"""The limit to the rate of requests, with a clock of the test's own."""

from __future__ import annotations

from anaphora.study.guard import RateLimit


def test_a_bucket_fills_again() -> None:
    now = [0.0]
    limit = RateLimit(rate=2, burst=3, clock=lambda: now[0])
    assert [limit.allows("anna") for _ in range(5)] == [True, True, True, False, False]
    assert limit.allows("ben")  # everybody has their own
    now[0] = 1.0
    assert [limit.allows("anna") for _ in range(3)] == [True, True, False]
    now[0] = 100.0
    assert [limit.allows("anna") for _ in range(4)] == [True, True, True, False]
