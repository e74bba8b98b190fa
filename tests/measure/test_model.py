"""The head against numbers worked out by hand (§4), and scores of texts."""

from __future__ import annotations

import math
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from anaphora.core.finite import NotFinite
from anaphora.languages.pronouns import load_readings
from anaphora.measure.config import Model
from anaphora.measure.model import Batch, Measure, PronounHead, load_encoder, logistic_loss, ranking_loss
from anaphora.measure.texts import Text, text_of

D = 4


def batch(states: list[list[float]], places: list[int], padding: int = 0, words: int = 0) -> Batch:
    rows = states + [[9.0] * D] * words  # padding that must not count
    b = torch.tensor([rows])
    m = len(places) + padding
    return Batch(
        b,
        torch.tensor([[True] * len(states) + [False] * words]),
        torch.tensor([places + [0] * padding]),
        torch.tensor([[True] * len(places) + [False] * padding]),
        torch.zeros(1, m, 0),
        torch.zeros(1, m, dtype=torch.long),
    )


STATES = [[1.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, -1.0], [2.0, 2.0, 0.0, 1.0]]


def by_hand(position: int, z: list[float], divisor: float = 1.0) -> float:
    """Eqs. 1–3 for one pronoun in plain Python; the divisor counts √d."""
    query = STATES[position]
    logits = [sum(q * k for q, k in zip(query, row, strict=True)) / (divisor * math.sqrt(D)) for row in STATES]
    weights = [math.exp(x) / sum(map(math.exp, logits)) for x in logits]
    mixed = [q + sum(w * row[i] for w, row in zip(weights, STATES, strict=True)) for i, q in enumerate(query)]
    mean = sum(mixed) / D
    spread = math.sqrt(sum((x - mean) ** 2 for x in mixed) / D + 1e-5)
    return sum(zi * (x - mean) / spread for zi, x in zip(z, mixed, strict=True))


def head(length: int = 2, kind: str = "attention", **more: Any) -> PronounHead:
    actual = PronounHead(D, length, kind=kind, **more)
    with torch.no_grad():
        actual.z.copy_(torch.tensor([0.5, -1.0, 0.25, 2.0]))
        actual.w.copy_(torch.tensor([1.0, 3.0, 7.0][:length]))
    return actual


def test_the_equations() -> None:
    z = [0.5, -1.0, 0.25, 2.0]
    output = head()(batch(STATES, [0, 2]))
    expected = by_hand(0, z) * 1.0 + by_hand(2, z) * 3.0
    assert output.scores.item() == pytest.approx(expected, abs=1e-5)
    assert output.pronouns[0].tolist() == pytest.approx([by_hand(0, z), 3 * by_hand(2, z)], abs=1e-5)
    assert output.attention.sum(-1).tolist() == [pytest.approx([1.0, 1.0])]


def test_attention_is_scaled_by_the_square_root_of_d() -> None:
    """Eq. 1: the small 2 of the printed formula is the radical's index, ²√d, and no factor."""
    [[row]] = head()(batch(STATES, [0])).attention.tolist()
    logits = [math.exp(value / math.sqrt(D)) for value in (5.0, 0.0, 2.0)]  # the first state with each of the three
    assert row == pytest.approx([value / sum(logits) for value in logits])


def test_measures_of_version_0_1_0_keep_their_scale() -> None:
    z = [0.5, -1.0, 0.25, 2.0]
    assert head(divisor=2.0)(batch(STATES, [0])).scores.item() == pytest.approx(by_hand(0, z, 2.0), abs=1e-5)
    assert by_hand(0, z, 2.0) != pytest.approx(by_hand(0, z), abs=1e-3)


def test_padding_counts_for_nothing() -> None:
    plain = head()(batch(STATES, [0])).scores.item()
    assert head()(batch(STATES, [0], padding=3, words=2)).scores.item() == pytest.approx(plain, abs=1e-6)


def test_no_pronoun_scores_nothing() -> None:
    assert head()(batch(STATES, [], padding=1)).scores.item() == 0.0
    assert head(kind="average")(batch(STATES, [], padding=1)).scores.item() == 0.0
    assert head(kind="average", hidden=0)(batch([[0.0] * D], [], padding=1, words=0)).scores.item() == 0.0


