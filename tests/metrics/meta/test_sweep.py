"""The sweep of APT's weights: scores by hand, Table 4's rows, documents of one system or many."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.metrics.apt.metric import apt
from anaphora.metrics.apt.task import Files
from anaphora.metrics.meta.evaluation import Scores
from anaphora.metrics.meta.sweep import FULL, TABLE_4, Sweep, cases_of_texts, read_cases, sweep
from anaphora.stats.correlation import Settings

FAST = Settings(samples=200)
HUMAN = Scores(("a", "b", "c", "d"), "human", np.array([0.1, 0.3, 0.4, 0.9]), {})
CASES = {
    "a": (10, 10, 10, 10, 5, 5),
    "b": (20, 0, 10, 10, 5, 5),
    "c": (15, 20, 5, 5, 0, 5),
    "d": (40, 2, 3, 0, 0, 5),
}


def swept(**options: Any) -> Sweep:
    return sweep(HUMAN, {"basic": CASES}, settings=FAST, **options)


def test_the_rows_are_those_of_table_4_for_every_alignment() -> None:
    both = sweep(HUMAN, {"basic": CASES, "heuristics": CASES}, settings=FAST)
    weights = [(0, 0), (1, 0), (0.5, 0), (1, 1), (0.5, 0.5)]
    assert [(s.alignment, s.w2, s.w6) for s in both.settings] == [
        (alignment, *pair) for alignment in ("basic", "heuristics") for pair in weights
    ]
    assert len(FULL) == 9
    assert set(TABLE_4) < set(FULL)


@pytest.mark.parametrize(
    ("weights", "discarded", "expected"),
    [
        ((0, 0), (), [10 / 50, 20 / 50, 15 / 50, 40 / 50]),
        ((1, 0), (), [20 / 50, 20 / 50, 35 / 50, 42 / 50]),
        ((0.5, 0.5), (), [17.5 / 50, 22.5 / 50, 27.5 / 50, 43.5 / 50]),
        ((1, 1), (), [25 / 50, 25 / 50, 40 / 50, 47 / 50]),
        ((0.5, 0), (5, 6), [15 / 40, 20 / 40, 25 / 45, 41 / 45]),
        ((1, 1), (5,), [25 / 45, 25 / 45, 40 / 50, 47 / 50]),
    ],
)
def test_scores_and_correlations(
    weights: tuple[float, float], discarded: tuple[int, ...], expected: list[float]
) -> None:
    (setting,) = swept(weights=[weights], discard=[frozenset(discarded)]).settings
    assert list(setting.scores) == ["a", "b", "c", "d"]
    assert list(setting.scores.values()) == pytest.approx(expected)
    assert setting.discarded == discarded
    assert setting.correlation.pearson.value == pytest.approx(stats.pearsonr(HUMAN.human_scores, expected).statistic)
    assert setting.correlation.spearman.value == pytest.approx(stats.spearmanr(HUMAN.human_scores, expected).statistic)


def test_weights_of_discarded_cases_make_no_rows() -> None:
    found = swept(discard=[frozenset(), frozenset({5, 6}), frozenset({2})])
    rows = [(s.discarded, s.w2, s.w6) for s in found.settings]
    assert rows[5:8] == [((5, 6), 0, 0), ((5, 6), 1, 0), ((5, 6), 0.5, 0)]
    assert rows[8:] == [((2,), 0, 0), ((2,), 0, 1), ((2,), 0, 0.5)]


def test_the_order_of_the_systems_is_that_of_the_human_scores() -> None:
    turned = sweep(HUMAN, {"basic": dict(reversed(CASES.items()))}, settings=FAST)
    assert turned.to_dict() == swept().to_dict()


def test_without_a_system() -> None:
    found = swept(without=["d"], weights=[(0, 0)])
    (setting,) = found.settings
    assert found.removed == ("d",)
    assert setting.without is not None
    assert setting.without.pearson.value == pytest.approx(stats.pearsonr([0.1, 0.3, 0.4], [0.2, 0.4, 0.3]).statistic)
    assert swept().settings[0].without is None


def test_totals_are_those_of_all_systems() -> None:
    assert swept().totals() == {"basic": (85, 32, 28, 25, 10, 20)}


def test_the_document_has_everything() -> None:
    document = swept(weights=[(0.5, 0)], without=["d"]).to_dict()
    assert set(document) == {"systems", "human", "removed", "cases", "settings", "signature"}
    assert document["cases"]["basic"]["a"] == [10, 10, 10, 10, 5, 5]
    (setting,) = document["settings"]
    assert {k: setting[k] for k in ("alignment", "w2", "w6", "discarded")} == {
        "alignment": "basic",
        "w2": 0.5,
        "w6": 0,
        "discarded": [],
    }
    assert set(setting["without"]) == {"pearson", "spearman", "kendall"}
    assert document["signature"].startswith("sweep|n:4|human:human|without:d|")


def test_systems_must_be_the_same_on_both_sides() -> None:
    some = {name: CASES[name] for name in "abc"}
    with pytest.raises(AnaphoraError, match=r"basic: no case counts for d\. Name the systems alike"):
        sweep(HUMAN, {"basic": some})
    with pytest.raises(AnaphoraError, match="basic: no human score for e"):
        sweep(HUMAN, {"basic": {**CASES, "e": CASES["a"]}})


def test_a_system_without_pronouns() -> None:
    with pytest.raises(AnaphoraError, match=r"basic: a has no pronoun that counts\. Discard fewer"):
        sweep(HUMAN, {"basic": {**CASES, "a": (0, 0, 0, 0, 3, 4)}}, discard=[frozenset({5, 6})])


def write(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document))
    return path


def test_documents_of_many_systems_and_of_one(tmp_path: Path) -> None:
    many = {"systems": {name: {"apt": 0.5, "cases": list(CASES[name])} for name in "ab"}}
    one = {"apt": 0.4, "cases": list(CASES["c"]), "signature": "apt|…"}
    named = {"system": "d", "cases": list(CASES["d"])}
    files = [
        ("basic", write(tmp_path / "many.json", many)),
        ("basic", write(tmp_path / "c.json", one)),
        ("basic", write(tmp_path / "x.json", named)),
        ("other", write(tmp_path / "e.json", one)),
    ]
    assert read_cases(files) == {"basic": CASES, "other": {"e": CASES["c"]}}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "no case counts.*anaphora apt"),
        ({}, "no case counts"),
        ({"systems": {}}, "no case counts"),
        ({"systems": {"a": {"apt": 1}}}, "a: 'cases' must be six counts"),
        ({"systems": {"a": 3}}, "a: 'cases' must be six counts"),
        ({"cases": [1, 2, 3, 4, 5]}, "six counts"),
        ({"cases": [1, 2, 3, 4, 5, -6]}, "six counts"),
        ({"cases": [1, 2, 3, 4, 5, 6.5]}, "six counts"),
        ({"cases": [1, 2, 3, 4, 5, True]}, "six counts"),
        ({"cases": "123456"}, "six counts"),
    ],
)
def test_documents_that_are_refused(tmp_path: Path, document: object, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_cases([("basic", write(tmp_path / "x.json", document))])


def test_a_system_twice(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", {"cases": [1, 2, 3, 4, 5, 6]})
    with pytest.raises(BadInput, match="the system 'a' is there twice for the alignment 'basic'"):
        read_cases([("basic", path), ("basic", path)])


# Case counts from texts: the same as those of `apt`, without and with the heuristics of alignment.

NAMES = ("baseline", "HA-enc-dec")


def test_five_hundred_pronouns_and_more(data: Callable[[str], Path]) -> None:
    """TED Spanish–English: both alignments count what `apt` counts; the heuristics find more pronouns."""
    folder = data("han-apt") / "TED_es-en"
    texts = [folder / f"IWSLT14.TED.tst.tc.{kind}.gz" for kind in ("es", "en", "align")]
    hypotheses = tuple(folder / f"TED_es-en_{name}.en.gz" for name in NAMES)
    alignments = tuple(folder / f"TED_es-en_{name}.align.gz" for name in NAMES)
    found = cases_of_texts(Files(texts[0], texts[1], hypotheses, texts[2], alignments, names=NAMES), "es-en")
    for alignment, rescue in (("basic", False), ("heuristics", True)):
        result = apt(
            texts[0],
            texts[1],
            hypotheses,
            "es-en",
            reference_alignment=texts[2],
            hypothesis_alignments=alignments,
            names=NAMES,
            rescue=rescue,
            samples=100,
        )
        assert found[alignment] == {system.name: system.score.cases for system in result.systems}
    for name in NAMES:
        basic, heuristics = found["basic"][name], found["heuristics"][name]
        assert sum(basic) == sum(heuristics) > 500
        assert sum(heuristics[3:]) <= sum(basic[3:]), "no pronoun is lost by looking for it (APT §4.3)"
    assert sum(found["heuristics"]["HA-enc-dec"][3:]) < sum(found["basic"]["HA-enc-dec"][3:])


def test_an_unknown_language_pair(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("it\n")
    path = tmp_path / "x"
    with pytest.raises(AnaphoraError, match="no pronoun lists for xx-yy"):
        cases_of_texts(Files(path, path, (path,), path, (path,)), "xx-yy")
