"""Figures of attributions, from records that are written by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import BadInput
from anaphora.evaluation.attribution_result import Attributions, attributions_of
from anaphora.evaluation.result import Settings
from anaphora.reports.attribution import attribution_table
from anaphora.runs import ScoredExample, describe, open_run, write_run
from anaphora.suites.suite import Header, suite_of

SETTINGS = Settings(samples=400)


def record(share: float, *, right: bool = True, rank: float = 1.0, **more: Any) -> dict[str, Any]:
    words = {"source": [[["lamp", share], ["it", 1 - share]]], "target": [[]]}
    figures = {"share": share, "uniform_share": 0.5, "rank": rank, "uniform_rank": 1.5, "support": share, "at": [0]}
    return {
        "contrast": 1.0 if right else -1.0,
        "right": right,
        "choice": ["sie", "er"],
        "words": words,
        "rest": 1.0,
        "antecedent": figures,
    } | more


def written(folder: Path, records: list[Any], **settings: Any) -> Path:
    suite = suite_of(Header("made", "en", "de"), lambda: [])
    header = describe(suite, sha256="a" * 64, system="x:y", context="1+1", **{"attribution": "gradient", **settings})
    items = [
        ScoredExample(str(n), 0 if "right" in one else None, {"k": n % 2}, [-1.0, -2.0], [1, 1], {"attribution": one})
        for n, one in enumerate(records)
    ]
    return write_run(folder / "a.jsonl", header, items)


def figures(folder: Path, records: list[Any], **options: Any) -> Attributions:
    return attributions_of(open_run(written(folder, records)), settings=SETTINGS, **options)


def test_means_of_right_and_wrong_answers(tmp_path: Path) -> None:
    records = [record(0.6), record(0.8), record(0.2, right=False, rank=2.0), record(0.4, right=False, rank=2.0)]
    result = figures(tmp_path, records)
    assert result.antecedent["all"]["share"].mean == pytest.approx(0.5)
    assert result.antecedent["right"]["share"].mean == pytest.approx(0.7)
    assert result.antecedent["wrong"]["rank"].mean == 2
    assert result.difference["share"].mean == pytest.approx(0.4)
    low, high = result.difference["share"].interval
    assert 0 < low < 0.4 < high
    assert result.accuracy.correct == 2
    assert result.accuracy.total == 4
    assert result.rest == pytest.approx(0.5)
    document = result.to_dict()
    assert document["antecedent_share"] == pytest.approx(0.5)
    assert document["uniform_share"] == 0.5
    assert document["antecedent_rank"] == 1.5
    assert document["uniform_rank"] == 1.5
    assert json.loads(json.dumps(document)) == document


def test_breakdowns_by_tags(tmp_path: Path) -> None:
    groups = figures(tmp_path, [record(0.2), record(0.8)], breakdowns=["k"]).breakdowns["k"]
    assert {name: group["share"].mean for name, group in groups.items()} == {"0": 0.2, "1": 0.8}


def test_reasons_are_counted(tmp_path: Path) -> None:
    without = {key: value for key, value in record(0.5).items() if key != "antecedent"}
    records = [record(0.5), {**without, "reason": "no antecedent tagged"}, {"reason": "no right answer"}]
    result = figures(tmp_path, records)
    assert result.reasons == {"no antecedent tagged": 1, "no right answer": 1}
    assert result.to_dict()["total"] == 3
    assert result.to_dict()["attributed"] == 1
    assert "no antecedent tagged 1" in attribution_table(result).render("table")


def test_highlights_have_the_names_of_the_paper(tmp_path: Path) -> None:
    marked = record(0.5)["antecedent"] | {"auc": 0.75}
    result = figures(tmp_path, [record(0.5, highlights=marked)])
    document = result.to_dict()["highlights"]["all"]
    assert document["dot_product"]["mean"] == 0.5
    assert document["auc"]["uniform"] == 0.5
    assert document["probes"]["mean"] == 1


def test_the_table(tmp_path: Path) -> None:
    text = attribution_table(figures(tmp_path, [record(0.6), record(0.2, right=False)])).render("table")
    assert "made en→de · x:y · gradient by words" in text
    assert "right answers" in text
    assert "share of the antecedent, right minus wrong answers: +0.400" in text
    assert "attr|s:made@aaaaaa|ctx:1+1" in text


def test_a_run_of_score_is_not_an_attribution(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="a run without attributions"):
        attributions_of(open_run(written(tmp_path, [record(0.5)], attribution=None)))


@pytest.mark.parametrize(
    "broken",
    [
        None,
        7,
        {**record(0.5), "right": "yes"},
        {**record(0.5), "words": {"source": [["lamp"]], "target": []}},
        {**record(0.5), "words": {"source": 3, "target": []}},
        {**record(0.5), "antecedent": {"share": "much"}},
        {**record(0.5), "antecedent": {**record(0.5)["antecedent"], "at": [9]}},
        {**record(0.5), "antecedent": []},
        {**record(0.5), "rest": None},
        {"right": True},
        {key: value for key, value in record(0.5).items() if key != "right"},
        {"reason": 3},
    ],
)
def test_damaged_records_are_errors(tmp_path: Path, broken: Any) -> None:
    run = open_run(written(tmp_path, [record(0.5)]))
    line = json.loads(run.path.read_text().splitlines()[1])
    header = run.path.read_text().splitlines()[0]
    run.path.write_text(f"{header}\n{json.dumps({**line, 'attribution': broken})}\n")
    with pytest.raises(BadInput, match=r"example '0': .* anaphora attribute"):
        attributions_of(open_run(run.path))
