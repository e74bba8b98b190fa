"""Transformers step by step: what decoding gives is what training computes, and padding is nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from anaphora.core.errors import AnaphoraError
from anaphora.nmt.arrangement import Marks
from anaphora.nmt.batch import Batch, make_batch
from anaphora.nmt.build import build_model
from anaphora.nmt.checkpoint import State, load_checkpoint, save_checkpoint, weights_of
from anaphora.nmt.config import ModelConfig
from anaphora.nmt.loss import loss_of

SIZE = 20
MARKS = Marks(separator=2, end=0, start=SIZE - 1, padding=SIZE - 1)
SMALL = ModelConfig(
    kind="transformer", embedding=16, heads=4, layers=2, feed_forward=24, dropout=0.0, max_length=32, tied_all=True
)
INPUTS = [((3, 4, 5, 6, 0),), ((7, 0),), ((8, 9, 2, 10, 11, 12, 0),)]
TARGETS = [(5, 6, 0), (7, 8, 9, 10, 0), (3, 0)]


def make(config: ModelConfig = SMALL) -> Any:
    """A model whose probabilities differ from one another."""
    torch.manual_seed(3)
    model = build_model(config, SIZE, SIZE, MARKS)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(0.2 * torch.randn_like(parameter) * (parameter != 0))
    return model.eval()


def batch(inputs: Any = INPUTS, targets: Any = TARGETS) -> Batch:
    return make_batch(inputs, targets, MARKS.start, MARKS.padding)


@torch.no_grad()
def stepwise(model: Any, examples: Batch) -> Any:
    """(b, t, vocabulary), token by token."""
    memory = model.encode(examples.inputs)
    state, found = model.start(memory), []
    for tokens in examples.read.ids.unbind(1):
        output, state = model.step(memory, state, tokens)
        found.append(model.project(output))
    return torch.stack(found, 1)


def test_steps_give_what_training_computes() -> None:
    model, examples = make(), batch()
    expected = model(examples)
    assert expected.shape == (3, 5, SIZE)
    assert expected[0, 0, :-1].std() > 0.1  # it has an opinion
    mask = examples.read.mask
    torch.testing.assert_close(stepwise(model, examples)[mask], expected[mask], atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_rows_are_picked_repeated_and_reordered() -> None:
    model, examples = make(), batch()
    expected = model(examples)
    rows = torch.tensor([2, 1, 1])
    memory = model.encode(examples.inputs)
    _, state = model.step(memory, model.start(memory), examples.read.ids[:, 0])
    memory, state = model.select(memory, rows), model.select(state, rows)
    before = [tuple(map(torch.clone, layer)) for layer in state]
    output, _ = model.step(memory, state, examples.read.ids[rows, 1])
    torch.testing.assert_close(model.project(output)[1:], expected[[1, 1], 1], atol=1e-5, rtol=1e-5)
    for layer, kept in zip(state, before, strict=True):  # a state that is used stays as it was
        assert all(map(torch.equal, layer, kept))


def test_padding_changes_nothing() -> None:
    model = make()
    together = model(batch())
    for row in range(3):
        alone = model(batch(INPUTS[row : row + 1], TARGETS[row : row + 1]))
        torch.testing.assert_close(together[row, : alone.shape[1]], alone[0], atol=1e-5, rtol=1e-5)


def test_an_input_is_read_to_its_end_and_a_target_only_to_the_left() -> None:
    model = make()
    first = model(batch([((3, 4, 0),)], [(5, 6, 7, 0)]))
    other_input = model(batch([((3, 9, 0),)], [(5, 6, 7, 0)]))
    other_target = model(batch([((3, 4, 0),)], [(5, 6, 9, 0)]))
    assert (first - other_input).abs().amax(2).min() > 1e-4
    assert torch.equal(first[:, :3], other_target[:, :3])
    assert (first - other_target)[:, 3].abs().max() > 1e-4


def test_padding_is_never_predicted_and_label_smoothing_does_not_mind() -> None:
    model, examples = make(), batch()
    assert torch.softmax(model(examples), -1)[:, :, MARKS.padding].max() == 0
    loss = loss_of(model.train(), examples, 0.1)
    assert float(loss.smoothed.detach()) < 200


@pytest.mark.parametrize("ties", [{"tied_all": True}, {"tied_all": False}, {"tied_all": False, "tied_decoder": False}])
def test_the_decoder_starts_from_zero_for_ever(ties: dict[str, bool]) -> None:
    """CTranslate2 takes it for granted."""
    model, examples = make(replace(SMALL, **ties)).train(), batch()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1, weight_decay=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss_of(model, examples, 0.1).smoothed.backward()
        optimizer.step()
    vectors = model.model.decoder.embed_tokens.weight
    assert not vectors[MARKS.padding].any()
    assert vectors[:-1].any(1).all()


@pytest.mark.parametrize(
    ("ties", "matrices"),
    [
        ({"tied_all": True}, 1),
        ({"tied_all": False, "tied_decoder": True}, 2),
        ({"tied_all": False, "tied_decoder": False}, 3),
    ],
)
def test_ties(ties: dict[str, bool], matrices: int) -> None:
    model = make(replace(SMALL, **ties))
    parts = (model.model.encoder.embed_tokens, model.model.decoder.embed_tokens, model.lm_head)
    assert len({id(part.weight) for part in parts}) == matrices
    assert len([name for name in weights_of(model) if "embed_tokens" in name or "shared" in name or "lm_" in name]) == (
        matrices
    )


def test_one_matrix_needs_one_vocabulary() -> None:
    with pytest.raises(AnaphoraError, match="joint"):
        build_model(SMALL, SIZE, SIZE + 1, MARKS)
    two = build_model(replace(SMALL, tied_all=False), SIZE + 3, SIZE, MARKS).eval()
    assert two(batch([((SIZE + 2, 0),)], [(3, 0)])).shape == (1, 2, SIZE)


def test_checkpoints_hold_what_is_learned_and_nothing_else(tmp_path: Path) -> None:
    model, examples = make(), batch()
    assert not [name for name in weights_of(model) if "position" in name]  # they are computed
    optimizer = torch.optim.Adam(model.parameters())
    place = save_checkpoint(tmp_path, model, optimizer, State(update=1), keep=1)
    other = build_model(SMALL, SIZE, SIZE, MARKS).eval()
    assert (other(examples) - model(examples)).abs().max() > 1e-3
    load_checkpoint(place, other, torch.optim.Adam(other.parameters()))
    assert torch.equal(other(examples), model(examples))
