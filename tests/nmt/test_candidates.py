"""Candidates through trees and one by one are the same; an ensemble is the mean; what is done is left alone."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sentencepiece")

from safetensors.torch import load_file, save_file

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.nmt.candidates import CandidateScorer, EncodedQuestion, Loaded, encode_question, load_models
from anaphora.nmt.checkpoint import begin, build_model, finish, load_model
from anaphora.nmt.config import Config, ModelConfig, VocabularyConfig
from anaphora.nmt.layout import ContextLayout, SpecialTokens
from anaphora.nmt.recurrent import build
from anaphora.nmt.text import copy_text, learn_text
from anaphora.scoring.batching import pad
from anaphora.scoring.encoded import EncodedCandidate
from anaphora.scoring.stepwise import StepwiseScorer
from anaphora.scoring.weights import load_weights
from anaphora.suites.example import Example

MARKS = SpecialTokens(separator=2, end=0, start=8, padding=8)
ONE, OTHER = ((3, 4, 0), (5, 0)), ((3, 4, 0), (6, 7, 0))
QUESTIONS = [
    EncodedQuestion((EncodedCandidate(ONE, (), (3, 4, 5, 0)), EncodedCandidate(ONE, (), (3, 4, 6, 0)))),
    EncodedQuestion(
        (EncodedCandidate(ONE, (), (3, 5, 0)), EncodedCandidate(OTHER, (), (3, 6, 0)))
    ),  # contexts of their own
    EncodedQuestion(
        (EncodedCandidate(OTHER, (7, 6), (5, 0)), EncodedCandidate(OTHER, (7, 6), (4, 0)))
    ),  # the beginning is given
    EncodedQuestion((EncodedCandidate(OTHER, (), (7, 0)),) * 2),
]


class Words:
    special = MARKS


def scorer(seeds: list[int], batch_tokens: int = 64) -> CandidateScorer:
    models = []
    for seed in seeds:
        torch.manual_seed(seed)
        config = ModelConfig(kind="recurrent", context_encoders=("target",), embedding=6, hidden=5)
        models.append(build(config, 9, MARKS).eval())
        for parameter in models[-1].parameters():
            torch.nn.init.normal_(parameter, std=0.5)
    trees = tuple(StepwiseScorer(model, MARKS.padding).score for model in models)
    text: Any = Words()
    return CandidateScorer(Loaded(tuple(models), trees, text, ContextLayout(), None, {}), batch_tokens)


def scores(actual: Any) -> dict[int, list[float]]:
    return {number: [score for score, _ in values] for number, values in actual}


@pytest.mark.parametrize("batch_tokens", [1, 12, 64])
def test_trees_and_one_by_one(batch_tokens: int) -> None:
    chosen = scorer([1], batch_tokens)
    trees, plain = (dict(f) for f in (chosen.through_trees(QUESTIONS, False), chosen.one_by_one(QUESTIONS)))
    assert sorted(trees) == sorted(plain) == [0, 1, 2, 3]
    for number, values in plain.items():
        assert [n for _, n in trees[number]] == [n for _, n in values]
        assert [s for s, _ in trees[number]] == pytest.approx([s for s, _ in values], abs=1e-4)
    assert [n for _, n in trees[2]] == [2, 2]


def test_an_ensemble_is_the_mean_of_its_models() -> None:
    both, one, two = (scores(scorer(seeds).through_trees(QUESTIONS, False)) for seeds in ([1, 2], [1], [2]))
    for number in both:
        expected = [(a + b) / 2 for a, b in zip(one[number], two[number], strict=True)]
        assert both[number] == pytest.approx(expected, abs=1e-5)
    assert scores(scorer([1, 2]).one_by_one(QUESTIONS))[0] == pytest.approx(both[0], abs=1e-4)


def test_margins_only_where_candidates_have_the_same_inputs() -> None:
    """What they share is as probable for both then, and may be left out; else it is not."""
    chosen = scorer([1])
    whole, margins = (scores(chosen.through_trees(QUESTIONS, leave_out)) for leave_out in (False, True))
    assert margins[0][0] - margins[0][1] == pytest.approx(whole[0][0] - whole[0][1], abs=1e-4)
    assert margins[0][0] > whole[0][0]
    assert margins[1] == pytest.approx(whole[1], abs=1e-5)
    assert margins[3] == [0.0, 0.0]


def test_batches_of_what_is_done_are_passed_over() -> None:
    """Those of what is not are as if nothing were done, to the last digit."""
    chosen = scorer([1], 12)
    everything = dict(chosen.through_trees(QUESTIONS, False))
    rest = dict(chosen.through_trees(QUESTIONS, False, done={0, 2}))
    assert {1, 3} <= set(rest) < {0, 1, 2, 3}
    assert all(rest[number] == everything[number] for number in rest)


# Examples in ids: within what a model takes, with the part that counts, and in trees of what is asked together.

MARKS_QUESTIONS = SpecialTokens(separator=2, end=0, start=99, padding=99)


class Letters:
    """Every letter is a token: a is 10."""

    special = MARKS_QUESTIONS

    def encode_source(self, sentence: str) -> list[int]:
        return [ord(letter) - 87 for letter in sentence]

    encode_target = encode_source


def example(*candidates: tuple[str, str], source: tuple[str, str] = ("ab", "cd")) -> Example:
    return Example("1", source, candidates, 0)


def question(
    item: Example, scope: str = "candidate", limit: int | None = None, truncate: bool = False, **how: Any
) -> Any:
    text: Any = Letters()
    return encode_question(item, text, ContextLayout(**how), scope, limit, truncate)


TO_2 = {"source_context": 1, "target_context": 1}


def test_the_whole_candidate() -> None:
    actual = question(example(("k", "lm"), ("k", "n")), **TO_2)
    source = ((10, 11, 2, 12, 13, 0),)
    assert actual == EncodedQuestion(
        (EncodedCandidate(source, (), (20, 2, 21, 22, 0)), EncodedCandidate(source, (), (20, 2, 23, 0))), 0
    )


def test_the_current_sentence_given_the_context() -> None:
    actual = question(example(("k", "lm"), ("kk", "n")), "current", **TO_2)
    assert [c.given for c in actual.candidates] == [(20, 2), (20, 20, 2)]  # the context and the separator
    assert [c.given for c in question(example(("k", "lm"), ("k", "n")), "current").candidates] == [(), ()]


def test_the_token_that_decides() -> None:
    actual = question(example(("k", "lm"), ("k", "ln")), "pronoun", **TO_2)
    assert [(c.given, c.predicted) for c in actual.candidates] == [((20, 2, 21), (22,)), ((20, 2, 21), (23,))]
    same = question(example(("k", "l"), ("k", "l")), "pronoun")
    assert [(c.given, c.predicted) for c in same.candidates] == [((21,), (0,))] * 2
    shorter = question(example(("k", "l"), ("k", "lm")), "pronoun")  # the end against one more token
    assert [(c.given, c.predicted) for c in shorter.candidates] == [((21,), (0,)), ((21,), (22,))]


def test_candidates_with_own_contexts_have_own_inputs() -> None:
    actual = question(example(("k", "l"), ("m", "l")), context_encoders=("target",))
    assert [c.inputs[1] for c in actual.candidates] == [(20, 0), (22, 0)]


def test_what_is_too_long_is_an_error_or_is_cut() -> None:
    item = example(("k", "lmn"), ("k", "lmo"))
    with pytest.raises(AnaphoraError, match=r"6 tokens, but the model takes 5.*'cd'.*--truncate"):
        question(item, limit=5, **TO_2)
    actual = question(item, limit=5, truncate=True, **TO_2)
    assert actual.candidates[0].inputs == ((11, 2, 12, 13, 0),)  # the oldest context goes first
    assert actual.candidates[0].predicted == (20, 2, 21, 22, 23)
    assert actual.truncated == 3  # the source, and two targets
    assert question(item, limit=6, **TO_2).truncated == 0


# Trained models from their folders


SENTENCES = ["the old lamp is here .", "die alte Lampe ist hier .", "she sees a table .", "sie sieht einen Tisch ."]
Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """The folder of a model with random weights."""
    vocabulary = tmp_path / "vocabulary"
    learn_text(VocabularyConfig(size=40), "en-de", SENTENCES, SENTENCES, vocabulary)

    def folder(name: str, seed: int = 1, **settings: Any) -> Path:
        path = tmp_path / name
        text = copy_text(vocabulary, path)
        sizes: dict[str, Any] = {"embedding": 8, "hidden": 6, "layers": 1, "heads": 2, "feed_forward": 8}
        config = Config(model=ModelConfig(**{"kind": "recurrent", **sizes, **settings}))
        begin(path, config)
        torch.manual_seed(seed)
        finish(path, build_model(config.model, text.size, text.special))
        return path

    return folder


def test_one_model(make: Make) -> None:
    path = make("one", context_encoders=("source",), target_context=1)
    loaded = load_models(str(path))
    assert len(loaded.models) == len(loaded.scorers) == 1
    assert not loaded.models[0].training
    assert (loaded.layout.context_encoders, loaded.layout.target_context) == (("source",), 1)
    assert loaded.limit is None  # a recurrent model has no end
    assert loaded.fingerprint["architecture"] == "recurrent"
    assert loaded.fingerprint["parameters"] == sum(p.numel() for p in loaded.models[0].parameters())
    assert loaded.fingerprint["vocabulary"].startswith(f"{loaded.text.size}@")


def test_a_fingerprint_tells_models_apart(make: Make) -> None:
    one, again, other = make("one", 1), make("again", 1), make("other", 2)
    prints = [load_models(str(path)).fingerprint for path in (one, again, other)]
    assert prints[0] == prints[1] != prints[2]
    assert prints[0]["vocabulary"] == prints[2]["vocabulary"]


def saved_by_0_1_0(folder: Path) -> Path:
    """A tied model's weights as version 0.1.0 saved them: the target-context encoder has a matrix of its own."""
    weights = load_file(folder / "model.safetensors")
    assert "encoders.2.embedding.weight" not in weights
    torch.manual_seed(7)
    weights["encoders.2.embedding.weight"] = torch.randn_like(weights["embedding.weight"])
    save_file(weights, folder / "model.safetensors")
    return folder


