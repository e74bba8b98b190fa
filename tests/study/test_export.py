"""What a study gives away: answers, the pair list of the filter, and judgements in the formats of other commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.metrics.discomt.measures import discomt, read_annotations
from anaphora.metrics.meta.evaluation import read_scores
from anaphora.metrics.meta.judgements import judge_cases, same_forms
from anaphora.study.agreement import Settings, StudyAgreement, study_agreement
from anaphora.study.answers import Key, current_answers
from anaphora.study.export import (
    answer_rows,
    as_jsonl,
    as_tsv,
    gap_annotations,
    human_accuracy,
    judgements,
    pair_list,
    pair_list_text,
    scores_table,
)
from anaphora.study.model import Study
from anaphora.study.store import Answer

Make = Callable[..., Study]
Said = Callable[..., Answer]


@pytest.fixture
def found(make: Make, said: Said) -> StudyAgreement:
    """he:it is agreed on, she:he is not, they:it is agreed on the other way round."""
    study = make(9, annotators=("anna", "ben"))
    plan = {"p0": "rr", "p3": "rr", "p6": "rt", "p1": "rs", "p4": "rs", "p2": "ss", "p5": "ss"}
    log = [said(study, ("anna", "ben")[k], item, what) for item, both in plan.items() for k, what in enumerate(both)]
    log.append(said(study, "anna", "p8", "r"))
    return study_agreement(study, current_answers(study, log, "log"), Settings(samples=0))


def test_the_pair_list_has_agreement_and_counts(found: StudyAgreement) -> None:
    listed = pair_list(found)
    assert set(listed) == {"he:it", "she:he", "they:it"}
    assert listed["they:it"].counts == {"REF": 1, "SYS": 4, "Tie": 0}
    # 5 REF, 1 Tie over 3 items: Pa 2/3, Pe = (5·1 + 1·5) / 36 / 2
    chance = 10 / 72
    assert listed["he:it"].agreement == pytest.approx((2 / 3 - chance) / (1 - chance))
    assert listed["he:it"].counts == {"REF": 5, "SYS": 0, "Tie": 1}


def test_the_filter(found: StudyAgreement) -> None:
    # §5.1: not those with low agreement, nor those for which the system's pronoun was chosen more often
    assert set(pair_list(found, 0.6)) == {"he:it"}
    assert pair_list(found, 0.8) == {}


def test_the_published_list_is_of_this_form(data: Callable[[str], Path]) -> None:
    published = json.loads((data("eval-anaphora") / "pronoun_pair_list.json").read_text(encoding="utf-8"))
    for name, entries in published.items():
        assert len(name.split("_")) == 2
        for agreement, counts in entries:
            assert 0.8 <= agreement <= 1
            assert set(counts) <= {"REF", "SYS", "Tie"}
            assert counts["REF"] >= counts.get("SYS", 0)


def test_the_pair_list_as_text(found: StudyAgreement, make_gaps: Make) -> None:
    agreement = pair_list(found)["he:it"].agreement
    assert json.loads(pair_list_text(found, Path("pairs.json")))["he_it"] == [[agreement, {"REF": 5, "Tie": 1}]]
    first, *rows = pair_list_text(found, Path("pairs.tsv")).splitlines()
    assert first.split("\t") == ["reference", "system", "agreement", "REF", "SYS", "Tie"]
    assert rows[0].split("\t") == ["he", "it", f"{agreement:.6f}", "5", "0", "1"]
    gaps = study_agreement(make_gaps(), {}, Settings(samples=0))
    with pytest.raises(AnaphoraError, match="no pairs of pronouns"):
        pair_list_text(gaps, Path("pairs.json"))


def test_answers(make: Make, said: Said) -> None:
    study = make()
    log = [replace(said(study, "anna", "p0", "r"), seconds=2.5, elapsed=90.0), said(study, "anna", "p0")]
    rows = list(answer_rows(study, log))
    assert [row["meaning"] for row in rows] == ["reference", None]
    assert rows[0]["pair"] == "he:it"
    assert [(row["seconds"], row["elapsed_seconds"]) for row in rows] == [(2.5, 90.0), (None, None)]
    assert [json.loads(line) for line in as_jsonl(rows).splitlines()] == rows
    header, first, _ = as_tsv(rows).splitlines()
    assert first.split("\t")[header.split("\t").index("meaning")] == "reference"


# ---------------------------------------------------------------------------------------------------------------- gaps


@pytest.fixture
def gaps(make_gaps: Make, said: Said) -> tuple[Study, dict[Key, Answer]]:
    """a has Elle, Il, Ils; b has Ça, Il, Elles. anna and ben fill all gaps but the last, which anna alone fills."""
    study = make_gaps()
    plan = {
        "a0": [("elle",), ("elle", "il")],
        "a1": [("il",), ("cela",)],
        "a2": [("bad",), ("bad",)],
        "b0": [("cela", "ce"), ("elle",)],
        "b1": [("il",), ("il",)],
        "b2": [("ils", "other")],
    }
    log = [
        said(study, ("anna", "ben")[k], item, *choice) for item, both in plan.items() for k, choice in enumerate(both)
    ]
    return study, current_answers(study, log, "log")


def test_human_accuracy(gaps: tuple[Study, dict[Key, Answer]], tmp_path: Path) -> None:
    accuracy = human_accuracy(*gaps)
    assert accuracy == {"a": 3 / 6, "b": 3 / 5}
    metrics = tmp_path / "metrics.tsv"
    metrics.write_text("system\tapt\tbleu\nb\t0.6\t30\nc\t0.1\t10\na\t0.5\t20\n", encoding="utf-8")
    table = tmp_path / "scores.tsv"
    table.write_text(scores_table({**accuracy, "c": 0.1}, metrics), encoding="utf-8")
    scores = read_scores(table)
    assert scores.systems == ("b", "c", "a")
    assert list(scores.human_scores) == [0.6, 0.1, 0.5]
    assert set(scores.metrics) == {"apt", "bleu"}
    assert scores_table(accuracy).splitlines()[1] == "a\t0.500000"
    with pytest.raises(BadInput, match="no row for the system 'd'"):
        scores_table({"d": 1.0}, metrics)


def test_judgements_join_apt(gaps: tuple[Study, dict[Key, Answer]], tmp_path: Path) -> None:
    table, details = tmp_path / "judgements.tsv", tmp_path / "details.tsv"
    table.write_text(judgements(*gaps), encoding="utf-8")
    rows = ["a 0 0 elle 1", "a 1 0 il 1", "a 2 0 ils 3", "b 0 0 ça 3", "b 1 0 il 1", "b 2 0 elles 3"]
    lines = ["system sentence position candidate case", *rows]
    details.write_text("".join("\t".join(line.split()) + "\n" for line in lines), encoding="utf-8")
    study = gaps[0]
    joined = judge_cases(details, table, options=study.options, form=same_forms("en-fr"))
    same, different = joined.cases[0], joined.cases[2]
    assert (same.correct, same.incorrect, same.bad) == (5, 1, 0)
    assert (different.correct, different.incorrect, different.bad) == (1, 2, 2)
    assert (joined.unjudged, joined.unmatched) == (0, 0)


def test_annotations_for_discomt(gaps: tuple[Study, dict[Key, Answer]], tmp_path: Path) -> None:
    path = tmp_path / "gaps.tsv"
    path.write_text(gap_annotations(*gaps), encoding="utf-8")
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    accepted = {(system, item): set(options.split(",")) for system, item, _, options in rows}
    assert accepted["a", "0.0"] == {"elle", "il"}
    assert accepted["a", "2.0"] == {"bad"}
    assert accepted["b", "2.0"] == {"ils", "other"}
    result = discomt(read_annotations(path, "fr"))
    assert result.systems["a"].overall["accuracy"].value == pytest.approx(2 / 3)
    assert result.systems["b"].overall["accuracy"].value == pytest.approx(2 / 3)


def test_pairs_give_no_judgements(make: Make) -> None:
    study = make()
    for function in (judgements, gap_annotations, human_accuracy):
        with pytest.raises(AnaphoraError, match="this is a study of pairs"):
            function(study, {})
