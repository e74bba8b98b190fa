"""Answers and scored examples: what they hold without being told, and that nobody shares by accident."""

from __future__ import annotations

import gzip
import json
import pickle
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora import __version__
from anaphora.core.errors import BadInput
from anaphora.runs import (
    CandidateScores,
    RunHeader,
    ScoredExample,
    describe,
    header_line,
    open_run,
    record_line,
    write_run,
)
from anaphora.suites.suite import Header, suite_of


def test_an_answer_needs_scores_alone() -> None:
    assert CandidateScores([-1.0]) == CandidateScores([-1.0], None, (), 0, {})


def test_an_answer_goes_to_another_process_as_it_is() -> None:
    """Also one that nobody gave extras: a mapping proxy could not be sent."""
    for answer in (CandidateScores([-1.0, -2.5]), CandidateScores([0.0], [3], [(0, 1)], 2, {"translation": "ß"})):
        assert pickle.loads(pickle.dumps(answer)) == answer


def test_what_is_replaced_in_one_answer_is_not_in_another() -> None:
    one = CandidateScores([-1.0])
    other = one._replace(extra={**one.extra, "unanswered": 1})
    assert (one.extra, CandidateScores([-2.0]).extra, other.extra) == ({}, {}, {"unanswered": 1})


def test_a_scored_example_without_remarks() -> None:
    scored = ScoredExample("a.1", None, {}, [-1.0])
    assert (scored.tokens, dict(scored.extra)) == (None, {})
    with pytest.raises(TypeError):
        scored.extra["undecidable"] = 1  # type: ignore[index]
    assert isinstance(scored.extra, Mapping)


def test_neither_can_be_changed() -> None:
    for item in (ScoredExample("a.1", 0, {}, [-1.0]), CandidateScores([-1.0])):
        with pytest.raises(AttributeError):
            item.scores = [0.0]  # type: ignore[misc]


# A run holds what a system said, so that everything else is computed from it: what is written is what is read.

HEADER = RunHeader(
    suite="made-up",
    sha256="ab" * 32,
    source_language="en",
    target_language="de",
    system="scores:my.scores",
    version="1.2.3",
    breakdowns=("pronoun", "distance>3"),
    blocks="block",
    context="1+1",
    settings={"dtype": "float32"},
)
ITEMS = (
    ScoredExample("1", 0, {"pronoun": "er", "spans": [1, 2]}, [-1.5, -2.0], [3, 4]),
    ScoredExample("ü/2", None, {}, [-1.0, -2.0, 1e-300]),
)

