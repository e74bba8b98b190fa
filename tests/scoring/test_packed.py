"""Packed and padded: every token has its place, and sees what the tree lets it see."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
transformers = pytest.importorskip("transformers")

from anaphora.scoring.packed import (
    Layout,
    PackedModel,
    UnsupportedModel,
    log_probabilities,
    packed_rows,
)
from anaphora.scoring.tree import build_tree

CPU = torch.device("cpu")
candidates = st.lists(st.lists(st.integers(3, 5), min_size=1, max_size=6), min_size=1, max_size=4)


@given(sizes=st.lists(st.integers(1, 7), min_size=1, max_size=6))
def test_padding_and_packing_are_inverse(sizes: list[int]) -> None:
    rows = packed_rows([np.arange(n) for n in sizes], [np.full(n, n) for n in sizes], CPU)
    packed = torch.arange(sum(sizes))
    padded = packed[rows.pad]
    assert padded[rows.unpad].tolist() == packed.tolist()
    assert padded.view(len(sizes), max(sizes))[:, 0].tolist() == np.cumsum([0, *sizes[:-1]]).tolist()
    assert rows.positions.tolist() == [position for n in sizes for position in range(n)]
    assert (rows.end > 0).sum(1).tolist() == sizes


@given(asked=st.lists(candidates, min_size=1, max_size=3))
def test_a_node_sees_its_path_and_nothing_else(asked: list[list[list[int]]]) -> None:
    trees = [build_tree((0,), tuple(map(tuple, one))) for one in asked]
    layout = Layout(packed_rows([tree.depth for tree in trees], [tree.end for tree in trees], CPU))
    mask = layout.mask("decoder")[:, 0]
    for number, tree in enumerate(trees):
        for path, _ in tree.paths:
            for depth, node in enumerate(path):
                assert np.flatnonzero(mask[number, node].numpy()).tolist() == sorted(path[: depth + 1].tolist())
        for beyond in range(len(tree), mask.shape[1]):
            assert mask[number, beyond].sum() == 1  # itself: attention over nothing is not a number
    assert layout.mask("decoder") is layout.mask("decoder")


@given(asked=candidates, window=st.integers(1, 4))
def test_a_window_limits_how_far_back(asked: list[list[int]], window: int) -> None:
    tree = build_tree((0,), tuple(map(tuple, asked)))
    mask = Layout(packed_rows([tree.depth], [tree.end], CPU)).mask("decoder", window)[0, 0]
    for path, _ in tree.paths:
        for depth, node in enumerate(path):
            seen = path[max(0, depth - window + 1) : depth + 1]
            assert np.flatnonzero(mask[node].numpy()).tolist() == sorted(seen.tolist())


# Tile by tile, the projection gives what torch gives at once.

SIZE, WORDS, STATES = 8, 37, 11


def model(bias: Any = None, **config: Any) -> Any:
    """As much of a model as a vocabulary looks at."""
    torch.manual_seed(0)
    config = {"model_type": "llama", "tie_word_embeddings": True} | config
    head = torch.nn.Linear(SIZE, WORDS, bias=False).requires_grad_(False)
    return SimpleNamespace(
        config=SimpleNamespace(**config), get_output_embeddings=lambda: head, final_logits_bias=bias, head=head
    )


def expected(asked: Any, hidden: Any, rows: Any, tokens: Any) -> Any:
    logits = (hidden.double() @ asked.head.weight.double().T) + (
        0 if asked.final_logits_bias is None else asked.final_logits_bias[0].double()
    )
    return torch.log_softmax(logits, -1)[rows, tokens].numpy()


@pytest.mark.parametrize(("height", "width"), [(1, 1), (3, 5), (11, 36), (100, 100)])
@pytest.mark.parametrize("with_bias", [False, True])
def test_tiles_of_any_size(height: int, width: int, with_bias: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anaphora.scoring.packed.ROWS", height)
    monkeypatch.setattr("anaphora.scoring.packed.COLUMNS", width)
    asked = model(torch.randn(1, WORDS) if with_bias else None)
    hidden = torch.randn(STATES, SIZE) * 5
    rows, tokens = torch.randint(STATES, (50,)), torch.randint(WORDS, (50,))
    values = log_probabilities(asked, hidden, rows, tokens)
    assert values == pytest.approx(expected(asked, hidden, rows, tokens), abs=1e-5)


def test_a_tile_of_impossible_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Padding may be ruled out by a bias of minus infinity, and be the only word of the last tile."""
    monkeypatch.setattr("anaphora.scoring.packed.COLUMNS", WORDS - 1)
    bias = torch.zeros(1, WORDS)
    bias[0, -1] = float("-inf")
    asked = model(bias)
    hidden = torch.randn(STATES, SIZE)
    rows, tokens = torch.arange(STATES), torch.arange(STATES)
    values = log_probabilities(asked, hidden, rows, tokens)
    assert values == pytest.approx(expected(asked, hidden, rows, tokens), abs=1e-5)
    assert log_probabilities(asked, hidden, rows[:1], torch.tensor([WORDS - 1]))[0] == float("-inf")


