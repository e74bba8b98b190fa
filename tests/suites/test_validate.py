"""`suites validate` finds everything that would make a suite's figures mean less than they seem to, and says where."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import BadInput
from anaphora.suites.example import Example
from anaphora.suites.formats import read_suite
from anaphora.suites.suite import Header, suite_of
from anaphora.suites.validate import Problem, validate_file, validate_suite

HEADER = {"anaphora": 1, "name": "tiny", "source_language": "en", "target_language": "de"}


def row(**changes: Any) -> dict[str, Any]:
    good = {"id": "a", "source": ["A lamp.", "It is."], "candidates": [["L.", "Sie."], ["L.", "Er."]], "gold": 0}
    return good | changes


def written(folder: Path, *rows: dict[str, Any] | bytes) -> Path:
    path = folder / "suite.jsonl"
    lines = [line if isinstance(line, bytes) else json.dumps(line, ensure_ascii=False).encode() for line in rows]
    path.write_bytes(b"".join(line + b"\n" for line in (json.dumps(HEADER).encode(), *lines)))
    return path


def problems_in(path: Path) -> list[tuple[int | None, str | None, str]]:
    problems = list(validate_file(path))
    assert all(problem.path == str(path) for problem in problems)
    return [(problem.line, problem.id, problem.problem) for problem in problems]


def test_a_good_suite_has_no_problems(tmp_path: Path) -> None:
    assert problems_in(written(tmp_path, row(), row(id="b", gold=None), row(id="c", gold=1, tags={"x": 1}))) == []


def test_two_examples_of_one_id_name_both_lines(tmp_path: Path) -> None:
    path = written(tmp_path, row(), row(id="b"), row(), row())
    assert problems_in(path) == [
        (4, "a", "the id is already that of line 2"),
        (5, "a", "the id is already that of line 2"),
    ]


@pytest.mark.parametrize("empty", ["", "  ", "\t"])
def test_an_empty_candidate(tmp_path: Path, empty: str) -> None:
    path = written(tmp_path, row(candidates=[["L.", "Sie."], ["L.", empty]]))
    assert problems_in(path) == [(2, "a", "candidate 1 is empty")]


def test_an_empty_sentence_of_context_is_not_a_problem(tmp_path: Path) -> None:
    """There is none at the start of a document."""
    assert problems_in(written(tmp_path, row(source=["", "It is."], candidates=[["", "Sie."], ["", "Er."]]))) == []


def test_an_empty_source_is_not_a_problem(tmp_path: Path) -> None:
    """The annotated pairs of eval-anaphora have none."""
    assert problems_in(written(tmp_path, row(source=["", ""]))) == []


@pytest.mark.parametrize("gold", [2, -1, "0", 1.5, True])
def test_a_gold_that_is_none_of_the_candidates(tmp_path: Path, gold: Any) -> None:
    assert problems_in(written(tmp_path, row(gold=gold))) == [
        (2, "a", f"gold is {gold!r}, but the candidates are numbered 0 to 1")
    ]


def test_candidates_that_do_not_differ(tmp_path: Path) -> None:
    path = written(tmp_path, row(candidates=[["L.", "Sie."], ["L.", "Er."], ["L.", "Sie."], ["L.", "Er."]]))
    assert problems_in(path) == [
        (2, "a", "candidates 0 and 2 do not differ"),
        (2, "a", "candidates 1 and 3 do not differ"),
    ]


def test_candidates_may_differ_in_their_context_alone(tmp_path: Path) -> None:
    """As in Voita's sets."""
    assert problems_in(written(tmp_path, row(candidates=[["Eine Lampe.", "Sie."], ["Ein Licht.", "Sie."]]))) == []


def test_passages_of_different_lengths(tmp_path: Path) -> None:
    path = written(tmp_path, row(candidates=[["L.", "Sie."], ["Er."]]), row(id="b", source=["It is."]))
    assert problems_in(path) == [
        (2, "a", "passages of different lengths (source and candidates have 2, 2, 1 sentences)"),
        (3, "b", "passages of different lengths (source and candidates have 1, 2, 2 sentences)"),
    ]


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    bad = json.dumps(row(id="b", source=["Ä", "x"]), ensure_ascii=False).encode("latin-1")
    position = bad.index(b"\xc4") + 1
    assert problems_in(written(tmp_path, row(), bad)) == [(3, None, f"not UTF-8 at byte {position} of the line (0xc4)")]


