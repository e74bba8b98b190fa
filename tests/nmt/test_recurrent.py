"""The small layers: a product with or without normalization, and dropout that lasts for a whole sequence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

torch = pytest.importorskip("torch")

from anaphora.nmt.config import ModelConfig
from anaphora.nmt.data import Batch, make_batch
from anaphora.nmt.layout import SpecialTokens
from anaphora.nmt.recurrent import (
    COMBINATIONS,
    GRU,
    Attention,
    Concatenation,
    Encoder,
    Gate,
    Hierarchical,
    NormedLinear,
    RecurrentModel,
    SequenceDropout,
    build,
    masked,
)
from anaphora.nmt.training import loss_of
from anaphora.scoring.batching import pad, select_rows


def test_a_product() -> None:
    x = torch.randn(2, 3, 5)
    plain, normed = NormedLinear(5, 4), NormedLinear(5, 4, layer_norm=True)
    assert torch.allclose(plain(x), x @ plain.linear.weight.T + plain.linear.bias, atol=1e-6)
    actual = normed(x)
    assert actual.shape == (2, 3, 4)
    assert torch.allclose(actual.mean(-1), torch.zeros(2, 3), atol=1e-5)
    assert torch.allclose(actual.std(-1, unbiased=False), torch.ones(2, 3), atol=1e-2)


def test_dropout_masks_differ_between_sequences_only() -> None:
    torch.manual_seed(0)
    dropout = SequenceDropout(0.5)
    actual = dropout(torch.ones(4, 7, 100))
    assert set(actual.unique().tolist()) == {0.0, 2.0}
    assert (actual == actual[:, :1]).all()
    assert not torch.equal(actual[0], actual[1])
    assert actual.mean() == pytest.approx(1.0, abs=0.15)


def test_nothing_is_dropped_in_evaluation() -> None:
    x = torch.ones(2, 3, 4)
    dropout = SequenceDropout(0.5).eval()
    assert dropout(x) is x
    assert dropout.mask(x[:, 0]) is None
    assert SequenceDropout(0.0).mask(x[:, 0]) is None
    assert masked(x, None) is x


def test_a_mask_is_drawn_again_each_time() -> None:
    torch.manual_seed(0)
    dropout, vector = SequenceDropout(0.5), torch.ones(3, 50)
    one, two = dropout.mask(vector), dropout.mask(vector)
    assert one is not None
    assert not torch.equal(one, two)
    assert torch.equal(masked(vector, one), one)


# The GRU of the decoder is the formula in its docstring; without normalization it is everybody's.

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
    centered = x - x.mean(1, keepdims=True)
    return centered / np.sqrt((centered**2).mean(1, keepdims=True) + 1e-5) * gain + bias


def product(part: NormedLinear, x: torch.Tensor) -> Floats:
    return normed(array(x) @ array(part.linear.weight).T, array(part.norm.weight), array(part.norm.bias))


def test_a_step_with_layer_normalization() -> None:
    """Each of the four products has a normalization of its own; those of the gates are normalized together."""
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


def test_dropout_of_the_state_leaves_the_kept_state_alone() -> None:
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


# Attention is Bahdanau's formula, and gives nothing to padding.

STATE, SIZE, BATCH_ATTENTION, TOKENS = 3, 4, 2, 5


def random_attention(layer_norm: bool = False) -> Attention:
    torch.manual_seed(2)
    attention = Attention(STATE, SIZE, layer_norm).double()
    for parameter in attention.parameters():
        torch.nn.init.normal_(parameter)
    return attention


def test_the_formula() -> None:
    """Without normalization, for two rows of which one is two tokens shorter, one energy after the other."""
    attention = random_attention()
    s, h = torch.randn(BATCH_ATTENTION, STATE).double(), torch.randn(BATCH_ATTENTION, TOKENS, SIZE).double()
    lengths = [5, 3]
    mask = torch.arange(TOKENS)[None] < torch.tensor(lengths)[:, None]
    context, weights = attention(s, attention.prepare(h, mask))
    w, w_bias = attention.of_state.linear.weight.detach().numpy(), attention.of_state.linear.bias.detach().numpy()
    u = attention.of_annotation.linear.weight.detach().numpy()
    u_bias = attention.of_annotation.linear.bias.detach().numpy()
    v = attention.energy.detach().numpy()
    for row, length in enumerate(lengths):
        query = w @ s[row].numpy() + w_bias
        energies = np.array([v @ np.tanh(query + u @ h[row, j].numpy() + u_bias) for j in range(length)])
        alphas = np.exp(energies) / np.exp(energies).sum()
        expected = sum(alphas[j] * h[row, j].numpy() for j in range(length))
        assert np.allclose(weights[row, :length].detach(), alphas, atol=1e-12)
        assert weights[row, length:].abs().sum() == 0
        assert np.allclose(context[row].detach(), expected, atol=1e-12)


def test_keys_and_queries_are_normalized_where_asked() -> None:
    attention = random_attention(layer_norm=True)
    memory = attention.prepare(
        torch.randn(BATCH_ATTENTION, TOKENS, SIZE).double(), torch.ones(BATCH_ATTENTION, TOKENS, dtype=torch.bool)
    )
    gain, bias = attention.of_annotation.norm.weight, attention.of_annotation.norm.bias
    plain = (memory.keys - bias) / gain
    assert torch.allclose(plain.mean(-1), torch.zeros(BATCH_ATTENTION, TOKENS).double(), atol=1e-9)
    assert torch.allclose(plain.std(-1, unbiased=False), torch.ones(BATCH_ATTENTION, TOKENS).double(), atol=1e-3)
    assert attention.of_annotation.linear.bias is None  # the normalization has one


def test_what_stands_in_padding_does_not_matter() -> None:
    attention = random_attention(layer_norm=True)
    s, h = torch.randn(1, STATE).double(), torch.randn(1, TOKENS, SIZE).double()
    mask = torch.tensor([[True, True, True, False, False]])
    other = h.clone()
    other[:, 3:] = 1e6
    one, _ = attention(s, attention.prepare(h, mask))
    two, _ = attention(s, attention.prepare(other, mask))
    assert torch.equal(one, two)


# Annotations are the states of two GRUs, one from either end; padding is not there for them.

HIDDEN_RECURRENT_ENCODER = 4


@pytest.fixture
def encoder() -> Encoder:
    torch.manual_seed(1)
    return Encoder(torch.nn.Embedding(9, 6), HIDDEN_RECURRENT_ENCODER, layer_norm=True, dropout=0.5).eval()


def cell(encoder: Encoder, suffix: str) -> torch.nn.GRUCell:
    actual = torch.nn.GRUCell(6, HIDDEN_RECURRENT_ENCODER)
    with torch.no_grad():
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            getattr(actual, name).copy_(getattr(encoder.gru, f"{name}_l0{suffix}"))
    return actual


def test_both_directions_token_by_token(encoder: Encoder) -> None:
    for parameter in encoder.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    rows = [(3, 1, 4, 1, 5), (2, 6), (7,)]
    actual = encoder(pad(rows, 0))
    forward, backward = cell(encoder, ""), cell(encoder, "_reverse")
    for row, ids in enumerate(rows):
        embedded = encoder.norm_input(encoder.embedding(torch.tensor(ids)))
        ahead, back, state = [], [], torch.zeros(1, HIDDEN_RECURRENT_ENCODER)
        for vector in embedded:
            state = forward(vector[None], state)
            ahead.append(state[0])
        state = torch.zeros(1, HIDDEN_RECURRENT_ENCODER)
        for vector in embedded.flip(0):
            state = backward(vector[None], state)
            back.append(state[0])
        states = torch.cat([torch.stack(ahead), torch.stack(back[::-1])], 1)
        assert torch.allclose(actual[row, : len(ids)], encoder.norm_output(states), atol=1e-5)


def test_a_row_is_the_same_in_any_company(encoder: Encoder) -> None:
    alone = encoder(pad([(2, 6)], 0))
    together = encoder(pad([(2, 6), (1, 2, 3, 4)], 5))
    assert torch.allclose(alone[0], together[0, :2], atol=1e-6)


def test_dropout_only_in_training(encoder: Encoder) -> None:
    tokens = pad([(2, 6, 3)], 0)
    assert torch.equal(encoder(tokens), encoder(tokens))
    assert not torch.equal(encoder.train()(tokens), encoder(tokens))


# Each equation of Bawden et al. 2018 §3.2, computed once more with numpy from the same weights.

STATE_COMBINATION, SIZE_COMBINATION, BATCH_COMBINATION = 3, 4, 5


def randomized(kind: Any, encoders: int) -> Any:
    torch.manual_seed(encoders)
    module = kind(encoders, STATE_COMBINATION, SIZE_COMBINATION).double()
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter)
    return module


def data(encoders: int) -> tuple[Any, Any]:
    return torch.randn(BATCH_COMBINATION, STATE_COMBINATION).double(), torch.randn(
        BATCH_COMBINATION, encoders, SIZE_COMBINATION
    ).double()


def array_combination(tensor: Any) -> Floats:
    return tensor.detach().numpy()


@pytest.mark.parametrize("encoders", [2, 3])
def test_eq_1_concatenation(encoders: int) -> None:
    module = randomized(Concatenation, encoders)
    state, contexts = data(encoders)
    w, b = array_combination(module.linear.linear.weight), array_combination(module.linear.linear.bias)
    for row in range(BATCH_COMBINATION):
        joined = np.concatenate([array_combination(contexts[row, k]) for k in range(encoders)])
        assert np.allclose(array_combination(module(state, contexts)[row]), w @ joined + b, atol=1e-12)


def gated(c1: Floats, c2: Floats, module: Any, number: int = 0) -> Floats:
    """Eqs. 2 and 3 for one row."""
    w_r, w_t = np.split(array_combination(module.first[number].weight), 2)
    w_s, w_u = np.split(array_combination(module.second[number].weight), 2)
    r = np.tanh(w_r @ c1 + w_s @ c2) + array_combination(
        module.bias[number]
    )  # the bias is outside of tanh in the paper
    return r * (w_t @ c1) + (1 - r) * (w_u @ c2)


def test_eqs_2_and_3_gate() -> None:
    module = randomized(Gate, 2)
    state, contexts = data(2)
    for row in range(BATCH_COMBINATION):
        expected = gated(array_combination(contexts[row, 0]), array_combination(contexts[row, 1]), module)
        assert np.allclose(array_combination(module(state, contexts)[row]), expected, atol=1e-12)


def test_a_third_encoder_is_gated_against_the_first_two() -> None:
    module = randomized(Gate, 3)
    state, contexts = data(3)
    for row in range(BATCH_COMBINATION):
        c1, c2, c3 = array_combination(contexts[row])
        expected = gated(gated(c1, c2, module, 0), c3, module, 1)
        assert np.allclose(array_combination(module(state, contexts)[row]), expected, atol=1e-12)


@pytest.mark.parametrize("encoders", [2, 3, 4])
def test_eqs_4_to_6_hierarchical_attention(encoders: int) -> None:
    module = randomized(Hierarchical, encoders)
    state, contexts = data(encoders)
    w_b, v_b, b_e = array_combination(module.of_state.weight), array_combination(module.energy), module.bias.item()
    u_b = [array_combination(linear.weight) for linear in module.of_contexts]
    u_c = np.split(array_combination(module.outputs.weight), encoders, axis=1)
    for row in range(BATCH_COMBINATION):
        z, c = array_combination(state[row]), array_combination(contexts[row])
        e = np.array([v_b @ np.tanh(w_b @ z + u_b[k] @ c[k]) + b_e for k in range(encoders)])
        beta = np.exp(e) / np.exp(e).sum()
        expected = sum(beta[k] * (u_c[k] @ c[k]) for k in range(encoders))
        assert np.allclose(array_combination(module.weights(state, contexts)[row]), beta, atol=1e-12)
        assert np.allclose(array_combination(module(state, contexts)[row]), expected, atol=1e-12)


@pytest.mark.parametrize("name", COMBINATIONS)
def test_every_encoder_counts(name: str) -> None:
    """The result has the size of one context vector, and depends on each of them."""
    module = randomized(COMBINATIONS[name], 3)
    state, contexts = data(3)
    contexts.requires_grad_()
    actual = module(state, contexts)
    assert actual.shape == (BATCH_COMBINATION, SIZE_COMBINATION)
    (gradient,) = torch.autograd.grad(actual.sum(), contexts)
    assert (gradient.abs().sum((0, 2)) > 0).all()


# The recurrent models of the papers: what they compute, what they share, and that they learn.

MARKS = SpecialTokens(separator=2, end=0, start=12, padding=12)
WORDS = 13
BASE = ModelConfig(kind="recurrent", embedding=6, hidden=5, dropout=0.2)
CONTEXTS = [(), ("source",), ("target",), ("source", "target")]


def random_model(seed: int = 0, **changes: Any) -> RecurrentModel:
    torch.manual_seed(seed)
    model = build(replace(BASE, **changes), WORDS, MARKS).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    return model


def random_batch(encoders: int, rows: int = 3, seed: int = 0) -> Batch:
    rng = torch.Generator().manual_seed(seed)

    def ids(longest: int) -> tuple[int, ...]:
        length = int(torch.randint(0, longest, (1,), generator=rng))
        return (*torch.randint(3, 12, (length,), generator=rng).tolist(), 0)

    inputs = [tuple(ids(6) for _ in range(encoders)) for _ in range(rows)]
    return make_batch(inputs, [ids(5) for _ in range(rows)], MARKS.start, MARKS.padding)


@pytest.mark.parametrize("contexts", CONTEXTS)
@pytest.mark.parametrize("combination", COMBINATIONS)
@pytest.mark.parametrize("layer_norm", [True, False])
def test_training_and_decoding_compute_the_same(contexts: tuple[str, ...], combination: str, layer_norm: bool) -> None:
    model = random_model(context_encoders=contexts, combination=combination, layer_norm=layer_norm)
    batch = random_batch(1 + len(contexts))
    expected = model(batch)
    memory = model.encode(batch.inputs)
    state = model.start(memory)
    for step in range(batch.read.ids.shape[1]):
        output, state = model.step(memory, state, batch.read.ids[:, step])
        assert torch.allclose(model.project(output), expected[:, step], atol=1e-5)


def test_a_step_is_the_conditional_gru_and_deep_output() -> None:
    """Written out for one row: GRU, attention over both encoders, their combination, GRU, tanh of three products."""
    model = random_model(context_encoders=("source",))
    one, two = (3, 4, 5, 0), (6, 7, 0)
    memory = model.encode((pad([one], 12), pad([two], 12)))
    annotations = [encoder(pad([ids], 12)) for encoder, ids in zip(model.encoders, (one, two), strict=True)]
    start = torch.tanh(model.initial(annotations[0].mean(1)))
    assert torch.allclose(model.start(memory), start, atol=1e-6)
    word = model.embedding(torch.tensor([8]))
    between = model.first(model.first.read(word), start)
    attended = [
        attention(between, attention.prepare(h, torch.ones(h.shape[:2], dtype=torch.bool)))[0]
        for attention, h in zip(model.attentions, annotations, strict=True)
    ]
    context = model.combination(between, torch.stack(attended, 1))
    after = model.second(model.second.read(context), between)
    w_s, w_e, w_c = model.deep.linear.weight.split([5, 6, 10], dim=1)
    expected = torch.tanh(model.deep.norm(after @ w_s.T + word @ w_e.T + context @ w_c.T))
    output, state = model.step(memory, start, torch.tensor([8]))
    assert torch.allclose(state, after, atol=1e-5)
    assert torch.allclose(output, expected, atol=1e-5)
    assert torch.allclose(model.project(output), output @ model.embedding.weight.T + model.bias, atol=1e-5)


def test_the_mean_that_decoding_begins_with_is_of_tokens_only() -> None:
    model = random_model()
    alone, together = (model.encode((pad(rows, 12),)) for rows in ([(3, 0)], [(3, 0), (4, 5, 6, 7, 0)]))
    assert torch.allclose(alone.initial[0], together.initial[0], atol=1e-6)


def test_a_row_is_the_same_in_any_company_recurrent() -> None:
    model = random_model(context_encoders=("source", "target"))
    inputs = [((3, 4, 0), (5, 0), (0,)), ((6, 0), (7, 8, 9, 10, 0), (11, 0)), ((3, 3, 3, 3, 3, 0), (0,), (4, 4, 0))]
    targets = [(5, 6, 7, 0), (0,), (8, 0)]
    together = model(make_batch(inputs, targets, 12, 12))
    for row, (one, target) in enumerate(zip(inputs, targets, strict=True)):
        alone = model(make_batch([one], [target], 12, 12))
        assert torch.allclose(alone[0], together[row, : len(target)], atol=1e-5)


def test_rows_of_memory_and_state() -> None:
    model = random_model(context_encoders=("target",))
    batch = random_batch(2, rows=3)
    memory = model.encode(batch.inputs)
    rows = torch.tensor([2, 0, 0])
    chosen = select_rows(memory, rows)
    assert type(chosen) is type(memory)
    assert torch.equal(chosen.encoders[1].keys, memory.encoders[1].keys[rows])
    assert torch.equal(select_rows(model.start(memory), rows), chosen.initial)
    direct = model.encode(tuple(part[rows] for part in batch.inputs))
    assert torch.allclose(direct.initial, chosen.initial, atol=1e-6)


def distinct(model: RecurrentModel) -> list[int]:
    """The embedding of the decoder and of each encoder, by identity."""
    embeddings = [model.embedding, *(encoder.embedding for encoder in model.encoders)]  # type: ignore[union-attr]
    seen: list[Any] = []
    for embedding in embeddings:
        if not any(embedding is other for other in seen):
            seen.append(embedding)
    return [next(n for n, other in enumerate(seen) if embedding is other) for embedding in embeddings]


@pytest.mark.parametrize(
    ("contexts", "changes", "expected"),
    [  # decoder, main encoder, contexts
        (("source", "target"), {}, [0, 1, 2, 3]),
        (("source", "target"), {"tie_context_embeddings": True}, [0, 1, 1, 0]),
        (("target", "source", "target"), {"tie_context_embeddings": True}, [0, 1, 0, 1, 0]),
        (("target",), {"tie_context_embeddings": True}, [0, 1, 0]),
        (("source", "target"), {"tie_all_embeddings": True}, [0, 0, 0, 0]),
    ],
)
def test_which_embeddings_are_tied(contexts: tuple[str, ...], changes: dict[str, bool], expected: list[int]) -> None:
    """ContraPro §4.1: whatever reads the same kind of text; §6: "the main encoder (or decoder)" and the context's."""
    assert distinct(random_model(context_encoders=contexts, **changes)) == expected


