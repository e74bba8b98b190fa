"""A Suite is Examples under a header, and a file of them that can be streamed, compared by its hash, and trusted:
what is written is what is read, whatever is in the text."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anaphora.suites.suite as suite_module
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.suites.example import Example
from anaphora.suites.suite import FORMAT_VERSION, Header, Suite, read_native, suite_of

HEADER = Header("tiny", "en", "de", ("pronoun", "distance>3"), "block", "@misc{tiny}", "CC0")
LAMP = Example("a", ("The lamp fell.", "It broke."), (("L.", "Sie zerbrach."), ("L.", "Er zerbrach.")), 0, {"n": 1})
PRIOR = Example("b", ("It is big.",), (("Er ist groß.",), ("Sie ist groß.",), ("Es ist groß.",)), None)
HEADER_LINE = '{"anaphora": 1, "name": "tiny", "source_language": "en", "target_language": "de"}'
GOOD = '{"id": "a", "source": ["It is."], "candidates": [["Er ist."], ["Sie ist."]], "gold": 0, "tags": {}}'


def tiny(*examples: Example, header: Header = HEADER) -> Suite:
    return suite_of(header, lambda: examples)


def written(tmp_path: Path, *lines: str | bytes, end: bytes = b"\n") -> Path:
    path = tmp_path / "suite.jsonl"
    path.write_bytes(b"".join((line.encode() if isinstance(line, str) else line) + end for line in lines))
    return path


# the file


def test_the_file_is_as_the_contract_says(tmp_path: Path) -> None:
    tiny(LAMP, PRIOR).write(tmp_path / "tiny.jsonl")
    header, *examples = map(json.loads, (tmp_path / "tiny.jsonl").read_text(encoding="utf-8").splitlines())
    assert header == {
        "anaphora": 1,
        "name": "tiny",
        "source_language": "en",
        "target_language": "de",
        "breakdowns": ["pronoun", "distance>3"],
        "blocks": "block",
        "citation": "@misc{tiny}",
        "licence": "CC0",
    }
    assert examples == [
        {
            "id": "a",
            "source": ["The lamp fell.", "It broke."],
            "candidates": [["L.", "Sie zerbrach."], ["L.", "Er zerbrach."]],
            "gold": 0,
            "tags": {"n": 1},
        },
        {
            "id": "b",
            "source": ["It is big."],
            "candidates": [["Er ist groß."], ["Sie ist groß."], ["Es ist groß."]],
            "gold": None,
            "tags": {},
        },
    ]


def test_the_file_can_be_read_by_people(tmp_path: Path) -> None:
    tiny(PRIOR).write(tmp_path / "tiny.jsonl")
    assert "Er ist groß." in (tmp_path / "tiny.jsonl").read_text(encoding="utf-8")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    tiny(LAMP, PRIOR).write(tmp_path / "tiny.jsonl")
    suite = read_native(tmp_path / "tiny.jsonl")
    assert suite.header == HEADER
    assert list(suite) == [LAMP, PRIOR]
    assert list(suite) == [LAMP, PRIOR]  # and again
    assert suite.path == tmp_path / "tiny.jsonl"
    assert suite.header.languages == "en-de"


def test_a_handwritten_file_needs_only_the_contract(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER_LINE, GOOD.replace(', "tags": {}', ""))
    suite = read_native(path)
    assert suite.header == Header("tiny", "en", "de")
    assert list(suite) == [Example("a", ("It is.",), (("Er ist.",), ("Sie ist.",)), 0)]


SENTENCE = st.text(max_size=12) | st.sampled_from(
    ["one\u2028two\u2029three", "👩🏽‍🚀 she", "\x00", '"\\', "a\nb\r\nc", "\ufeff", " ", "e\u0301", "אבג"]
)
PASSAGE = st.lists(SENTENCE, min_size=1, max_size=3).map(tuple)
SCALAR = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | SENTENCE
)
TAG = st.recursive(
    SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SENTENCE, inner, max_size=3), max_leaves=8
)


@st.composite
def example(draw: st.DrawFn) -> Example:
    candidates = tuple(draw(st.lists(PASSAGE, min_size=1, max_size=4)))
    gold = draw(st.none() | st.integers(0, len(candidates) - 1))
    return Example(draw(SENTENCE), draw(PASSAGE), candidates, gold, draw(st.dictionaries(SENTENCE, TAG, max_size=3)))


@given(
    examples=st.lists(example(), max_size=5),
    name=SENTENCE,
    citation=SENTENCE,
    breakdowns=st.lists(SENTENCE, max_size=2),
)
def test_any_text_survives_writing_and_reading(
    tmp_path_factory: pytest.TempPathFactory,
    examples: list[Example],
    name: str,
    citation: str,
    breakdowns: list[str],
) -> None:
    folder = tmp_path_factory.mktemp("any")
    header = Header(name, "en", "de", tuple(breakdowns), citation=citation)
    hashes = set()
    for file in (folder / "s.jsonl", folder / "s.jsonl.gz"):
        suite = tiny(*examples, header=header)
        hashes |= {suite.write(file), suite.sha256()}
        back = read_native(file)
        assert back.header == header
        assert list(back) == examples
        hashes.add(back.sha256())
    assert len(hashes) == 1


# the hash


def test_the_hash_is_that_of_the_example_lines(tmp_path: Path) -> None:
    returned = tiny(LAMP, PRIOR).write(tmp_path / "tiny.jsonl")
    lines = (tmp_path / "tiny.jsonl").read_bytes().split(b"\n", 1)[1]
    assert returned == hashlib.sha256(lines).hexdigest()
    assert read_native(tmp_path / "tiny.jsonl").sha256() == returned


def test_the_hash_depends_on_examples_not_header_or_compression(tmp_path: Path) -> None:
    suite = tiny(LAMP, PRIOR)
    digest = suite.sha256()
    assert tiny(LAMP, PRIOR, header=Header("other", "en", "fr")).sha256() == digest
    assert suite.write(tmp_path / "a.jsonl.gz") == digest == read_native(tmp_path / "a.jsonl.gz").sha256()
    others = [
        tiny(PRIOR, LAMP),
        tiny(LAMP),
        tiny(LAMP, replace(PRIOR, id="c")),
        tiny(LAMP, replace(PRIOR, gold=1)),
        tiny(LAMP, replace(PRIOR, tags={"n": 2})),
        tiny(LAMP, replace(PRIOR, candidates=PRIOR.candidates[::-1])),
    ]
    assert len({digest, *(other.sha256() for other in others)}) == len(others) + 1


def test_the_hash_can_be_had_while_the_examples_are_used(tmp_path: Path) -> None:
    """So that evaluating needs to read a file only once."""
    tiny(LAMP, PRIOR).write(tmp_path / "tiny.jsonl")
    for suite in (tiny(LAMP, PRIOR), read_native(tmp_path / "tiny.jsonl")):
        digest = hashlib.sha256()
        assert list(suite.examples(digest)) == [LAMP, PRIOR]
        assert digest.hexdigest() == suite.sha256()


@pytest.mark.parametrize("name", ["tiny.jsonl", "tiny.jsonl.gz"])
def test_the_same_suite_gives_the_same_bytes(tmp_path: Path, name: str) -> None:
    tiny(LAMP, PRIOR).write(tmp_path / "one" / name)
    tiny(LAMP, PRIOR).write(tmp_path / "two" / name)
    assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_line_ends_blank_lines_and_byte_order_marks_change_nothing(tmp_path: Path) -> None:
    plain = read_native(written(tmp_path, HEADER_LINE, GOOD))
    expected, digest = list(plain), plain.sha256()
    odd = read_native(written(tmp_path, b"\xef\xbb\xbf" + HEADER_LINE.encode(), "", GOOD, "  ", end=b"\r\n"))
    assert list(odd) == expected
    assert odd.sha256() == digest


# streaming


def test_opening_reads_only_the_header(tmp_path: Path) -> None:
    suite = read_native(written(tmp_path, HEADER_LINE, GOOD, "{broken", GOOD))
    examples = iter(suite)
    assert next(examples).id == "a"
    with pytest.raises(BadInput, match="line 3"):
        next(examples)


def test_examples_are_streamed_when_reading_and_writing(tmp_path: Path) -> None:
    alive, most = 0, 0

    class Watched(Example):  # counts how many examples exist at once
        def __init__(self, *values: Any) -> None:
            nonlocal alive, most
            super().__init__(*values)
            alive += 1
            most = max(most, alive)

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    def examples() -> Iterator[Example]:
        for number in range(100):
            yield Watched(str(number), ("It.",), (("Er.",), ("Sie.",)), 0)

    suite = suite_of(HEADER, examples)
    suite.write(tmp_path / "many.jsonl")
    suite.sha256()
    assert most <= 2
    assert [e.id for e in read_native(tmp_path / "many.jsonl")] == [str(number) for number in range(100)]


def test_a_suite_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "tiny.jsonl"
    tiny(LAMP).write(path)

    def examples() -> Iterator[Example]:
        yield PRIOR
        raise BadInput("somewhere", "broken")

    with pytest.raises(BadInput):
        suite_of(HEADER, examples).write(path)
    assert list(read_native(path)) == [LAMP]
    assert list(tmp_path.iterdir()) == [path]


def test_a_suite_can_overwrite_the_file_it_reads(tmp_path: Path) -> None:
    tiny(LAMP, PRIOR).write(tmp_path / "tiny.jsonl")
    read_native(tmp_path / "tiny.jsonl").write(tmp_path / "tiny.jsonl")
    assert list(read_native(tmp_path / "tiny.jsonl")) == [LAMP, PRIOR]


def test_a_suite_does_not_print_its_examples() -> None:
    assert "lamp" not in repr(tiny(LAMP))


# bad headers


@pytest.mark.parametrize(
    "first",
    ["", "not json", "[]", "null", '{"name": "tiny"}', GOOD, b"\x1f\x00"],
    ids=["empty", "text", "list", "null", "no version", "an example", "bytes"],
)
def test_a_missing_header_is_an_error_with_a_remedy(tmp_path: Path, first: str | bytes) -> None:
    with pytest.raises(BadInput, match=r"suite\.jsonl: line 1: not a suite file.* anaphora suites convert "):
        read_native(written(tmp_path, first, GOOD))


def test_an_empty_file_is_not_a_suite(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="line 1: not a suite file"):
        read_native(written(tmp_path))


def test_a_newer_file_asks_for_a_newer_program(tmp_path: Path) -> None:
    newer = HEADER_LINE.replace("1", str(FORMAT_VERSION + 1))
    with pytest.raises(
        BadInput, match=r"line 1: a suite file of format version 2, .* up to 1\. Upgrade with: pip install -U"
    ):
        read_native(written(tmp_path, newer, GOOD))


@pytest.mark.parametrize("version", ["0", "-1", '"1"', "1.0", "true", "null"])
def test_a_version_that_never_was_is_an_error(tmp_path: Path, version: str) -> None:
    with pytest.raises(BadInput, match="a suite file of format version"):
        read_native(written(tmp_path, HEADER_LINE.replace("1", version)))


@pytest.mark.parametrize("key", ["name", "source_language", "target_language"])
def test_a_header_without_what_is_needed_says_what(tmp_path: Path, key: str) -> None:
    header = json.loads(HEADER_LINE)
    for value in (None, 5):
        with pytest.raises(BadInput, match=f"line 1: the header lacks '{key}'"):
            read_native(written(tmp_path, json.dumps(header | {key: value})))


@pytest.mark.parametrize("breakdowns", ["pronoun", [1], {"a": 1}])
def test_breakdowns_are_a_list_of_strings(tmp_path: Path, breakdowns: Any) -> None:
    header = json.loads(HEADER_LINE) | {"breakdowns": breakdowns}
    with pytest.raises(BadInput, match="line 1: 'breakdowns' in the header must be a list of strings"):
        read_native(written(tmp_path, json.dumps(header)))


def test_an_invalid_utf8_header_is_located_by_position(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="line 1: not UTF-8 at byte"):
        read_native(written(tmp_path, HEADER_LINE.replace("tiny", "Müller").encode("latin-1")))


def test_a_header_may_say_more_than_is_known(tmp_path: Path) -> None:
    header = json.loads(HEADER_LINE) | {"made_by": "somebody"}
    assert read_native(written(tmp_path, json.dumps(header))).header.name == "tiny"


# bad examples


def row(**changes: Any) -> str:
    return json.dumps({key: value for key, value in (json.loads(GOOD) | changes).items() if value is not ...})


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "not JSON: .* at column 2"),
        ("[1]", "an object is expected"),
        (row(id=...), "'id' is missing"),
        (row(source=...), "'source' is missing"),
        (row(candidates=...), "'candidates' is missing"),
        (row(gold=...), "'gold' is missing"),
        (row(id=5), "'id' must be a string"),
        (row(source="It is."), "'source' must be a list"),
        (row(source=[]), "'source' must be a list of one or more strings"),
        (row(source=["It.", None]), "'source' must be a list of one or more strings"),
        (row(candidates=[]), "'candidates' must be a list of passages"),
        (row(candidates=["Er ist.", "Sie ist."]), "'candidates' must be a list of passages"),
        (row(candidates=[["Er ist."], []]), "'candidates' must be a list of passages"),
        (row(candidates={"a": ["Er ist."]}), "'candidates' must be a list of passages"),
        (row(gold=2), "gold is 2, but the candidates are numbered 0 to 1"),
        (row(gold=-1), "gold is -1, but"),
        (row(gold="0"), "gold is '0', but"),
        (row(gold=0.0), r"gold is 0\.0, but"),
        (row(gold=True), "gold is True, but"),
        (row(tags=[]), "'tags' must be an object"),
    ],
)
def test_an_invalid_example_line_is_located_and_explained(tmp_path: Path, line: str, problem: str) -> None:
    suite = read_native(written(tmp_path, HEADER_LINE, GOOD, "", line))
    with pytest.raises(BadInput, match=rf"suite\.jsonl: line 4: {problem}"):
        list(suite)


def test_an_invalid_utf8_line_is_located_by_position(tmp_path: Path) -> None:
    line = GOOD.replace("Er ist", "Er ißt").encode("latin-1")
    suite = read_native(written(tmp_path, HEADER_LINE, GOOD, line))
    position = line.index(b"\xdf") + 1
    with pytest.raises(BadInput, match=rf"line 3: not UTF-8 at byte {position} of the line \(0xdf\)"):
        list(suite)


def test_a_truncated_gzip_gives_what_it_can_then_the_error(tmp_path: Path) -> None:
    path = tmp_path / "suite.jsonl.gz"
    begin = gzip.compress(f"{HEADER_LINE}\n{GOOD}\n".encode())
    path.write_bytes(begin + gzip.compress(GOOD.encode())[:-12])
    examples = iter(read_native(path))
    assert next(examples).id == "a"
    with pytest.raises(BadInput, match=r"line 3: the gzip file is truncated"):
        next(examples)


@pytest.mark.parametrize("tag", [float("nan"), float("-inf"), "\ud800"])
def test_an_example_that_is_no_json_is_named(tmp_path: Path, tag: float | str) -> None:
    """Numbers that are none, and text that is none (half of a character)."""
    example = Example("a", ("x",), (("er",), ("sie",)), 0, {"n": tag})
    suite = suite_of(Header("made", "en", "de"), lambda: [example])
    with pytest.raises(AnaphoraError, match="example 'a' cannot be written: "):
        suite.write(tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize("value", ["NaN", "-Infinity"])
def test_a_tag_that_is_not_a_number_is_refused(tmp_path: Path, value: str) -> None:
    """Later it would be in a run, in a report or in a study, none of which can write it."""
    path = tmp_path / "suite.jsonl"
    header = '{"anaphora": 1, "name": "x", "source_language": "en", "target_language": "de"}'
    row = '{"id": "1", "source": ["x"], "candidates": [["er"], ["sie"]], "gold": 0, "tags": {"d": VALUE}}'
    path.write_text(f"{header}\n{row.replace('VALUE', value)}\n")
    with pytest.raises(BadInput, match=rf"suite\.jsonl: line 2: .*{value} is not a number that JSON has"):
        list(read_native(path))


def numbered(calls: list[int]) -> Suite:
    """A suite of four generated examples that notes how often it is generated."""

    def examples() -> Iterator[Example]:
        calls.append(1)
        for k in range(4):
            yield Example(str(k), (f"It is {k}.",), ((f"Er <{k}>.",), (f"Es {k}.",)), 0)

    return suite_of(Header("numbered", "en", "de", ("gender",)), examples)


def test_length_and_items_of_a_suite(tmp_path: Path) -> None:
    made = numbered([])
    made.write(tmp_path / "numbered.jsonl")
    for suite in (made, read_native(tmp_path / "numbered.jsonl"), read_native(tmp_path / "numbered.jsonl").load()):
        assert len(suite) == 4
        assert suite[3].id == suite[-1].id == "3"
        assert [example.id for example in suite[1:3]] == ["1", "2"]
        assert [example.id for example in suite[::-2]] == ["3", "1"]
        for index in (4, -5):
            with pytest.raises(IndexError, match=f"index {index} is out of range: numbered has 4 examples"):
                suite[index]


def test_a_list_of_a_generated_suite_generates_it_once() -> None:
    calls: list[int] = []
    suite = numbered(calls)
    assert [example.id for example in suite] == ["0", "1", "2", "3"]
    assert len(calls) == 1
    assert len(list(suite)) == 4
    assert len(calls) == 2


def test_counting_a_suite_file_parses_no_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbered([]).write(tmp_path / "numbered.jsonl")
    suite = read_native(tmp_path / "numbered.jsonl")
    monkeypatch.setattr(suite_module, "parse_example", None)
    assert len(suite) == 4


def test_a_suite_displays_itself(tmp_path: Path) -> None:
    suite = numbered([])
    assert repr(suite) == "<Suite numbered en-de>"
    suite.write(tmp_path / "x.jsonl")
    assert repr(read_native(tmp_path / "x.jsonl")) == f"<Suite numbered en-de from {tmp_path / 'x.jsonl'}>"
    html = suite._repr_html_()
    assert "numbered en→de · 4 examples" in html
    assert "Er &lt;0&gt;." in html
    assert "breakdowns: gender" in html
    assert suite, "a suite is true even where it is empty, as nothing is read"