def test_one_candidate_alone_is_not_a_choice(tmp_path: Path) -> None:
    assert problems_in(written(tmp_path, row(candidates=[["L.", "Sie."]]))) == [(2, "a", "there is only one candidate")]


@pytest.mark.parametrize("reference", ["Sie.", ""])
def test_an_example_to_translate_has_one_candidate_and_no_gold(tmp_path: Path, reference: str) -> None:
    """CTXPRO has references only, WinoMT not even these."""
    assert problems_in(written(tmp_path, row(candidates=[["L.", reference]], gold=None))) == []


@pytest.mark.parametrize("where", ["source", "candidates"])
def test_a_line_break_inside_a_sentence(tmp_path: Path, where: str) -> None:
    broken = {"source": ["A lamp.", "It\nis."], "candidates": [["L.\r", "Sie."], ["L.", "Er."]]}
    assert problems_in(written(tmp_path, row(**{where: broken[where]}))) == [
        (2, "a", "a sentence has a line break in it")
    ]


def test_a_line_of_another_shape(tmp_path: Path) -> None:
    path = written(tmp_path, b"{oops", b"[]", row(id=7), row(source="It is."))
    lines = problems_in(path)
    assert [line for line, _, _ in lines] == [2, 3, 4, 5]
    assert lines[0][2].startswith("not JSON: ")
    assert [problem for _, _, problem in lines[1:3]] == [
        "an object is expected on each line",
        "'id' must be a string",
    ]
    assert lines[3][1:] == ("a", "'source' must be a list of one or more strings, the current sentence last")


def test_several_problems_of_one_example_are_all_reported(tmp_path: Path) -> None:
    path = written(tmp_path, row(), row(candidates=[["L.", ""], [""]]))
    assert problems_in(path) == [
        (3, "a", "passages of different lengths (source and candidates have 2, 2, 1 sentences)"),
        (3, "a", "candidate 0 is empty"),
        (3, "a", "candidate 1 is empty"),
        (3, "a", "the id is already that of line 2"),
    ]


def test_a_broken_line_does_not_hide_other_problems(tmp_path: Path) -> None:
    path = written(tmp_path, row(gold=9), b"\xff", b"{", row(id="b", candidates=[["", ""], ["", "x"]]), row(id="b"))
    assert [line for line, _, _ in problems_in(path)] == [2, 3, 4, 5, 6]


def test_the_id_of_a_faulty_example_counts_for_duplicates(tmp_path: Path) -> None:
    assert [problem for _, _, problem in problems_in(written(tmp_path, row(gold=9), row()))][1:] == [
        "the id is already that of line 2"
    ]


def test_blank_lines_are_counted_and_are_not_a_problem(tmp_path: Path) -> None:
    assert problems_in(written(tmp_path, b"", row(), b"", row(gold=5))) == [
        (5, "a", "gold is 5, but the candidates are numbered 0 to 1"),
        (5, "a", "the id is already that of line 3"),
    ]


def test_a_suite_without_examples(tmp_path: Path) -> None:
    assert problems_in(written(tmp_path)) == [(None, None, "the suite has no examples")]


def test_a_bad_header_is_an_error_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("nothing\n", encoding="utf-8")
    with pytest.raises(BadInput, match="not a suite file"):
        list(validate_file(tmp_path / "x.jsonl"))


def test_problems_before_a_truncation_are_reported(tmp_path: Path) -> None:
    whole = written(tmp_path, row(gold=9)).read_bytes()
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(gzip.compress(whole) + gzip.compress(b"{}\n" * 1000)[:-9])
    problems = validate_file(path)
    assert next(problems).line == 2
    with pytest.raises(BadInput, match="truncated"):
        list(problems)


def test_a_problem_reads_as_one_line_with_its_position() -> None:
    assert str(Problem("s.jsonl", 1234, "a", "candidate 1 is empty")) == (
        "s.jsonl: line 1,234: example a: candidate 1 is empty"
    )
    assert str(Problem("s.jsonl", 3, None, "not JSON")) == "s.jsonl: line 3: not JSON"
    assert str(Problem("folder", None, "a", "the id occurs twice")) == "folder: example a: the id occurs twice"


# suites read from another format have no lines, but the same problems


