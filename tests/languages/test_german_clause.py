"""The case of a noun phrase by the words around it: sure, or silent."""

from __future__ import annotations

import pytest

from anaphora.languages.german_clause import case_in_clause


@pytest.mark.parametrize(
    ("before", "after", "case"),
    [
        ("ich habe ", " gekauft.", "Acc"),
        ("", " kenne ich nicht.", "Acc"),
        ("Das ist ", ".", "Nom"),
        ("Wo ist ", "?", "Nom"),
        ("Gestern wurde ", " gestohlen.", "Nom"),
        ("er sagt, dass ", " gefällt.", None),  # he is in another clause
        ("Ich gehe und ", " bleibt.", None),
        ("", " gefällt mir, sagte er.", None),
        ("Ich bin ", " gelaufen.", None),
        ("Das hat ", " getan, es war so.", None),
        ("Es ist wahr: Das wird ", " öffnen.", None),
        ("Nimm ", "!", None),
    ],
)
def test_what_a_clause_tells(before: str, after: str, case: str | None) -> None:
    assert case_in_clause(before, after) == case
