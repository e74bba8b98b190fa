"""APT's tables say what the result says, rounded."""

from __future__ import annotations

import pytest

from anaphora.metrics.apt.equivalence import Sample, learn_equivalents
from anaphora.metrics.apt.result import AptResult, SystemResult, make_result
from anaphora.metrics.apt.task import Confusion, Outcome, Side, Triple, Weighting
from anaphora.reports.apt import apt_tables, confusion_table, equivalence_table, score_table
from anaphora.stats.intervals import Resampling

CONFUSION = Confusion(("il", "elle", "ce", "NONE"), ((3, 1, 0, 2), (0, 5, 0, 0), (0, 0, 0, 0), (0, 0, 0, 1)))


def outcome(name: str, cases: list[int], unaligned: int | None = None) -> Outcome:
    triples = [
        Triple(k, Side((0,), ("it",)), Side((0,), ("il",), k == 0), Side((0,), ("il",)), case)
        for k, case in enumerate(cases)
    ]
    return Outcome(name, triples, ["it"] * len(cases), CONFUSION, unaligned)


@pytest.fixture
def result() -> AptResult:
    outcomes = [outcome("a", [1, 2, 3, 3, 6]), outcome("b", [1, 1, 1, 1, 6], unaligned=7)]
    return make_result(
        outcomes,
        languages="en-fr",
        variant="paper",
        weighting=Weighting(discarded=(6,)),
        sampling=Resampling(samples=100, trials=100),
        signature="apt|x:y",
    )


def test_scores(result: AptResult) -> None:
    lines = score_table(result).render("table").splitlines()
    assert lines[0] == "APT en→fr · paper"
    assert lines[2].split()[:3] == ["a", "4", "0.3750"]
    assert lines[2].split()[-6:] == ["1", "1", "2", "0", "0", "1"]
    assert lines[3].split()[:3] == ["it", "4", "0.3750"]
    assert lines[-5:] == [
        "discarded: 6 (neither); n is without them",
        "a: rescued 1 in the reference, 0 in the candidate",
        "b: rescued 1 in the reference, 0 in the candidate",
        "b: 7 unaligned reference pronouns left out",
        "signature apt|x:y",
    ]


def test_several_systems_are_compared(result: AptResult) -> None:
    _, pairs = apt_tables(result)
    text = pairs.render("table")
    assert "a → b" in text
    assert "+0.6250" in text
    assert "3 pronouns better, 0 worse" in text
    assert len(apt_tables(result, confusion=True)) == 4


def test_confusion_leaves_out_what_never_occurs_and_sums_up_the_rest(result: AptResult) -> None:
    system: SystemResult = result.systems[0]
    rows = confusion_table(system).render("tsv").splitlines()
    assert rows[0] == "section\t\til\telle\tNONE\tsum"
    assert rows[1:] == ["\til\t3\t1\t2\t6", "\telle\t0\t5\t0\t5", "\tNONE\t0\t0\t1\t1", "\tsum\t3\t6\t3\t12"]
    short = confusion_table(system, longest=1).render("tsv").splitlines()
    assert short[1:] == ["\til\t3\t3\t6", "\t…\t0\t6\t6", "\tsum\t3\t9\t12"]


@pytest.mark.parametrize("format", ["table", "markdown", "latex", "tsv"])
def test_every_format(result: AptResult, format: str) -> None:
    assert all("0.3750" in table.render(format) for table in apt_tables(result))


def test_equivalences() -> None:
    judged = [Sample("ce", "il", True)] * 2 + [Sample("on", "il", False)] + [Sample("il", "il", True)]
    lines = equivalence_table(learn_equivalents(judged)).render("table").splitlines()
    assert lines[2].split() == ["ce", "for", "il", "2", "50.0%", "2", "1.00", "yes"]
    assert lines[3].split() == ["on", "for", "il", "1", "25.0%", "0", "0.00"]
    assert lines[4] == "kept: 5% of the 4 samples or more, p > 0.5"
