"""Beam search against all there is: with a vocabulary of a few words everything can be tried."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from anaphora.core.finite import NotFinite
from anaphora.nmt.arrangement import Marks
from anaphora.nmt.candidates import padded_scores
from anaphora.nmt.config import ModelConfig
from anaphora.nmt.ensemble import Ensemble
from anaphora.nmt.recurrent import build
from anaphora.nmt.search import Beam, Hypothesis, search
from anaphora.scoring.padded import pad

MARKS = Marks(separator=2, end=0, start=5, padding=5)
WORDS = (1, 2, 3, 4)  # what can be produced besides the end
SOURCES = [(3, 4, 0), (1, 0), (4, 4, 2, 3, 1, 0)]
Ids = tuple[int, ...]


def random_model(seed: int) -> Any:
    torch.manual_seed(seed)
    model = build(ModelConfig(kind="recurrent", embedding=5, hidden=4, dropout=0.0), 6, 6, MARKS).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=1.0)
    return model


def everything(models: list[Any], source: Ids, beam: Beam) -> list[Hypothesis]:
    """All translations of at most so many tokens, the best first: finished ones, and those cut at the limit."""
    finished = [(*t, 0) for n in range(beam.max_tokens) for t in itertools.product(WORDS, repeat=n)]
    cut = list(itertools.product(WORDS, repeat=beam.max_tokens))
    targets = [*finished, *cut]
    by_model = [padded_scores(model, [((source,), t) for t in targets], MARKS, 4096) for model in models]
    scores = [sum(values) / len(values) for values in zip(*by_model, strict=True)]
    found = [
        Hypothesis(tuple(i for i in t if i != 0), score, score / len(t) ** beam.normalise)
        for t, score in zip(targets, scores, strict=True)
    ]
    return sorted(found, key=lambda hypothesis: -hypothesis.value)


def run(models: list[Any], sources: list[Ids], beam: Beam) -> list[list[Hypothesis]]:
    return search(Ensemble(models), (pad(sources, 5),), MARKS, beam)


@pytest.mark.parametrize("normalise", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("seeds", [[1], [2, 3]])
def test_a_beam_that_holds_everything_finds_everything(normalise: float, seeds: list[int]) -> None:
    models = [random_model(seed) for seed in seeds]
    beam = Beam(4**3 + 4**2 + 4 + 1, 3, normalise)
    for source, found in zip(SOURCES, run(models, SOURCES, beam), strict=True):
        expected = everything(models, source, beam)
        assert len(found) == len(expected) == 85
        assert [h.tokens for h in found] == [h.tokens for h in expected]
        assert [h.score for h in found] == pytest.approx([h.score for h in expected], abs=1e-4)
        assert [h.value for h in found] == pytest.approx([h.value for h in expected], abs=1e-4)


def naive(model: Any, source: Ids, beam: Beam) -> list[Hypothesis]:
    """The same search for one sentence, with every prefix scored from its beginning: no states, no batches."""

    scores: dict[Ids, float] = {}
    live: list[Ids] = [()]
    done: list[Ids] = []
    for length in range(1, beam.max_tokens + 1):
        following = [(*t, w) for t in live for w in (0, *WORDS)]
        scores |= zip(following, padded_scores(model, [((source,), t) for t in following], MARKS, 4096), strict=True)
        following.sort(key=scores.__getitem__, reverse=True)
        best = following[: beam.size - len(done)]
        done += [t for t in best if t[-1] == 0 or length == beam.max_tokens]
        live = [t for t in best if t[-1] != 0]
        if len(done) >= beam.size:
            break
    found = [Hypothesis(tuple(i for i in t if i), scores[t], scores[t] / len(t) ** beam.normalise) for t in done]
    return sorted(found, key=lambda hypothesis: -hypothesis.value)


@settings(deadline=None, max_examples=25)
@given(
    st.integers(0, 40), st.integers(1, 6), st.integers(1, 5), st.lists(st.sampled_from(SOURCES), min_size=1, max_size=4)
)
def test_batches_and_states_change_nothing(seed: int, size: int, longest: int, sources: list[Ids]) -> None:
    model, beam = random_model(seed), Beam(size, longest)
    for source, found in zip(sources, run([model], sources, beam), strict=True):
        expected = naive(model, source, beam)
        assert [h.tokens for h in found] == [h.tokens for h in expected]
        assert [h.score for h in found] == pytest.approx([h.score for h in expected], abs=1e-4)


def test_one_place_is_greedy() -> None:
    model = random_model(4)
    ((found,),) = run([model], SOURCES[:1], Beam(1, 6))
    memory = model.encode((pad(SOURCES[:1], 5),))
    state, token, tokens = model.start(memory), 5, []
    for _ in range(6):
        output, state = model.step(memory, state, torch.tensor([token]))
        logits = model.project(output)
        logits[:, 5] = -math.inf
        token = int(logits.argmax())
        if token == 0:
            break
        tokens.append(token)
    assert found.tokens == tuple(tokens)


def test_padding_is_never_produced() -> None:
    """Nor the start, however probable the model finds them."""
    model = random_model(1)
    with torch.no_grad():
        model.bias[5] = 100.0
    for nbest in run([model], SOURCES, Beam(8, 5)):
        assert nbest
        assert all(5 not in hypothesis.tokens for hypothesis in nbest)


def test_a_finished_translation_keeps_its_place() -> None:
    """As many as there are places, no more; an empty translation may be one of them."""
    model = random_model(6)
    with torch.no_grad():
        model.bias[0] = 8.0  # the end is nearly always best
    for nbest in run([model], SOURCES, Beam(3, 10)):
        assert len(nbest) == 3
        assert nbest[0].tokens == ()
        assert len({hypothesis.tokens for hypothesis in nbest}) == 3


def test_normalisation_changes_what_is_best() -> None:
    """Without it a sum of fewer log-probabilities is the higher one."""
    model = random_model(2)
    best = [run([model], SOURCES[1:2], Beam(85, 3, power))[0][0] for power in (0.0, 4.0)]
    assert [len(hypothesis.tokens) for hypothesis in best] == [0, 3]
    assert best[1].value == pytest.approx(best[1].score / 3**4)


def test_a_model_that_gives_nan_is_an_error() -> None:
    model = random_model(1)
    with torch.no_grad():
        next(iter(model.parameters())).fill_(math.nan)
    with pytest.raises(NotFinite, match=r"^beam search: the model's log-probabilities of token 1 .* nan"):
        run([model], SOURCES, Beam(4, 3))