def test_capped_logits() -> None:
    asked = model(final_logit_softcapping=0.5)
    hidden = torch.randn(STATES, SIZE) * 5
    logits = 0.5 * torch.tanh(hidden @ asked.head.weight.T / 0.5)
    values = log_probabilities(asked, hidden, torch.arange(STATES), torch.arange(STATES))
    assert values == pytest.approx(torch.log_softmax(logits, -1).diagonal().numpy(), abs=1e-5)


def test_half_precision_adds_up_in_float32() -> None:
    asked = model()
    asked.head.bfloat16()
    hidden = torch.randn(STATES, SIZE).bfloat16()
    values = log_probabilities(asked, hidden, torch.arange(STATES), torch.arange(STATES))
    assert values == pytest.approx(expected(asked, hidden, torch.arange(STATES), torch.arange(STATES)), abs=0.02)


# The tree scorer gives what scoring one by one gives: for every architecture, every tree, every batch.

TOLERANCE = 1e-4
WINDOW = 4  # shorter than the texts
START = 0

COMMON = {"vocab_size": 67, "pad_token_id": 1, "eos_token_id": 2, "bos_token_id": START}
BART = COMMON | {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 32,
    "decoder_start_token_id": START,
}
T5 = {"vocab_size": 67, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4} | {
    "decoder_start_token_id": START,
    "relative_attention_num_buckets": 6,  # so that far positions share a bucket here, too
    "relative_attention_max_distance": 8,
}
LLAMA = COMMON | {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "max_position_embeddings": 64,
}
GROUPED = LLAMA | {"num_key_value_heads": 2}

