"""The text that the English–French models learn from, and the test against guessing."""

from __future__ import annotations

import json
import runpy
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("zstandard")
scipy_stats = pytest.importorskip("scipy.stats")

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
FOLDER = EXPERIMENTS / "discourse-2018"


@pytest.fixture(autouse=True)
def stages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXPERIMENTS / "contrapro-2018"))  # as real.py does


def module(name: str) -> dict[str, Any]:
    return runpy.run_path(str(FOLDER / name))


def test_text_of_other_films_and_without_sentences_of_the_tests(data: Callable[[str], Path], tmp_path: Path) -> None:
    text = module("_real_text.py")
    for name in ("disceval-en-fr", "lopes-en-fr", "tatoeba", "diabla-en-fr"):
        data(name)
    counts = text["write_text"](data(""), tmp_path, limit=200, tag=noun_last)
    assert counts["documents"] <= 800
    assert counts["lopes"] == 200
    assert counts["weak"] == counts["currents"] * 2 * 4
    assert counts["development"] > 0
    assert counts["crossed"] >= counts["weak"]
    learned = {text["plain"](line) for name in ("single", "documents") for line in lines(tmp_path / f"{name}.en")}
    tested = text["bawden_sentences"](data(""))
    assert len(tested) > 300
    assert not tested & learned
    suites = [
        {text["plain"](json.loads(line)["source"][-1]) for line in lines(tmp_path / f"{name}.jsonl")[1:]}
        for name in ("development", "lopes")
    ]
    assert not suites[0] & suites[1]
    assert not (suites[0] | suites[1]) & {text["plain"](line) for line in lines(tmp_path / "documents.en")}
    assert all(line.count("<SEP>") == 1 for name in ("passages", "weak") for line in lines(tmp_path / f"{name}.fr"))
    weak = {text["plain"](part) for line in lines(tmp_path / "weak.en") for part in line.split("<SEP>")}
    assert not weak & (tested | suites[0] | suites[1])
    items = [json.loads(line) for line in lines(tmp_path / "development.jsonl")[1:]]
    asked = Counter(item["candidates"][0][-1] for item in items)
    assert asked == Counter(item["candidates"][1][-1] for item in items)  # without context, exactly a half


def noun_last(pairs: list[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], Any]]:
    """A tagger to whom the last word is a noun with a gender by its length, and every pronoun a subject."""
    tokenizer = pytest.importorskip("spacy").blank("fr")
    for pair in pairs:
        analysis = tokenizer.make_doc(pair[1])
        for token in analysis:
            token.pos_, token.dep_ = "X", "nsubj"
        noun = analysis[-1]
        number = "Plur" if len(analysis) % 2 else "Sing"
        noun.pos_, noun.lemma_ = "NOUN", pair[1]
        noun.set_morph(f"Gender={'Masc' if len(pair[1]) % 2 else 'Fem'}|Number={number}")
        yield pair, analysis


def analyzed(text: str, **tags: str) -> Any:
    """An analysis by hand: word=POS:relation:morphology."""
    analysis = pytest.importorskip("spacy").blank("fr").make_doc(text)
    for token in analysis:
        token.pos_, token.dep_, morphology = (tags.get(token.text) or "X:dep:").split(":")
        token.set_morph(morphology)
        token.lemma_ = token.text
    return analysis


MASCULINE, FEMININE = "Gender=Masc|Number=Sing", "Gender=Fem|Number=Sing"


def test_contexts_have_nouns_of_one_gender() -> None:
    contexts = module("_real_weak.py")["contexts"]
    one = "La lampe éclaire la chaise", {"lampe": f"NOUN:nsubj:{FEMININE}", "chaise": f"NOUN:obj:{FEMININE}"}
    two = "La lampe éclaire le lit", {"lampe": f"NOUN:nsubj:{FEMININE}", "lit": f"NOUN:obj:{MASCULINE}"}
    aside = "Le lit vient de la ville", {"lit": f"NOUN:nsubj:{MASCULINE}", "ville": f"NOUN:obl:{FEMININE}"}
    actual = contexts([(("", text), analyzed(text, **tags)) for text, tags in (one, two, aside)])
    assert actual == {"m.sg": [("", aside[0])], "f.sg": [("", one[0])], "m.pl": [], "f.pl": []}


@pytest.mark.parametrize(
    ("right", "wrong", "tags", "possible"),
    [
        ("Elle marche bien.", "Il marche bien.", {}, True),
        ("Elle est verte.", "Il est vert.", {"verte": "ADJ:ROOT:"}, True),  # the contrastive one agrees
        ("Elle est verte.", "Il est verte.", {"verte": "ADJ:ROOT:"}, False),
        ("La lampe, elle marche.", "La lampe, il marche.", {"lampe": f"NOUN:dep:{FEMININE}"}, False),
        ("Elle sait qu'elle dort.", "Il sait qu'elle dort.", {}, False),
        ("Elle a mangé.", "Il a mangé.", {"mangé": "VERB:ROOT:"}, True),
    ],
)
def test_sentences_in_which_both_genders_are_possible(
    right: str, wrong: str, tags: dict[str, str], possible: bool
) -> None:
    weak = module("_real_weak.py")
    analysis = analyzed(right, **{"Elle": "PRON:nsubj:", "elle": "PRON:nsubj:", **tags})
    actual = weak["exchangeable"]("It …", right, wrong, analysis)
    assert (actual is not None) == possible
    if actual:
        assert (actual.masculine, actual.feminine) == (wrong, right)