def test_a_tied_model_of_0_1_0_is_still_read(make: Make) -> None:
    old = saved_by_0_1_0(make("old", context_encoders=("source", "target"), tie_context_embeddings=True))
    before = load_file(old / "model.safetensors")["encoders.2.embedding.weight"]
    model = load_models(str(old)).models[0]
    assert torch.equal(model.encoders[2].embedding.weight, before)
    assert not torch.equal(model.embedding.weight, before)
    new = load_models(str(make("new", context_encoders=("source", "target"), tie_context_embeddings=True))).models[0]
    assert new.encoders[2].embedding is new.embedding


def test_tied_models_of_0_1_0_cannot_be_trained_further(make: Make) -> None:
    old = saved_by_0_1_0(make("old", context_encoders=("source", "target"), tie_context_embeddings=True))
    fresh = load_model(make("new", context_encoders=("source", "target"), tie_context_embeddings=True))[0]
    with pytest.raises(BadInput, match=r"version 0\.1\.0.*nmt:.*train a new model"):
        load_weights(old / "model.safetensors", fresh)


def test_an_ensemble(make: Make) -> None:
    one, two = make("one", 1), make("two", 2, hidden=9)
    loaded = load_models(f"{one},{two}")
    inputs = (pad([(3, 0)], 0),)
    assert [model.start(model.encode(inputs)).shape[1] for model in loaded.models] == [6, 9]
    assert loaded.fingerprint["weights"].count(",") == 1