# name → class, configuration, its settings
ARCHITECTURES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "marian": ("MarianMTModel", "MarianConfig", BART),
    "m2m100": ("M2M100ForConditionalGeneration", "M2M100Config", BART),
    "mbart": ("MBartForConditionalGeneration", "MBartConfig", BART),
    "bart": ("BartForConditionalGeneration", "BartConfig", BART),
    "t5 tied": ("T5ForConditionalGeneration", "T5Config", T5),
    "t5 untied": (
        "T5ForConditionalGeneration",
        "T5Config",
        T5 | {"tie_word_embeddings": False, "feed_forward_proj": "gated-gelu"},
    ),
    "mt5": ("MT5ForConditionalGeneration", "MT5Config", T5),
    "umt5": ("UMT5ForConditionalGeneration", "UMT5Config", T5),
    "llama": ("LlamaForCausalLM", "LlamaConfig", GROUPED),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", COMMON | {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", GROUPED | {"head_dim": 8}),
    "mistral": ("MistralForCausalLM", "MistralConfig", GROUPED | {"sliding_window": WINDOW}),
    "gemma3": (
        "Gemma3ForCausalLM",
        "Gemma3TextConfig",
        GROUPED | {"head_dim": 8, "sliding_window": WINDOW, "sliding_window_pattern": 2},
    ),
    "gemma3 capped": (
        "Gemma3ForCausalLM",
        "Gemma3TextConfig",
        GROUPED | {"head_dim": 8, "final_logit_softcapping": 2.0},
    ),
    "opt": ("OPTForCausalLM", "OPTConfig", LLAMA | {"ffn_dim": 48, "word_embed_proj_dim": 32}),
    "gpt-neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", LLAMA),
    "phi3": ("Phi3ForCausalLM", "Phi3Config", LLAMA),
    "cohere": ("CohereForCausalLM", "CohereConfig", LLAMA | {"logit_scale": 0.25}),
    "granite": (
        "GraniteForCausalLM",
        "GraniteConfig",
        LLAMA | {"logits_scaling": 3.0, "attention_multiplier": 0.2, "residual_multiplier": 0.7},
    ),
}
UNSUPPORTED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config", GROUPED | {"head_dim": 8}),
    "bloom": ("BloomForCausalLM", "BloomConfig", COMMON | {"hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "falcon": ("FalconForCausalLM", "FalconConfig", LLAMA),
}


class Asked(NamedTuple):
    source: list[int]
    prompt: list[int]
    candidates: list[list[int]]


# Few different tokens, so that candidates share much; none of them is padding to a model.
tokens = st.integers(3, 6)
questions = st.builds(
    Asked,
    source=st.lists(st.integers(3, 66), min_size=1, max_size=9),
    prompt=st.lists(tokens, max_size=4).map(lambda rest: [START, *rest]),
    candidates=st.lists(st.lists(tokens, min_size=1, max_size=8), min_size=1, max_size=4),
)
several = st.lists(questions, min_size=1, max_size=5)
FEW = settings(max_examples=25)


@pytest.fixture(scope="module", params=ARCHITECTURES)
def model_packed(request: pytest.FixtureRequest, opinionated: Callable[[Any, Any], Any]) -> Any:
    return make(opinionated, *ARCHITECTURES[request.param])


def make(opinionated: Callable[[Any, Any], Any], kind: str, config: str, arguments: dict[str, Any]) -> Any:
    return opinionated(getattr(transformers, kind), getattr(transformers, config)(**arguments))


@torch.inference_mode()
def one_by_one(model_packed: Any, asked: Asked) -> list[float]:
    """The model's own forward on each candidate by itself, with nothing padded."""
    scores = []
    for candidate in asked.candidates:
        read = torch.tensor([[*asked.prompt, *candidate[:-1]]])
        if model_packed.config.is_encoder_decoder:
            actual = model_packed(input_ids=torch.tensor([asked.source]), decoder_input_ids=read)
        else:
            actual = model_packed(input_ids=read)
        logits = actual.logits[0, len(asked.prompt) - 1 :]
        scores.append(float(logits.log_softmax(-1).gather(1, torch.tensor(candidate)[:, None]).double().sum()))
    return scores


def through_the_tree(packed: PackedModel, asked: list[Asked], margins: bool = False) -> list[list[float]]:
    trees = [build_tree(a.prompt, a.candidates) for a in asked]
    sources = [a.source for a in asked] if packed.encoder_decoder else None
    with packed.attached():
        actual = packed.score(trees, sources, margins)
    for a, scores in zip(asked, actual, strict=True):
        assert [n for _, n in scores] == list(map(len, a.candidates))
    return [[score for score, _ in scores] for scores in actual]


def check_same(expected: list[float], actual: list[float]) -> None:
    """Within the tolerance, and the same decisions: no pair of candidates is in another order."""
    assert actual == pytest.approx(expected, rel=0, abs=TOLERANCE)
    for i, one in enumerate(expected):
        for k, other in enumerate(expected):
            if one - other > 2 * TOLERANCE:
                assert actual[i] > actual[k]


@FEW
@given(several)
def test_every_tree_in_a_batch_is_scored_as_alone(model_packed: Any, asked: list[Asked]) -> None:
    for a, scores in zip(asked, through_the_tree(PackedModel(model_packed), asked), strict=True):
        check_same(one_by_one(model_packed, a), scores)


@settings(FEW, max_examples=4)
@given(several)
def test_margins_keep_the_differences(model_packed: Any, asked: list[Asked]) -> None:
    packed = PackedModel(model_packed)
    for whole, margins in zip(
        through_the_tree(packed, asked), through_the_tree(packed, asked, margins=True), strict=True
    ):
        assert [m - margins[0] for m in margins] == pytest.approx([w - whole[0] for w in whole], rel=0, abs=TOLERANCE)
        assert all(m >= w - TOLERANCE for w, m in zip(whole, margins, strict=True))


def test_the_model_is_its_own_before_and_after(model_packed: Any) -> None:
    ids = torch.tensor([[5, 9, 14, 3]])
    settings = {"max_new_tokens": 6, "min_new_tokens": 6, "do_sample": False, "num_beams": 2, "pad_token_id": 1}
    read = {"decoder_input_ids": ids} if model_packed.config.is_encoder_decoder else {}
    names = list(model_packed.state_dict())

    def own() -> tuple[Any, Any]:
        with torch.inference_mode():
            return model_packed.generate(input_ids=ids, **settings), model_packed(input_ids=ids, **read).logits

    before = own()
    packed = PackedModel(model_packed)
    between = own()
    asked = [Asked([7, 8, 9], [START], [[3, 4, 5], [3, 6]])]
    first = through_the_tree(packed, asked)
    after = own()
    assert all(torch.equal(one, other) for one, other in zip(before, between, strict=True))
    assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))
    assert list(model_packed.state_dict()) == names
    assert through_the_tree(packed, asked) == first
    assert through_the_tree(PackedModel(model_packed), asked) == first  # another one on the same model


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_a_model_whose_attention_cannot_follow_a_tree_is_refused(
    name: str, opinionated: Callable[[Any, Any], Any]
) -> None:
    model = make(opinionated, *UNSUPPORTED[name])
    with pytest.raises(UnsupportedModel, match=f"{type(model).__name__} does not use .* with --no-prefix-tree"):
        PackedModel(model)


