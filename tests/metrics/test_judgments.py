"""Judged pronouns: APT's cases against judgments, and pronouns that are equivalent by them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.pronouns import pronoun_lists
from anaphora.metrics.judgments import (
    JUDGMENTS,
    CaseJudgments,
    JudgmentCounts,
    PairCounts,
    Sample,
    judge_cases,
    learn_equivalents,
    read_samples,
    same_forms,
)

# Table 5: correct, incorrect and bad in percent, and the total
TABLE_5 = ((84, 13, 3, 534), (43, 47, 10, 135), (26, 60, 14, 581), (0, 76, 24, 129), (53, 36, 11, 81), (0, 76, 24, 38))


def written(path: Path, header: str, rows: Sequence[Sequence[object]]) -> Path:
    lines = [header.replace(" ", "\t"), *("\t".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def judged(
    folder: Path, details: Sequence[Sequence[object]], judgments: Sequence[Sequence[object]], word: str = "judgment"
) -> CaseJudgments:
    return judge_cases(
        written(folder / "details.tsv", "system sentence position case candidate", details),
        written(folder / "judgments.tsv", f"system sentence position {word}", judgments),
    )


def test_table_5(tmp_path: Path) -> None:
    """Pronouns with the published totals and shares give the published table, its last row too."""
    details, judgments = [], []
    for case, (correct, incorrect, _, total) in enumerate(TABLE_5, start=1):
        first, second = round(correct * total / 100), round((correct + incorrect) * total / 100)
        for k in range(total):
            word = JUDGMENTS[(k >= first) + (k >= second)]
            details.append(("s", f"{case}.{k}", 1, f"c{case}", "x"))
            judgments.append(("s", f"{case}.{k}", 1, word))
    verdicts = judged(tmp_path, details, judgments)
    for case, (*shares, total) in zip(verdicts.cases, TABLE_5, strict=True):
        assert case.total == total
        assert [100 * (case.share(word) or 0) for word in JUDGMENTS] == pytest.approx(shares, abs=1)
    assert verdicts.total.total == 1498
    # made of rounded shares, so that the last row is right within one percent
    assert [100 * (verdicts.total.share(word) or 0) for word in JUDGMENTS] == pytest.approx([47, 43, 10], abs=1)
    assert (verdicts.unjudged, verdicts.unmatched) == (0, 0)


def test_pronouns_are_distinguished_by_system_sentence_and_position(tmp_path: Path) -> None:
    details = [("a", 1, 1, 1, "il"), ("a", 1, 5, 3, "ce"), ("a", 2, 1, 4, ""), ("b", 1, 1, 2, "ce")]
    judgments = [("b", 1, 1, "correct"), ("a", 1, 5, "Incorrect"), ("a", 1, 1, "bad translation")]
    verdicts = judged(tmp_path, details, judgments)
    assert verdicts.cases[:4] == (
        JudgmentCounts(0, 0, 1),
        JudgmentCounts(1, 0, 0),
        JudgmentCounts(0, 1, 0),
        JudgmentCounts(0, 0, 0),
    )
    assert verdicts.unjudged == 1


def test_one_system_need_not_be_named(tmp_path: Path) -> None:
    details = written(tmp_path / "d.tsv", "sentence position source case", [(3, 2, "it", 6)])
    judgments = written(tmp_path / "j.tsv", "sentence position judgment", [(3, 2, "incorrect"), (4, 4, "correct")])
    actual = judge_cases(details, judgments)
    assert actual.cases[5] == JudgmentCounts(0, 1, 0)
    assert actual.unmatched == 1
    judgments.write_text(judgments.read_text().replace("judgment", "judgement"))  # the column of version 0.1.0
    assert judge_cases(details, judgments) == actual


def test_several_annotators(tmp_path: Path) -> None:
    details = written(tmp_path / "d.tsv", "sentence position case", [(1, 1, 2)])
    rows = [(1, 1, "x", "correct"), (1, 1, "y", "incorrect")]
    judgments = judge_cases(details, written(tmp_path / "j.tsv", "sentence position annotator judgment", rows))
    assert judgments.cases[1] == JudgmentCounts(1, 1, 0)
    assert (judgments.unjudged, judgments.unmatched) == (0, 0)
    with pytest.raises(BadInput, match=r"line 3: the pronoun is also judged in line 2.*annotator"):
        judge_cases(details, written(tmp_path / "j.tsv", "sentence position who judgment", rows))


@pytest.mark.parametrize(
    ("answers", "candidate", "expected"),
    [
        ("il", "il", "correct"),
        ("il|ce", "ce", "correct"),
        ("ça/cela", "Cela", "correct"),
        ("il", "elle", "incorrect"),
        ("other", "lui", "correct"),  # not among the options
        ("il, other", "lui", "correct"),
        ("other", "elle", "incorrect"),
        ("il", "", "incorrect"),
        ("il", "Il se", "correct"),  # one of several words
        ("elle", "il se", "incorrect"),
        ("other", "", "incorrect"),  # nothing was translated: nothing can coincide
        ("bad translation", "il", "bad"),
        ("BAD", "", "bad"),
        ("bad;il", "il", "bad"),
        ("ce", "c’", "incorrect"),  # without the lists of a language they are different words
    ],
)
def test_gaps_that_annotators_filled(tmp_path: Path, answers: str, candidate: str, expected: str) -> None:
    """APT §3.1 and §4.3: correct where the annotator's choice coincides with the system's translation."""
    rows = [("s", 1, 1, answers), ("s", 9, 9, "elle")]  # the second makes elle an option
    verdicts = judged(tmp_path, [("s", 1, 1, 1, candidate), ("s", 2, 2, 1, "x")], rows, "answers")
    assert verdicts.total == JudgmentCounts(*(int(expected == word) for word in JUDGMENTS))
    assert verdicts.unmatched == 1


def test_the_words_other_and_bad_are_not_pronouns(tmp_path: Path) -> None:
    """Into English, a candidate may have these words where the pronoun should be."""
    details = [("s", 1, 1, 1, "bad"), ("s", 2, 1, 1, "other"), ("s", 3, 1, 1, "it")]
    rows = [("s", 1, 1, "other"), ("s", 2, 1, "it"), ("s", 3, 1, "bad")]
    assert judged(tmp_path, details, rows, "answers").total == JudgmentCounts(1, 1, 1)


def test_forms_of_one_pronoun_and_named_options(tmp_path: Path) -> None:
    details = written(tmp_path / "d.tsv", "sentence position case candidate", [(1, 1, 1, "C’"), (2, 1, 1, "on")])
    answers = written(tmp_path / "a.tsv", "sentence position answers", [(1, 1, "ce"), (2, 1, "other")])
    form = same_forms("en-fr")
    assert judge_cases(details, answers, form=form).total == JudgmentCounts(2, 0, 0)
    assert judge_cases(details, answers, form=form, options=["ce", "on"]).total == JudgmentCounts(1, 1, 0)


@pytest.mark.parametrize(
    ("details", "judgments", "message"),
    [
        ("sentence case\n1\t1", "sentence position judgment\n1\t1\tbad", r"d.tsv: line 1: no column 'position'.*apt"),
        ("sentence position\n1\t1", "sentence position judgment\n1\t1\tbad", "d.tsv: line 1: no column 'case'"),
        ("sentence position case\n1\t1\t7", "sentence position judgment\n1\t1\tbad", "line 2: not a case.*'7'"),
        ("sentence position case\n1\t1\t1\n1\t1\t2", "sentence position judgment\n1\t1\tbad", "line 3: .*twice"),
        ("sentence position case\n1\t1\t1", "sentence position\n1\t1", "j.tsv: line 1: no column 'judgment'"),
        (
            "sentence position case\n1\t1\t1",
            "sentence position judgment\n1\t1\tgood",
            "j.tsv: line 2: unknown judgment",
        ),
        ("sentence position case\n1\t1\t1", "sentence position answers\n1\t1\til", "d.tsv: line 1: no column 'cand"),
        ("sentence position case candidate\n1\t1\t1\til", "sentence position answers\n1\t1\t|", "line 2: no answer"),
        ("sentence position case\n1\t1\t1", "sentence position judgment\n2\t1\tbad", "none of the judged pronouns"),
        (
            "system sentence position case\na\t1\t1\t1",
            "sentence position judgment\n1\t1\tbad",
            "j.tsv: line 1: no column 'system'",
        ),
    ],
)
def test_files_that_are_refused(tmp_path: Path, details: str, judgments: str, message: str) -> None:
    for name, text in (("d.tsv", details), ("j.tsv", judgments)):
        (tmp_path / name).write_text(text.replace(" ", "\t") + "\n")
    with pytest.raises(BadInput, match=message):
        judge_cases(tmp_path / "d.tsv", tmp_path / "j.tsv")


@settings(derandomize=True, max_examples=50)
@given(
    rows=st.lists(
        st.tuples(st.integers(1, 6), st.sampled_from(JUDGMENTS), st.booleans()), min_size=1, max_size=30
    ).filter(lambda rows: any(both for *_, both in rows))
)
def test_every_judgment_is_counted_once(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, str, bool]]
) -> None:
    folder = tmp_path_factory.mktemp("j")
    details = [("s", k, 0, case, "") for k, (case, _, _) in enumerate(rows)]
    judgments = [("s", k if both else f"x{k}", 0, word) for k, (_, word, both) in enumerate(rows)]
    verdicts = judged(folder, details, judgments)
    matched = [(case, word) for case, word, both in rows if both]
    assert verdicts.total.total == len(matched)
    assert verdicts.unjudged == verdicts.unmatched == len(rows) - len(matched)
    for number, case in enumerate(verdicts.cases, start=1):
        assert [getattr(case, word) for word in JUDGMENTS] == [matched.count((number, word)) for word in JUDGMENTS]


def test_the_document_has_shares_and_intervals() -> None:
    document = CaseJudgments((JudgmentCounts(3, 1, 0), *[JudgmentCounts(0, 0, 0)] * 5), 2, 1).to_dict()
    assert document["cases"]["c1"]["shares"] == {"correct": 0.75, "incorrect": 0.25, "bad": 0.0}
    assert document["cases"]["c1"]["interval"] == pytest.approx([0.3006, 0.9544], abs=5e-4)  # Wilson, 3 of 4
    assert document["cases"]["c2"]["shares"] == {"correct": None, "incorrect": None, "bad": None}
    assert document["total"]["total"] == 4
    assert (document["unjudged"], document["unmatched"]) == (2, 1)


# Equivalent pronouns are learned as in §2.5: pairs under 5 % dropped, p(c=1|t,r) > 0.5 kept.


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
        ("candidate\treference\tcorrect\nil\tce\tmaybe\n", "line 2: neither correct nor wrong: 'maybe'. Write 1 or 0"),
        ("candidate\treference\tcorrect\nil\t\t1\n", "line 2: a pronoun is missing"),
    ],
)
def test_mistakes_name_the_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "judged.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=message):
        read_samples(path)