@pytest.mark.parametrize(
    ("french", "tags", "other"),
    [
        ("Je la vois.", {"la": "PRON:obj:"}, "Je le vois."),
        ("Le lit, je la vois.", {"lit": f"NOUN:dep:{MASCULINE}", "la": "PRON:obj:"}, None),
        ("Je vois la lampe.", {"la": "DET:det:", "lampe": f"NOUN:obj:{FEMININE}"}, None),
    ],
)
def test_objects_of_either_gender(french: str, tags: dict[str, str], other: str | None) -> None:
    actual = module("_real_weak.py")["exchangeable_object"](("I see it.", french), analyzed(french, **tags))
    assert (actual and (actual.masculine, actual.feminine)) == (other and (other, french))


def test_crossed_passages_have_each_english_context_with_both_genders() -> None:
    weak = module("_real_weak.py")
    current = weak["Current"]("It is here.", "Il est là.", "Elle est là.", False)
    given = {"m.sg": [("The bed.", "Le lit.")], "f.sg": [("The lamp.", "La lampe.")]}
    actual = weak["passages"]([current], given, 2, 1, [("Well.", "Bien.")], crossed=True)
    assert actual == [
        ("The bed. <SEP> It is here.", "Le lit. <SEP> Il est là."),
        ("The lamp. <SEP> It is here.", "La lampe. <SEP> Elle est là."),
        ("The lamp. <SEP> It is here.", "Le lit. <SEP> Il est là."),
        ("The bed. <SEP> It is here.", "La lampe. <SEP> Elle est là."),
    ]
    items = list(weak["items"]([current], given, 3, [("Well.", "Bien.")], crossed=True))
    assert [item["source"][0] for item in items[:2]] == ["The bed.", "The bed."]
    assert [item["candidates"][0][0] for item in items[4:]] == ["Le lit. Bien.", "La lampe. Bien."]


def test_a_context_encoder_starts_as_the_sentence_level_model() -> None:
    """It passes on what the main encoder says, so that the two agree where the context says the same."""
    torch = pytest.importorskip("torch")
    from anaphora.nmt.config import ModelConfig
    from anaphora.nmt.recurrent import RecurrentModel

    small = ModelConfig(kind="recurrent", embedding=4, hidden=3, dropout=0.0)
    grown = replace(small, context_encoders=("source",))
    one, two = (RecurrentModel(config, 7) for config in (small, grown))
    module("_real_recurrent.py")["copy_common"](one, two, "source")
    assert torch.equal(two.encoders[1].embedding.weight, one.encoders[0].embedding.weight)
    assert torch.equal(two.deep.linear.weight, one.deep.linear.weight)
    assert torch.equal(two.combination.outputs.weight[:, :6], 2 * torch.eye(6))


def test_the_card_of_the_kept_model_is_up_to_date() -> None:
    kept = json.loads((FOLDER / "real.json").read_bytes())["kept"]
    text = (FOLDER / "2-to-2" / "README.md").read_text("utf-8")
    assert text == module("_real_keep.py")["card"](kept["model"], kept)
    assert f"{kept['accuracy']:.3f}" in text
    size = sum(path.stat().st_size for path in (FOLDER / "2-to-2").iterdir())
    assert size <= 15e6


def test_naive_bayes_chooses_by_the_previous_sentence(tmp_path: Path) -> None:
    bayes = module("_real_bayes.py")
    text = "La lampe. <SEP> Elle marche.\n\nLe lit. <SEP> Il est là.\n\nLa chose. <SEP> Il sait qu'elle dort.\n"
    (tmp_path / "passages.fr").write_text(text, encoding="utf-8")
    model = bayes["learned"](tmp_path, ["passages"])
    assert model.score("La chose.", "f.sg") > model.score("La chose.", "m.sg")


def lines(path: Path) -> list[str]:
    return [line for line in path.read_text("utf-8").split("\n") if line]


@pytest.mark.parametrize(("correct", "total"), [(100, 200), (130, 200), (70, 200), (0, 5), (3, 7)])
def test_guessing(correct: int, total: int) -> None:
    expected = scipy_stats.binomtest(correct, total).pvalue
    assert module("real.py")["two_sided"](correct, total) == pytest.approx(expected)


def test_models_differ_in_the_context_they_read_alone() -> None:
    stages = {stage.name: stage for stage in module("real.py")["MODELS"]}

    def differing(one: str, other: str) -> set[str]:
        first, second = stages[one].config(), stages[other].config()
        return {key for key in first.keys() | second.keys() if first.get(key) != second.get(key)}

    context = {"training.batch_tokens", "training.updates", "training.context_weight"}
    assert differing("stage2", "baseline-1") == context  # as many sentences in a batch, and shorter
    assert differing("2-to-2-1", "2-to-2-2") == {"training.seed"}
    longer = {"training.start_from", "training.context_weight", "training.updates"}
    assert differing("s-hier-to-2-1", "t-hier-1") == longer  # its training was extended
    assert differing("s-hier-to-2-1", "s-hier-to-2-tied-1") == {"training.start_from"}
    assert differing("s-hier-1", "t-hier-1") == {"training.start_from"}
    assert differing("s-hier-1", "rnn-baseline-1") == {"training.start_from", "training.batch_tokens"}
