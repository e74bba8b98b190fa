"""Details of `generative`: as a table, and as a suite of translations in which the pronouns have their places."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.align.tokenize import Tokenization
from anaphora.evaluation.generative import Counts, Generative, Outcome, Texts, read_texts
from anaphora.evaluation.own_antecedent import AgreementCounts, OwnAgreement, Verdict
from anaphora.evaluation.verdicts import has_texts, suite_of_outcomes, write_table
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, read_native, suite_of

EXAMPLES = [
    Example(
        "1",
        ("", "Where is the bat?", "Look, it’s here."),
        (("", "Wo ist der Schläger?", "Da ist er."), ("", "Wo ist der Schläger?", "Da ist sie.")),
        0,
        {"distance": 1, "source_pronoun": "it"},
    ),
    Example("2", ("", "", "It rains."), (("", "", "Es regnet."), ("", "", "Er regnet.")), 0),
    Example("3", ("", "", "Prior."), (("", "", "Eins."), ("", "", "Zwei.")), None),
]
PASSAGES = [("Wo ist die Fledermaus?", "Schau, „sie“ ist hier."), ("Es regnet.",), ("Eins.",)]


@pytest.fixture
def suite() -> Suite:
    return suite_of(Header("small", "en", "de"), lambda: EXAMPLES)


@pytest.fixture
def texts(suite: Suite) -> Texts:
    pytest.importorskip("sacremoses", reason="not installed: sacremoses")
    return read_texts(suite, "moses")


def result(own: OwnAgreement | None = None) -> Generative:
    outcomes = (Outcome("1", "wrong", "link", "sie", 2, 3), Outcome("2", "not found", "rescue", source=0))
    return Generative("small", "en-de", "a", Counts(0, 1, 1, (0, 1)), {}, outcomes, "gen|v:0", own=own)


def test_a_name_says_whether_texts_are_wanted() -> None:
    assert has_texts(Path("a.jsonl"))
    assert has_texts(Path("a.jsonl.gz"))
    assert not has_texts(Path("a.tsv"))


def test_pronouns_have_their_positions_in_the_texts(suite: Suite, texts: Texts, tmp_path: Path) -> None:
    words = {"a": Tokenization("moses", True, ("en", "de")).target([p[-1] for p in PASSAGES[:2]]).sentences}
    assert words["a"][0][3] == "sie"
    details = suite_of_outcomes(suite, texts, [result()], {"a": PASSAGES}, words)
    details.write(tmp_path / "d.jsonl")
    first, second = list(read_native(tmp_path / "d.jsonl"))  # the third has no right answer, and is not judged
    assert (first.id, first.gold) == ("a/1", None)
    assert first.source == EXAMPLES[0].source
    assert first.candidates == (("", *PASSAGES[0]),)  # in the shape of the source
    assert first.tags == {
        **{"system": "a", "sentence": "1", "outcome": "wrong", "how": "link", "distance": 1},
        **{"source_pronoun": "it", "source_pronoun_start": 6, "pronoun": "sie", "pronoun_start": 8},
    }
    assert second.tags["source_pronoun_start"] == 0
    assert "pronoun" not in second.tags  # it was not found


def test_own_antecedents_are_those_with_a_verdict(suite: Suite, texts: Texts) -> None:
    verdicts = (Verdict("1", "disagrees", "", "bat", "fledermaus", ("f.sg",), "er"), Verdict("3", "unclear", "why"))
    own = OwnAgreement(AgreementCounts(0, 1, 0, 1, (0, 1)), {}, verdicts, {})
    words = {"a": [["Da", "ist", "er", "er"], ["Es", "regnet", "."]]}
    passages = [("Da ist er er",), ("Es regnet.",), ("Eins.",)]
    first, third = list(suite_of_outcomes(suite, texts, [result(own)], {"a": passages}, words))
    assert (first.tags["outcome"], first.tags["verdict"]) == ("wrong", "disagrees")
    assert first.tags["pronoun_start"] == 10  # by its position, not the first one
    assert (third.id, third.tags["verdict"], third.tags["reason"]) == ("a/3", "unclear", "why")
    assert "outcome" not in third.tags


def test_the_table_has_a_row_per_example(tmp_path: Path) -> None:
    write_table(tmp_path / "d.tsv", [result()])
    rows = [line.split("\t") for line in (tmp_path / "d.tsv").read_text(encoding="utf-8").splitlines()]
    assert rows == [
        ["system", "id", "outcome", "found", "how", "source_position", "position"],
        ["a", "1", "wrong", "sie", "link", "2", "3"],
        ["a", "2", "not found", "", "rescue", "0", ""],
    ]
