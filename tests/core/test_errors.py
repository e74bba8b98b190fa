"""Errors are for the person who reads them: one line that says what is wrong, where, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError, BadInput, did_you_mean


def test_a_bad_input_names_file_line_problem_and_remedy() -> None:
    error = BadInput("my.scores", "not a number: 'abc'", line=7, remedy="Write one score per line.")
    assert str(error) == "my.scores: line 7: not a number: 'abc'. Write one score per line."


def test_what_is_not_known_is_not_mentioned() -> None:
    assert str(BadInput("my.scores", "no such file")) == "my.scores: no such file"
    assert str(BadInput("my.scores", "too short", remedy="Score it again.")) == "my.scores: too short. Score it again."
    assert str(BadInput("my.scores", "not a number", line=3)) == "my.scores: line 3: not a number"


@pytest.mark.parametrize("problem", ["really?", "it ends here.", "stop!"])
def test_a_problem_that_ends_a_sentence_gets_no_full_stop(problem: str) -> None:
    assert str(BadInput("f", problem, remedy="Look.")) == f"f: {problem} Look."


def test_large_line_numbers_can_be_read() -> None:
    assert str(BadInput("f", "broken", line=35998)) == "f: line 35,998: broken"


def test_the_parts_are_kept_for_programs() -> None:
    error = BadInput(Path("a") / "b.jsonl", "broken", line=2, remedy="Mend it.")
    assert (error.path, error.line, error.problem, error.remedy) == ("a/b.jsonl", 2, "broken", "Mend it.")


def test_one_except_clause_catches_all_user_errors() -> None:
    with pytest.raises(AnaphoraError, match="f: broken"):
        raise BadInput("f", "broken")


def test_the_command_line_prints_exactly_one_line(anaphora, tmp_path: Path) -> None:
    done = anaphora("suites", "validate", tmp_path / "absent.jsonl", check=2)
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert "absent.jsonl" in done.stderr


def test_a_near_word_is_offered() -> None:
    assert did_you_mean("contrapo", ["contrapro", "lopes"]) == " (did you mean contrapro?)"


def test_of_several_near_words_the_two_nearest_are_offered() -> None:
    known = ["scat-train", "scat-test", "scat-valid", "voita"]
    assert did_you_mean("scat-tst", known) == " (did you mean scat-test or scat-train?)"


def test_nothing_is_offered_where_nothing_is_near() -> None:
    assert did_you_mean("xyzzy", ["contrapro", "lopes"]) == ""
    assert did_you_mean("contrapro", []) == ""


def test_known_words_may_come_from_an_iterator() -> None:
    assert did_you_mean("lops", iter(["lopes"])) == " (did you mean lopes?)"
