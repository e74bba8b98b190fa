"""Systems on the same sentences: means, wins, intervals; order by score."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from anaphora.core.errors import AnaphoraError
from anaphora.languages.readings import load_readings
from anaphora.measure.config import Model
from anaphora.measure.items import Text, text_of
from anaphora.measure.measure import Measure, ScoredText
from anaphora.measure.ranking import rank, ranking_table, texts_of
from anaphora.measure.texts import Line

ENGLISH = load_readings("en")


class Fixed(Measure):
    """A measure that gives he 1, it −1, all else 0."""

    def __init__(self, context: str = "CRC") -> None:
        super(Measure, self).__init__()
        self.config, self.readings, self.features = Model(context=context), ENGLISH, ()

    def prepare(self, texts: object, progress: object = None) -> None:
        pass

    def score(self, texts: list[Text], batch: int = 64) -> list[ScoredText]:  # type: ignore[override]
        found = []
        for text in texts:
            words = tuple(text.words[n] for n in text.pronouns)
            shares = tuple({"he": 1.0, "it": -1.0}.get(word, 0.0) for word in words)
            found.append(ScoredText(sum(shares), words, shares, tuple((1.0,) for _ in words)))
        return found


def texts(*sentences: str) -> list[Text]:
    return [text_of((sentence,), ENGLISH) for sentence in sentences]


def test_means_wins_and_order() -> None:
    systems = {
        "worse": texts(*["It left."] * 30, *["He left."] * 10, "Nobody."),
        "better": texts(*["He left."] * 40, "Nobody."),
    }
    found = rank(Fixed(), systems, samples=500)
    assert [(s.name, s.mean) for s in found.systems] == [
        ("better", pytest.approx(40 / 41)),
        ("worse", pytest.approx(-20 / 41)),
    ]
    (duel,) = found.duels
    assert (duel.first, duel.second, duel.wins, duel.losses, duel.ties) == ("better", "worse", 30, 0, 11)
    assert duel.delta == pytest.approx(60 / 41)
    assert duel.interval[0] < 60 / 41 < duel.interval[1]
    assert duel.p < 0.05
    assert duel.share == 1.0
    document = found.to_dict()
    assert document["sentences"] == 41
    assert document["systems"]["worse"]["pronouns"] == 40
    assert document["comparisons"][0]["delta"] == duel.delta
    table = ranking_table(found).render("table")
    assert "better in 1.000 of 30 sentences" in table
    assert duel.p == 2 / 501  # none of 500 samples turns the difference round
    assert "p 0.004**" in table


def test_a_small_p_is_written_as_everywhere() -> None:
    systems = {"worse": texts(*["It left."] * 30), "better": texts(*["He left."] * 30)}
    found = rank(Fixed(), systems, samples=10_000)
    assert found.duels[0].p > 0
    assert "p <0.001***" in ranking_table(found).render("table")


def test_equal_systems_differ_in_nothing() -> None:
    found = rank(Fixed(), {"a": texts("He left."), "b": texts("He left.")}, samples=100)
    assert (found.duels[0].delta, found.duels[0].p, found.duels[0].share) == (0.0, 1.0, None)


def test_other_numbers_of_sentences_are_an_error() -> None:
    with pytest.raises(AnaphoraError, match="on the same sentences"):
        rank(Fixed(), {"a": texts("He left."), "b": []})


def test_contexts_of_systems() -> None:
    lines = [Line(1, "1", ("R1.", "He left."), (("S1.", "It left."),), None)]
    assert texts_of(lines, 0, Fixed(), own_context=True)[0].whole == "S1. It left."
    assert texts_of(lines, 0, Fixed(), own_context=False)[0].whole == "R1. It left."
    assert texts_of(lines, None, Fixed(), own_context=True)[0].whole == "R1. He left."
    assert texts_of(lines, 0, Fixed("NC"), own_context=True)[0].whole == "It left."
