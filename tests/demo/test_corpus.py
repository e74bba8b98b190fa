"""What the demo learns from and what it asks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from anaphora.demo.corpus import EACH, EACH_EASY, EASY, Files, write_corpus
from anaphora.suites.suite import read_native


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


def documents(path: Path) -> list[tuple[str, ...]]:
    return [tuple(text.split("\n")) for text in path.read_text("utf-8").strip().split("\n\n")]


def test_both_sides_have_the_same_documents_of_two_sentences(files: Files) -> None:
    for source, target in (files.train, files.validation):
        english, german = documents(source), documents(target)
        assert len(english) == len(german)
        assert {len(document) for document in (*english, *german)} == {2}
    assert len(documents(files.train[0])) > 20_000


def test_what_is_asked_has_a_first_sentence_that_was_never_shown(files: Files) -> None:
    shown = {document[0] for document in documents(files.train[0])}
    asked = [example for example in read_native(files.suite) if example.tags["template"] != "gender"]
    assert asked
    assert not [example.id for example in asked if example.source[0] in shown]


def test_nouns_whose_gender_is_asked_were_shown(files: Files) -> None:
    shown = {word for document in documents(files.train[0]) for word in document[0].lower().rstrip(".").split()}
    asked = [example for example in read_native(files.suite) if example.tags["template"] == "gender"]
    assert asked
    assert all(set(example.source[0].lower().rstrip(".").split()) <= shown for example in asked)


def test_every_template_is_asked_about_as_often(files: Files) -> None:
    counts = Counter(str(example.tags["template"]) for example in read_native(files.suite))
    assert len(counts) >= 12
    assert all(counts[template] == EACH_EASY for template in EASY)
    assert max(counts.values()) == EACH


def test_nouns_are_asked_about_in_both_orders(files: Files) -> None:
    pairs = Counter(str(e.tags["pair"]) for e in read_native(files.suite) if e.tags["template"] == "prior/position")
    assert len(pairs) >= EACH // 4
    assert set(pairs.values()) == {2}


def test_it_is_the_same_every_time(files: Files, tmp_path: Path) -> None:
    again = write_corpus(tmp_path)
    assert again.suite.read_bytes() == files.suite.read_bytes()
    assert again.train[1].read_bytes() == files.train[1].read_bytes()