@pytest.mark.parametrize(("contexts", "matrices"), [(("source",), 1), (("target",), 1), (("source", "target"), 2)])
def test_tying_saves_one_embedding_matrix_per_context(contexts: tuple[str, ...], matrices: int) -> None:
    sizes = [
        sum(
            parameter.numel()
            for parameter in random_model(context_encoders=contexts, tie_context_embeddings=tied).parameters()
        )
        for tied in (False, True)
    ]
    assert sizes[0] - sizes[1] == matrices * WORDS * BASE.embedding


def test_weights_of_0_1_0_get_their_own_matrix_back() -> None:
    """Version 0.1.0 tied target contexts to one another, but not to the decoder."""
    model = random_model(context_encoders=("target", "source", "target"), tie_context_embeddings=True)
    model.untie(model.state_dict().keys() - {"encoders.1.embedding.weight", "encoders.3.embedding.weight"})
    assert distinct(model) == [0, 1, 0, 1, 0]
    model.untie({"encoders.1.embedding.weight"})
    assert distinct(model) == [0, 1, 2, 1, 2]
    everything = random_model(context_encoders=("target",), tie_all_embeddings=True)
    everything.untie({"embedding.weight"})
    assert distinct(everything) == [0, 0, 0]


def test_the_decoder_s_two_embeddings() -> None:
    tied, untied = random_model(), random_model(tie_decoder_embeddings=False)
    assert tied.output is None
    output = torch.randn(1, 6)
    assert torch.allclose(untied.project(output), output @ untied.output.T + untied.bias, atol=1e-6)  # type: ignore[union-attr]
    more = sum(p.numel() for p in untied.parameters()) - sum(p.numel() for p in tied.parameters())
    assert more == WORDS * 6


