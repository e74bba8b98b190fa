"""Voita et al. 2018: the gate as in the paper, what is shared, and that without the context it is the baseline."""

from __future__ import annotations

import math
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from anaphora.nmt.checkpoint import build_model
from anaphora.nmt.config import ModelConfig
from anaphora.nmt.data import Batch, make_batch
from anaphora.nmt.layout import SpecialTokens
from anaphora.scoring.batching import Padded, pad, select_rows

SIZE, WIDTH, HEADS = 20, 16, 4
MARKS = SpecialTokens(separator=2, end=0, start=SIZE - 1, padding=SIZE - 1)
SIZES: dict[str, Any] = {
    "embedding": WIDTH,
    "heads": HEADS,
    "layers": 3,
    "feed_forward": 24,
    "dropout": 0.0,
    "max_length": 32,
    "tie_all_embeddings": True,
}
INPUTS = [((3, 4, 5, 0), (6, 7, 8, 9, 0)), ((10, 11, 12, 13, 14, 0), (15, 0)), ((3, 0), (0,))]
TARGETS = [(5, 6, 0), (7, 8, 9, 0), (4, 0)]


def make(seed: int = 3) -> Any:
    torch.manual_seed(seed)
    model = build_model(ModelConfig(kind="context-transformer", context_encoders=("source",), **SIZES), SIZE, MARKS)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(0.2 * torch.randn_like(parameter) * (parameter != 0))
    return model.eval()


def gated(model: Any) -> Any:
    return model.marian.model.encoder.layers[-1].self_attn


def batch(inputs: Any = INPUTS, targets: Any = TARGETS) -> Batch:
    return make_batch(inputs, targets, MARKS.start, MARKS.padding)


def attention(module: Any, queries: Any, keys: Any) -> Any:
    """Multi-head attention by the book, for one sentence: (t, size), (u, size) → (t, size)."""
    heads = []
    q, k, v = module.q_proj(queries), module.k_proj(keys), module.v_proj(keys)
    size = WIDTH // HEADS
    for h in range(HEADS):
        part = slice(h * size, (h + 1) * size)
        weights = torch.softmax(q[:, part] @ k[:, part].T / math.sqrt(size), -1)
        heads.append(weights @ v[:, part])
    return module.out_proj(torch.cat(heads, -1))


@torch.no_grad()
def test_the_gate_is_the_paper_s() -> None:
    """g = σ(W_g[c_s; c_c] + b_g), c = g ⊙ c_s + (1 − g) ⊙ c_c, computed here by hand."""
    part = gated(make())
    torch.nn.init.normal_(part.gate.bias)
    states, context = torch.randn(5, WIDTH), torch.randn(7, WIDTH)
    own, other = attention(part.own, states, states), attention(part.context, states, context)
    g = 1 / (1 + torch.exp(-(part.gate.weight @ torch.cat([own, other], 1).T).T - part.gate.bias))
    assert float(g.std()) > 0.05  # it differs from place to place
    actual, _ = part(states[None], context=context[None], context_mask=None)
    torch.testing.assert_close(actual[0], g * own + (1 - g) * other, atol=1e-5, rtol=1e-5)


def force(model: Any, value: float) -> None:
    with torch.no_grad():
        gated(model).gate.weight.zero_()
        gated(model).gate.bias.fill_(value)


@torch.no_grad()
def test_a_closed_gate_gives_the_baseline() -> None:
    model = make()
    force(model, 100.0)
    baseline = build_model(ModelConfig(kind="transformer", **SIZES | {"max_length": 33}), SIZE, MARKS).eval()
    weights = {
        name.replace("self_attn.own.", "self_attn."): value
        for name, value in model.marian.state_dict().items()
        if "self_attn.context." not in name and "self_attn.gate." not in name
    }
    baseline.load_state_dict(weights)
    examples = batch()
    expected = baseline(batch([inputs[:1] for inputs in INPUTS]))
    torch.testing.assert_close(model(examples), expected, atol=1e-6, rtol=1e-6)
    force(model, 0.0)
    assert (model(examples) - expected).abs().max() > 0.01


@torch.no_grad()
def test_an_open_gate_ignores_self_attention() -> None:
    model, examples = make(), batch()
    force(model, -100.0)
    expected = model(examples)
    gated(model).own.out_proj.weight.zero_()
    assert torch.equal(model(examples), expected)


@torch.no_grad()
def test_steps_give_what_training_computes() -> None:
    model, examples = make(), batch()
    expected, mask = model(examples), examples.read.mask
    memory = model.encode(examples.inputs)
    state, actual = model.start(memory), []
    for tokens in examples.read.ids.unbind(1):
        output, state = model.step(memory, state, tokens)
        actual.append(model.project(output))
    torch.testing.assert_close(torch.stack(actual, 1)[mask], expected[mask], atol=1e-5, rtol=1e-5)
    rows = torch.tensor([1, 1])
    assert torch.equal(select_rows(memory, rows).states[0], memory.states[1])


@torch.no_grad()
def test_padding_changes_nothing_and_context_something() -> None:
    model = make()
    together = model(batch())
    for row in range(3):
        alone = model(batch(INPUTS[row : row + 1], TARGETS[row : row + 1]))
        torch.testing.assert_close(together[row, : alone.shape[1]], alone[0], atol=1e-5, rtol=1e-5)
    others = [(source, (12, 13, 0)) for source, _ in INPUTS]
    assert (model(batch(others)) - together)[batch().read.mask].abs().amax(1).min() > 1e-5


@torch.no_grad()
def test_the_encoders_share_all_layers_but_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make()
    layers = model.marian.model.encoder.layers
    calls: list[tuple[str, int]] = []  # which layer, how many positions
    for name, layer in [*((str(n), layer) for n, layer in enumerate(layers)), ("last", model.last)]:
        layer.register_forward_hook(lambda _, args, __, name=name: calls.append((name, args[0].shape[1])))
    model.read((Padded(*_one((3, 4, 5, 0))), Padded(*_one((6, 7, 8, 9, 10, 0)))))
    expected = {("0", 4), ("1", 4), ("2", 4), ("0", 7), ("1", 7), ("last", 7)}  # a token stands before the context
    assert set(calls) == expected
    assert len(calls) == len(expected)
    baseline = build_model(ModelConfig(kind="transformer", **SIZES), SIZE, MARKS)
    sizes = {m: sum(p.numel() for p in m.parameters() if p.requires_grad) for m in (model, baseline, layers[0])}
    more = 4 * (WIDTH * WIDTH + WIDTH) + (2 * WIDTH * WIDTH + WIDTH) + WIDTH  # attention, gate, the special token
    assert sizes[model] == sizes[baseline] + sizes[layers[0]] + more


def _one(ids: tuple[int, ...]) -> Any:
    padded = pad([ids], MARKS.padding)
    return padded.ids, padded.lengths


def test_everything_is_trained() -> None:
    model = make().train()
    model(batch()).square().mean().backward()
    quiet = [
        name
        for name, parameter in model.named_parameters()
        if parameter.requires_grad and not (parameter.grad is not None and parameter.grad.any())
    ]
    assert [name for name in quiet if not name.endswith("k_proj.bias")] == []  # keys' biases cancel out


def test_a_context_may_be_as_long_as_a_sentence() -> None:
    model = make()
    longest = tuple([3] * 31 + [0])
    assert model(batch([(longest, longest)], [longest])).shape == (1, 32, SIZE)


def test_it_is_no_checkpoint_of_hugging_face() -> None:
    assert not hasattr(make(), "export")