def test_a_suite_of_another_format_is_held_to_the_same(tmp_path: Path) -> None:
    examples = [
        Example("a", ("x", "y"), (("p", "q"), ("p", "q")), 0),
        Example("a", ("y",), (("q",), ("",)), 2),
        Example("b", ("y",), (("q",), ("p", "r")), None),
    ]
    suite = suite_of(Header("made", "en", "de"), lambda: examples, tmp_path / "folder")
    path = str(tmp_path / "folder")
    assert list(validate_suite(suite)) == [
        Problem(path, None, "a", "candidates 0 and 1 do not differ"),
        Problem(path, None, "a", "candidate 1 is empty"),
        Problem(path, None, "a", "gold is 2, but the candidates are 0 to 1"),
        Problem(path, None, "a", "the id occurs twice"),
        Problem(path, None, "b", "passages of different lengths (source and candidates have 1, 1, 2 sentences)"),
    ]


def test_a_suite_without_path_is_named_and_may_be_empty() -> None:
    assert list(validate_suite(suite_of(Header("made", "en", "de"), list))) == [
        Problem("made", None, None, "the suite has no examples")
    ]


# the command line


def test_the_command_says_each_problem_and_exits_with_2(anaphora, tmp_path: Path) -> None:
    path = written(tmp_path, row(), row(gold=7))
    done = anaphora("suites", "validate", path, check=2)
    assert done.stdout.splitlines() == [
        f"{path}: line 3: example a: gold is 7, but the candidates are numbered 0 to 1",
        f"{path}: line 3: example a: the id is already that of line 2",
    ]
    document = json.loads(anaphora("suites", "validate", path, "--json", check=2).stdout)
    assert document["valid"] is False
    assert [problem["line"] for problem in document["problems"]] == [3, 3]


def test_the_command_exits_with_0_for_a_good_suite(anaphora, tmp_path: Path) -> None:
    done = anaphora("suites", "validate", written(tmp_path, row()), "--json")
    assert json.loads(done.stdout) == {"valid": True, "problems": []}


# the published sets


@pytest.mark.parametrize(
    ("path", "format", "options"),
    [
        ("contrapro", "contrapro-rebuilt", {}),
        ("contracat/templates", "contracat", {}),
        ("contracat/attacks/phrase_addition/true_colon", "contracat-attack", {}),
        ("contracat/attacks/possessive_extension/maria", "contracat-attack", {}),
        ("contracat/attacks/synonyms", "contracat-attack", {}),
        ("disceval-en-fr/anaphora.json", "disceval", {}),
        ("disceval-en-fr/lexical-choice.json", "disceval", {}),
        ("disceval-en-cs/disambig.cs.json", "disceval", {}),
        ("lopes-en-fr", "lopes", {}),
        ("voita-en-ru/deixis_dev.json.gz", "voita", {}),
        ("voita-en-ru/lex_cohesion_dev.json.gz", "voita", {}),
        ("scat-en-fr", "scat", {"split": "train"}),
        ("scat-en-fr", "scat", {"split": "test"}),
        ("eval-anaphora/test_data_french.jsonl.gz", "eval-anaphora", {}),
        ("eval-anaphora/test_data_german.jsonl.gz", "eval-anaphora", {}),
        ("eval-anaphora/test_data_russian.jsonl.gz", "eval-anaphora", {}),
        ("ctxpro/auxiliary.opensubtitles.en-de.test.gz", "ctxpro", {}),
        ("winomt/data/aggregates", "winomt", {}),
    ],
    ids=lambda value: value if isinstance(value, str) else value.get("split", ""),
)
def test_the_published_sets_are_valid(data, path: str, format: str, options: dict[str, str]) -> None:
    assert list(validate_suite(read_suite(data(path), format, **options))) == []


def test_only_the_known_published_set_has_defects(data, tmp_path: Path) -> None:
    """13 of the 500 items of Voita's ellipsis_infl have candidates that are the same."""
    file = data("voita-en-ru/ellipsis_infl.json.gz")
    items = json.loads(gzip.decompress(file.read_bytes()))
    doubled = [number for number, item in enumerate(items) if len(set(item["dst"])) < len(item["dst"])]
    assert len(doubled) == 13
    read_suite(file, "voita").write(tmp_path / "suite.jsonl")
    problems = list(validate_file(tmp_path / "suite.jsonl"))
    assert {problem.line for problem in problems} == {number + 2 for number in doubled}
    assert all(problem.problem.endswith("do not differ") for problem in problems)
    # a passage that occurs n times is told n − 1 times
    assert len(problems) == sum(len(items[number]["dst"]) - len(set(items[number]["dst"])) for number in doubled)