@pytest.mark.parametrize("combination", COMBINATIONS)
def test_every_parameter_is_trained(combination: str) -> None:
    model = random_model(context_encoders=("source", "target"), combination=combination).train()
    batch = random_batch(3, rows=6, seed=1)
    loss_of(model, batch, 0.1).smoothed.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        cancels = name == "combination.bias" and combination == "hierarchical"  # b_e, the same for every encoder
        assert cancels or parameter.grad.abs().sum() > 0, name


def test_dropout_only_in_training_and_by_the_seed() -> None:
    model, batch = random_model(context_encoders=("source",)), random_batch(2)
    assert torch.equal(model(batch), model(batch))
    model.train()
    torch.manual_seed(4)
    one = model(batch)
    assert not torch.equal(one, model(batch))
    torch.manual_seed(4)
    assert torch.equal(one, model(batch))


def test_it_runs_in_mixed_precision() -> None:
    for layer_norm in (True, False):
        model, batch = random_model(context_encoders=("source",), layer_norm=layer_norm), random_batch(2)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            actual = model(batch)
        assert torch.allclose(actual.float(), model(batch), atol=0.2)


def test_it_learns_what_only_a_context_tells() -> None:
    """The target is the context read backwards; the current sentence is always the same."""
    torch.set_num_threads(1)
    torch.manual_seed(1)
    config = replace(BASE, context_encoders=("source",), embedding=16, hidden=24, dropout=0.0)
    model = build(config, WORDS, MARKS)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    rng = torch.Generator().manual_seed(0)
    for _ in range(120):
        words = torch.randint(3, 12, (32, 2), generator=rng).tolist()
        batch = make_batch([((5, 0), (a, b, 0)) for a, b in words], [(b, a, 0) for a, b in words], 12, 12)
        optimizer.zero_grad()
        loss = loss_of(model, batch, 0.0)
        (loss.smoothed / loss.tokens).backward()
        optimizer.step()
    assert float(loss.plain) / loss.tokens < 0.1
