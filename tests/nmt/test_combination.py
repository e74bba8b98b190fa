"""Each equation of Bawden et al. 2018 §3.2, computed once more with numpy from the same weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

torch = pytest.importorskip("torch")

from anaphora.nmt.combination import COMBINATIONS, Concatenation, Gate, Hierarchical

Floats = npt.NDArray[np.float64]
STATE, SIZE, BATCH = 3, 4, 5


def randomised(kind: Any, encoders: int) -> Any:
    torch.manual_seed(encoders)
    module = kind(encoders, STATE, SIZE).double()
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter)
    return module


def material(encoders: int) -> tuple[Any, Any]:
    return torch.randn(BATCH, STATE).double(), torch.randn(BATCH, encoders, SIZE).double()


def array(tensor: Any) -> Floats:
    return tensor.detach().numpy()


@pytest.mark.parametrize("encoders", [2, 3])
def test_eq_1_concatenation(encoders: int) -> None:
    module = randomised(Concatenation, encoders)
    state, contexts = material(encoders)
    w, b = array(module.linear.linear.weight), array(module.linear.linear.bias)
    for row in range(BATCH):
        joined = np.concatenate([array(contexts[row, k]) for k in range(encoders)])
        assert np.allclose(array(module(state, contexts)[row]), w @ joined + b, atol=1e-12)


def gated(c1: Floats, c2: Floats, module: Any, number: int = 0) -> Floats:
    """Eqs. 2 and 3 for one row."""
    w_r, w_t = np.split(array(module.first[number].weight), 2)
    w_s, w_u = np.split(array(module.second[number].weight), 2)
    r = np.tanh(w_r @ c1 + w_s @ c2) + array(module.bias[number])  # the bias is outside of tanh in the paper
    return r * (w_t @ c1) + (1 - r) * (w_u @ c2)


def test_eqs_2_and_3_gate() -> None:
    module = randomised(Gate, 2)
    state, contexts = material(2)
    for row in range(BATCH):
        expected = gated(array(contexts[row, 0]), array(contexts[row, 1]), module)
        assert np.allclose(array(module(state, contexts)[row]), expected, atol=1e-12)


def test_a_third_encoder_is_gated_against_the_first_two() -> None:
    module = randomised(Gate, 3)
    state, contexts = material(3)
    for row in range(BATCH):
        c1, c2, c3 = array(contexts[row])
        expected = gated(gated(c1, c2, module, 0), c3, module, 1)
        assert np.allclose(array(module(state, contexts)[row]), expected, atol=1e-12)


@pytest.mark.parametrize("encoders", [2, 3, 4])
def test_eqs_4_to_6_hierarchical_attention(encoders: int) -> None:
    module = randomised(Hierarchical, encoders)
    state, contexts = material(encoders)
    w_b, v_b, b_e = array(module.of_state.weight), array(module.energy), module.bias.item()
    u_b = [array(linear.weight) for linear in module.of_contexts]
    u_c = np.split(array(module.outputs.weight), encoders, axis=1)
    for row in range(BATCH):
        z, c = array(state[row]), array(contexts[row])
        e = np.array([v_b @ np.tanh(w_b @ z + u_b[k] @ c[k]) + b_e for k in range(encoders)])
        beta = np.exp(e) / np.exp(e).sum()
        expected = sum(beta[k] * (u_c[k] @ c[k]) for k in range(encoders))
        assert np.allclose(array(module.weights(state, contexts)[row]), beta, atol=1e-12)
        assert np.allclose(array(module(state, contexts)[row]), expected, atol=1e-12)


@pytest.mark.parametrize("name", COMBINATIONS)
def test_every_encoder_counts(name: str) -> None:
    """The result has the size of one context vector, and depends on each of them."""
    module = randomised(COMBINATIONS[name], 3)
    state, contexts = material(3)
    contexts.requires_grad_()
    found = module(state, contexts)
    assert found.shape == (BATCH, SIZE)
    (gradient,) = torch.autograd.grad(found.sum(), contexts)
    assert (gradient.abs().sum((0, 2)) > 0).all()
