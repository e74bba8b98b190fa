"""A trained Transformer in the hands of others: `transformers` and CTranslate2 score as we do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")

from safetensors.torch import load_file

from anaphora.core.errors import CannotWrite
from anaphora.nmt import checkpoint
from anaphora.nmt.arrangement import Arrangement, inputs_of, target_of
from anaphora.nmt.batch import make_batch
from anaphora.nmt.build import build_model
from anaphora.nmt.candidates import (
    encode_candidates,
    padded_scores,
)
from anaphora.nmt.checkpoint import load_weights, weights_of
from anaphora.nmt.config import ModelConfig, VocabularyConfig
from anaphora.nmt.synthetic import make_documents, make_suite
from anaphora.nmt.text import Text, learn_text
from anaphora.systems import load_system
from anaphora.systems.context import Context
from anaphora.systems.options import Options

DOCUMENTS = list(make_documents("source", 60, 1))
EXAMPLES = [example for number, example in enumerate(make_suite("source", each=1)) if number % 2]
CONCAT22 = Arrangement(joined_source=1, joined_target=1)
SIZES: dict[str, Any] = {
    "embedding": 16,
    "heads": 4,
    "layers": 2,
    "feed_forward": 24,
    "max_length": 64,
    "joined_source": 1,
    "joined_target": 1,
}
Made = tuple[Path, Any, Text, ModelConfig]


@pytest.fixture(scope="module", params=["joint", "separate"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A folder with a model of random weights that were exported."""
    joint = request.param == "joint"
    folder = tmp_path_factory.mktemp(request.param)
    texts = [[sentence for document in DOCUMENTS for sentence in document[side]] for side in (0, 1)]
    text = learn_text(VocabularyConfig(size=120, joint=joint), "en-de", *texts, folder)
    config = ModelConfig(kind="transformer", tied_all=joint, **SIZES)
    torch.manual_seed(5)
    model = build_model(config, text.size, text.size, text.marks).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(0.2 * torch.randn_like(parameter) * (parameter != 0))
    model.export(folder)
    return folder, model, text, config


def expected_scores(made: Made) -> list[list[float]]:
    _, model, text, _ = made
    asked = [encode_candidates(example, text, CONCAT22) for example in EXAMPLES]
    flat = iter(padded_scores(model, [(one.inputs, one.predicted) for some in asked for one in some], text.marks, 500))
    return [[next(flat) for _ in some] for some in asked]


def test_the_library_computes_the_same(made: Made) -> None:
    folder, model, text, _ = made
    other = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder)
    assert type(other) is transformers.MarianMTModel
    assert other.config.architectures == ["MarianMTModel"]
    some = DOCUMENTS[:5]
    inputs = [tuple((*text.encode_source(s), 0) for s in d.source[:1]) for d in some]
    batch = make_batch(inputs, [(*text.encode_target(d.target[0]), 0) for d in some], text.marks.start, 0)
    arguments = {"input_ids": batch.inputs[0].ids, "attention_mask": batch.inputs[0].mask}
    with torch.no_grad():
        found = other(**arguments, decoder_input_ids=batch.read.ids).logits
        torch.testing.assert_close(found[batch.read.mask], model(batch)[batch.read.mask], atol=1e-5, rtol=1e-5)
        written = other.generate(**arguments, max_new_tokens=5)
    assert text.marks.padding not in written[:, 1:][written[:, 1:] != 0][:3]


def test_the_tokeniser_makes_our_ids(made: Made) -> None:
    folder, _, text, _ = made
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    for document in DOCUMENTS[:10]:
        source = [text.encode_source(sentence) for sentence in document.source]
        target = [text.encode_target(sentence) for sentence in document.target]
        wanted = inputs_of(CONCAT22, text.marks, source, target[:-1])[0], target_of(CONCAT22, text.marks, target)
        for separator in ("<SEP>", " <SEP> "):
            assert tuple(tokenizer(separator.join(document.source)).input_ids) == wanted[0]
            assert tuple(tokenizer(text_target=separator.join(document.target)).input_ids) == wanted[1]
        decoded = tokenizer.decode(wanted[1], skip_special_tokens=True)
        assert [part.strip() for part in decoded.split("<SEP>")] == list(document.target)
    assert tokenizer.pad_token_id == text.marks.padding
    assert tokenizer("§").input_ids[-2:] == [1, 0]  # unknown


def test_its_weights_go_back_into_a_model(made: Made) -> None:
    folder, model, text, config = made
    assert load_file(folder / "model.safetensors").keys() == weights_of(model).keys()
    fresh = build_model(config, text.size, text.size, text.marks)
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

    monkeypatch.setattr(checkpoint, "save_file", full)
    with pytest.raises(CannotWrite, match=r"copy/model\.safetensors: cannot be written: no space left"):
        model.export(copy)
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == before