def test_a_folder_with_a_comma_in_its_name(make: Make) -> None:
    assert len(load_models(str(make("one,two"))).models) == 1


def test_models_that_do_not_fit_together(make: Make, tmp_path: Path) -> None:
    one, other = make("one"), make("other", source_context=1)
    with pytest.raises(AnaphoraError, match=r"other: reads different sentences from .*one"):
        load_models(f"{one},{other}")
    two = make("two")
    learn_text(VocabularyConfig(size=38), "en-de", SENTENCES[:2], SENTENCES[:2], tmp_path / "new")
    for name in ("source.spm", "target.spm"):
        shutil.copy(tmp_path / "new" / name, two / name)
    with pytest.raises(AnaphoraError):  # weights that do not fit their own vocabulary
        load_models(str(two))
    three = make("three")
    (three / "text.json").write_text((three / "text.json").read_text().replace("false", "true", 1))
    with pytest.raises(AnaphoraError, match=r"three: a different vocabulary from that of .*one"):
        load_models(f"{one},{three}")


@pytest.mark.parametrize(
    ("kind", "key", "value", "problem"),
    [
        (
            "recurrent",
            "hidden",
            10**6,
            r"config\.toml: it asks for [\d,]+ weights, more than model\.safetensors can hold",
        ),
        ("transformer", "embedding", 10**6, r"config\.toml: it asks for [\d,]+ weights"),
        ("transformer", "max_length", 10**9, r"config\.toml: it asks for [\d,]+ weights"),
        (
            "transformer",
            "layers",
            10**9,
            r"config\.toml: model\.layers is 1,000,000,000, but its weights have \d+ tensors",
        ),
        ("transformer", "feed_forward", 9, r"model\.safetensors: .*fc1.*\(8,\) in the file, \(9,\) in the model"),
    ],
)
def test_a_config_that_asks_for_more_than_the_weights_have(
    make: Make, kind: str, key: str, value: int, problem: str
) -> None:
    """It is refused before the model takes memory or, with very many layers, hours."""
    path = make("one", kind=kind)
    text, changed = re.subn(rf"^{key} = \d+", f"{key} = {value}", (path / "config.toml").read_text(), flags=re.M)
    assert changed >= 1
    (path / "config.toml").write_text(text)
    with pytest.raises(BadInput, match=problem):
        load_models(str(path))


def test_what_is_not_there(tmp_path: Path, make: Make) -> None:
    with pytest.raises(AnaphoraError, match=r"nowhere.*anaphora train"):
        load_models(str(tmp_path / "nowhere"))
    with pytest.raises(AnaphoraError, match="device 'nonsense' cannot be used"):
        load_models(str(make("one")), "nonsense")


def test_transformers_have_an_end_and_a_scorer_of_their_own(make: Make) -> None:
    pytest.importorskip("transformers")
    loaded = load_models(str(make("marian", kind="transformer", max_length=32)))
    assert loaded.limit == 32
    assert not isinstance(getattr(loaded.scorers[0], "__self__", None), StepwiseScorer)
    context = load_models(str(make("voita", kind="context-transformer", context_encoders=("source",), max_length=24)))
    assert context.limit == 24
    assert isinstance(context.scorers[0].__self__, StepwiseScorer)  # type: ignore[attr-defined]
