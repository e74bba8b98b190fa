"""Lists of pronoun pairs that people agree on: the published form, ours, and what breaks them."""

from __future__ import annotations

import json
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.errors import BadInput
from anaphora.languages.pair_list import (
    COLUMNS,
    PairJudgments,
    errors_of,
    pair_list_json,
    pair_list_rows,
    read_pair_list,
)


def test_the_published_form(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    entries = {"he_it": [[0.9, {"REF": 9, "SYS": 1}], [0.6, {"REF": 5, "Tie": 5}]], "it_he": [[1.0, {"SYS": 4}]]}
    path.write_text(json.dumps(entries))
    pair_list = read_pair_list(path)
    assert pair_list["he:it"] == PairJudgments(pytest.approx(0.75), 14, 1, 5)  # (0.9 · 10 + 0.6 · 10) / 20
    assert errors_of(pair_list) == frozenset()
    assert errors_of(pair_list, 0.75) == {"he:it"}  # it:he is agreed on, but people prefer the system's


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_the_published_pickle(tmp_path: Path, protocol: int) -> None:
    path = tmp_path / "pronoun_pair_list.pkl"
    entries = {"he_it": [[0.9, {"REF": 9, "SYS": 1}], (0.6, {"REF": 5, "Tie": 5})], "it_he": [[1.0, {"SYS": 4}]]}
    path.write_bytes(pickle.dumps(entries, protocol))
    assert read_pair_list(path)["he:it"] == PairJudgments(pytest.approx(0.75), 14, 1, 5)
    for bad in (["he_it"], {7: [[1.0, {}]]}, {"he_it": [[1.0, 5]]}, {"he_it": [[1.0, {"REF": float("inf")}]]}, {}):
        path.write_bytes(pickle.dumps(bad, protocol))
        with pytest.raises(BadInput):
            read_pair_list(path)
    path.write_bytes(pickle.dumps({"he_it": Path("x")}, protocol))
    with pytest.raises(BadInput, match="not a pickle of plain data"):
        read_pair_list(path)


def test_a_table(tmp_path: Path) -> None:
    path = tmp_path / "list.tsv"
    path.write_text("pair\tagreement\tREF\tSYS\tTie\nhe_it\t0.8\t3\t2\t0\nShe:he\t0.79\t9\t0\t\n")
    pair_list = read_pair_list(path)
    assert errors_of(pair_list) == {"he:it"}  # 0.8 is enough
    assert pair_list["she:he"].ties == 0


PRONOUNS = st.text("abcdefghijklmnopqrstuvwxyzäéø'", min_size=1, max_size=8)
COUNT = st.integers(0, 1000)


@settings(derandomize=True)
@given(
    entries=st.dictionaries(
        st.tuples(PRONOUNS, PRONOUNS).map(":".join),
        st.builds(PairJudgments, st.integers(-1_000_000, 1_000_000).map(lambda n: n / 1e6), COUNT, COUNT, COUNT),
        min_size=1,
    )
)
def test_what_is_written_is_read_again(entries: dict[str, PairJudgments]) -> None:
    table = "".join("\t".join(row) + "\n" for row in (COLUMNS, *pair_list_rows(entries)))
    for text in (pair_list_json(entries), table):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "list"
            path.write_text(text, encoding="utf-8")
            pair_list = read_pair_list(path)
        assert pair_list.keys() == entries.keys()
        for pair, judged in entries.items():
            assert pair_list[pair].counts == judged.counts
            assert pair_list[pair].agreement == pytest.approx(judged.agreement, abs=1e-6)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "not a list of pronoun pairs"),
        ("{}", "the list has no pronoun pairs"),
        ('{"he": [[1, {}]]}', "not a pronoun pair: 'he'"),
        ('{"he_it": [["x", {}]]}', "he_it: not an agreement with counts"),
        ('{"he_it": [[3, {}]]}', "agreement is 3.0"),
        ('{"he_it": [[1, {"REF": -1}]]}', "a count is negative"),
        ('{"he_it": 7}', "he_it: not an agreement with counts"),
        ("pair\tagreement\nhe_it\tx\n", "line 2: not an agreement with counts"),
        ("reference\tsystem\tagreement\nhe\t\t1\n", "not a pronoun pair: 'he:'"),
        ("reference\tagreement\nhe\t1\n", "not a list of pronoun pairs"),
        ("a\tb\n", "not a list of pronoun pairs"),
        ("[1]", "not a list of pronoun pairs"),
    ],
)
def test_a_broken_list_is_an_error(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "list"
    path.write_text(content)
    with pytest.raises(BadInput) as error:
        read_pair_list(path)
    assert problem in str(error.value)


def test_the_published_list(data: Callable[[str], Path]) -> None:
    pair_list = read_pair_list(data("eval-anaphora") / "pronoun_pair_list.json")
    assert len(pair_list) == 158
    assert len(errors_of(pair_list)) == 158  # it has only pairs with agreement ≥ 0.8
    assert (pair_list["his:its"].reference, pair_list["his:its"].system, pair_list["his:its"].ties) == (128, 5, 1)
