"""bfloat16 only where it is no slower."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from anaphora.core.errors import AnaphoraError
from anaphora.nmt import precision


def test_it_is_measured_and_refused_where_it_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    device = torch.device("cpu")
    monkeypatch.setattr(precision, "measure_bfloat16", lambda _: 30.0)
    with pytest.raises(AnaphoraError, match=r"30\.0 times as long.*float32"):
        precision.autocast("bfloat16", device)
    monkeypatch.setattr(precision, "measure_bfloat16", lambda _: 0.6)
    with precision.autocast("bfloat16", device)():
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16
    with precision.autocast("float32", device)():
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32


def test_the_measurement_is_a_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "SIZE", 32)
    assert precision.measure_bfloat16(torch.device("cpu")) > 0
