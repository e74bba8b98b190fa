"""Beam search against all there is: with a vocabulary of a few words everything can be tried."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from anaphora.core.errors import AnaphoraError
from anaphora.core.finite import NotFinite
from anaphora.nmt import decoding as translating
from anaphora.nmt.candidates import padded_scores
from anaphora.nmt.config import ModelConfig
from anaphora.nmt.decoding import (
    Beam,
    Ensemble,
    Hypothesis,
    Source,
    Translator,
    current_sentence,
    search,
)
from anaphora.nmt.layout import ContextLayout, SpecialTokens
from anaphora.nmt.recurrent import build
from anaphora.scoring.batching import pad, select_rows

MARKS = SpecialTokens(separator=2, end=0, start=5, padding=5)
WORDS = (1, 2, 3, 4)  # what can be produced besides the end
SOURCES = [(3, 4, 0), (1, 0), (4, 4, 2, 3, 1, 0)]
Ids = tuple[int, ...]


def random_model(seed: int) -> Any:
    torch.manual_seed(seed)
    model = build(ModelConfig(kind="recurrent", embedding=5, hidden=4, dropout=0.0), 6, MARKS).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=1.0)
    return model


def everything(models: list[Any], source: Ids, beam: Beam) -> list[Hypothesis]:
    """All translations of at most N tokens, the best first: finished ones, and those cut at the limit."""
    finished = [(*t, 0) for n in range(beam.max_tokens) for t in itertools.product(WORDS, repeat=n)]
    cut = list(itertools.product(WORDS, repeat=beam.max_tokens))
    targets = [*finished, *cut]
    by_model = [padded_scores(model, [((source,), t) for t in targets], MARKS, 4096) for model in models]
    scores = [sum(values) / len(values) for values in zip(*by_model, strict=True)]
    actual = [
        Hypothesis(tuple(i for i in t if i != 0), score, score / len(t) ** beam.normalize)
        for t, score in zip(targets, scores, strict=True)
    ]
    return sorted(actual, key=lambda hypothesis: -hypothesis.value)


def run(models: list[Any], sources: list[Ids], beam: Beam) -> list[list[Hypothesis]]:
    return search(Ensemble(models), (pad(sources, 5),), MARKS, beam)


@pytest.mark.parametrize("normalize", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("seeds", [[1], [2, 3]])
def test_a_beam_that_holds_everything_finds_everything(normalize: float, seeds: list[int]) -> None:
    models = [random_model(seed) for seed in seeds]
    beam = Beam(4**3 + 4**2 + 4 + 1, 3, normalize)
    for source, actual in zip(SOURCES, run(models, SOURCES, beam), strict=True):
        expected = everything(models, source, beam)
        assert len(actual) == len(expected) == 85
        assert [h.tokens for h in actual] == [h.tokens for h in expected]
        assert [h.score for h in actual] == pytest.approx([h.score for h in expected], abs=1e-4)
        assert [h.value for h in actual] == pytest.approx([h.value for h in expected], abs=1e-4)


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
    actual = [Hypothesis(tuple(i for i in t if i), scores[t], scores[t] / len(t) ** beam.normalize) for t in done]
    return sorted(actual, key=lambda hypothesis: -hypothesis.value)


@settings(max_examples=25)
@given(
    st.integers(0, 40), st.integers(1, 6), st.integers(1, 5), st.lists(st.sampled_from(SOURCES), min_size=1, max_size=4)
)
def test_batches_and_states_change_nothing(seed: int, size: int, longest: int, sources: list[Ids]) -> None:
    model, beam = random_model(seed), Beam(size, longest)
    for source, actual in zip(sources, run([model], sources, beam), strict=True):
        expected = naive(model, source, beam)
        assert [h.tokens for h in actual] == [h.tokens for h in expected]
        assert [h.score for h in actual] == pytest.approx([h.score for h in expected], abs=1e-4)


def test_one_place_is_greedy() -> None:
    model = random_model(4)
    ((result,),) = run([model], SOURCES[:1], Beam(1, 6))
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
    assert result.tokens == tuple(tokens)


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


def test_normalization_changes_what_is_best() -> None:
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


# An ensemble of one is the model itself; of several, the mean of their log-probabilities.


def random_model_ensemble(seed: int, hidden: int) -> Any:
    torch.manual_seed(seed)
    config = ModelConfig(kind="recurrent", embedding=5, hidden=hidden, dropout=0.0)
    model = build(config, 7, SpecialTokens(2, 0, 6, 6)).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model


def test_the_mean_of_log_probabilities_and_states_of_their_own() -> None:
    models = [random_model_ensemble(1, 4), random_model_ensemble(2, 6)]
    ensemble = Ensemble(models)
    inputs = (pad([(3, 4, 0), (5, 0)], 6),)
    memory = ensemble.encode(inputs)
    state = ensemble.start(memory)
    rows, tokens = torch.tensor([1, 0, 1]), torch.tensor([3, 4, 5])
    actual, after = ensemble.step(select_rows(memory, rows), select_rows(state, rows), tokens)
    expected = []
    for number, model in enumerate(models):
        own = model.encode((pad([(5, 0), (3, 4, 0), (5, 0)], 6),))
        output, next_state = model.step(own, model.start(own), tokens)
        expected.append(torch.log_softmax(model.project(output), 1))
        assert torch.allclose(after[number], next_state, atol=1e-5)
    assert torch.allclose(actual, (expected[0] + expected[1]) / 2, atol=1e-5)
    assert ensemble.device == torch.device("cpu")


# Documents sentence by sentence: with the context that a model reads, in batches, and in order where it matters.

MARKS_TRANSLATING = SpecialTokens(separator=2, end=0, start=99, padding=99)
Calls = list[list[tuple[str, ...]]]


class Letters:
    """Every letter is a token; the separator is |."""

    special = MARKS_TRANSLATING

    def encode_source(self, sentence: str) -> list[int]:
        return [ord(letter) for letter in sentence]

    encode_target = encode_source

    def decode(self, ids: Any) -> str:
        assert not {0, 2, 99} & set(ids)
        return "".join(map(chr, ids))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Search that writes the last input's sentences in capitals, and what it was given, batch by batch."""
    actual: Calls = []

    def shout(ensemble: Any, inputs: Any, special: SpecialTokens, beam: Beam) -> list[list[Hypothesis]]:
        rows = []
        for row in range(len(inputs[0].lengths)):
            ids = [part.ids[row, : int(part.lengths[row]) - 1].tolist() for part in inputs]
            rows.append(tuple("".join("|" if i == 2 else chr(i) for i in part) for part in ids))
        actual.append(rows)
        spoken = [tuple(2 if c == "|" else ord(c.upper()) for c in main) for main, *_ in rows]
        return [[Hypothesis(tokens, -1.0, -0.5), Hypothesis(tokens[:-1], -2.0, -0.5)] for tokens in spoken]

    monkeypatch.setattr(translating, "search", shout)
    return actual


