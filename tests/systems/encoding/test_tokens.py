"""Tokens: how long a question is, which candidates are the same, and one line where something cannot be loaded."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError
from anaphora.scoring.tree import EncodedExample
from anaphora.systems.encoding.tokens import answer, load_tokenizer, loaded, too_long
from anaphora.systems.scored import Answer

# Few different tokens and short sequences, so that candidates are often the same.
ids = st.lists(st.integers(0, 2), max_size=3).map(tuple)


@pytest.mark.parametrize(
    ("encoded", "longest"),
    [
        (EncodedExample((5, 6, 7, 2), (0,), ((8, 2), (9, 2))), 4),  # the source
        (EncodedExample((5, 2), (0, 1), ((8, 2), (8, 9, 2))), 5),  # what is read first and the longest candidate
        (EncodedExample((), (0,), ()), 1),
        (EncodedExample((), (), ()), 0),
    ],
)
def test_how_many_positions_a_question_needs(encoded: EncodedExample, longest: int) -> None:
    assert encoded.longest == longest


@given(st.lists(ids, min_size=1, max_size=6))
def test_pairs_of_candidates_that_are_the_same_are_undecidable(candidates: list[tuple[int, ...]]) -> None:
    found = answer(candidates, [(-float(n), n) for n in range(len(candidates))], 3)
    size = len(candidates)
    same = {(i, j) for i in range(size) for j in range(i + 1, size) if candidates[i] == candidates[j]}
    assert len(found.undecidable) == len(same)
    assert set(found.undecidable) == same
    assert found._replace(undecidable=()) == Answer([-float(n) for n in range(size)], list(range(size)), (), 3)


def test_a_text_that_is_too_long_is_shown_by_its_beginning() -> None:
    error = too_long(1234, 1024, "x\ny" * 100, "Use less")
    assert str(error) == f"1,234 tokens, but the model takes 1,024: {('x' + chr(10) + 'y') * 20!r}… Use less"
    assert "\n" not in str(error)


# What cannot be loaded


def failing(error: BaseException) -> Any:
    raise error


def test_what_is_loaded_is_given() -> None:
    assert loaded("any", "model", lambda: [1, 2]) == [1, 2]


def test_an_error_of_any_class_is_one_line(tmp_path: Path) -> None:
    class OwnError(Exception):
        pass

    with pytest.raises(AnaphoraError) as caught:
        loaded(str(tmp_path), "model", lambda: failing(OwnError("first\n\n  second\tline " + "x" * 999)))
    text = str(caught.value)
    assert text.startswith(f"{tmp_path}: the model cannot be loaded: first second line xxx")
    assert text.endswith("x" * 9)
    assert len(text) == len(f"{tmp_path}: the model cannot be loaded: ") + 300
    assert caught.value.__suppress_context__


def test_a_name_that_is_no_path_may_have_been_meant_for_the_hub(tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match=r"cannot be loaded \(no such path here, and it could not be had .*: why$"):
        loaded(str(tmp_path / "nothing"), "model", lambda: failing(ValueError("why")))


def test_who_interrupts_is_not_held_up() -> None:
    with pytest.raises(KeyboardInterrupt):
        loaded("any", "model", lambda: failing(KeyboardInterrupt()))


def test_a_folder_without_a_tokeniser(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(AnaphoraError, match="the tokeniser cannot be loaded: ") as caught:
        load_tokenizer(str(tmp_path))
    assert "\n" not in str(caught.value)


def test_without_transformers_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(AnaphoraError, match=r'transformers, which is not installed: pip install "anaphora\[ct2\]"$'):
        load_tokenizer("any")
