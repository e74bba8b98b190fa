"""Memory that runs out: any batch that fails is halved, and what is found is the same whatever fails."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from anaphora.core.errors import AnaphoraError
from anaphora.scoring import batching
from anaphora.scoring.batching import (
    SourceGroup,
    group_by_source,
    out_of_memory,
    score_padded,
    split_on_oom,
    token_batches,
)
from anaphora.scoring.encoded import EncodedCandidate, EncodedExample
from anaphora.scoring.tree import build_tree


def quick(score: Callable[[Sequence[int]], list[int]], batch: list[int], tokens: Callable[[int], int]) -> list[int]:
    """In halves, but nothing is collected, which takes a while each time and changes no result."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batching, "gc", SimpleNamespace(collect=lambda *generation: None))
        return split_on_oom(score, batch, tokens)


@given(st.lists(st.integers(), min_size=1, max_size=40), st.data())
def test_whatever_fails_the_result_is_the_same(batch: list[int], data: st.DataObject) -> None:
    scored: list[int] = []

    def score(part: Sequence[int]) -> list[int]:
        assert part
        if len(part) > 1 and data.draw(st.booleans(), label=f"{len(part)} are too many"):
            raise MemoryError
        scored.extend(part)
        return [2 * item for item in part]

    assert quick(score, batch, abs) == [2 * item for item in batch]
    assert scored == batch  # each once, in order


@given(st.lists(st.integers(1, 50), min_size=1, max_size=20))
def test_an_example_too_large_for_memory_is_named_by_size(sizes: list[int]) -> None:
    def score(part: Sequence[int]) -> list[int]:
        if sum(part) > 40:
            raise MemoryError
        return list(part)

    large = next((size for size in sizes if size > 40), None)
    if large is None:
        assert quick(score, sizes, lambda size: size) == sizes
    else:
        with pytest.raises(AnaphoraError) as caught:
            quick(score, sizes, lambda size: 1000 * size)
        assert str(caught.value) == (
            f"out of memory on a single example of {large},000 tokens. Use less --context, or a smaller model"
        )


def test_memory_of_a_failed_attempt_is_freed_before_the_next() -> None:
    """Else there would be even less memory for the halves."""

    class Tensor:
        itself: Tensor

    held: list[weakref.ref[Tensor]] = []

    def score(part: Sequence[int]) -> list[int]:
        assert all(tensor() is None for tensor in held)
        if len(part) == 1:
            return list(part)
        large = Tensor()
        large.itself = large  # models have such cycles
        held.append(weakref.ref(large))
        raise RuntimeError("CUDA out of memory")

    assert split_on_oom(score, [1, 2, 3, 4], abs) == [1, 2, 3, 4]
    assert len(held) == 3  # of four, and twice of two


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("no more"),
        RuntimeError("CUDA error: out of memory"),
        RuntimeError("MPS backend out of memory (MPS allocated: 9 GB)"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:118] err == 0. DefaultCPUAllocator: can't allocate memory: you …"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:114] data. DefaultCPUAllocator: not enough memory: you tried …"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
    ],
    ids=lambda error: str(error)[:30],
)
def test_texts_that_mean_it(error: Exception) -> None:
    assert out_of_memory(error)


@pytest.mark.parametrize(
    "error", [RuntimeError("shapes do not fit"), RuntimeError(), RuntimeError("CUBLAS_STATUS_NOT_INITIALIZED")]
)
def test_any_other_error_is_raised_as_it_is(error: Exception) -> None:
    tried: list[int] = []

    def score(part: Sequence[int]) -> list[int]:
        tried.append(len(part))
        raise error

    with pytest.raises(RuntimeError) as caught:
        split_on_oom(score, [1, 2, 3, 4], abs)
    assert caught.value is error
    assert tried == [4]


tokens = st.lists(st.integers(3, 5), max_size=3).map(lambda ids: (*ids, 0))
candidates = st.tuples(st.sampled_from([((3, 0),), ((4, 0),)]), tokens).map(
    lambda pair: EncodedCandidate(pair[0], (), pair[1])
)
asked = st.lists(st.lists(candidates, min_size=1, max_size=3), max_size=6)