def test_pronouns_beyond_those_of_training_get_the_mean_weight() -> None:
    z = [0.5, -1.0, 0.25, 2.0]
    output = head(length=2)(batch(STATES, [0, 1, 2]))
    assert output.pronouns[0, 2].item() == pytest.approx(2.0 * by_hand(2, z), abs=1e-5)  # (1 + 3) / 2


def test_the_baseline_is_the_mean_of_the_pronouns() -> None:
    output = head(kind="average")(batch(STATES, [0, 2], padding=1))
    mean = [(a + b) / 2 for a, b in zip(STATES[0], STATES[2], strict=True)]
    assert output.scores.item() == pytest.approx(sum(z * x for z, x in zip([0.5, -1.0, 0.25, 2.0], mean, strict=True)))
    assert output.pronouns.sum().item() == pytest.approx(output.scores.item())


def test_features_and_identities_add_to_a_pronoun() -> None:
    actual = head(features=2, identities=3)
    with torch.no_grad():
        actual.of_features.copy_(torch.tensor([2.0, -1.0]))
        actual.of_identities.copy_(torch.tensor([0.0, 10.0, 0.0]))
    given = batch(STATES, [0])
    full = Batch(
        given.states, given.words, given.positions, given.pronouns, torch.tensor([[[0.5, 4.0]]]), torch.tensor([[1]])
    )
    nothing = Batch(
        given.states, given.words, given.positions, given.pronouns, torch.zeros(1, 1, 2), torch.tensor([[0]])
    )
    assert actual(full).scores.item() - actual(nothing).scores.item() == pytest.approx(2 * 0.5 - 4 + 10, abs=1e-5)


def test_what_is_no_feature_is_scaled_against_the_features() -> None:
    actual, given = head(features=1), batch(STATES, [0])
    given = Batch(given.states, given.words, given.positions, given.pronouns, torch.tensor([[[5.0]]]), given.identities)
    assert actual.scale is not None
    with torch.no_grad():
        actual.scale.fill_(0.5)
    assert actual(given).scores.item() == pytest.approx(0.5 * by_hand(0, [0.5, -1.0, 0.25, 2.0]) + 5.0, abs=1e-5)
    assert head().scale is None


def test_the_ranking_loss() -> None:
    better, worse = torch.tensor([1.0, 0.0, 0.05]), torch.tensor([0.0, 1.0, 0.0])
    assert ranking_loss(better, worse, 0.1).item() == pytest.approx((0 + 1.1 + 0.05) / 3)
    assert logistic_loss(torch.tensor([2.0]), torch.tensor([2.0])).item() == pytest.approx(math.log(2))


# Scores of single texts: each by itself, with the pronouns they are made of; no pronoun, many pronouns, one token.

ENGLISH = load_readings("en")
WORDS = ("<unk>", "he", "it", "saw", "left", "and", ".")


@pytest.fixture(scope="module")
def measure() -> Measure:
    torch.manual_seed(3)
    model = Model(width=8)
    actual = Measure(model, ENGLISH, 2, load_encoder(model, vocabulary=WORDS), [])
    with torch.no_grad():
        actual.head.w.copy_(torch.tensor([1.0, 2.0]))
    return actual


def text(*passage: str) -> Text:
    return text_of(passage, ENGLISH)


def test_a_score_is_the_sum_of_its_pronouns(measure: Measure) -> None:
    (scores,) = measure.score([text("He left.", "And he saw it.")])
    assert scores.pronouns == ("he", "it")
    assert scores.score == pytest.approx(sum(scores.shares), abs=1e-6)
    assert [sum(row) for row in scores.attention] == [pytest.approx(1, abs=1e-5)] * 2
    assert len(scores.attention[0]) == 8  # words of the context as well


def test_scores_do_not_depend_on_the_company(measure: Measure) -> None:
    texts = [
        text("He left."),
        text("It saw it and it saw it and it left."),
        text("Nobody."),
        text("It"),
    ]
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
    (scores,) = measure.score([text("he it he it he")])
    assert len(scores.shares) == 5
    assert scores.score == pytest.approx(sum(scores.shares), abs=1e-5)
    assert all(share != 0 for share in scores.shares)


def test_a_score_that_is_not_finite_is_an_error() -> None:
    model = Model(width=8)
    broken = Measure(model, ENGLISH, 2, load_encoder(model, vocabulary=WORDS), [])
    with torch.no_grad():
        broken.head.w.fill_(torch.inf)
    with pytest.raises(NotFinite, match=r"^scores of the learned measure: .* Train the measure again"):
        broken.score([text("He left."), text("It")])
