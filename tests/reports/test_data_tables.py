"""The tables of mining: reasons, translations of the mined pronouns (Table 2), classes by distance (Table 4)."""

from __future__ import annotations

from collections import Counter

from anaphora.build.mine.corpus import Index
from anaphora.build.mine.result import MiningResult, pronoun_table
from anaphora.reports.data_tables import candidates_table, distance_table, pronoun_tables
from anaphora.suites.example import Example


def result(mined: bool = True) -> MiningResult:
    actual = MiningResult(
        Index([1200, 34], 7),
        found=Counter(er=3, es=1),
        counts=Counter({"no antecedent": 1500, "items": 4, "pronouns": 1507, "event": 3}),
    )
    rows = [("he", "er", 50), *(("it", f"w{n:02}", 30 - n) for n in range(20)), ("it", "", 5)]
    actual.table = pronoun_table(rows)
    for label, distance in [("er", 0), ("er", 9), ("es", 0)] if mined else []:
        actual.statistics.add(label, Example("x", ("s",), (("t",),), 0, {"distance": distance, "source_pronoun": "it"}))
    return actual


def test_candidates() -> None:
    table = candidates_table(result())
    assert table.title == "1,234 sentence pairs in 7 documents"
    assert [row.cells for row in table.rows] == [
        ("pronouns", "1,507"),
        ("no antecedent", "1,500"),
        ("event", "3"),
        ("items", "4"),
    ]


def test_translations_of_the_mined_pronouns() -> None:
    (table,) = pronoun_tables(result())
    assert table.title == "Translations of it in the corpus"
    assert len(table.rows) == 12
    assert table.rows[0].cells == ("it → w00", "30", "0.073")  # 30 of 410
    assert table.notes == ("410 links; 5 it have none",)


def test_the_commonest_pronoun_where_none_were_mined() -> None:
    assert [table.title for table in pronoun_tables(result(mined=False))] == ["Translations of it in the corpus"]


def test_distances() -> None:
    table = distance_table(result())
    assert table.columns == ("distance", "er", "es", "total")
    assert [row.cells for row in table.rows] == [
        ("0", "1", "1", "2"),
        (">3", "1", "0", "1"),
        ("total", "2", "1", "3"),
        ("found", "3", "1", "4"),
    ]