@given(asked, st.integers(1, 20))
def test_every_candidate_is_in_one_tree_with_its_inputs(questions: list[list[EncodedCandidate]], budget: int) -> None:
    actual = [
        unit
        for batch in token_batches(group_by_source(questions, budget, (99,)), budget, depth_first=True)
        for unit in batch
    ]
    members = [member for unit in actual for member in unit.members]
    assert sorted(members) == [(n, k) for n, q in enumerate(questions) for k in range(len(q))]
    for unit in actual:
        for (number, position), (_, predicted) in zip(unit.members, unit.tree.paths, strict=True):
            wanted = questions[number][position]
            assert unit.inputs == wanted.inputs
            assert tuple(predicted) == wanted.predicted
        assert unit.tree.tokens[0] == 99


@given(asked, st.integers(1, 40))
def test_batches_keep_to_the_budget(questions: list[list[EncodedCandidate]], budget: int) -> None:
    for batch in token_batches(group_by_source(questions, budget, (99,)), budget, depth_first=True):
        assert len(batch) == 1 or sum(unit.size for unit in batch) <= budget


def test_equal_inputs_are_one_tree_across_questions() -> None:
    source = ((3, 0),)
    both = [[EncodedCandidate(source, (), (4, 5, 0))], [EncodedCandidate(source, (), (4, 6, 0))]]
    (one,) = group_by_source(both, 100, (99,))
    assert one.members == [(0, 0), (1, 0)]
    assert len(one.tree) == 4  # start, 4, 5, 6
    assert len(group_by_source(both, 5, (99,))) == 2  # where they are too large together


def test_what_is_read_stands_before_the_tree() -> None:
    source = ((3, 0),)
    asked = [
        [
            EncodedCandidate(source, (4,), (5, 0)),
            EncodedCandidate(source, (4,), (6, 0)),
            EncodedCandidate(source, (5,), (6, 0)),
        ]
    ]
    groups = group_by_source(asked, 100, (99,))
    assert [unit.members for unit in groups] == [[(0, 0), (0, 1)], [(0, 2)]]
    assert groups[0].tree.tokens.tolist() == [99, 4, 5, 6]
    assert [predicted.tolist() for _, predicted in groups[0].tree.paths] == [[5, 0], [6, 0]]


def test_each_distinct_source_is_one_unit() -> None:
    encoded = [
        EncodedExample((5, 2), (1,), ((7, 8, 2), (7, 9, 2))),
        EncodedExample((6, 2), (1,), ((7, 8, 2),)),
        EncodedExample((5, 2), (1,), ((7, 8, 2), (9, 2))),
        EncodedExample((5, 2), (1, 3), ((7, 8, 2),)),  # another prompt: another tree
    ]
    groups = group_by_source([item.separate() for item in encoded], 100)
    assert [unit.members for unit in groups] == [[(0, 0), (0, 1), (2, 0), (2, 1)], [(1, 0)], [(3, 0)]]
    assert groups[0].tree.tokens.tolist() == [1, 7, 8, 9, 9]
    assert [tokens.tolist() for _, tokens in groups[0].tree.paths] == [[7, 8, 2], [7, 9, 2], [7, 8, 2], [9, 2]]
    assert groups[0].size == 5 + 2


def test_questions_about_one_source_are_split_over_the_budget() -> None:
    """A suite may ask a thousand things about one sentence; attention over all of them at once would be quadratic."""
    encoded = [EncodedExample((5, 2), (1,), ((10 + n, 11, 12, 2), (10 + n, 13, 12, 2))) for n in range(50)]
    groups = group_by_source([item.separate() for item in encoded], 40)
    assert [n for unit in groups for n, _ in unit.members] == [n for n in range(50) for _ in range(2)]
    assert all(len(unit.tree) <= 41 for unit in groups)
    assert len(groups) == 10
    again = [EncodedExample((5, 2), (1,), ((10, 11, 2), (10, 13, 2)))] * 50
    assert (
        len(group_by_source([item.separate() for item in again], 40)) == 1
    )  # the same asked fifty times is one small tree


sizes = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=20)


