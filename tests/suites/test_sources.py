"""A suite's sources to translate, a line or a document per example; what comes back is found again in either layout."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.suites.example import Example
from anaphora.suites.sources import current_translations, write_sources
from anaphora.suites.suite import Header, Suite, suite_of

HEADER = Header("tiny", "en", "de")
LAMP = Example("lamp", ("", "The lamp fell.", "It broke."), (("", "L.", "Sie zerbrach."),) * 2, 0)
START = Example("start", ("", "", "It rains."), (("", "", "Es regnet."),) * 3, 2)
LONG = Example("long", ("A hat.", "Look.", "It is big."), (("Ein Hut.", "Sieh.", "Er ist groß."),) * 2, None)


def tiny(*examples: Example) -> Suite:
    return suite_of(HEADER, lambda: examples)


SUITE = tiny(LAMP, START, LONG)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "sources.en"


def test_a_line_per_example(file: Path) -> None:
    assert write_sources(SUITE, file) == 3
    assert file.read_text() == "It broke.\nIt rains.\nIt is big.\n"


def test_a_passage_per_line_where_sentences_are_joined(file: Path) -> None:
    write_sources(SUITE, file, separator=" <SEP> ")
    assert file.read_text() == "The lamp fell. <SEP> It broke.\nIt rains.\nA hat. <SEP> Look. <SEP> It is big.\n"
    write_sources(SUITE, file, separator=" <SEP> ", context=1)
    assert file.read_text() == "The lamp fell. <SEP> It broke.\nIt rains.\nLook. <SEP> It is big.\n"


def test_a_document_per_example(file: Path) -> None:
    assert write_sources(SUITE, file, documents=True) == 3
    assert file.read_text() == "The lamp fell.\nIt broke.\n\nIt rains.\n\nA hat.\nLook.\nIt is big.\n"
    write_sources(SUITE, file, documents=True, context=1)
    assert file.read_text() == "The lamp fell.\nIt broke.\n\nIt rains.\n\nLook.\nIt is big.\n"


def test_what_cannot_be_a_line_is_refused(file: Path) -> None:
    broken = Example("broken", ("It\nbroke.",), (("Es",),), 0)
    with pytest.raises(AnaphoraError, match="example broken: a sentence has a line break"):
        write_sources(tiny(broken), file)
    with pytest.raises(AnaphoraError, match="example none: the current sentence is empty"):
        write_sources(tiny(Example("none", ("A hat.", " "), (("Ein Hut.", "Er"),), 0)), file, documents=True)
    with pytest.raises(AnaphoraError, match="a separator joins"):
        write_sources(SUITE, file, documents=True, separator=" ")


@pytest.mark.parametrize("documents", [True, False])
@given(data=st.data())
@settings(derandomize=True, deadline=None, max_examples=60)
def test_translations_come_back_from_every_layout(
    tmp_path_factory: pytest.TempPathFactory, documents: bool, data: st.DataObject
) -> None:
    """The translator changes every line, and now and then writes nothing."""
    sentence = st.sampled_from(["", "A hat.", "Look.", "We saw it."])
    size = data.draw(st.integers(0, 3))
    passages = data.draw(st.lists(st.tuples(*[sentence] * size, st.just("It is.")), min_size=1, max_size=8))
    suite = tiny(*(Example(str(k), passage, (passage, passage), 0) for k, passage in enumerate(passages)))
    file = tmp_path_factory.mktemp("sources") / "x"
    write_sources(suite, file, documents=documents, context=data.draw(st.none() | st.integers(0, 3)))
    lines = file.read_text().splitlines()
    expected, translated = [], []
    for number, line in enumerate(lines):
        current = line == "It is."
        text = data.draw(st.sampled_from([f"{number}!", f"{number}!", ""])) if current else line and f"{number}!"
        translated.append(text)
        expected += [text] if current else []
    file.write_text("".join(f"{line}\n" for line in translated))
    assert current_translations(file, suite) == expected


def test_neither_lines_nor_documents_is_refused(file: Path) -> None:
    file.write_text("Sie zerbrach.\nEs regnet.\n")
    with pytest.raises(BadInput, match="2 lines, but tiny has 3 examples") as error:
        current_translations(file, SUITE)
    assert "suites convert tiny --to sources" in str(error.value)
