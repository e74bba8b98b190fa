"""Score files come from any toolkit, and some are broken: for each way of being so one line says what and where."""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core import files
from anaphora.core.errors import BadInput
from anaphora.runs import ScoredExample
from anaphora.suites.example import Example
from anaphora.systems.scores import ScoreFile, parse_scores

FIXED = settings(derandomize=True)


def example(number: int, size: int) -> Example:
    return Example(f"e{number}", ("It.",), (("Es.",),) * size, 0, {"number": number})


EXAMPLES = (example(0, 2), example(1, 3), example(2, 2))  # seven candidates


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "my.scores"


def scored(file: Path, content: str | bytes) -> list[ScoredExample]:
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(ScoreFile(file).score(EXAMPLES))


def problem(file: Path, content: str | bytes) -> BadInput:
    with pytest.raises(BadInput) as error:
        scored(file, content)
    assert str(error.value).startswith(f"{file}: ")
    assert "\n" not in str(error.value)
    return error.value


def test_scores_are_dealt_out_in_the_order_of_the_candidates(file: Path) -> None:
    scores = scored(file, "-1\n-2\n-3.5\n4e-2\n+5\n-0\n7.\n")
    assert scores == [
        ScoredExample("e0", 0, {"number": 0}, [-1.0, -2.0]),
        ScoredExample("e1", 0, {"number": 1}, [-3.5, 0.04, 5.0]),
        ScoredExample("e2", 0, {"number": 2}, [0.0, 7.0]),
    ]


@pytest.mark.parametrize(
    "content",
    [
        b"1\n2\n3\n4\n5\n6\n7",  # no end of line at the end
        b"1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n",  # written on Windows
        b"\xef\xbb\xbf1\n2\n3\n4\n5\n6\n7\n",  # with a byte-order mark
        b" 1\n2 \n3\n\x0b4\n5\n6\n7\n",
        "\u00a01\n2\n３\n4\n5\n6\n7\n".encode(),
        gzip.compress(b"1\n2\n3\n4\n5\n6\n7\n", mtime=0),
    ],
    ids=["no end", "Windows", "byte-order mark", "spaces", "other digits", "gzip"],
)
def test_files_as_people_have_them_are_read(file: Path, content: bytes) -> None:
    assert [score for item in scored(file, content) for score in item.scores] == [1, 2, 3, 4, 5, 6, 7]


def test_tokens_stand_behind_a_tab(file: Path) -> None:
    scores = scored(file, "-1\t3\n-2\t4\n-3\n-4\n-5\n-6\t 12 \n-7\t10\n")
    assert [item.tokens for item in scores] == [[3, 4], None, [12, 10]]
    assert [item.scores for item in scores] == [[-1, -2], [-3, -4, -5], [-6, -7]]


@pytest.mark.parametrize(("content", "line"), [("1\t3\n2\n3\n4\n5\n6\n7\n", 2), ("1\n2\n3\n4\t9\n5\n6\n7\n", 3)])
def test_tokens_for_only_some_candidates_are_an_error(file: Path, content: str, line: int) -> None:
    error = problem(file, content)
    assert error.line == line
    assert "no token count here" in str(error)
    assert "on every line, or on none" in str(error)


def test_a_tab_without_tokens_is_half_a_line(file: Path) -> None:
    assert problem(file, "1\t\n2\t\n3\n4\n5\n6\n7\n").line == 1


@pytest.mark.parametrize("tokens", ["", " ", "x", "-3", "2.5", "3\t4"])
def test_tokens_are_a_count(file: Path, tokens: str) -> None:
    error = problem(file, f"1\n2\n3\t{tokens}\n4\t1\n5\t1\n6\n7\n")
    assert error.line == 3
    assert "not a number of tokens" in str(error)


@pytest.mark.parametrize(
    "text",
    [
        "nan",
        "NaN",
        "inf",
        "-inf",
        "Infinity",
        "1e999",
        "abc",
        "1,5",
        "1_000",
        "−1",
        "0x1f",
        "1 2",
        "-3.5 ||| 4",
        "1e",
        "--1",
    ],
)
def test_a_score_is_a_finite_number(file: Path, text: str) -> None:
    error = problem(file, f"1\n2\n3\n{text}\n5\n6\n7\n")
    assert error.line == 4
    assert f"not a finite number: {text!r}" in str(error)
    assert "One score per candidate and line" in str(error)


def test_a_long_line_is_quoted_by_its_beginning(file: Path) -> None:
    assert len(str(problem(file, "x" * 5_000 + "\n"))) < 200 + len(str(file))


