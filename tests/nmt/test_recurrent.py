"""The recurrent models of the papers: what they compute, what they share, and that they learn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from anaphora.core.errors import AnaphoraError
from anaphora.nmt.arrangement import Marks
from anaphora.nmt.batch import Batch, make_batch
from anaphora.nmt.config import COMBINATIONS, ModelConfig
from anaphora.nmt.loss import loss_of
from anaphora.nmt.recurrent import RecurrentModel, build
from anaphora.scoring.padded import pad

MARKS = Marks(separator=2, end=0, start=12, padding=12)
WORDS = 13
BASE = ModelConfig(kind="recurrent", embedding=6, hidden=5, dropout=0.2)
CONTEXTS = [(), ("source",), ("target",), ("source", "target")]


def random_model(seed: int = 0, **changes: Any) -> RecurrentModel:
    torch.manual_seed(seed)
    model = build(replace(BASE, **changes), WORDS, WORDS, MARKS).eval()
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
    model = random_model(contexts=contexts, combination=combination, layer_norm=layer_norm)
    batch = random_batch(1 + len(contexts))
    expected = model(batch)
    memory = model.encode(batch.inputs)
    state = model.start(memory)
    for step in range(batch.read.ids.shape[1]):
        output, state = model.step(memory, state, batch.read.ids[:, step])
        assert torch.allclose(model.project(output), expected[:, step], atol=1e-5)


def test_a_step_is_the_conditional_gru_and_deep_output() -> None:
    """Written out for one row: GRU, attention over both encoders, their combination, GRU, tanh of three products."""
    model = random_model(contexts=("source",))
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


def test_a_row_is_the_same_in_any_company() -> None:
    model = random_model(contexts=("source", "target"))
    inputs = [((3, 4, 0), (5, 0), (0,)), ((6, 0), (7, 8, 9, 10, 0), (11, 0)), ((3, 3, 3, 3, 3, 0), (0,), (4, 4, 0))]
    targets = [(5, 6, 7, 0), (0,), (8, 0)]
    together = model(make_batch(inputs, targets, 12, 12))
    for row, (one, target) in enumerate(zip(inputs, targets, strict=True)):
        alone = model(make_batch([one], [target], 12, 12))
        assert torch.allclose(alone[0], together[row, : len(target)], atol=1e-5)


def test_rows_of_memory_and_state() -> None:
    model = random_model(contexts=("target",))
    batch = random_batch(2, rows=3)
    memory = model.encode(batch.inputs)
    rows = torch.tensor([2, 0, 0])
    chosen = model.select(memory, rows)
    assert type(chosen) is type(memory)
    assert torch.equal(chosen.encoders[1].keys, memory.encoders[1].keys[rows])
    assert torch.equal(model.select(model.start(memory), rows), chosen.initial)
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
        (("source", "target"), {"tied_contexts": True}, [0, 1, 1, 0]),
        (("target", "source", "target"), {"tied_contexts": True}, [0, 1, 0, 1, 0]),
        (("target",), {"tied_contexts": True}, [0, 1, 0]),
        (("source", "target"), {"tied_all": True}, [0, 0, 0, 0]),
    ],
)
def test_which_embeddings_are_tied(contexts: tuple[str, ...], changes: dict[str, bool], expected: list[int]) -> None:
    """ContraPro §4.1: whatever reads the same kind of text; §6: "the main encoder (or decoder)" and the context's."""
    assert distinct(random_model(contexts=contexts, **changes)) == expected


@pytest.mark.parametrize(("contexts", "matrices"), [(("source",), 1), (("target",), 1), (("source", "target"), 2)])
def test_tying_saves_one_embedding_matrix_per_context(contexts: tuple[str, ...], matrices: int) -> None:
    sizes = [
        sum(parameter.numel() for parameter in random_model(contexts=contexts, tied_contexts=tied).parameters())
        for tied in (False, True)
    ]
    assert sizes[0] - sizes[1] == matrices * WORDS * BASE.embedding


def test_weights_of_0_1_0_get_their_own_matrix_back() -> None:
    """Version 0.1.0 tied target contexts to one another, but not to the decoder."""
    model = random_model(contexts=("target", "source", "target"), tied_contexts=True)
    model.untie(model.state_dict().keys() - {"encoders.1.embedding.weight", "encoders.3.embedding.weight"})
    assert distinct(model) == [0, 1, 0, 1, 0]
    model.untie({"encoders.1.embedding.weight"})
    assert distinct(model) == [0, 1, 2, 1, 2]
    everything = random_model(contexts=("target",), tied_all=True)
    everything.untie({"embedding.weight"})
    assert distinct(everything) == [0, 0, 0]


def test_the_decoder_s_two_embeddings() -> None:
    tied, untied = random_model(), random_model(tied_decoder=False)
    assert tied.output is None
    output = torch.randn(1, 6)
    assert torch.allclose(untied.project(output), output @ untied.output.T + untied.bias, atol=1e-6)  # type: ignore[union-attr]
    more = sum(p.numel() for p in untied.parameters()) - sum(p.numel() for p in tied.parameters())
    assert more == WORDS * 6


def test_one_matrix_for_everything_needs_one_vocabulary() -> None:
    with pytest.raises(AnaphoraError, match="joint vocabulary"):
        build(replace(BASE, tied_all=True), 10, 12, MARKS)
    assert build(BASE, 10, 12, MARKS).embedding.num_embeddings == 12


@pytest.mark.parametrize("combination", COMBINATIONS)
def test_every_parameter_is_trained(combination: str) -> None:
    model = random_model(contexts=("source", "target"), combination=combination).train()
    batch = random_batch(3, rows=6, seed=1)
    loss_of(model, batch, 0.1).smoothed.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        cancels = name == "combination.bias" and combination == "hierarchical"  # b_e, the same for every encoder
        assert cancels or parameter.grad.abs().sum() > 0, name


def test_dropout_only_in_training_and_by_the_seed() -> None:
    model, batch = random_model(contexts=("source",)), random_batch(2)
    assert torch.equal(model(batch), model(batch))
    model.train()
    torch.manual_seed(4)
    one = model(batch)
    assert not torch.equal(one, model(batch))
    torch.manual_seed(4)
    assert torch.equal(one, model(batch))


def test_it_runs_in_mixed_precision() -> None:
    for layer_norm in (True, False):
        model, batch = random_model(contexts=("source",), layer_norm=layer_norm), random_batch(2)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found = model(batch)
        assert torch.allclose(found.float(), model(batch), atol=0.2)


def test_it_learns_what_only_a_context_tells() -> None:
    """The target is the context read backwards; the current sentence is always the same."""
    torch.set_num_threads(1)
    torch.manual_seed(1)
    config = replace(BASE, contexts=("source",), embedding=16, hidden=24, dropout=0.0)
    model = build(config, WORDS, WORDS, MARKS)
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
