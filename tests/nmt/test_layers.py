"""The small layers: a product with or without normalisation, and dropout that lasts for a whole sequence."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from anaphora.nmt.layers import Product, SequenceDropout, masked


def test_a_product() -> None:
    x = torch.randn(2, 3, 5)
    plain, normed = Product(5, 4), Product(5, 4, layer_norm=True)
    assert torch.allclose(plain(x), x @ plain.linear.weight.T + plain.linear.bias, atol=1e-6)
    found = normed(x)
    assert found.shape == (2, 3, 4)
    assert torch.allclose(found.mean(-1), torch.zeros(2, 3), atol=1e-5)
    assert torch.allclose(found.std(-1, unbiased=False), torch.ones(2, 3), atol=1e-2)


def test_dropout_is_the_same_at_every_step_and_differs_between_sequences() -> None:
    torch.manual_seed(0)
    dropout = SequenceDropout(0.5)
    found = dropout(torch.ones(4, 7, 100))
    assert set(found.unique().tolist()) == {0.0, 2.0}
    assert (found == found[:, :1]).all()
    assert not torch.equal(found[0], found[1])
    assert found.mean() == pytest.approx(1.0, abs=0.15)


def test_nothing_is_dropped_in_evaluation() -> None:
    x = torch.ones(2, 3, 4)
    dropout = SequenceDropout(0.5).eval()
    assert dropout(x) is x
    assert dropout.mask(x[:, 0]) is None
    assert SequenceDropout(0.0).mask(x[:, 0]) is None
    assert masked(x, None) is x


def test_a_mask_is_drawn_anew_each_time() -> None:
    torch.manual_seed(0)
    dropout, vector = SequenceDropout(0.5), torch.ones(3, 50)
    one, two = dropout.mask(vector), dropout.mask(vector)
    assert one is not None
    assert not torch.equal(one, two)
    assert torch.equal(masked(vector, one), one)
