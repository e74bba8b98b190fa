"""Agreement with annotators, accuracy, ranking, and the measure as a system."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")

from anaphora import api
from anaphora.core.errors import (
    AnaphoraError,
    BadInput,
)
from anaphora.languages.pronouns import load_readings
from anaphora.measure.config import Config, Model, Training
from anaphora.measure.model import Measure, ScoredText
from anaphora.measure.scoring import (
    evaluate_measure,
    human_agreement,
    judge_run,
    rank,
    score_examples,
    texts_of,
    with_human_counts,
)
from anaphora.measure.texts import Line, Text, text_of
from anaphora.measure.training import load_measure, save_measure, train_measure
from anaphora.reports.data_tables import ranking_table
from anaphora.runs import ScoredExample
from anaphora.suites.example import (
    Example,
    Tag,
)
from anaphora.systems import load_system
from anaphora.systems.context import Context, Options


def item(better: float, worse: float, **tags: Tag) -> ScoredExample:
    return ScoredExample("x", 0, tags, [better, worse])


def test_ties_of_annotators_are_left_out() -> None:
    items = [
        item(2, 1, preference="REF"),
        item(1, 2, preference="SYS"),
        item(1, 2, preference="REF"),
        item(1, 1, preference="REF"),  # a tie of the scores is no preference for the reference
        item(2, 1, preference="Tie"),
    ]
    agreement = human_agreement(items)
    assert agreement is not None
    assert (agreement.pairs, agreement.ties, agreement.accuracy) == (4, 1, 0.5)


def test_counts_of_a_pronoun_pair() -> None:
    counts = {"human_reference": 3, "human_system": 5, "human_ties": 1}
    agreement = human_agreement([item(1, 2, **counts), item(2, 1, **{**counts, "human_ties": 9}), item(2, 1)])
    assert agreement is not None
    assert (agreement.pairs, agreement.ties, agreement.accuracy) == (1, 1, 1.0)
    losses = human_agreement([item(1, 2, **counts)], minimize=True)
    assert losses is not None
    assert losses.accuracy == 0.0


def test_nobody_was_asked() -> None:
    assert human_agreement([item(1, 2)]) is None
    only_ties = human_agreement([item(1, 2, preference="Tie")])
    assert only_ties is not None
    assert (only_ties.pairs, only_ties.accuracy, only_ties.ac1) == (0, None, None)


# Any judge on pairs: breakdowns that the pairs have, and people from a list.

Write = Callable[[list[Example], Path], Path]


def test_a_run_of_any_judge(toy: list[Example], write_suite: Write, tmp_path: Path) -> None:
    suite = api.load_suite(write_suite(toy, tmp_path / "toy.jsonl"))
    (tmp_path / "scores").write_text(
        "".join("2\n1\n" if e.tags["reference_pronoun"] != "it" else "1\n2\n" for e in toy)
    )
    run = api.score(suite, f"scores:{tmp_path / 'scores'}", tmp_path / "run")
    result, human = judge_run(run, suite)
    assert human is None
    assert (result.figure.total, result.figure.correct) == (72, 48)
    assert result.breakdowns["pronoun_pair"]["it:he"].correct == 0
    assert result.breakdowns["pronoun_pair"]["he:it"].accuracy == 1
    assert set(result.breakdowns) == {"pronoun_pair", "kind"}
    (tmp_path / "list.json").write_text('{"he_it": [[1, {"REF": 5}]], "it_he": [[1, {"SYS": 3}]]}')
    _, human = judge_run(run, with_human_counts(suite, tmp_path / "list.json"))
    assert human is not None
    assert (human.pairs, human.accuracy, human.ac1) == (24, 1.0, 1.0)


def test_a_run_on_other_pairs_is_refused(toy: list[Example], write_suite: Write, tmp_path: Path) -> None:
    suite = api.load_suite(write_suite(toy[:2], tmp_path / "toy.jsonl"))
    (tmp_path / "scores").write_text("1\n2\n1\n2\n")
    run = api.score(suite, f"scores:{tmp_path / 'scores'}", tmp_path / "run")
    with pytest.raises(BadInput, match="which is not in toy"):
        judge_run(run, api.load_suite(write_suite(toy[1:3], tmp_path / "other.jsonl")))


# Accuracy of a trained measure on a suite.


def test_accuracy_and_breakdowns(
    toy: list[Example], write_suite: Callable[[list[Example], Path], Path], tmp_path: Path
) -> None:
    training = Training(rate=1e-2, batch=16, epochs=20, seed=5)
    measure = train_measure(Config(model=Model(width=16, sentences=1), training=training), toy, toy).measure
    suite = api.load_suite(write_suite(toy, tmp_path / "toy.jsonl"))
    result, human = evaluate_measure(measure, suite, "m")
    assert result.figure.total == 72
    assert result.accuracy is not None
    assert result.accuracy > 0.9
    assert sum(figure.total for figure in result.breakdowns["pronoun_pair"].values()) == 72
    assert human is None
    assert (result.system, result.context) == ("measure:m", "CRC")
    limited, _ = evaluate_measure(measure, suite, "m", limit=5, breakdowns=["reference_pronoun"])
    assert limited.figure.total == 5
    assert list(limited.breakdowns) == ["reference_pronoun"]


# Systems same number of sentences: means, wins, intervals; order by score.

ENGLISH = load_readings("en")


class Fixed(Measure):
    """A measure that gives he 1, it −1, all else 0."""

    def __init__(self, context: str = "CRC") -> None:
        super(Measure, self).__init__()
        self.config, self.readings, self.features = Model(context=context), ENGLISH, ()

    def prepare(self, texts: object, progress: object = None) -> None:
        pass

    def score(self, texts: list[Text], batch: int = 64) -> list[ScoredText]:  # type: ignore[override]
        actual = []
        for text in texts:
            words = tuple(text.words[n] for n in text.pronouns)
            shares = tuple({"he": 1.0, "it": -1.0}.get(word, 0.0) for word in words)
            actual.append(ScoredText(sum(shares), words, shares, tuple((1.0,) for _ in words)))
        return actual


def texts(*sentences: str) -> list[Text]:
    return [text_of((sentence,), ENGLISH) for sentence in sentences]


def test_means_wins_and_order() -> None:
    systems = {
        "worse": texts(*["It left."] * 30, *["He left."] * 10, "Nobody."),
        "better": texts(*["He left."] * 40, "Nobody."),
    }
    ranking = rank(Fixed(), systems, samples=500)
    assert [(s.name, s.mean) for s in ranking.systems] == [
        ("better", pytest.approx(40 / 41)),
        ("worse", pytest.approx(-20 / 41)),
    ]
    (pair,) = ranking.comparisons
    assert (pair.first, pair.second, pair.wins, pair.losses, pair.ties) == ("better", "worse", 30, 0, 11)
    assert pair.delta == pytest.approx(60 / 41)
    assert pair.interval[0] < 60 / 41 < pair.interval[1]
    assert pair.p < 0.05
    assert pair.share == 1.0
    document = ranking.to_dict()
    assert document["sentences"] == 41
    assert document["systems"]["worse"]["pronouns"] == 40
    assert document["comparisons"][0]["delta"] == pair.delta
    table = ranking_table(ranking).render("table")
    assert "better in 1.000 of 30 sentences" in table
    assert pair.p == 2 / 501  # none of 500 samples turns the difference round
    assert "p 0.004**" in table


def test_a_small_p_is_written_as_everywhere() -> None:
    systems = {"worse": texts(*["It left."] * 30), "better": texts(*["He left."] * 30)}
    ranking = rank(Fixed(), systems, samples=10_000)
    assert ranking.comparisons[0].p > 0
    assert "p <0.001***" in ranking_table(ranking).render("table")


def test_equal_systems_differ_in_nothing() -> None:
    ranking = rank(Fixed(), {"a": texts("He left."), "b": texts("He left.")}, samples=100)
    assert (ranking.comparisons[0].delta, ranking.comparisons[0].p, ranking.comparisons[0].share) == (0.0, 1.0, None)


def test_other_numbers_of_sentences_are_an_error() -> None:
    with pytest.raises(AnaphoraError, match="same number of sentences"):
        rank(Fixed(), {"a": texts("He left."), "b": []})


def test_more_samples_than_memory_holds_are_an_error() -> None:
    with pytest.raises(AnaphoraError, match="more than 10,000,000 samples"):
        rank(Fixed(), {"a": texts("He left.")}, samples=2**63 - 1)


def test_contexts_of_systems() -> None:
    lines = [Line(1, "1", ("R1.", "He left."), (("S1.", "It left."),), None)]
    assert texts_of(lines, 0, Fixed(), own_context=True)[0].whole == "S1. It left."
    assert texts_of(lines, 0, Fixed(), own_context=False)[0].whole == "R1. It left."
    assert texts_of(lines, None, Fixed(), own_context=True)[0].whole == "R1. He left."
    assert texts_of(lines, 0, Fixed("NC"), own_context=True)[0].whole == "It left."


# `measure:MODEL`: the scores of `anaphora score` are those of the measure.


@pytest.fixture(scope="module")
def model(toy: list[Example], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("measure")
    config = Config(model=Model(width=16, sentences=1), training=Training(rate=1e-2, batch=16, epochs=12, seed=5))
    trained = train_measure(config, toy, toy)
    save_measure(folder, trained.measure, config, trained.results())
    return folder


def test_the_command_scores_as_the_measure_does(
    model: Path, toy: list[Example], write_suite: Write, tmp_path: Path
) -> None:
    suite = api.load_suite(write_suite(toy, tmp_path / "toy.jsonl"))
    run = api.score(suite, f"measure:{model}", tmp_path / "run", context=0)
    expected = {item.id: item.scores for item in score_examples(load_measure(model), toy)}
    assert {item.id: item.scores for item in run} == {
        name: [pytest.approx(score, abs=1e-5) for score in scores] for name, scores in expected.items()
    }
    result, _ = evaluate_measure(load_measure(model), suite, "")
    assert api.evaluate(run).accuracy == result.accuracy
    assert run.header.context == "0+1"  # one previous sentence was read, though none was asked for


def test_what_is_known_already_is_not_computed_again(model: Path, toy: list[Example]) -> None:
    system = load_system(f"measure:{model}", Options())
    assert [number for number, _ in system.score(toy[:4], {0, 2})] == [1, 3]


def test_other_weights_are_another_system(model: Path, toy: list[Example], tmp_path: Path) -> None:
    config = Config(model=Model(width=16, sentences=1), training=Training(epochs=1, seed=6))
    save_measure(tmp_path, train_measure(config, toy, toy).measure, config, {})
    first, second = (load_system(f"measure:{path}", Options()).settings() for path in (model, tmp_path))
    assert first["weights"] != second["weights"]
    assert load_system(f"measure:{model}", Options()).settings() == first


def test_unsupported_options_of_a_measure_are_errors(model: Path) -> None:
    with pytest.raises(AnaphoraError, match="the measure is for en, but the suite's target language is fr"):
        load_system(f"measure:{model}", Options(languages=("en", "fr")))
    with pytest.raises(AnaphoraError, match="a measure only scores"):
        load_system(f"measure:{model}", Options(context=Context(1, target="produced")))
    with pytest.raises(AnaphoraError, match="unknown setting 'layer'"):
        load_system(f"measure:{model}?layer=1", Options())
    with pytest.raises(AnaphoraError, match="no such folder"):
        load_system("measure:nowhere", Options())