TAGS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def scored_items(draw: st.DrawFn) -> ScoredExample:
    scores = draw(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
    gold = draw(st.none() | st.integers(0, len(scores) - 1))
    size = len(scores)
    tokens = draw(st.none() | st.lists(st.integers(0, 10**6), min_size=size, max_size=size))
    return ScoredExample(draw(st.text()), gold, draw(st.dictionaries(st.text(), TAGS, max_size=4)), scores, tokens)


@settings(derandomize=True, max_examples=60)
@given(st.lists(scored_items(), max_size=6), st.sampled_from(["run", "run.jsonl", "run.jsonl.gz"]))
def test_what_is_written_is_read_back(items: list[ScoredExample], name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = write_run(Path(folder) / name, HEADER, items)
        run = open_run(Path(folder) / name)
        assert run.path == file
        assert run.header == HEADER
        assert list(run) == items
        assert list(run) == items  # and again


def test_a_run_is_a_folder_unless_named_as_a_file(tmp_path: Path) -> None:
    assert write_run(tmp_path / "runs" / "one", HEADER, ITEMS) == tmp_path / "runs" / "one" / "run.jsonl"
    assert write_run(tmp_path / "two.jsonl", HEADER, ITEMS).is_file()
    assert write_run(tmp_path / "three.jsonl.gz", HEADER, ITEMS).read_bytes()[:2] == b"\x1f\x8b"
    for name in ("runs/one", "runs/one/run.jsonl", "two.jsonl", "three.jsonl.gz"):
        assert list(open_run(tmp_path / name)) == list(ITEMS)


def test_a_run_that_was_zipped_in_its_folder_is_found(tmp_path: Path) -> None:
    file = write_run(tmp_path / "run", HEADER, ITEMS)
    (tmp_path / "run" / "run.jsonl.gz").write_bytes(gzip.compress(file.read_bytes()))
    file.unlink()
    assert list(open_run(tmp_path / "run")) == list(ITEMS)


def test_the_file_is_that_of_the_contract(tmp_path: Path) -> None:
    header, first, second = write_run(tmp_path / "x.jsonl", HEADER, ITEMS).read_text(encoding="utf-8").splitlines()
    assert json.loads(header) == {
        "anaphora_run": 1,
        "suite": "made-up",
        "sha256": "ab" * 32,
        "source_language": "en",
        "target_language": "de",
        "system": "scores:my.scores",
        "version": "1.2.3",
        "breakdowns": ["pronoun", "distance>3"],
        "blocks": "block",
        "context": "1+1",
        "settings": {"dtype": "float32"},
    }
    assert json.loads(first) == {
        "id": "1",
        "scores": [-1.5, -2.0],
        "tokens": [3, 4],
        "gold": 0,
        "tags": {"pronoun": "er", "spans": [1, 2]},
    }
    assert "tokens" not in json.loads(second)
    assert "ü/2" in second


def test_a_run_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def failing() -> Iterator[ScoredExample]:
        yield ITEMS[0]
        raise RuntimeError("the system died")

    with pytest.raises(RuntimeError, match="the system died"):
        write_run(tmp_path / "run", HEADER, failing())
    assert list((tmp_path / "run").iterdir()) == []


def test_a_failed_run_does_not_harm_the_one_before_it(tmp_path: Path) -> None:
    write_run(tmp_path / "run", HEADER, ITEMS)
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_run(tmp_path / "run", HEADER, [ITEMS[0]._replace(scores=[float("nan")])])
    assert list(open_run(tmp_path / "run")) == list(ITEMS)


def test_the_header_says_how_a_run_was_made() -> None:
    suite = suite_of(Header("small", "en", "fr", ("form",), "block"), lambda: [])
    header = describe(suite, sha256="cd" * 32, system="hf:model", context="3+1", dtype="float16")
    assert header == RunHeader(
        "small", "cd" * 32, "en", "fr", "hf:model", __version__, ("form",), "block", "3+1", {"dtype": "float16"}
    )
    assert header.languages == "en-fr"


def test_a_later_version_may_add_to_the_header(tmp_path: Path) -> None:
    row = json.loads(header_line(HEADER)) | {"invented_later": 1}
    (tmp_path / "x.jsonl").write_text(json.dumps(row) + "\n")
    assert open_run(tmp_path / "x.jsonl").header == HEADER


def header_problem(tmp_path: Path, content: str | bytes) -> str:
    file = tmp_path / "x.jsonl"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(BadInput) as error:
        open_run(file)
    assert error.value.line == 1
    assert str(error.value).startswith(f"{file}: line 1: ")
    return str(error.value)


@pytest.mark.parametrize(
    "content", ["", "\n", "not JSON\n", "[1]\n", "{}\n", '{"anaphora": 1, "name": "a suite"}\n', "1.5\n"]
)
def test_what_is_not_a_run_is_reported(tmp_path: Path, content: str) -> None:
    assert "not a run: the first line is not its header" in header_problem(tmp_path, content)


@pytest.mark.parametrize("version", [0, 2, "1", True, None])
def test_a_run_of_another_version_asks_for_an_upgrade(tmp_path: Path, version: Any) -> None:
    row = json.loads(header_line(HEADER)) | {"anaphora_run": version}
    assert "this program reads up to 1. Upgrade" in header_problem(tmp_path, json.dumps(row))


def test_a_header_that_lacks_something_names_it(tmp_path: Path) -> None:
    row = json.loads(header_line(HEADER))
    del row["sha256"]
    assert "the run header lacks 'sha256'" in header_problem(tmp_path, json.dumps(row))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("sha256", 5, "'sha256' in the run header must be a string"),
        ("suite", None, "'suite' in the run header must be a string"),
        ("breakdowns", "pronoun", "'breakdowns' in the run header must be a list of strings"),
        ("breakdowns", [1], "'breakdowns' in the run header must be a list of strings"),
    ],
)
def test_a_header_of_other_things_is_refused(tmp_path: Path, key: str, value: Any, message: str) -> None:
    row = json.loads(header_line(HEADER)) | {key: value}
    assert message in header_problem(tmp_path, json.dumps(row))


def test_a_header_without_breakdowns_has_none(tmp_path: Path) -> None:
    row = json.loads(header_line(HEADER)) | {"breakdowns": None}
    (tmp_path / "x.jsonl").write_text(json.dumps(row))
    assert open_run(tmp_path / "x.jsonl").header == replace(HEADER, breakdowns=())


def test_bytes_that_are_not_text_are_located(tmp_path: Path) -> None:
    assert "not UTF-8 at byte 3" in header_problem(tmp_path, b'{"\xff"}\n')


def test_a_run_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none: no such file\. A run is written by: anaphora score"):
        open_run(tmp_path / "none")
    with pytest.raises(BadInput, match=r"run\.jsonl: no such file\. A run is written by: anaphora score"):
        open_run(tmp_path)


