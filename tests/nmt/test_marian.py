"""Transformers step by step: what decoding gives is what training computes, and padding is nothing."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
transformers = pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")

from anaphora.core.errors import CannotWrite
from anaphora.nmt.candidates import (
    encode_candidates,
    padded_scores,
)
from anaphora.nmt.checkpoint import State, build_model, load_checkpoint, save_checkpoint
from anaphora.nmt.config import (
    ModelConfig,
    VocabularyConfig,
)
from anaphora.nmt.data import Batch, make_batch
from anaphora.nmt.layout import ContextLayout, SpecialTokens, inputs_of, target_of
from anaphora.nmt.text import Text, learn_text
from anaphora.nmt.training import loss_of
from anaphora.scoring import weights
from anaphora.scoring.batching import select_rows
from anaphora.scoring.weights import load_weights, weights_of
from anaphora.systems import load_system
from anaphora.systems.context import Context, Options
from tests.nmt.synthetic_text import synthetic

SIZE = 20
MARKS = SpecialTokens(separator=2, end=0, start=SIZE - 1, padding=SIZE - 1)
SMALL = ModelConfig(
    kind="transformer",
    embedding=16,
    heads=4,
    layers=2,
    feed_forward=24,
    dropout=0.0,
    max_length=32,
    tie_all_embeddings=True,
)
INPUTS = [((3, 4, 5, 6, 0),), ((7, 0),), ((8, 9, 2, 10, 11, 12, 0),)]
TARGETS = [(5, 6, 0), (7, 8, 9, 10, 0), (3, 0)]


def make(config: ModelConfig = SMALL) -> Any:
    """A model whose probabilities differ from one another."""
    torch.manual_seed(3)
    model = build_model(config, SIZE, MARKS)
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
    state, actual = model.start(memory), []
    for tokens in examples.read.ids.unbind(1):
        output, state = model.step(memory, state, tokens)
        actual.append(model.project(output))
    return torch.stack(actual, 1)


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
    memory, state = select_rows(memory, rows), select_rows(state, rows)
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


def test_inputs_are_read_whole_and_targets_leftward() -> None:
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


@pytest.mark.parametrize(
    "ties",
    [
        {"tie_all_embeddings": True},
        {"tie_all_embeddings": False},
        {"tie_all_embeddings": False, "tie_decoder_embeddings": False},
    ],
)
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
        ({"tie_all_embeddings": True}, 1),
        ({"tie_all_embeddings": False, "tie_decoder_embeddings": True}, 2),
        ({"tie_all_embeddings": False, "tie_decoder_embeddings": False}, 3),
    ],
)
def test_ties(ties: dict[str, bool], matrices: int) -> None:
    model = make(replace(SMALL, **ties))
    parts = (model.model.encoder.embed_tokens, model.model.decoder.embed_tokens, model.lm_head)
    assert len({id(part.weight) for part in parts}) == matrices
    assert len([name for name in weights_of(model) if "embed_tokens" in name or "shared" in name or "lm_" in name]) == (
        matrices
    )


def test_checkpoints_hold_what_is_learned_and_nothing_else(tmp_path: Path) -> None:
    model, examples = make(), batch()
    assert not [name for name in weights_of(model) if "position" in name]  # they are computed
    optimizer = torch.optim.Adam(model.parameters())
    folder = save_checkpoint(tmp_path, model, optimizer, State(update=1), keep=1)
    other = build_model(SMALL, SIZE, MARKS).eval()
    assert (other(examples) - model(examples)).abs().max() > 1e-3
    load_checkpoint(folder, other, torch.optim.Adam(other.parameters()))
    assert torch.equal(other(examples), model(examples))


# A trained Transformer in the hands of others: `transformers` and CTranslate2 score as we do.

DOCUMENTS = list(synthetic.make_documents("source", 60, 1))
EXAMPLES = [example for number, example in enumerate(synthetic.make_suite("source", each=1)) if number % 2]
CONCAT22 = ContextLayout(source_context=1, target_context=1)
SIZES: dict[str, Any] = {
    "embedding": 16,
    "heads": 4,
    "layers": 2,
    "feed_forward": 24,
    "max_length": 64,
    "source_context": 1,
    "target_context": 1,
}
Made = tuple[Path, Any, Text, ModelConfig]


@pytest.fixture(scope="module", params=["joint", "separate"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A folder with a model of random weights that were exported."""
    joint = request.param == "joint"
    folder = tmp_path_factory.mktemp(request.param)
    texts = [[sentence for document in DOCUMENTS for sentence in document[side]] for side in (0, 1)]
    text = learn_text(VocabularyConfig(size=120, joint=joint), "en-de", *texts, folder)
    config = ModelConfig(kind="transformer", tie_all_embeddings=joint, **SIZES)
    torch.manual_seed(5)
    model = build_model(config, text.size, text.special).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(0.2 * torch.randn_like(parameter) * (parameter != 0))
    model.export(folder)
    return folder, model, text, config