def translator(beam: Beam | None = None, **layout: Any) -> Translator:
    text: Any = Letters()
    ensemble: Any = None
    return Translator(ensemble, text, ContextLayout(**layout), beam or Beam())


def document(*sentences: str, position: int = 0) -> list[Source]:
    return [Source(s, sentences[:n], None, position + n - 1 if n else None) for n, s in enumerate(sentences)]


def test_sentences_with_source_context_are_translated_at_once(calls: Calls) -> None:
    translations = translator(source_context=1).translate([*document("aa", "b", "c"), *document("d", position=3)])
    assert sorted(calls[0]) == [("aa",), ("aa|b",), ("b|c",), ("d",)]
    assert len(calls) == 1
    assert [translation.text for translation in translations] == [
        "AA",
        "AAB",
        "BC",
        "D",
    ]  # a 2-to-1 model has no separator


def test_what_follows_the_separator_is_kept(calls: Calls) -> None:
    translations = translator(source_context=1, target_context=1).translate(document("a", "b", "c"))
    assert [(t.text, t.surplus) for t in translations] == [("A", 0), ("B", 0), ("C", 0)]
    assert translations[1].nbest == (("B", -1.0), ("", -2.0))


def test_a_missing_separator_is_counted_and_everything_kept(calls: Calls) -> None:
    """A model that joins targets, but reads one sentence only, as our search repeats what it reads."""
    translations = translator(target_context=1, context_encoders=("source",)).translate(document("a", "b"))
    assert [(t.text, t.surplus) for t in translations] == [("A", 0), ("B", -1)]