@given(sizes, st.integers(1, 40))
def test_batches_hold_every_unit_once_and_keep_to_the_budget(made: list[tuple[int, int]], budget: int) -> None:
    all_units = [
        SourceGroup(((7,) * source,), build_tree([1], [range(3, 3 + tree)]), [(n, 0)], True)
        for n, (tree, source) in enumerate(made)
    ]
    actual = list(token_batches(all_units, budget, depth_first=False))
    assert sorted(u.members for batch in actual for u in batch) == [[(n, 0)] for n in range(len(made))]
    assert all(len(batch) == 1 or sum(u.size for u in batch) <= budget for batch in actual)
    lengths = [len(u.tree) for batch in actual for u in batch]
    assert lengths == sorted(lengths)
    for batch, following in pairwise(actual):
        assert sum(u.size for u in batch) + following[0].size > budget  # no batch is smaller than it must be


# Padded batches are the baseline: batches of any size give what each candidate gives by itself.

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
    actual = []
    for candidate in asked.candidates:
        labels = torch.tensor([[-100] * (len(asked.prompt) - 1) + [*candidate]])
        if model.config.is_encoder_decoder:
            read = torch.tensor([[*asked.prompt, *candidate[:-1]]])
            output = model(input_ids=torch.tensor([asked.source]), decoder_input_ids=read, labels=labels)
        else:  # a causal model moves its labels by one itself
            whole = torch.tensor([[*asked.prompt, *candidate]])
            output = model(input_ids=whole, labels=torch.cat([torch.tensor([[-100]]), labels], 1))
        actual.append((-float(output.loss) * len(candidate), len(candidate)))
    return actual


def test_any_batch_gives_what_the_model_s_own_loss_gives(model: Any) -> None:
    expected = [one_by_one(model, asked) for asked in ASKED]
    for budget in (1, 13, 40, 100_000):
        actual = dict(score_padded(model, ASKED, budget))
        assert sorted(actual) == [0, 1, 2, 3]
        for number, scores in actual.items():
            assert [n for _, n in scores] == [n for _, n in expected[number]]
            assert [s for s, _ in scores] == pytest.approx([s for s, _ in expected[number]], rel=0, abs=1e-4)


def test_the_same_candidate_twice_has_the_same_score(model: Any) -> None:
    first, second = dict(score_padded(model, ASKED, 64))[1]
    assert first == pytest.approx(second, abs=1e-5)


def test_padded_batches_keep_to_the_budget(
    opinionated: Callable[[Any, Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []

    def spy(model: Any, rows: list[EncodedCandidate]) -> list[torch.Tensor]:
        longest = max(max(len(row.inputs[0]), len(row.given) + len(row.predicted)) for row in rows)
        sizes.append((len(rows), longest * len(rows)))
        return [torch.zeros(1)] * len(rows)

    monkeypatch.setattr(batching, "token_log_probabilities", spy)
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
    compute = batching.token_log_probabilities
    monkeypatch.setattr(batching, "token_log_probabilities", lambda *arguments: calls.append(1) or compute(*arguments))
    assert list(score_padded(model, ASKED, 13, done=range(4))) == []
    assert calls == []
    rest = dict(score_padded(model, ASKED, 13, done={0, 2, 3}))
    assert rest[1] == whole[1]  # to the last digit: the batches are the same ones


def test_out_of_memory_halves_the_batch(
    opinionated: Callable[[Any, Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make(opinionated, "marian")
    expected = dict(score_padded(model, ASKED, 100_000))
    compute = batching.token_log_probabilities

    def small_machine(model: Any, rows: list[EncodedCandidate]) -> list[torch.Tensor]:
        if len(rows) > 2:
            raise RuntimeError("[enforce fail at alloc_cpu.cpp:118] DefaultCPUAllocator: can't allocate memory")
        return compute(model, rows)

    monkeypatch.setattr(batching, "token_log_probabilities", small_machine)
    for number, scores in score_padded(model, ASKED, 100_000):
        assert [s for s, _ in scores] == pytest.approx([s for s, _ in expected[number]], rel=0, abs=1e-4)

    def no_machine(model: Any, rows: list[EncodedCandidate]) -> list[torch.Tensor]:
        raise MemoryError

    monkeypatch.setattr(batching, "token_log_probabilities", no_machine)
    with pytest.raises(AnaphoraError, match="out of memory on a single example of 3 tokens"):
        list(score_padded(model, ASKED, 100_000))