def test_attention_that_is_capped_is_refused(opinionated: Callable[[Any, Any], Any]) -> None:
    """Where a model caps its attention scores but says that it could do without, the attention function notices."""
    model = make(opinionated, *UNSUPPORTED["gemma2"])
    type(model)._supports_sdpa, before = True, type(model)._supports_sdpa
    try:
        with pytest.raises(UnsupportedModel, match="caps its attention"):
            through_the_tree(PackedModel(model), [Asked([], [START], [[3, 4]])])
    finally:
        type(model)._supports_sdpa = before


def test_an_error_inside_leaves_the_model_its_own(opinionated: Callable[[Any, Any], Any]) -> None:
    model = make(opinionated, *ARCHITECTURES["t5 tied"])
    asked = Asked([7, 8, 9], [START], [[3, 4, 5], [3, 6]])
    before = one_by_one(model, asked)
    packed = PackedModel(model)
    with pytest.raises(IndexError):
        through_the_tree(packed, [Asked([1000], [START], [[3, 4]])])  # no such token
    assert one_by_one(model, asked) == before
    check_same(before, through_the_tree(packed, [asked])[0])


def test_sinusoids_grow_with_the_text(opinionated: Callable[[Any, Any], Any]) -> None:
    """M2M-100 makes positions as it needs them, and so does the tree."""
    kind, config, arguments = ARCHITECTURES["m2m100"]
    model = make(opinionated, kind, config, arguments | {"max_position_embeddings": 4})
    asked = Asked([*range(3, 30)], [START], [[*range(40, 60)], [*range(40, 50), *range(20, 30)]])
    actual = through_the_tree(PackedModel(model), [asked])[0]
    check_same(one_by_one(model, asked), actual)


def test_margins_of_candidates_that_are_the_same(opinionated: Callable[[Any, Any], Any]) -> None:
    """Nothing is left to project, and nothing is between them."""
    model = make(opinionated, *ARCHITECTURES["llama"])
    asked = Asked([], [START, 5], [[3, 4, 2], [3, 4, 2]])
    assert through_the_tree(PackedModel(model), [asked], margins=True) == [[0.0, 0.0]]
    full = through_the_tree(PackedModel(model), [asked])[0]
    assert full[0] == full[1]
    check_same(one_by_one(model, asked), full)


def test_where_the_batch_stands_does_not_matter(opinionated: Callable[[Any, Any], Any]) -> None:
    """A long neighbor makes a short tree's rows longer, and changes nothing else."""
    model = make(opinionated, *ARCHITECTURES["marian"])
    packed = PackedModel(model)
    short = Asked([5], [START], [[2], [3, 2]])
    long = Asked([*range(3, 30)], [START], [[*range(40, 60), 2], [*range(40, 50), 2]])
    alone = through_the_tree(packed, [short])[0]
    for batch in ([short, long], [long, short], [long, short, long, short]):
        for position, asked in enumerate(batch):
            if asked is short:
                check_same(alone, through_the_tree(packed, batch)[position])