def test_sentence_k_of_all_documents_is_translated_at_once(calls: Calls) -> None:
    """A model that reads what it has produced: every document proceeds in order."""
    sources = [*document("a", "b", "c"), *document("d", "e", position=3), *document("f", position=5)]
    translations = translator(context_encoders=("target",)).translate(sources)
    assert [sorted(batch) for batch in calls] == [
        [("a", ""), ("d", ""), ("f", "")],
        [("b", "A"), ("e", "D")],
        [("c", "B")],
    ]
    assert [t.text for t in translations] == ["A", "B", "C", "D", "E", "F"]


def test_more_sentences_of_target_context(calls: Calls) -> None:
    translator(context_encoders=("target", "source"), context_sentences=2).translate(document("a", "b", "c", "d"))
    assert [batch for (batch,) in calls] == [
        ("a", "", ""),
        ("b", "A", "a"),
        ("c", "A|B", "a|b"),
        ("d", "B|C", "b|c"),
    ]


def test_another_system_s_translations_need_no_order(calls: Calls) -> None:
    given = ("x", "y")
    sources = [source._replace(given=given[:n]) for n, source in enumerate(document("a", "b", "c"))]
    translator(context_encoders=("target",)).translate(sources)
    assert [sorted(batch) for batch in calls] == [[("a", ""), ("b", "x"), ("c", "y")]]


def test_a_document_that_was_begun_goes_on(calls: Calls) -> None:
    sources = [Source("b", ("a",), ("A!",)), Source("c", ("a", "b"), None, 0)]
    translator(context_encoders=("target",), context_sentences=2).translate(sources)
    assert calls == [[("b", "A!")], [("c", "A!|B")]]


def test_less_context_where_asked(calls: Calls) -> None:
    two = translator(source_context=2, target_context=2)
    translations = Translator(two.ensemble, two.text, two.layout, Beam(), context=1).translate(document("a", "b", "c"))
    assert sorted(calls[0]) == [("a",), ("a|b",), ("b|c",)]
    assert [(t.text, t.surplus) for t in translations] == [("A", 0), ("B", 0), ("C", 0)]


def test_batches_are_of_like_length_and_within_budgets(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translating, "ROWS", 8)
    texts = ["aaaa", "b", "cc", "d", "eeeee"]
    translations = translator(Beam(4)).translate([Source(text) for text in texts])
    assert calls == [[("b",), ("d",)], [("cc",), ("aaaa",)], [("eeeee",)]]
    assert [t.text for t in translations] == [text.upper() for text in texts]
    calls.clear()
    few = translator(Beam(1))
    Translator(few.ensemble, few.text, few.layout, few.beam, batch_tokens=7).translate([Source(t) for t in texts])
    assert calls == [[("b",), ("d",)], [("cc",)], [("aaaa",)], [("eeeee",)]]


def test_what_is_too_long(calls: Calls) -> None:
    long = translator(source_context=1)
    how = {"limit": 4, "beam": Beam(4, 100)}
    with pytest.raises(AnaphoraError, match="5 tokens, but the model takes 4: 'cd'"):
        Translator(long.ensemble, long.text, long.layout, **how).translate(document("a", "cd"))  # type: ignore[arg-type]
    cut = Translator(long.ensemble, long.text, long.layout, truncate=True, **how)  # type: ignore[arg-type]
    cut.translate(document("a", "cd"))
    assert ("|cd",) in calls[0]
    assert cut._beam.max_tokens == 4


@pytest.mark.parametrize(
    ("tokens", "separators", "kept"),
    [
        ((5, 2, 6), 1, (6,)),
        ((5, 6), 1, (5, 6)),  # missing: everything (Bawden et al. 2018, footnote 5)
        ((5, 2, 6, 2, 7), 1, (6, 7)),  # one too many
        ((5, 2, 6, 2, 7), 2, (7,)),
        ((5, 2, 6), 2, (5, 6)),
        ((5, 2, 6), 0, (5, 6)),
        ((5, 2), 1, ()),
    ],
)
def test_the_current_sentence(tokens: tuple[int, ...], separators: int, kept: tuple[int, ...]) -> None:
    assert current_sentence(tokens, MARKS_TRANSLATING, separators) == kept
