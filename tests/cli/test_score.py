"""`anaphora score`: import of a score file as a run, and system specs that name nothing."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora import __version__

Run = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[..., str]
AsJson = Callable[..., Any]


def records(path: Path) -> list[dict[str, Any]]:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in text.splitlines()]


def test_import_of_a_score_file(as_json: AsJson, suite: Path, scores: Path, tmp_path: Path) -> None:
    done = as_json("score", suite, "--system", f"scores:{scores}", "-o", "runs/mine")
    assert done["run"] == "runs/mine/run.jsonl"
    header, *items = records(tmp_path / "runs" / "mine" / "run.jsonl")
    assert header["anaphora_run"] == 1
    assert (header["suite"], header["sha256"]) == ("small", as_json("suites", "show", suite)["sha256"])
    assert (header["system"], header["version"]) == (f"scores:{scores}", __version__)
    assert [item["id"] for item in items] == list("abcdef")
    assert items[1]["scores"] == [-3, -1, -2]
    assert "tokens" not in items[1]
    assert sum(len(item["scores"]) for item in items) == 13
    # gold and tags are in the run, so that it is all that an evaluation needs
    assert (items[1]["gold"], items[1]["tags"]) == (1, {"pronoun": "er", "distance": 1, "document": "x"})


def test_token_counts_are_kept(anaphora: Run, suite: Path, tmp_path: Path) -> None:
    (tmp_path / "scores").write_text("".join(f"-1\t{n}\n" for n in range(1, 14)))
    anaphora("score", suite, "--system", "scores:scores", "-o", "run")
    assert [item["tokens"] for item in records(tmp_path / "run" / "run.jsonl")[1:3]] == [[1, 2], [3, 4, 5]]


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_a_run_can_be_one_file(as_json: AsJson, suite: Path, scores: Path, tmp_path: Path, name: str) -> None:
    done = as_json("score", suite, "--system", f"scores:{scores}", "-o", name)
    assert done["run"] == name
    assert (tmp_path / name).read_bytes().startswith(b"\x1f\x8b") is name.endswith(".gz")
    assert len(records(tmp_path / name)) == 7
    assert as_json("evaluate", name)["correct"] == 3


def test_a_gzipped_suite_and_a_gzipped_score_file(
    anaphora: Run, make_run: Callable[..., Path], suite: Path, scores: Path, tmp_path: Path
) -> None:
    expected = records(make_run(suite, scores, "plain") / "run.jsonl")
    for path in (suite, scores):
        path.write_bytes(gzip.compress(path.read_bytes()))
    assert records(make_run(suite, scores, "packed") / "run.jsonl") == expected


def test_the_same_scores_give_the_same_bytes(make_run: Callable[..., Path], suite: Path, scores: Path) -> None:
    first, second = (make_run(suite, scores, name) / "run.jsonl" for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("score:x", "unknown system 'score' (did you mean scores?)"),
        ("oracle:x", "unknown system 'oracle'. Known: "),
        ("scores", "not a system: 'scores'. Write KIND:WHAT"),
        ("scores:", "not a system: 'scores:'. Write KIND:WHAT"),
        ("", "not a system: ''. Write KIND:WHAT"),
        (":x", "unknown system ''"),
        ("scores:nowhere", "nowhere: no such file"),
    ],
)
def test_a_system_that_is_none(refused: Refused, suite: Path, tmp_path: Path, spec: str, said: str) -> None:
    assert refused("score", suite, "--system", spec, "-o", "run").startswith(said)
    assert not list(tmp_path.rglob("run.jsonl*"))


def test_a_bad_score_file_leaves_no_run(refused: Refused, suite: Path, tmp_path: Path) -> None:
    (tmp_path / "scores").write_text("-1\n" * 12)
    message = refused("score", suite, "--system", "scores:scores", "-o", "run")
    assert message.startswith("scores: line 12: 13 scores expected")
    assert not [path for path in tmp_path.rglob("*run.jsonl*") if path.is_file()]


def test_a_failed_import_keeps_the_run_that_was_there(
    refused: Refused, make_run: Callable[..., Path], suite: Path, scores: Path
) -> None:
    before = (make_run(suite, scores, "run") / "run.jsonl").read_bytes()
    scores.write_text("nan\n" * 13)
    refused("score", suite, "--system", f"scores:{scores}", "-o", scores.parent / "run")
    assert (scores.parent / "run" / "run.jsonl").read_bytes() == before


def test_a_suite_that_is_not_there(refused: Refused, scores: Path) -> None:
    message = refused("score", "bawden-coreference", "--system", f"scores:{scores}", "-o", "run")
    assert message.endswith("Get it with: anaphora suites get bawden-coreference")
    assert "no such file or catalogue name" in refused("score", "nowhere", "--system", f"scores:{scores}", "-o", "run")


def test_an_output_that_cannot_be_written(refused: Refused, suite: Path, scores: Path) -> None:
    message = refused("score", suite, "--system", f"scores:{scores}", "-o", suite / "run")
    assert message.startswith(f"{suite}/run/run.jsonl: cannot be written: ")


AWK = "command:awk '{print -length($0); fflush()}'"


def test_a_suite_with_context_that_is_not_given_is_noted(anaphora: Run, suite: Path) -> None:
    with_context = anaphora("score", suite, "--system", AWK, "-o", "none").stderr
    assert (
        with_context.count("small has 1 sentence of context, but the system is scored without it (see --context)") == 1
    )
    for n, context in enumerate(("0", "1")):
        told = anaphora("score", suite, "--system", AWK, "--context", context, "-o", f"run{n}").stderr
        assert "is scored without it" not in told


def test_context_that_the_suite_does_not_have(refused: Refused, suite: Path, tmp_path: Path) -> None:
    message = refused("score", suite, "--system", AWK, "--context", "5", "-o", "run")
    assert message == "small has at most 1 sentence of context, but --context 5 asks for more. Use --context 1"
    assert not (tmp_path / "run").exists()


def test_a_random_sample_is_scored_and_signed(as_json: AsJson, refused: Refused, suite: Path) -> None:
    found = as_json("score", suite, "--system", AWK, "--sample", "3", "--seed", "5", "-o", "run")
    assert found["examples"] == 3
    result = as_json("evaluate", "run")
    assert result["protocol"]["sample"] == "3@5"
    assert "|set:" in result["signature"]
    message = refused("score", suite, "--system", AWK, "--sample", "3", "--limit", "3", "-o", "two")
    assert "give one of the two" in message
