"""Alignments are word numbers in pairs, exchanged in the Pharaoh format; what does not fit is refused by its place."""

from __future__ import annotations

import contextlib
import gzip
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.align.alignment import (
    check_alignment,
    format_alignment,
    links,
    parse_alignment,
    read_alignments,
    transposed,
)
from anaphora.core.errors import BadInput

FIXED = settings(derandomize=True, deadline=None)
POINTS = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99))).map(tuple)
HERE = Path("x.align")


def test_a_line_is_source_and_target_words_from_0() -> None:
    assert parse_alignment("0-0 1-2\t3-1", HERE, 1) == ((0, 0), (1, 2), (3, 1))
    assert parse_alignment("  ", HERE, 1) == ()
    assert format_alignment([(0, 0), (10, 2)]) == "0-0 10-2"


@FIXED
@given(POINTS)
def test_what_is_written_is_read_again(points: tuple[tuple[int, int], ...]) -> None:
    assert parse_alignment(format_alignment(points), HERE, 1) == points


@pytest.mark.parametrize(
    "item", ["1", "1-", "-1", "1-2-3", "a-b", "1–2", "1:2", "²-1", "١-1", "1-+2", "-1-2", "1-" + "9" * 5000]
)
def test_anything_else_is_no_point(item: str) -> None:
    with pytest.raises(BadInput, match=r"x\.align: line 1,234: not an alignment point: .* A line is source-target"):
        parse_alignment(f"0-0 {item}", HERE, 1234)


@FIXED
@given(st.text("0123456789- ab²", max_size=12))
def test_a_line_is_read_or_refused(line: str) -> None:
    good = all(re.fullmatch("[0-9]+-[0-9]+", item) for item in line.split())
    with contextlib.nullcontext() if good else pytest.raises(BadInput, match="line 1: not an alignment point"):
        assert len(parse_alignment(line, HERE, 1)) == len(line.split())


def test_files_may_be_gzipped_and_errors_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.align.gz"
    path.write_bytes(gzip.compress(b"0-0\n\n1-1 2-0\r\n"))
    assert list(read_alignments(path)) == [((0, 0),), (), ((1, 1), (2, 0))]
    path.write_bytes(b"0-0\n0_0\n")
    with pytest.raises(BadInput, match="line 2: not an alignment point: '0_0'"):
        list(read_alignments(path))


@pytest.mark.parametrize(("source", "target"), [(1, 9), (2, 3), (9, 3)])
def test_points_outside_the_sentences(source: int, target: int) -> None:
    alignment = ((0, 0), (1, 3))
    check_alignment(alignment, 2, 4, HERE, 7)
    with pytest.raises(BadInput, match=r"line 7: point 1-3 is outside the sentences of \d and \d words"):
        check_alignment(alignment, source, target, HERE, 7)


def test_the_links_of_each_source_word() -> None:
    assert links(((2, 1), (0, 3), (0, 1), (0, 3)), 4) == [[1, 3], [], [1], []]


@FIXED
@given(POINTS)
def test_transposing_twice_changes_nothing(points: tuple[tuple[int, int], ...]) -> None:
    assert transposed(transposed(points)) == points
    assert transposed(points) == tuple((t, s) for s, t in points)
