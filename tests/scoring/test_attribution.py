"""Attribution of choices: a planted model puts it where it looks, and gradients are those of finite differences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from torch import Tensor, nn

from anaphora.core.errors import AnaphoraError
from anaphora.nmt.attribution import choices_of
from anaphora.nmt.candidates import load_models
from anaphora.scoring.attribution import Choice, attribute_choices, gradients, mean_attention, mean_values, pretrained
from anaphora.scoring.batching import Padded, pad
from tests.tiny_models import make_nmt

VOCABULARY = 12


class Copying(nn.Module):
    """Predicts from the vector of one word of the input alone, whose place in it is given."""

    def __init__(self, position: int) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.place = position
        self.embedding, self.read = nn.Embedding(VOCABULARY, 4), nn.Embedding(VOCABULARY, 4)
        self.output = nn.Linear(4, VOCABULARY)

    def logits(self, inputs: tuple[Padded, ...], read: Padded) -> Tensor:
        words = self.embedding(inputs[0].ids)
        self.read(read.ids)
        logits: Tensor = self.output(words[:, self.place])
        return logits


def choice(inputs: Sequence[int], read: Sequence[int] = (1, 2), tokens: Sequence[int] = (5, 6, 7)) -> Choice:
    return Choice((tuple(inputs),), tuple(read), tuple(tokens), 0)


@pytest.mark.parametrize("position", [0, 2])
def test_a_model_that_copies_one_word_gets_all_attribution_there(position: int) -> None:
    model = Copying(position)
    (actual,) = gradients(model, model.logits)([choice([3, 4, 8, 9])])
    (source, read) = actual.values
    assert source[position] != 0
    assert [value for k, value in enumerate(source) if k != position] == [0, 0, 0]
    assert read == [0, 0], "what it has written does not matter to it"


def test_values_of_a_linear_model_are_logit_differences() -> None:
    """Gradient × input of a linear model without a bias is the whole difference, counted by hand."""
    model = Copying(1)
    nn.init.zeros_(model.output.bias)
    (actual,) = gradients(model, model.logits)([choice([3, 4, 8])])
    logits = model.output(model.embedding.weight[4]).detach()
    assert sum(actual.values[0]) == pytest.approx(float(logits[5] - max(logits[6], logits[7])), abs=1e-6)
    assert actual.scores == pytest.approx(torch.log_softmax(logits, 0)[[5, 6, 7]].tolist(), abs=1e-6)


def test_weights_are_as_they_were_and_need_gradients_again() -> None:
    model = Copying(0)
    gradients(model, model.logits)([choice([3, 4])])
    assert all(parameter.requires_grad and parameter.grad is None for parameter in model.parameters())
    assert not model.embedding._forward_hooks


def test_candidates_that_are_the_same_have_no_attribution() -> None:
    model = Copying(0)
    (actual,) = gradients(model, model.logits)([choice([3, 4], tokens=(5, 5))])
    assert actual.values == ([0, 0], [0, 0])


def test_a_model_without_embeddings_is_an_error() -> None:
    model = nn.Linear(1, VOCABULARY)
    with pytest.raises(AnaphoraError, match="Use --method occlusion"):
        gradients(model, lambda inputs, read: model(inputs[0].ids[:, :1].float()))([choice([3, 4])])


# Real architectures

KINDS: dict[str, dict[str, Any]] = {
    "s-t-hier": {"context_encoders": ("source", "target")},
    "s-gate": {"context_encoders": ("source",), "combination": "gate"},
    "to-2": {"source_context": 1, "target_context": 1, "tie_all_embeddings": True},
    "transformer": {"kind": "transformer", "max_length": 64},
    "tied": {"kind": "transformer", "max_length": 64, "tie_all_embeddings": True},
    "voita": {"kind": "context-transformer", "context_encoders": ("source",), "max_length": 64},
}


def made(folder: Path, texts: list[str], kind: str) -> tuple[Any, list[Choice]]:
    """A model with random weights, and choices of different lengths for its encoders."""
    loaded = load_models(str(make_nmt(folder, texts, **KINDS[kind])))
    encoders = 1 + len(KINDS[kind].get("context_encoders", ()))
    rows = [(9, 7, 30, 12, 0), (40, 0), (8, 9, 10, 11, 12, 13, 0)]
    start = loaded.text.special.start
    choices = [
        Choice(tuple((k + 5, *row) for k in range(encoders)), (start, 20, 30)[: n + 1], (50, 60, 61), n)
        for n, row in enumerate(rows)
    ]
    return loaded.models[0], choices


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_finite_differences(tmp_path: Path, demo_text: list[str], kind: str) -> None:
    """Each vector is made a little longer; the change of the choice per length is gradient × input."""
    model, choices = made(tmp_path / kind, demo_text, kind)
    model.double()
    compute = choices_of(model, "gradient")
    for one in choices[:2]:
        actual = compute([one])[0]
        for number, ids in enumerate((*one.inputs, one.read)):
            for position in (0, len(ids) - 1):
                changes = [stretched(model, compute, one, number, position, step) for step in (1e-4, -1e-4)]
                assert actual.values[number][position] == pytest.approx(
                    (changes[0] - changes[1]) / 2e-4, rel=1e-3, abs=1e-5
                )


def stretched(model: Any, compute: Any, one: Choice, sequence: int, position: int, step: float) -> float:
    """log p(right) − log p(wrong) with one vector of one sequence multiplied by 1 + step."""
    calls = 0
    ids = (*one.inputs, one.read)

    def longer(module: nn.Module, arguments: tuple[Any, ...], output: Tensor) -> Tensor | None:
        nonlocal calls
        tokens = arguments[0]
        if not isinstance(tokens, Tensor) or tokens.dim() != 2 or tuple(tokens[0].tolist()) not in ids:
            return None
        calls += 1
        if calls - 1 != sequence:
            return None
        scale = torch.ones(output.shape[:2], dtype=output.dtype)
        scale[0, position] += step
        return output * scale[:, :, None]

    hooks = [part.register_forward_hook(longer) for part in model.modules() if isinstance(part, nn.Embedding)]
    scores = compute([one])[0].scores
    for hook in hooks:
        hook.remove()
    gold = one.gold
    return float(scores[gold] - max(score for k, score in enumerate(scores) if k != gold))


@pytest.mark.parametrize("method", ["gradient", "attention"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_is_as_good_as_one_by_one(tmp_path: Path, demo_text: list[str], kind: str, method: str) -> None:
    model, choices = made(tmp_path / kind, demo_text, kind)
    compute = choices_of(model, method)
    for one, together in zip(choices, compute(choices), strict=True):
        (alone,) = compute([one])
        assert together.scores == pytest.approx(alone.scores, abs=1e-4)
        for a, b, ids in zip(together.values, alone.values, (*one.inputs, one.read), strict=True):
            assert len(a) == len(ids)
            assert a == pytest.approx(b, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_attention_sums_to_one(tmp_path: Path, demo_text: list[str], kind: str) -> None:
    """Shares of all encoders and of what was written; a special token before a context (Voita's) keeps a part of it."""
    model, choices = made(tmp_path / kind, demo_text, kind)
    for actual in choices_of(model, "attention")(choices):
        total = sum(sum(part) for part in actual.values)
        assert 0.5 < total < 1 if kind == "voita" else total == pytest.approx(1, abs=1e-5)
        assert min(min(part) for part in actual.values) >= 0


def test_attention_weighs_encoders_as_the_hierarchy_does(tmp_path: Path, demo_text: list[str]) -> None:
    """β of the last step, which a hook on its energies makes known: an encoder with β = 1 gets everything."""
    model, choices = made(tmp_path / "hier", demo_text, "s-t-hier")
    model.combination.weights = lambda state, contexts: torch.tensor([[0.0, 1.0, 0.0]]).expand(len(state), 3)
    for actual in choices_of(model, "attention")(choices):
        assert [sum(part) for part in actual.values] == pytest.approx([0, 1, 0, 0], abs=1e-6)


@pytest.mark.parametrize("method", ["gradient", "attention"])
def test_hugging_face_models(tiny_marian: Path, tiny_llama: Path, method: str) -> None:
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

    for loader, folder, inputs in (
        (AutoModelForSeq2SeqLM, tiny_marian, ((5, 6, 7, 8, 0),)),
        (AutoModelForCausalLM, tiny_llama, ()),
    ):
        model = loader.from_pretrained(folder).eval()
        before = model.config._attn_implementation
        one, other = (
            Choice(inputs, (1, 9, 10, 11), (12, 13), 1),
            Choice(tuple((9, 0) for _ in inputs), (1, 9), (4, 5), 0),
        )
        actual = dict(attribute_choices([one, other], pretrained(model, method), 64))
        with torch.no_grad():
            read = torch.tensor([one.read])
            more = (
                {"input_ids": torch.tensor([inputs[0]]), "decoder_input_ids": read} if inputs else {"input_ids": read}
            )
            expected = torch.log_softmax(model(**more).logits[0, -1], -1)[[12, 13]]
        assert actual[0].scores == pytest.approx(expected.tolist(), abs=1e-4)
        assert [len(part) for part in actual[0].values] == [*map(len, inputs), 4]
        if method == "attention":
            assert sum(map(sum, actual[0].values)) == pytest.approx(1, abs=1e-5)
        assert model.config._attn_implementation == before


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["encoder-decoder", "causal"])
def test_gradients_are_those_of_inseq(tiny_marian: Path, tiny_llama: Path, kind: str) -> None:
    """inseq asks for CUDA packages of gigabytes that it does not need, so that it is not among the tests' packages."""
    inseq = pytest.importorskip("inseq", reason="install inseq and captum with pip install --no-deps (not its CUDA)")
    source, right, wrong = "A lamp. It is old.", "Da ist lamp. Sie ist alt.", "Da ist lamp. Er ist alt."
    causal = kind == "causal"
    theirs = inseq.load_model(str(tiny_llama if causal else tiny_marian), "input_x_gradient")
    if causal:
        right, wrong = f"{source} {right}", f"{source} {wrong}"
    attribution = theirs.attribute(
        source,
        generated_texts=right,
        attributed_fn="contrast_logits_diff",
        contrast_targets=wrong,
        show_progress=False,
        **({} if causal else {"attribute_target": True}),
    )
    ids = [theirs.encode(text, as_targets=not causal).input_ids[0].tolist() for text in (right, wrong)]
    at = next(number for number, (one, other) in enumerate(zip(*ids, strict=False)) if one != other)
    first = attribution.sequence_attributions[0]
    inputs = () if causal else (tuple(token.id for token in first.source),)
    choice = Choice(inputs, tuple(ids[0][:at]), (ids[0][at], ids[1][at]), 0)
    (ours,) = pretrained(theirs.model.eval(), "gradient")([choice])
    sums = attribution.aggregate("sum", normalize=False).sequence_attributions[0]
    column = at - attribution.info.get("attr_pos_start", 0) if causal else at - 1
    expected = [sums.target_attributions[:at, column].tolist()]
    if not causal:
        expected.insert(0, sums.source_attributions[:, column].tolist())
    for mine, other in zip(ours.values, expected, strict=True):
        assert mine == pytest.approx(other, abs=1e-4)
    assert max(map(abs, ours.values[-1])) > 1e-3


def test_what_is_done_is_passed_over_in_the_same_batches() -> None:
    seen: list[int] = []

    def compute(batch: Sequence[Choice]) -> list[Any]:
        seen.append(len(batch))
        return [None] * len(batch)

    choices = [choice([1] * n) for n in (2, 2, 9, 9)]
    assert [n for n, _ in attribute_choices(choices, compute, 8, done={0, 1})] == [2, 3]
    assert seen == [1, 1]


def test_models_that_hide_their_attention_are_an_error() -> None:
    with pytest.raises(AnaphoraError, match="Use --method gradient or occlusion"):
        mean_attention((None,), pad([(1,)], 0))  # type: ignore[arg-type]


def test_an_ensemble_has_the_means_of_its_models() -> None:
    models = [Copying(0), Copying(1)]
    values = [gradients(model, model.logits)([choice([3, 4])])[0] for model in models]
    mean = mean_values(values)
    assert mean.values[0] == pytest.approx([values[0].values[0][0] / 2, values[1].values[0][1] / 2])