@pytest.mark.parametrize("blank", ["", " ", "\t", "\r"])
def test_an_empty_line_is_no_score(file: Path, blank: str) -> None:
    error = problem(file, f"1\n2\n{blank}\n4\n5\n6\n7\n")
    assert error.line == 3
    assert "an empty line" in str(error)


def test_an_empty_line_at_the_end_is_called_that(file: Path) -> None:
    error = problem(file, "1\n2\n3\n4\n5\n6\n7\n\n")
    assert (error.line, error.problem) == (8, "an empty line")


@pytest.mark.parametrize("actual", [1, 2, 3, 6])
def test_too_few_scores_name_both_numbers(file: Path, actual: int) -> None:
    error = problem(file, "1\n" * actual)
    assert error.line == actual
    assert f"7 scores expected (one per candidate of the suite), found {actual}." in str(error)
    assert "anaphora suites convert SUITE --to text" in str(error)


def test_an_empty_file_has_no_line_to_name(file: Path) -> None:
    error = problem(file, "")
    assert error.line is None
    assert "7 scores expected (one per candidate of the suite), found 0." in str(error)


@pytest.mark.parametrize("actual", [8, 10_007])
def test_too_many_scores_name_the_first_line_too_many(file: Path, actual: int) -> None:
    error = problem(file, "1\n" * actual)
    assert error.line == 8
    assert f"7 scores expected (one per candidate of the suite), found {actual:,}." in str(error)


def test_the_score_file_of_an_empty_suite_is_empty(file: Path) -> None:
    file.write_text("")
    assert list(ScoreFile(file).score([])) == []
    file.write_text("1\n")
    with pytest.raises(BadInput, match="0 scores expected"):
        list(ScoreFile(file).score([]))


def test_a_truncated_gzip_is_reported(file: Path) -> None:
    whole = gzip.compress("".join(f"{math.sin(k)}\n" for k in range(7)).encode())
    error = problem(file, whole[: len(whole) // 2])
    assert "the gzip file is truncated" in str(error)
    assert error.line is not None


def test_a_damaged_gzip_is_reported(file: Path) -> None:
    whole = bytearray(gzip.compress("".join(f"{math.sin(k)}\n" for k in range(7)).encode()))
    whole[-5] ^= 0xFF
    assert "the gzip file is damaged" in str(problem(file, bytes(whole)))


def test_bytes_that_are_no_text_are_located(file: Path) -> None:
    error = problem(file, b"1\n2\n3\xff\n4\n5\n6\n7\n")
    assert error.line == 3
    assert "not UTF-8 at byte 2 of the line (0xff)" in str(error)


def test_a_missing_file_is_an_error_when_needed(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.scores: no such file"):
        list(ScoreFile(tmp_path / "none.scores").score(EXAMPLES))


@pytest.mark.parametrize("block", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_may_lie_across_the_blocks_they_are_read_in(
    file: Path, block: int, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "BLOCK", block)
    scores = scored(file, end.join(["-1.25", "-2", "3", "44444", "5", "6", "7"]) + end)
    assert [score for item in scores for score in item.scores] == [-1.25, -2, 3, 44444, 5, 6, 7]
    assert list(files.byte_lines(file)) == [b"-1.25", b"-2", b"3", b"44444", b"5", b"6", b"7"]


def test_examples_and_lines_are_read_as_they_are_needed(file: Path) -> None:
    """Neither the suite nor the file is held: the first answer comes before the second example is asked for."""
    file.write_text("1\n" * 7)
    asked = []

    def watched() -> Iterator[Example]:
        for one in EXAMPLES:
            asked.append(one.id)
            yield one

    answers = ScoreFile(file).score(watched())
    assert next(answers).id == "e0"
    assert asked == ["e0"]
    assert [answer.id for answer in answers] == ["e1", "e2"]


@FIXED
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_what_python_writes_is_read_back(scores: list[float]) -> None:
    """Also where a sum of scores has no finite value."""
    lines = [repr(score).encode() for score in scores]
    assert parse_scores(lines, Path("x"), 1) == (scores, None)
    with_tokens = [line + b"\t%d" % k for k, line in enumerate(lines)]
    assert parse_scores(with_tokens, Path("x"), 1) == (scores, list(range(len(scores))))


@FIXED
@given(st.binary(max_size=12), st.integers(1, 3))
def test_any_line_is_a_number_or_a_located_error(line: bytes, before: int) -> None:
    lines = [b"1"] * before + [line]
    scores: Sequence[float] = ()
    where: int | None = None
    try:
        scores, _ = parse_scores(lines, Path("x"), 11)
    except BadInput as error:
        where = error.line
    if scores:
        assert all(map(math.isfinite, scores))
        assert b"_" not in line
    else:
        assert where in range(11, 11 + len(lines))