GOOD = {"id": "1", "scores": [-1.0, -2.0], "gold": 0, "tags": {}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": []}, "'scores' must be a list of finite numbers"),
        ({"scores": None}, "'scores' must be a list of finite numbers"),
        ({"scores": ["9.0", "10.0"]}, "'scores' must be a list of finite numbers"),  # strings sort otherwise
        ({"scores": [1.0, float("nan")]}, "NaN is not a number that JSON has"),
        ({"scores": [1.0, float("-inf")]}, "-Infinity is not a number that JSON has"),
        ({"scores": [1.0, 10**400]}, "'scores' must be a list of finite numbers"),
        ({"scores": [1.0, None]}, "'scores' must be a list of finite numbers"),
        ({"scores": [1.0, True]}, "'scores' must be a list of finite numbers"),
        ({"gold": 2}, "gold is 2, but there are 2 scores"),
        ({"gold": -1}, "gold is -1, but there are 2 scores"),
        ({"gold": "0"}, "gold is '0', but there are 2 scores"),
        ({"gold": True}, "gold is True, but there are 2 scores"),
        ({"tokens": [1]}, "'tokens' must be a list of counts, one per score"),
        ({"tokens": [1, "2"]}, "'tokens' must be a list of counts, one per score"),
        ({"tokens": 3}, "'tokens' must be a list of counts, one per score"),
        ({"tokens": [1, 10**400]}, "'tokens' must be a list of counts, one per score"),
        ({"truncated": "e2"}, "'truncated' must be a count, 'answer' a string"),
        ({"answer": 3}, "'truncated' must be a count, 'answer' a string"),
        ({"undecidable": 3}, "'undecidable' must be a list of pairs of candidates"),
        ({"undecidable": [[0, [1]]]}, "'undecidable' must be a list of pairs of candidates"),
        ({"tags": []}, "'id' must be a string, 'tags' an object"),
        ({"id": 7}, "'id' must be a string, 'tags' an object"),
    ],
)
def test_an_unusable_record_is_refused_with_its_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    file = tmp_path / "x.jsonl"
    lines = [header_line(HEADER).decode().strip(), json.dumps(GOOD), "", json.dumps(GOOD | change)]
    file.write_text("\n".join(lines))
    with pytest.raises(BadInput) as error:
        list(open_run(file))
    assert str(error.value).startswith(f"{file}: line 4: not a record of a run ({message})")


@pytest.mark.parametrize("missing", ["id", "scores", "gold", "tags"])
def test_a_record_that_lacks_something_names_it(tmp_path: Path, missing: str) -> None:
    row = {key: value for key, value in GOOD.items() if key != missing}
    (tmp_path / "x.jsonl").write_bytes(header_line(HEADER) + json.dumps(row).encode())
    with pytest.raises(BadInput, match=rf"line 2: not a record of a run \('{missing}' is missing\)"):
        list(open_run(tmp_path / "x.jsonl"))


@pytest.mark.parametrize("text", ["[1, 2]", "null", '"text"', "nothing", '{"id": "1", "sco'])
def test_a_line_that_is_not_a_record_is_refused(tmp_path: Path, text: str) -> None:
    """Such as the last line of a file that was cut off."""
    (tmp_path / "x.jsonl").write_bytes(header_line(HEADER) + record_line(ITEMS[0]) + text.encode())
    with pytest.raises(BadInput, match=r"line 3: not a record of a run"):
        list(open_run(tmp_path / "x.jsonl"))


def test_a_truncated_gzip_is_reported(tmp_path: Path) -> None:
    file = write_run(tmp_path / "x.jsonl.gz", HEADER, [ITEMS[0]._replace(id=str(k)) for k in range(5_000)])
    file.write_bytes(file.read_bytes()[:-2_000])
    run = open_run(file)  # the header is whole
    with pytest.raises(BadInput, match="the gzip file is truncated"):
        list(run)


def test_opening_a_run_reads_its_header_only(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(header_line(HEADER) + b"this is no record\n")
    assert open_run(tmp_path / "x.jsonl").header == HEADER


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"examples": [1]}, r"'examples' must be a whole number, not \[1\]"),
        ({"settings": 3}, "'settings' must be an object, not 3"),
        ({"settings": {"sample": "50"}}, "'sample' in the settings must be SIZE@SEED, 'limit' a number"),
        ({"settings": {"sample": f"{'9' * 5000}@1"}}, "'sample' in the settings must be SIZE@SEED"),
        ({"settings": {"limit": "all"}}, "'sample' in the settings must be SIZE@SEED, 'limit' a number"),
        ({"blocks": ["a"]}, "'blocks' and 'context' in the run header must be strings"),
    ],
)
def test_a_header_of_wrong_types_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(json.dumps(json.loads(header_line(HEADER)) | change))
    with pytest.raises(BadInput, match=rf"x\.jsonl: line 1: {message}"):
        open_run(file)


@pytest.mark.parametrize("score", ["1" * 5001, "[" * 3000, "1e999"])
def test_absurd_numbers_and_nesting_are_refused(tmp_path: Path, score: str) -> None:
    file = tmp_path / "x.jsonl"
    record = json.dumps(GOOD | {"scores": [1.0, 2.0]}).replace("2.0", score)
    file.write_text(f"{header_line(HEADER).decode()}{record}\n")
    with pytest.raises(BadInput, match=r"x\.jsonl: line 2: not a record of a run"):
        list(open_run(file))
    file.write_text(f'{{"anaphora_run": 1, "x": {score}}}')
    with pytest.raises(BadInput, match=r"x\.jsonl: line 1: not a run"):
        open_run(file)
