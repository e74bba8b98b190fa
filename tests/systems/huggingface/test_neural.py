"""What the torch systems share: each distinct source once, batches under a budget, memory that runs out, a trial."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from transformers import LlamaConfig, LlamaForCausalLM, MarianConfig, MarianMTModel

from anaphora.core.errors import AnaphoraError
from anaphora.core.finite import NotFinite
from anaphora.scoring.packed import PackedModel, UnsupportedModel
from anaphora.scoring.tree import (
    EncodedExample,
)
from anaphora.suites.example import Example
from anaphora.systems.context import Question
from anaphora.systems.huggingface.neural import NeuralSystem
from anaphora.systems.options import Options
from anaphora.systems.scored import Answer

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

    def encode(self, questions: Sequence[Question]) -> list[EncodedExample]:
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


def scores(answers: dict[int, Answer]) -> list[float]:
    return [score for number in sorted(answers) for score in answers[number].scores]


def close(one: dict[int, Answer], other: dict[int, Answer]) -> bool:
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


def test_what_is_done_is_passed_over_and_the_rest_is_the_same_to_the_last_digit(
    model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    found = list(system.score(EXAMPLES))
    assert sorted(n for n, _ in found) == list(range(6))  # none lost, none doubled
    assert close(expected, dict(found))
    assert tried[0] == 5
    assert sum(n for n in tried if n <= fits) == 5


def test_one_example_that_is_too_large_is_an_error_of_one_line(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
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
    with pytest.raises(RuntimeError, match="shapes do not fit"):
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
        (Louder, r"Louder: scores through the prefix tree differ from plain ones by 0\..* with --plain"),
        (Odd, r"Odd cannot be computed through the prefix tree \(AttributeError: .* with --plain"),
    ],
)
def test_a_model_that_is_not_what_it_seems_is_refused_and_scored_when_asked(
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
