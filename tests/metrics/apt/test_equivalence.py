"""Equivalent pronouns are learned as in §2.5: pairs under 5 % dropped, p(c=1|t,r) > 0.5 kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.pronouns import pronoun_lists
from anaphora.metrics.apt.equivalence import PairCounts, Sample, learn_equivalents, read_samples


def samples(candidate: str, reference: str, right: int, wrong: int) -> list[Sample]:
    return [Sample(candidate, reference, True)] * right + [Sample(candidate, reference, False)] * wrong


HUNDRED = [
    *samples("il", "il", 60, 4),  # equal ones count as samples and are no pair
    *samples("ce", "il", 6, 4),  # p = 0.6: kept
    *samples("elle", "il", 5, 5),  # p = 0.5: not more likely than not
    *samples("on", "il", 3, 2),  # five of a hundred are just enough
    *samples("ça", "ce", 4, 0),  # too rare
    *samples("Ce", "ÇA", 6, 1),  # kept, in its own order
]


def test_the_rule_of_the_paper() -> None:
    learned = learn_equivalents(HUNDRED)
    assert learned.samples == 100
    assert [(p.candidate, p.reference, p.count, p.correct) for p in learned.pairs] == [
        ("ce", "il", 10, 6),
        ("elle", "il", 10, 5),
        ("ce", "ça", 7, 6),
        ("on", "il", 5, 3),
        ("ça", "ce", 4, 4),
    ]
    assert [learned.is_kept(pair) for pair in learned.pairs] == [True, False, True, True, False]
    assert learned.equivalent == (("ce", "il"), ("ce", "ça"), ("il", "on"))


def test_other_limits() -> None:
    assert learn_equivalents(HUNDRED, least_share=0.04).equivalent == (("ce", "il"), ("ce", "ça"), ("il", "on"))
    assert learn_equivalents(HUNDRED, least_share=0.06).equivalent == (("ce", "il"), ("ce", "ça"))
    assert learn_equivalents(HUNDRED, above=0.7).equivalent == (("ce", "ça"),)


def test_identical_forms_are_one_pronoun() -> None:
    judged = [*samples("c'", "il", 2, 1), *samples("ce", "il", 1, 0), *samples("c’", "ce", 3, 3)]
    assert learn_equivalents(judged, lists=pronoun_lists("en-fr")).pairs == (PairCounts("ce", "il", 4, 3),)
    assert len(learn_equivalents(judged).pairs) == 3


def test_the_json() -> None:
    document = learn_equivalents(HUNDRED).to_dict()
    assert document["equivalent"] == [["ce", "il"], ["ce", "ça"], ["il", "on"]]
    assert document["pairs"][0] == {
        "candidate": "ce",
        "reference": "il",
        "count": 10,
        "correct": 6,
        "probability": pytest.approx(0.6),
        "kept": True,
    }


def test_nothing_cannot_be_learned_from() -> None:
    with pytest.raises(AnaphoraError, match="no samples"):
        learn_equivalents([])


def test_samples_are_read(tmp_path: Path) -> None:
    path = tmp_path / "judged.tsv"
    path.write_text("reference\tcandidate\tcorrect\tnote\nil\tce\t1\t\nil\telle\tno\tx\n", encoding="utf-8")
    assert read_samples(path) == [Sample("ce", "il", True), Sample("elle", "il", False)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("candidate\tcorrect\nil\t1\n", "line 1: no column 'reference'"),
        ("candidate\treference\tcorrect\nil\tce\tmaybe\n", "line 2: neither right nor wrong: 'maybe'. Write 1 or 0"),
        ("candidate\treference\tcorrect\nil\t\t1\n", "line 2: a pronoun is missing"),
    ],
)
def test_mistakes_name_the_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "judged.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=message):
        read_samples(path)
