"""Any toolkit can score a suite: it is written as line files, one candidate per line, in the order in which scores are
expected back, and nothing is lost on the way."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example as with_example
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.suites.example import Example, Passage
from anaphora.suites.export import current_translations, translated_passages, write_sources, write_text
from anaphora.suites.formats import read_suite
from anaphora.suites.suite import Header, Suite, suite_of

HEADER = Header("tiny", "en", "de")
LAMP = Example("lamp", ("The lamp fell.", "It broke."), (("L.", "Sie zerbrach."), ("L.", "Er zerbrach.")), 0)
START = Example("start", ("It rains.",), (("Er regnet.",), ("Sie regnet.",), ("Es regnet.",)), 2)
PRIOR = Example("prior", ("Wow!", "It is big."), (("Wow!", "Er ist groß."), ("Wow!", "Sie ist groß.")), None)


def tiny(*examples: Example, header: Header = HEADER) -> Suite:
    return suite_of(header, lambda: examples)


def test_the_layout_is_that_of_contrapro(tmp_path: Path) -> None:
    files, candidates = write_text(tiny(LAMP, START, PRIOR), tmp_path)
    assert candidates == 7
    assert [file.name for file in files] == [
        "tiny.text.en",
        "tiny.text.de",
        "tiny.context.en",
        "tiny.context.de",
        "tiny.groups",
    ]
    text = {file.name: file.read_text(encoding="utf-8") for file in files}
    assert text["tiny.text.en"] == "It broke.\n" * 2 + "It rains.\n" * 3 + "It is big.\n" * 2
    assert text["tiny.text.de"] == (
        "Sie zerbrach.\nEr zerbrach.\nEr regnet.\nSie regnet.\nEs regnet.\nEr ist groß.\nSie ist groß.\n"
    )
    assert text["tiny.context.en"] == "The lamp fell.\n" * 2 + "\n" * 3 + "Wow!\n" * 2
    assert text["tiny.context.de"] == "L.\n" * 2 + "\n" * 3 + "Wow!\n" * 2


def test_groups_say_which_lines_belong_together_and_which_is_right(tmp_path: Path) -> None:
    write_text(tiny(LAMP, START, PRIOR), tmp_path)
    assert (tmp_path / "tiny.groups").read_text(encoding="utf-8").splitlines() == [
        "lamp\t1",
        "lamp\t0",
        "start\t0",
        "start\t0",
        "start\t1",
        "prior\t0",
        "prior\t0",
    ]


def test_longer_context_is_oldest_first_and_shorter_is_padded(tmp_path: Path) -> None:
    long = Example("long", ("one", "two", "three", "now"), (("1", "2", "3", "4"), ("1", "2", "3", "5")), 0)
    write_text(tiny(LAMP, long), tmp_path)
    assert (tmp_path / "tiny.context.en").read_text(encoding="utf-8").split("\n") == [
        *("", "", "The lamp fell.") * 2,
        *("one", "two", "three") * 2,
        "",
    ]


def test_without_context_there_are_no_context_files(tmp_path: Path) -> None:
    files, _ = write_text(tiny(START), tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(file.name for file in files)
    assert not list(tmp_path.glob("*.context.*"))


def test_with_a_separator_passages_are_joined_exactly(tmp_path: Path) -> None:
    files, candidates = write_text(tiny(LAMP, START), tmp_path, separator=" <SEP>  ")
    assert (candidates, len(files)) == (5, 3)
    assert (tmp_path / "tiny.text.en").read_text(encoding="utf-8").splitlines() == [
        *["The lamp fell. <SEP>  It broke."] * 2,
        *["It rains."] * 3,
    ]
    assert (tmp_path / "tiny.text.de").read_text(encoding="utf-8").splitlines()[1] == "L. <SEP>  Er zerbrach."


def test_an_empty_separator_joins_too(tmp_path: Path) -> None:
    write_text(tiny(LAMP), tmp_path, separator="")
    assert (tmp_path / "tiny.text.en").read_text(encoding="utf-8").splitlines()[0] == "The lamp fell.It broke."


@pytest.mark.parametrize("separator", [None, " "])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda e: replace(e, source=("The lamp\nfell.", "It broke.")),
        lambda e: replace(e, source=("The lamp fell.", "It broke.\r")),
        lambda e: replace(e, candidates=(e.candidates[0], ("L.\r\n", "Er zerbrach."))),
        lambda e: replace(e, candidates=(e.candidates[0], ("L.", "Er\nzerbrach."))),
    ],
)
def test_a_line_break_in_a_sentence_is_an_error(
    tmp_path: Path, spoil: Callable[[Example], Example], separator: str | None
) -> None:
    """It would shift every line behind it, and every score with them."""
    with pytest.raises(AnaphoraError, match="example lamp: a sentence has a line break in it"):
        write_text(tiny(START, spoil(LAMP)), tmp_path / "out", separator=separator)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("bad", ["a\tb", "a\nb", "a\r"])
def test_an_id_that_breaks_the_groups_file_is_an_error(tmp_path: Path, bad: str) -> None:
    with pytest.raises(AnaphoraError, match="an id with a tab or a line break cannot be in a groups file") as caught:
        write_text(tiny(replace(LAMP, id=bad)), tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert list((tmp_path / "out").iterdir()) == []


def test_one_language_on_both_sides_would_be_one_file(tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match="tiny: source and target are both 'en'"):
        write_text(tiny(LAMP, header=Header("tiny", "en", "en")), tmp_path)


LINE = st.text(
    # a line break cannot be in a line; a byte-order mark at the start of a file is taken for one
    st.characters(codec="utf-8", exclude_characters="\n\r\ufeff"),
    max_size=10,
) | st.sampled_from(["a\u2028b", "👩🏽‍🚀", "\t", "\x85", " padded "])
ID = st.text(st.characters(codec="utf-8", exclude_characters="\t\n\r\ufeff"), max_size=6)


@st.composite
def suites(draw: st.DrawFn) -> list[Example]:
    examples = []
    for identifier in draw(st.lists(ID, unique=True, max_size=5)):
        length = draw(st.integers(1, 4))
        passage = st.lists(LINE, min_size=length, max_size=length).map(tuple)
        candidates = tuple(draw(st.lists(passage, min_size=1, max_size=4)))
        gold = draw(st.none() | st.integers(0, len(candidates) - 1))
        examples.append(Example(identifier, draw(passage), candidates, gold))
    return examples


@given(examples=suites())
@with_example(examples=[])
@with_example(examples=[LAMP, START, PRIOR])
def test_exported_lines_are_read_as_the_same_suite(
    tmp_path_factory: pytest.TempPathFactory, examples: list[Example]
) -> None:
    """But for its tags, and for context that is not there: it is "" up to the longest."""
    folder = tmp_path_factory.mktemp("lines")
    write_text(tiny(*examples), folder)
    longest = max((len(example.source) for example in examples), default=1)

    def filled(passage: Passage) -> Passage:
        return ("",) * (longest - len(passage)) + passage

    back = read_suite(folder, "text", source_language="en", target_language="de")
    assert back.header == HEADER
    assert list(back) == [
        replace(e, source=filled(e.source), candidates=tuple(map(filled, e.candidates))) for e in examples
    ]


def test_the_command_line_writes_the_same(anaphora, tmp_path: Path) -> None:
    tiny(LAMP, START).write(tmp_path / "tiny.jsonl")
    done = anaphora("suites", "convert", "tiny.jsonl", "--to", "text", "-o", "lines", "--json")
    assert json.loads(done.stdout)["candidates"] == 5
    write_text(tiny(LAMP, START), tmp_path / "expected")
    for file in (tmp_path / "expected").iterdir():
        assert (tmp_path / "lines" / file.name).read_bytes() == file.read_bytes()


def test_contrapro_gives_a_line_for_each_of_its_candidates(data, tmp_path: Path) -> None:
    """36,031 lines (data/contrapro/README.md): reference first, then the contrastives in order."""
    folder = data("contrapro")
    files, candidates = write_text(read_suite(folder, "contrapro-rebuilt"), tmp_path)
    assert candidates == 36_031
    with gzip.open(folder / "contrapro_reconstructed.jsonl.gz", "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    expected: dict[str, list[str]] = {file.name: [] for file in files}
    for row in rows:
        for number, target in enumerate([row["ref"], *row["contrastive"]]):
            expected["contrapro-rebuilt.text.en"].append(row["src"])
            expected["contrapro-rebuilt.text.de"].append(target)
            expected["contrapro-rebuilt.context.en"].append(row["src_context"])
            expected["contrapro-rebuilt.context.de"].append(row["ref_context"])
            expected["contrapro-rebuilt.groups"].append(f"{row['id']}\t{1 if number == 0 else 0}")
    for file in files:
        assert file.read_text(encoding="utf-8").split("\n") == [*expected[file.name], ""]


# A suite's sources to translate, a line or a document per example; what comes back is found again in either layout.

LAMP_SOURCES = Example("lamp", ("", "The lamp fell.", "It broke."), (("", "L.", "Sie zerbrach."),) * 2, 0)
START_SOURCES = Example("start", ("", "", "It rains."), (("", "", "Es regnet."),) * 3, 2)
LONG = Example("long", ("A hat.", "Look.", "It is big."), (("Ein Hut.", "Sieh.", "Er ist groß."),) * 2, None)


def tiny_sources(*examples: Example) -> Suite:
    return suite_of(HEADER, lambda: examples)


SUITE = tiny_sources(LAMP_SOURCES, START_SOURCES, LONG)


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
        write_sources(tiny_sources(broken), file)
    with pytest.raises(AnaphoraError, match="example none: the current sentence is empty"):
        write_sources(tiny_sources(Example("none", ("A hat.", " "), (("Ein Hut.", "Er"),), 0)), file, documents=True)
    with pytest.raises(AnaphoraError, match="a separator joins"):
        write_sources(SUITE, file, documents=True, separator=" ")


@pytest.mark.parametrize("documents", [True, False])
@given(data=st.data())
@settings(derandomize=True, max_examples=60)
def test_translations_come_back_from_every_layout(
    tmp_path_factory: pytest.TempPathFactory, documents: bool, data: st.DataObject
) -> None:
    """The translator changes every line, and now and then writes nothing."""
    sentence = st.sampled_from(["", "A hat.", "Look.", "We saw it."])
    size = data.draw(st.integers(0, 3))
    passages = data.draw(st.lists(st.tuples(*[sentence] * size, st.just("It is.")), min_size=1, max_size=8))
    suite = tiny_sources(*(Example(str(k), passage, (passage, passage), 0) for k, passage in enumerate(passages)))
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


def test_translated_documents_have_the_shape_of_their_sources(file: Path) -> None:
    file.write_text("a\nb\n\nc\n\nd\ne\nf\n")
    passages = translated_passages(file, SUITE)
    assert [len(passage) for passage in passages] == [len(example.source) for example in SUITE]
    assert [[text for text in passage if text] for passage in passages] == [["a", "b"], ["c"], ["d", "e", "f"]]
    assert [passage[-1] for passage in passages] == ["b", "c", "f"]
    file.write_text("a\nb\n\nc\n\ne\nf\n")  # one sentence of context
    assert [passage[-2:] for passage in translated_passages(file, SUITE)][2] == ("e", "f")
    file.write_text("b\nc\nf\n")
    assert translated_passages(file, SUITE) == [("b",), ("c",), ("f",)]


def test_neither_lines_nor_documents_is_refused(file: Path) -> None:
    file.write_text("Sie zerbrach.\nEs regnet.\n")
    with pytest.raises(BadInput, match="2 lines, but tiny has 3 examples") as error:
        current_translations(file, SUITE)
    assert "suites convert tiny --to sources" in str(error.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a\nb\n\nc\n\nd\ne\nf\ng\n", r"\.en: line 6: a document of 4 lines, but example 'long' has 3 sentences"),
        ("a\nb\n\nc\n", r"sources\.en: 2 documents \(4 lines\), but tiny has 3 examples"),
    ],
)
def test_documents_that_do_not_fit_are_named(file: Path, text: str, problem: str) -> None:
    file.write_text(text)
    suite = replace(SUITE, path=Path("my suite.jsonl"))
    with pytest.raises(BadInput, match=problem) as error:
        translated_passages(file, suite)
    assert str(error.value).endswith("suites convert 'my suite.jsonl' --to sources --documents")


@pytest.mark.parametrize("part", ["/../../out", "a/b", "x\0", "x" * 300, "\n"])
@pytest.mark.parametrize("path", ["name", "source_language", "target_language"])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, part: str, path: str) -> None:
    suite = tiny(Example("1", ("It.",), (("Er.",), ("Sie.",)), 0), header=replace(HEADER, **{path: part}))
    with pytest.raises(AnaphoraError, match="cannot be part of a file name"):
        write_text(suite, tmp_path / "inner" / "folder")
    assert list(tmp_path.rglob("*")) == []