def expected_scores(made: Made) -> list[list[float]]:
    _, model, text, _ = made
    asked = [encode_candidates(example, text, CONCAT22) for example in EXAMPLES]
    flat = iter(
        padded_scores(model, [(one.inputs, one.predicted) for some in asked for one in some], text.special, 500)
    )
    return [[next(flat) for _ in some] for some in asked]


def test_the_library_computes_the_same(made: Made) -> None:
    folder, model, text, _ = made
    other = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder)
    assert type(other) is transformers.MarianMTModel
    assert other.config.architectures == ["MarianMTModel"]
    some = DOCUMENTS[:5]
    inputs = [tuple((*text.encode_source(s), 0) for s in d.source[:1]) for d in some]
    batch = make_batch(inputs, [(*text.encode_target(d.target[0]), 0) for d in some], text.special.start, 0)
    arguments = {"input_ids": batch.inputs[0].ids, "attention_mask": batch.inputs[0].mask}
    with torch.no_grad():
        actual = other(**arguments, decoder_input_ids=batch.read.ids).logits
        torch.testing.assert_close(actual[batch.read.mask], model(batch)[batch.read.mask], atol=1e-5, rtol=1e-5)
        written = other.generate(**arguments, max_new_tokens=5)
    assert text.special.padding not in written[:, 1:][written[:, 1:] != 0][:3]


def test_the_tokenizer_makes_our_ids(made: Made) -> None:
    folder, _, text, _ = made
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    for document in DOCUMENTS[:10]:
        source = [text.encode_source(sentence) for sentence in document.source]
        target = [text.encode_target(sentence) for sentence in document.target]
        wanted = inputs_of(CONCAT22, text.special, source, target[:-1])[0], target_of(CONCAT22, text.special, target)
        for separator in ("<SEP>", " <SEP> "):
            assert tuple(tokenizer(separator.join(document.source)).input_ids) == wanted[0]
            assert tuple(tokenizer(text_target=separator.join(document.target)).input_ids) == wanted[1]
        decoded = tokenizer.decode(wanted[1], skip_special_tokens=True)
        assert [part.strip() for part in decoded.split("<SEP>")] == list(document.target)
    assert tokenizer.pad_token_id == text.special.padding
    assert tokenizer("§").input_ids[-2:] == [1, 0]  # unknown


def test_its_weights_go_back_into_a_model(made: Made) -> None:
    folder, model, text, config = made
    assert load_file(folder / "model.safetensors").keys() == weights_of(model).keys()
    fresh = build_model(config, text.size, text.special)
    load_weights(folder / "model.safetensors", fresh)
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, fresh.state_dict()[name]), name


def test_the_hf_system_scores_the_same(made: Made) -> None:
    options = Options(languages=("en", "de"), context=Context(1, " <SEP> "), threads=1)
    answers = dict(load_system(f"hf:{made[0]}", options).score(EXAMPLES))
    for number, scores in enumerate(expected_scores(made)):
        assert answers[number].scores == pytest.approx(scores, abs=1e-4)
        assert max(scores) - min(scores) > 0.01


def test_ctranslate2_scores_the_same(made: Made, tmp_path: Path) -> None:
    ctranslate2 = pytest.importorskip("ctranslate2")
    folder = made[0]
    if (folder / "target_vocab.json").exists():
        pytest.skip("CTranslate2's converter gives Marian models one vocabulary for both languages")
    converted = tmp_path / "ct2"
    ctranslate2.converters.TransformersConverter(str(folder)).convert(str(converted))
    for name in ("source.spm", "target.spm", "vocab.json", "tokenizer_config.json"):
        shutil.copy(folder / name, converted)
    options = Options(languages=("en", "de"), context=Context(1, " <SEP> "), threads=1)
    answers = dict(load_system(f"ct2:{converted}", options).score(EXAMPLES))
    for number, scores in enumerate(expected_scores(made)):
        assert answers[number].scores == pytest.approx(scores, abs=1e-4)


def test_files_of_the_checkpoint(made: Made) -> None:
    folder = made[0]
    names = {path.name for path in folder.iterdir()}
    assert names - {"target_vocab.json"} == {
        *("config.json", "generation_config.json", "model.safetensors"),
        *("source.spm", "target.spm", "text.json", "tokenizer_config.json", "vocab.json"),
    }
    generation = json.loads((folder / "generation_config.json").read_text())
    assert (generation["eos_token_id"], generation["max_length"]) == (0, 64)


def test_an_export_that_fails_leaves_what_was_there(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, model, *_ = made
    copy = shutil.copytree(folder, tmp_path / "copy")
    before = {path.name: path.read_bytes() for path in copy.iterdir()}

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(weights, "save_file", full)
    with pytest.raises(CannotWrite, match=r"copy/model\.safetensors: cannot be written: no space left"):
        model.export(copy)
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == before
