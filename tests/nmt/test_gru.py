"""The GRU of the decoder is the formula in its docstring; without normalisation it is everybody's."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

torch = pytest.importorskip("torch")

from anaphora.nmt.gru import GRU
from anaphora.nmt.layers import Product

Floats = npt.NDArray[np.float64]
INPUTS, HIDDEN, BATCH = 5, 4, 3


def random_gru(layer_norm: bool) -> GRU:
    torch.manual_seed(3)
    gru = GRU(INPUTS, HIDDEN, layer_norm).double()
    for parameter in gru.parameters():
        torch.nn.init.normal_(parameter)
    return gru


def array(tensor: torch.Tensor) -> Floats:
    return tensor.detach().numpy()


def sigmoid(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


def normed(x: Floats, gain: Floats, bias: Floats) -> Floats:
    centred = x - x.mean(1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * gain + bias


def product(part: Product, x: torch.Tensor) -> Floats:
    return normed(array(x) @ array(part.linear.weight).T, array(part.norm.weight), array(part.norm.bias))


def test_a_step_with_layer_normalisation() -> None:
    """Each of the four products has a normalisation of its own; those of the gates are normalised together."""
    gru = random_gru(layer_norm=True)
    x, h = torch.randn(BATCH, INPUTS).double(), torch.randn(BATCH, HIDDEN).double()
    r, u = np.split(sigmoid(product(gru.input_gates, x) + product(gru.state_gates, h)), 2, axis=1)
    n = np.tanh(product(gru.input_new, x) + r * product(gru.state_new, h))
    expected = u * array(h) + (1 - u) * n
    assert np.allclose(array(gru(gru.read(x), h)), expected, atol=1e-12)


def test_a_step_without_it_is_the_library_s() -> None:
    gru = random_gru(layer_norm=False)
    cell = torch.nn.GRUCell(INPUTS, HIDDEN).double()
    with torch.no_grad():
        for kind, parts in (("ih", (gru.input_gates, gru.input_new)), ("hh", (gru.state_gates, gru.state_new))):
            getattr(cell, f"weight_{kind}").copy_(torch.cat([part.linear.weight for part in parts]))
            getattr(cell, f"bias_{kind}").copy_(torch.cat([part.linear.bias for part in parts]))
    x, h = torch.randn(BATCH, INPUTS).double(), torch.randn(BATCH, HIDDEN).double()
    assert torch.allclose(gru(gru.read(x), h), cell(x, h), atol=1e-12)


def test_inputs_are_read_for_all_steps_at_once() -> None:
    gru = random_gru(layer_norm=True)
    x = torch.randn(BATCH, 6, INPUTS).double()
    together = gru.read(x)
    assert (together.gates.shape, together.new.shape) == ((BATCH, 6, 2 * HIDDEN), (BATCH, 6, HIDDEN))
    for step in range(6):
        for part, alone in zip(together, gru.read(x[:, step]), strict=True):
            assert torch.allclose(part[:, step], alone, atol=1e-12)


def test_what_is_dropped_of_the_state_is_not_dropped_from_what_is_kept() -> None:
    """With an update gate that keeps everything the state goes on whole, whatever the products see of it."""
    gru = random_gru(layer_norm=False)
    with torch.no_grad():
        gru.state_gates.linear.bias[HIDDEN:] = 100.0
    h = torch.randn(BATCH, HIDDEN).double()
    read = gru.read(torch.randn(BATCH, INPUTS).double())
    assert torch.allclose(gru(read, h, seen=torch.zeros_like(h)), h, atol=1e-12)


@pytest.mark.parametrize("layer_norm", [True, False])
def test_a_new_unit_remembers_for_the_length_of_a_sentence(layer_norm: bool) -> None:
    """Twenty steps, ten words of the conditional GRU: what was at the beginning still matters."""
    torch.manual_seed(3)
    gru = GRU(16, 16, layer_norm)
    start = torch.randn(BATCH, 16, requires_grad=True)
    state = start
    for _ in range(20):
        state = gru(gru.read(torch.randn(BATCH, 16)), state)
    (gradient,) = torch.autograd.grad(state.sum(), start)
    assert float(gradient.norm() / BATCH**0.5 / 4) > 0.08
