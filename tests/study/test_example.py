"""The made-up study: complete, the same each time, and nothing in it that a page or a table could not show."""

from __future__ import annotations

from pathlib import Path

from anaphora.study.analysis import current_answers, study_agreement
from anaphora.study.database import read_answers
from anaphora.study.example import example_pairs, write_example
from anaphora.study.file import read_study


def test_the_example(tmp_path: Path) -> None:
    studies = [write_example(tmp_path / name) for name in ("one", "two")]
    found = []
    for name, study in zip(("one", "two"), studies, strict=True):
        assert read_study(tmp_path / name) == study
        current = current_answers(study, read_answers(study, tmp_path / name), "log")
        assert len(current) == len(study.orders) - 6
        found.append(study_agreement(study, current).to_dict())
    assert found[0] == found[1]
    assert set(found[0]["pairs"]) == {"it:he", "she:they", "them:her", "that:it"}


def test_its_sentences() -> None:
    passages = {candidate for example in example_pairs() for candidate in example.candidates}
    assert ("Something happened today.", "I like the book.", "I have said it before.") in passages
    assert ("Something happened yesterday.", "The key was gone.", "He was under the table.") in passages
    assert all(sentence[0].isupper() for passage in passages for sentence in passage)
