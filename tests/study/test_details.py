"""Verdicts on translations that a program is unsure of: which are asked about, and what the answers say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.study.analysis import current_answers, study_agreement
from anaphora.study.create import Design, make_study, passage_digest, text_digest, verdict_items
from anaphora.study.details import answers_of, selected, suite_of_details
from anaphora.study.export import human_accuracy, pair_list_text
from anaphora.study.model import Study, read_study, to_dict, write_study
from anaphora.study.store import Answer
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite, read_native, suite_of
from tests.study.conftest import verdict_rows, write_rows

Make = Callable[..., Study]
AnswerOf = Callable[..., Answer]


@pytest.fixture
def details(tmp_path: Path) -> Suite:
    return read_native(write_rows(tmp_path / "details.jsonl", verdict_rows()))


# ------------------------------------------------------------------------------------------------------ what is asked


@pytest.mark.parametrize(
    ("only", "ids"),
    [
        (["wrong"], ["a/1"]),
        (["not-found"], ["a/3"]),
        (["wrong", "not-found", "unclear", "3-6"], ["a/1", "a/3"]),  # cases are of apt and select nothing
        (["correct"], ["a/2"]),
    ],
)
def test_only_some_outcomes_are_asked_about(details: Suite, only: list[str], ids: list[str]) -> None:
    assert [example.id for example in selected(details, only)] == ids


def test_verdicts_come_before_outcomes_and_cases_are_ranges() -> None:
    tags = [
        {"outcome": "wrong", "verdict": "agrees"},
        {"outcome": "not found", "verdict": "unclear"},
        {"outcome": "correct", "verdict": "not found"},
        *({"case": str(case)} for case in range(1, 7)),
    ]
    examples = [Example(str(k), ("It.",), (("Es.",),), None, one) for k, one in enumerate(tags)]
    suite = Suite(read_header(), lambda _: iter(examples))
    chosen = {only: "".join(e.id for e in selected(suite, only.split(","))) for only in EXPECTED}
    assert chosen == EXPECTED


EXPECTED = {"wrong": "0", "agrees": "0", "not-found": "2", "unclear,2": "14", "3-6": "5678", "1,4-5": "367"}


def read_header() -> Any:
    from anaphora.suites.suite import Header

    return Header("x", "en", "de")


@pytest.mark.parametrize("word", ["nonsense", "7", "6-3", "0-2", "not found"])
def test_an_unknown_outcome_is_refused(details: Suite, word: str) -> None:
    with pytest.raises(AnaphoraError, match="cannot ask only about"):
        selected(details, [word])


def test_nothing_to_ask_is_an_error(details: Suite) -> None:
    with pytest.raises(BadInput, match=r"nothing to annotate: no example is agrees\. See the column outcome"):
        selected(details, ["agrees"])
    unjudged = Example("1", ("It is old.",), (("Sie ist alt.",),), 0)
    with pytest.raises(BadInput, match=r"no example is wrong\. Write the outcomes with: anaphora generative"):
        selected(suite_of(details.header, lambda: [unjudged]), ["wrong"])


def test_both_pronouns_are_marked_where_they_are_known(make_verdicts: Make) -> None:
    study = make_verdicts()
    first, _, third = study.items
    assert (first.system, first.sentence, first.position, first.pronoun) == ("a", "1", "", "Sie")
    assert (first.source_marks, first.marks) == (((0, 2),), (((0, 3),),))
    assert (third.source_marks, third.marks) == (((0, 2),), ((),))  # its translation was not found
    assert first.tags["digest"] == text_digest("Here is a bat. It is old.", "Hier ist ein Schläger. Sie ist alt.")
    assert study.choices == ("right", "wrong", "unclear")
    assert study.problem_with(("right", "wrong")) == "only one choice is possible"


def test_the_sentence_of_the_antecedent_is_always_shown(tmp_path: Path) -> None:
    header, *rows = verdict_rows()
    context = ["A lamp.", "One.", "Two."]
    rows = [{**row, "source": [*context, "It."], "candidates": [[*context, "Sie."]], "tags": {}} for row in rows]
    rows[1]["tags"] = {"distance": 3}
    suite = read_native(write_rows(tmp_path / "far.jsonl", [header, *rows]))
    study = make_study(suite, Design(annotators=("anna",), mode="verdicts", context=1))
    assert [len(item.source) for item in study.items] == [2, 4, 2]


def test_a_verdict_is_about_one_translation() -> None:
    example = Example("x", ("It.",), (("Er.",), ("Sie.",)), 0)
    with pytest.raises(BadInput, match="2 candidates, a verdict is about one"):
        verdict_items([example], Path("s.jsonl"))
    wrong = Example("x", ("It.",), (("Er.",),), None, {"pronoun": "Sie", "pronoun_start": 0})
    with pytest.raises(BadInput, match="is not at character 0"):
        verdict_items([wrong], Path("s.jsonl"))


def test_a_study_of_verdicts_is_read_as_it_was_written(make_verdicts: Make, make: Make, tmp_path: Path) -> None:
    study = make_verdicts()
    write_study(study, tmp_path / "study")
    assert read_study(tmp_path / "study") == study
    # older versions say that an upgrade is needed, and read everything else
    assert (to_dict(study)["anaphora_study"], to_dict(make())["anaphora_study"]) == (3, 2)


# ------------------------------------------------------------------------------------------------------ tables of apt

DETAILS = (
    "system\tsentence\tposition\tsource\treference_position\treference\treference_found\tcandidate_position\tcandidate"
    "\tcandidate_found\tcase\n"
    "a\t1\t1\tit\t1\telle\taligned\t1\til\taligned\t3\n"
    "a\t2\t0\tthey\t\t\t\t\t\t\t6\n"
)


@pytest.fixture
def apt(tmp_path: Path) -> dict[str, Path]:
    texts = {
        "details.tsv": DETAILS,
        "s.en": "A key .\nYes it is .\nThey rain .\n",
        "a.fr": "Une clé .\nOui il est .\nPlouf .\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return {name: tmp_path / name for name in texts}


def test_pronouns_without_a_counterpart_are_asked_about(apt: dict[str, Path]) -> None:
    pytest.importorskip("sacremoses", reason="not installed: sacremoses")
    suite = suite_of_details(apt["details.tsv"], apt["s.en"], [apt["a.fr"]], ["a"], "en-fr", gaps=False)
    study = make_study(suite, Design(annotators=("anna",), mode="verdicts"))
    first, second = study.items
    assert (first.id, first.sentence, first.position, first.tags["case"]) == ("a/1.1", "1", "1", "3")
    assert first.source[-1][slice(*first.source_marks[0])] == "it"
    assert first.candidates[0][-1][slice(*first.marks[0][0])] == "il"
    assert first.source[-2] == "A key."  # as people write it
    assert (second.id, second.marks, second.source_marks) == ("a/2.0", ((),), ((0, 4),))
    assert first.tags["digest"] == text_digest("Yes it is .", "Oui il est .")  # of the lines of the files
    gaps = suite_of_details(apt["details.tsv"], apt["s.en"], [apt["a.fr"]], ["a"], "en-fr")
    assert [example.id for example in gaps] == ["a/1.1"]


def test_a_table_of_generative_has_no_texts(apt: dict[str, Path], tmp_path: Path) -> None:
    table = tmp_path / "g.tsv"
    table.write_text("system\tid\toutcome\na\t1\twrong\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"--details FILE\.jsonl"):
        suite_of_details(table, apt["s.en"], [apt["a.fr"]], ["a"], "en-fr", gaps=False)


# -------------------------------------------------------------------------------------------------------- the answers


def test_answers_by_system_and_sentence(make_verdicts: Make, answer_of: AnswerOf) -> None:
    study = make_verdicts()
    log = [
        answer_of(study, "anna", "a/1", "right"),
        answer_of(study, "ben", "a/1", "right"),
        answer_of(study, "anna", "a/2", "right"),
        answer_of(study, "ben", "a/2", "wrong"),
    ]
    answers = answers_of(study, current_answers(study, log, "log"), Path("study"), ["a", "b"])
    assert answers.verdicts == {"a": {("1", ""): "right", ("2", ""): "unclear", ("3", ""): ""}}
    assert answers.signature.startswith("2@")
    other = [*log[:3], answer_of(study, "ben", "a/2", "right")]
    again = answers_of(study, current_answers(study, other, "log"), Path("study"), ["a"])
    assert again.signature != answers.signature
    source, translation = ("Here is  a bat.", "It is old."), ("Hier ist ein Schläger.", "Sie ist alt.")
    answers.check("a", ("1", ""), passage_digest(source, ("Nie gezeigt.", *translation)))
    others = [(("A bat.", source[1]), translation), (source, ("Eine Fledermaus.", translation[1])), (source, source)]
    for texts in others:  # another context, of the source and of the translation, and another translation
        with pytest.raises(BadInput, match=r"item a/1: .*not the one that annotators saw"):
            answers.check("a", ("1", ""), passage_digest(*texts))
    with pytest.raises(BadInput, match="about the system 'a', which is not evaluated here"):
        answers_of(study, {}, Path("study"), ["b"])


def test_other_studies_have_no_verdicts(make: Make, make_gaps: Make) -> None:
    for study in (make(), make_gaps()):
        with pytest.raises(BadInput, match=f"a study of {study.mode} has no verdicts"):
            answers_of(study, {}, Path("study"), ["a"])


def test_agreement_of_verdicts(make_verdicts: Make, answer_of: AnswerOf) -> None:
    study = make_verdicts()
    given = [("a/1", "right", "right"), ("a/2", "wrong", "unclear"), ("a/3", "unclear", "unclear")]
    log = [answer_of(study, name, item, both[k]) for item, *both in given for k, name in enumerate(("anna", "ben"))]
    agreement = study_agreement(study, current_answers(study, log, "log"))
    assert agreement.overall.counts == {"right": 2, "wrong": 1, "unclear": 3}
    assert agreement.overall.with_ties.values["percent"] == pytest.approx(2 / 3)
    assert agreement.overall.without_ties is None
    assert agreement.overall.preferred == pytest.approx(1 / 3)
    assert agreement.left_out == 0


def test_what_belongs_to_other_studies_is_refused(make_verdicts: Make) -> None:
    study = make_verdicts()
    with pytest.raises(AnaphoraError, match="needs a study of gaps, not of verdicts"):
        human_accuracy(study, {})
    with pytest.raises(AnaphoraError, match="a study of verdicts has no pairs"):
        pair_list_text(study_agreement(study, {}), Path("p.json"))
