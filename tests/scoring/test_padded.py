"""Plain scoring is the yardstick: padded batches of any size give what each candidate gives by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from anaphora.core.errors import AnaphoraError
from anaphora.scoring import batching as plain
from anaphora.scoring.batching import score_padded
from anaphora.scoring.encoded import EncodedExample

COMMON = {"vocab_size": 67, "pad_token_id": 1, "eos_token_id": 2, "bos_token_id": 0}
BART = COMMON | {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 32,
    "decoder_start_token_id": 0,
}
LLAMA = COMMON | {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "marian": ("MarianMTModel", "MarianConfig", BART),
    "m2m100": ("M2M100ForConditionalGeneration", "M2M100Config", BART),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", COMMON | {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}),
    # the three that the tree scorer refuses
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config", LLAMA | {"head_dim": 8}),
    "bloom": ("BloomForCausalLM", "BloomConfig", COMMON | {"hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "falcon": ("FalconForCausalLM", "FalconConfig", LLAMA),
}
ASKED = [
    EncodedExample((5, 6, 7, 2), (0,), ((10, 11, 12, 2), (10, 13, 2), (2,))),
    EncodedExample((9, 2), (0, 30), ((10, 11, 2), (10, 11, 2))),
    EncodedExample((*range(20, 30), 2), (0,), ((40, 41, 42, 43, 44, 45, 46, 2), (40, 2))),
    EncodedExample((8, 2), (0,), ((*range(50, 60), 2), (3, 2), (4, 2), (5, 5, 5, 2))),
]


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest, opinionated: Callable[[Any, Any], Any]) -> Any:
    return make(opinionated, request.param)


def make(opinionated: Callable[[Any, Any], Any], name: str) -> Any:
    kind, config, arguments = MODELS[name]
    return opinionated(getattr(transformers, kind), getattr(transformers, config)(**arguments))


@torch.inference_mode()
def one_by_one(model: Any, asked: EncodedExample) -> list[tuple[float, int]]:
    """By the loss of the model itself: labels that are not predicted are −100."""
    found = []
    for candidate in asked.candidates:
        labels = torch.tensor([[-100] * (len(asked.prompt) - 1) + [*candidate]])
        if model.config.is_encoder_decoder:
            read = torch.tensor([[*asked.prompt, *candidate[:-1]]])
            output = model(input_ids=torch.tensor([asked.source]), decoder_input_ids=read, labels=labels)
        else:  # a causal model moves its labels by one itself
            whole = torch.tensor([[*asked.prompt, *candidate]])
            output = model(input_ids=whole, labels=torch.cat([torch.tensor([[-100]]), labels], 1))
        found.append((-float(output.loss) * len(candidate), len(candidate)))
    return found


def test_any_batch_gives_what_the_model_s_own_loss_gives(model: Any) -> None:
    expected = [one_by_one(model, asked) for asked in ASKED]
    for budget in (1, 13, 40, 100_000):
        found = dict(score_padded(model, ASKED, budget))
        assert sorted(found) == [0, 1, 2, 3]
        for number, scores in found.items():
            assert [n for _, n in scores] == [n for _, n in expected[number]]
            assert [s for s, _ in scores] == pytest.approx([s for s, _ in expected[number]], rel=0, abs=1e-4)


def test_the_same_candidate_twice_has_the_same_score(model: Any) -> None:
    first, second = dict(score_padded(model, ASKED, 64))[1]
    assert first == pytest.approx(second, abs=1e-5)


def test_batches_keep_to_the_budget(opinionated: Callable[[Any, Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def spy(model: Any, rows: list[tuple[EncodedExample, int]]) -> list[tuple[float, int]]:
        longest = max(max(len(item.source), len(item.prompt) + len(item.candidates[k])) for item, k in rows)
        sizes.append((len(rows), longest * len(rows)))
        return [(0.0, 1)] * len(rows)

    monkeypatch.setattr(plain, "_batch", spy)
    list(score_padded(None, ASKED, 24))
    assert sum(rows for rows, _ in sizes) == sum(len(asked.candidates) for asked in ASKED)
    assert all(tokens <= 24 or rows == 1 for rows, tokens in sizes)
    assert max(rows for rows, _ in sizes) > 1


def test_what_is_done_is_not_computed_again(
    opinionated: Callable[[Any, Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make(opinionated, "marian")
    whole = dict(score_padded(model, ASKED, 13))
    calls = []
    compute = plain._batch
    monkeypatch.setattr(plain, "_batch", lambda *arguments: calls.append(1) or compute(*arguments))
    assert list(score_padded(model, ASKED, 13, done=range(4))) == []
    assert calls == []
    rest = dict(score_padded(model, ASKED, 13, done={0, 2, 3}))
    assert rest[1] == whole[1]  # to the last digit: the batches are the same ones


def test_out_of_memory_halves_the_batch(
    opinionated: Callable[[Any, Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make(opinionated, "marian")
    expected = dict(score_padded(model, ASKED, 100_000))
    compute = plain._batch

    def small_machine(model: Any, rows: list[tuple[EncodedExample, int]]) -> list[tuple[float, int]]:
        if len(rows) > 2:
            raise RuntimeError("[enforce fail at alloc_cpu.cpp:118] DefaultCPUAllocator: can't allocate memory")
        return compute(model, rows)

    monkeypatch.setattr(plain, "_batch", small_machine)
    for number, scores in score_padded(model, ASKED, 100_000):
        assert [s for s, _ in scores] == pytest.approx([s for s, _ in expected[number]], rel=0, abs=1e-4)

    def no_machine(model: Any, rows: list[tuple[EncodedExample, int]]) -> list[tuple[float, int]]:
        raise MemoryError

    monkeypatch.setattr(plain, "_batch", no_machine)
    with pytest.raises(AnaphoraError, match="out of memory on a single example of 3 tokens"):
        list(score_padded(model, ASKED, 100_000))
