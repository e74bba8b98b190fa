"""Scores of single texts: each by itself, with the pronouns they are made of; no pronoun, many pronouns, one token."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from anaphora.core.finite import NotFinite
from anaphora.languages.readings import load_readings
from anaphora.measure.config import Model
from anaphora.measure.items import Text, text_of
from anaphora.measure.measure import Measure, load_encoder

ENGLISH = load_readings("en")
WORDS = ("<unk>", "he", "it", "saw", "left", "and", ".")


@pytest.fixture(scope="module")
def measure() -> Measure:
    torch.manual_seed(3)
    model = Model(width=8)
    found = Measure(model, ENGLISH, 2, load_encoder(model, vocabulary=WORDS), [])
    with torch.no_grad():
        found.head.w.copy_(torch.tensor([1.0, 2.0]))
    return found


def text(*passage: str) -> Text:
    return text_of(passage, ENGLISH)


def test_a_score_is_the_sum_of_its_pronouns(measure: Measure) -> None:
    (found,) = measure.score([text("He left.", "And he saw it.")])
    assert found.pronouns == ("he", "it")
    assert found.score == pytest.approx(sum(found.shares), abs=1e-6)
    assert [sum(row) for row in found.attention] == [pytest.approx(1, abs=1e-5)] * 2
    assert len(found.attention[0]) == 8  # words of the context as well


def test_scores_do_not_depend_on_the_company(measure: Measure) -> None:
    texts = [text("He left."), text("It saw it and it saw it and it left."), text("Nobody."), text("It")]
    alone = [measure.score([one])[0] for one in texts]
    for one, other in zip(alone, measure.score(texts, batch=3), strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-5)
        assert one.shares == pytest.approx(other.shares, abs=1e-5)


def test_no_pronoun_one_token_and_no_text(measure: Measure) -> None:
    nothing, empty, single = measure.score([text("Nobody left."), text(""), text("It")])
    assert (nothing.score, nothing.pronouns, nothing.shares, nothing.attention) == (0.0, (), (), ())
    assert empty.score == 0.0
    assert single.pronouns == ("it",)
    assert single.attention == ((pytest.approx(1.0),),)
    assert single.score != 0.0


def test_more_pronouns_than_in_training(measure: Measure) -> None:
    (found,) = measure.score([text("he it he it he")])
    assert len(found.shares) == 5
    assert found.score == pytest.approx(sum(found.shares), abs=1e-5)
    assert all(share != 0 for share in found.shares)


def test_a_score_that_is_not_finite_is_an_error() -> None:
    model = Model(width=8)
    broken = Measure(model, ENGLISH, 2, load_encoder(model, vocabulary=WORDS), [])
    with torch.no_grad():
        broken.head.w.fill_(torch.inf)
    with pytest.raises(NotFinite, match=r"^scores of the learned measure: .* Train the measure again"):
        broken.score([text("He left."), text("It")])
