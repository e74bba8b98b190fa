"""`anaphora score`, `compare` and `report`: what their options do, how a run is stopped and resumed, and bad input."""

from __future__ import annotations

import gzip
import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from anaphora import __version__, api
from anaphora.cli import main
from anaphora.systems import systems

# ---------------------------------------------------------------------------------------------------------------- score
# `anaphora score`: import of a score file as a run, and system specs that name nothing.

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


def test_score_token_counts_are_kept(anaphora: Run, suite: Path, tmp_path: Path) -> None:
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
    ("spec", "message"),
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
def test_a_system_that_is_none(refused: Refused, suite: Path, tmp_path: Path, spec: str, message: str) -> None:
    assert refused("score", suite, "--system", spec, "-o", "run").startswith(message)
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
    assert "no such file or catalog name" in refused("score", "nowhere", "--system", f"scores:{scores}", "-o", "run")


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
        message = anaphora("score", suite, "--system", AWK, "--context", context, "-o", f"run{n}").stderr
        assert "is scored without it" not in message


def test_context_that_the_suite_does_not_have(refused: Refused, suite: Path, tmp_path: Path) -> None:
    message = refused("score", suite, "--system", AWK, "--context", "5", "-o", "run")
    assert message == "small has at most 1 sentence of context, but --context 5 asks for more. Use --context 1"
    assert not (tmp_path / "run").exists()


def test_a_random_sample_is_scored_and_signed(as_json: AsJson, refused: Refused, suite: Path) -> None:
    document = as_json("score", suite, "--system", AWK, "--sample", "3", "--seed", "5", "-o", "run")
    assert document["examples"] == 3
    result = as_json("evaluate", "run")
    assert result["protocol"]["sample"] == "3@5"
    assert "|set:" in result["signature"]
    message = refused("score", suite, "--system", AWK, "--sample", "3", "--limit", "3", "-o", "two")
    assert "cannot be combined" in message


# -------------------------------------------------------------------------------------------------------- score options
# `anaphora score` with a system that computes: what its options do, what it says, how it is stopped and goes on.

HINT = "small has 1 sentence of context, but the system is scored without it (see --context)"


class Said(NamedTuple):
    code: object
    out: str
    err: str


Call = Callable[..., Said]


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`toy:…` is a system that an installed package brings."""
    packages = tmp_path / "packages"
    about = packages / "toy_system-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-system\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[anaphora.systems]\ntoy = toy_system:Toy\n")
    shutil.copy(Path(__file__).parents[1] / "systems" / "toy_system.py", packages)
    monkeypatch.syspath_prepend(packages)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, [packages, *filter(None, sys.path)])))
    monkeypatch.delitem(sys.modules, "toy_system", raising=False)
    systems.cache_clear()
    yield
    systems.cache_clear()


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """The program in this process, with its exit code and what it prints."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | Path) -> Said:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        return Said(stop.value.code, *capsys.readouterr())

    return run


def read(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "run.jsonl").read_bytes().splitlines()]


@pytest.mark.usefixtures("toy")
def test_score_what_it_says(call: Call, suite: Path, tmp_path: Path) -> None:
    ended = call("score", suite, "--system", "toy:x", "-o", "run")
    assert (ended.code, ended.out) == (0, "")
    first, hint, done, *counts = ended.err.splitlines()
    assert first == "small en-de · 6 examples · 13 candidates"
    assert hint == HINT
    assert done.endswith("scored by toy:x: run/run.jsonl")
    # the toy cannot tell two candidates of its fourth example apart, and cuts a text of its sixth
    assert counts[0].startswith("2 ")
    assert "undecidable" in counts[0]
    assert counts[1].endswith("were truncated: 1")


@pytest.mark.usefixtures("toy")
def test_score_json(call: Call, suite: Path, tmp_path: Path) -> None:
    done = call("score", suite, "--system", "toy:x", "-o", "run", "--json")
    header = read(tmp_path / "run")[0]
    assert json.loads(done.out) == {
        "run": "run/run.jsonl",
        "suite": "small",
        "sha256": header["sha256"],
        "system": "toy:x",
        "examples": 6,
        "undecidable": 2,
        "truncated": 1,
        "unanswered": 0,
        "partly_answered": 0,
        "answers": [],
    }
    assert done.err == f"small en-de · 6 examples · 13 candidates\n{HINT}\n"


@pytest.mark.usefixtures("toy")
def test_options_are_heard_and_are_in_the_header(call: Call, suite: Path, tmp_path: Path) -> None:
    options = ["--context", "1", "--separator", " <SEP> ", "--limit", "4", "--threads", "3"]
    flags = ["--margins-only", "--truncate", "--plain", "--batch-tokens", "77"]
    done = call("score", suite, "--system", "toy:x", "-o", "run", *options, *flags)
    assert done.err.startswith("small en-de · 4 examples · 9 candidates\n")
    header, first, *_ = read(tmp_path / "run")
    assert header["context"] == "1+1"
    settings = header["settings"]
    assert (settings["separator"], settings["limit"], settings["threads"]) == (" <SEP> ", 4, 3)
    assert all(settings[flag] is True for flag in ("margins_only", "truncate", "plain"))
    assert first["tokens"] == [7, 7]  # Da lag etwas. <SEP> Er war alt.
    call("score", suite, "--system", "toy:x", "-o", "none", "--context", "1", "--target-context", "none")
    header, first, *_ = read(tmp_path / "none")
    assert (header["context"], first["tokens"]) == ("1+0", [3, 3])


@pytest.mark.usefixtures("toy")
def test_a_system_that_does_not_translate_cannot_produce_context(call: Call, suite: Path) -> None:
    done = call("score", suite, "--system", "toy:x", "-o", "run", "--context", "1", "--target-context", "produced")
    assert (done.code, done.out) == (2, "")
    assert "needs a system that translates" in done.err


@pytest.mark.usefixtures("toy")
def test_score_stopped_and_resumed(call: Call, suite: Path, tmp_path: Path) -> None:
    (tmp_path / "flag").touch()
    command = ("score", suite, "--system", "toy:x?at=e&do=interrupt&flag=flag&once=", "-o", "run")
    done = call(*command)
    assert (done.code, done.out) == (130, "")
    kept = "stopped; 4 answers are kept in run/run.jsonl.part. Resume with: "
    assert done.err.splitlines()[2:] == [kept + shlex.join(["anaphora", *map(str, command), "--resume"])]
    assert (tmp_path / "run" / "run.jsonl.part").read_bytes().count(b"\n") == 1 + 4
    assert not (tmp_path / "run" / "run.jsonl").exists()
    refusal = call(*command)
    assert refusal.code == 2
    assert refusal.err.startswith("error: an unfinished run is at run/run.jsonl.part. Continue with --resume")
    assert call(*command, "--resume").code == 0
    resumed = (tmp_path / "run" / "run.jsonl").read_bytes()
    assert call(*command).err.startswith("error: run/run.jsonl already exists.")
    (tmp_path / "flag").touch()
    again = call(*command, "--overwrite")
    assert again.err.splitlines()[-1] == done.err.splitlines()[-1], "without --overwrite"
    assert call(*command, "--resume").code == 0
    assert (tmp_path / "run" / "run.jsonl").read_bytes() == resumed


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--resume", "--overwrite"], "cannot be combined"),
        (["--workers", "0"], "--workers"),
        (["--threads", "0"], "--threads"),
        (["--context", "-1"], "--context"),
        (["--target-context", "silver"], "produced"),
        (["--limit", "0"], "--limit"),
        (["--gpus", "-1"], "--gpus"),
        (["--batch-tokens", "many"], "--batch-tokens"),
    ],
    ids=" ".join,
)
def test_score_wrong_usage(refused: Refused, suite: Path, options: list[str], message: str) -> None:
    assert message in refused("score", suite, "--system", "toy:x", "-o", "run", *options)


@pytest.mark.usefixtures("toy")
def test_score_a_cluster_needs_ray(refused: Refused, suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    for cluster in (["--cluster"], ["--cluster", "10.0.0.1:6379"], ["--cluster", "--resume"]):
        message = refused("score", suite, "--system", "toy:x", "-o", "run", *cluster)
        assert message.endswith('pip install "anaphora[cluster]"')


@pytest.mark.usefixtures("toy")
def test_score_files_are_imported_whole(refused: Refused, suite: Path, scores: Path) -> None:
    assert "imported whole" in refused("score", suite, "--system", f"scores:{scores}", "-o", "run", "--limit", "3")


@pytest.mark.usefixtures("toy")
def test_a_bar_on_a_terminal(suite: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "anaphora", "score", str(suite), "--system", "toy:x?pause=0.3", "-o", "run"]
    environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm"}
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, env=environment) as process:
        os.close(theirs)
        seen = b""
        try:
            while piece := os.read(ours, 4096):
                seen += piece
        except OSError:  # the other end is closed
            pass
        assert process.stdout is not None
        assert process.stdout.read() == b""
    os.close(ours)
    assert process.returncode == 0
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen.decode())
    assert "small en-de · 6 examples · 13 candidates" in text
    assert re.search(r"━ +6/6", text)


# -------------------------------------------------------------------------------------------------------------- compare
# `anaphora compare`: differences and p-values computed by hand, all pairs of runs, runs that do not go together.

TESTS = {"mcnemar", "randomization", "bootstrap"}


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Three runs on twelve pairs, six with the tag `left` and six with `right`.

    The first is right on the first of each side; the second on all but the very first; the third as the first.
    """
    header = {"anaphora": 1, "name": "twelve", "source_language": "en", "target_language": "fr"}
    header |= {"breakdowns": ["side", "side×odd"]}
    suite = tmp_path / "twelve.jsonl"
    with suite.open("w", encoding="utf-8") as out:
        out.write(json.dumps(header) + "\n")
        for i in range(12):
            tags = {"side": "left" if i < 6 else "right", "odd": i % 2}
            row = {"id": f"i{i}", "source": ["It."], "candidates": [["Il."], ["Elle."]], "gold": 0, "tags": tags}
            out.write(json.dumps(row) + "\n")
    right = {"first": {0, 6}, "second": set(range(1, 12)), "third": {0, 6}}
    made = []
    for name, items in right.items():
        scores = tmp_path / f"{name}.scores"
        scores.write_text("".join("1\n0\n" if i in items else "0\n1\n" for i in range(12)))
        api.score(suite, f"scores:{scores}", tmp_path / name)
        made.append(tmp_path / name)
    return made[0], made[1], made[2]


def test_compare_two_runs(as_json: AsJson, runs: tuple[Path, ...], tmp_path: Path) -> None:
    comparison = as_json("compare", *runs[:2])
    assert comparison["suite"] == "twelve"
    assert comparison["systems"] == [f"scores:{tmp_path}/{name}.scores" for name in ("first", "second")]
    assert comparison["correction"] == "holm"
    (pair,) = comparison["pairs"]
    assert [pair["first"], pair["second"], pair["delta"]] == pytest.approx([2 / 12, 11 / 12, 9 / 12])
    # ten items gained, one lost: of 11 fair coins at most one is heads in 12 of 2,048 cases, on two sides
    assert pair["gained"] == [f"i{i}" for i in range(12) if i not in (0, 6)]
    assert pair["lost"] == ["i0"]
    assert pair["p_value"] == pytest.approx(24 / 2048)
    assert set(pair["tests"]) == TESTS
    assert pair["tests"]["mcnemar"] == pair["p_value"]
    assert pair["tests"]["randomization"] == pytest.approx(24 / 2048, abs=0.005)
    low, high = pair["interval"]
    assert low < pair["delta"] < high


def test_p_values_by_breakdown_are_corrected_for_their_number(as_json: AsJson, runs: tuple[Path, ...]) -> None:
    (pair,) = as_json("compare", *runs[:2])["pairs"]
    assert list(pair["breakdowns"]) == ["side"], "crossed breakdowns of the suite are compared when asked for"
    left, right = pair["breakdowns"]["side"]["left"], pair["breakdowns"]["side"]["right"]
    keys = {"total", "first", "second", "delta", "interval", "p_value", "p_adjusted", "tests"}
    assert set(left) == set(right) == keys
    assert [left["total"], left["delta"], left["p_value"]] == pytest.approx([6, 4 / 6, 14 / 64])
    assert [right["total"], right["delta"], right["p_value"]] == pytest.approx([6, 5 / 6, 2 / 32])
    assert [right["p_adjusted"], left["p_adjusted"]] == pytest.approx([4 / 32, 14 / 64])


def test_three_runs_are_compared_in_pairs(as_json: AsJson, runs: tuple[Path, ...]) -> None:
    comparison = as_json("compare", *runs, "--by", "side×odd")
    first, second, third = comparison["systems"]
    pairs = comparison["pairs"]
    assert [pair["delta"] for pair in pairs] == pytest.approx([9 / 12, 0, -9 / 12])
    assert [pair["p_value"] for pair in pairs] == pytest.approx([24 / 2048, 1, 24 / 2048])
    assert [pair["p_adjusted"] for pair in pairs] == pytest.approx([72 / 2048, 1, 72 / 2048])
    assert pairs[0]["gained"] == pairs[2]["lost"]
    assert pairs[1]["gained"] == pairs[1]["lost"] == []
    for pair in pairs:
        assert list(pair["breakdowns"]) == ["side×odd"]
        assert list(pair["breakdowns"]["side×odd"]) == ["left×0", "left×1", "right×0", "right×1"]
    assert {first, second, third} == {f"scores:{run}.scores" for run in runs}


def test_runs_of_one_system_are_named_by_their_paths(as_json: AsJson, runs: tuple[Path, ...]) -> None:
    comparison = as_json("compare", runs[0], runs[0])
    assert comparison["systems"] == [str(runs[0] / "run.jsonl")] * 2
    assert (comparison["pairs"][0]["delta"], comparison["pairs"][0]["p_value"]) == (0, 1)


def test_compare_table(anaphora: Run, runs: tuple[Path, ...]) -> None:
    lines = anaphora("compare", *runs).stdout.splitlines()
    assert lines[0] == "twelve en→fr"
    assert lines[2].endswith("first.scores → scores:" + f"{runs[1]}.scores")
    assert lines[3].split()[:5] == ["all", "12", "0.167", "0.917", "+0.750"]
    assert lines[3].endswith("0.035*")
    assert "10 items gained, 1 lost" in lines[6]
    assert sum("→ scores:" in line for line in lines) == 3
    assert "corrected (Holm)" in lines[-2]
    assert lines[-1].startswith("signature cmp|s:twelve@")
    assert "|test:mcnemar|" in lines[-1]


@pytest.mark.parametrize(
    ("format", "signs"),
    [
        ("markdown", ["&nbsp;&nbsp;all | 12 | 0.167 | 0.917 | +0.750 |"]),
        ("latex", ["all & 12 & 0.167 & 0.917 & +0.750 &", "$\\rightarrow$", "$-$0.750"]),
        ("tsv", ["\tall\t12\t0.167\t0.917\t+0.750\t"]),
    ],
)
def test_compare_other_formats(anaphora: Run, runs: tuple[Path, ...], format: str, signs: list[str]) -> None:
    text = anaphora("compare", *runs, "--format", format).stdout
    for sign in signs:
        assert sign in text


@pytest.mark.parametrize("settings", [["--json"], ["--resample", "side", "--by", "odd", "--format", "markdown"]])
def test_compare_the_same_output_twice(anaphora: Run, runs: tuple[Path, ...], settings: list[str]) -> None:
    assert anaphora("compare", *runs, *settings).stdout == anaphora("compare", *runs, *settings).stdout


def test_another_seed_gives_other_samples(as_json: AsJson, runs: tuple[Path, ...]) -> None:
    """Exact figures stay; the p-value of the randomization, a count of random swaps, does not."""
    actual = [as_json("compare", *runs[:2], "--seed", seed)["pairs"][0] for seed in ("1", "2")]
    assert actual[0]["p_value"] == actual[1]["p_value"]
    assert actual[0]["tests"]["randomization"] != actual[1]["tests"]["randomization"]


@pytest.mark.parametrize("test", sorted(TESTS))
def test_the_p_value_is_that_of_the_test_asked_for(as_json: AsJson, runs: tuple[Path, ...], test: str) -> None:
    comparison = as_json("compare", *runs[:2], "--test", test)
    assert comparison["test"] == test
    (pair,) = comparison["pairs"]
    assert pair["p_value"] == pair["tests"][test]
    assert len(set(pair["tests"].values())) == 3


def test_compare_takes_the_british_name_of_a_test(as_json: AsJson, runs: tuple[Path, ...]) -> None:
    assert as_json("compare", *runs[:2], "--test", "randomisation")["test"] == "randomization"


def test_compare_resampled_groups(as_json: AsJson, refused: Refused, runs: tuple[Path, ...]) -> None:
    """Two units, both better in the second: of the four ways to swap them two are as extreme."""
    comparison = as_json("compare", *runs[:2], "--resample", "side")
    assert comparison["test"] == "randomization"
    assert comparison["pairs"][0]["p_value"] == pytest.approx(0.5, abs=0.03)
    assert "|by:side|" in comparison["signature"]
    message = refused("compare", *runs[:2], "--resample", "side", "--test", "mcnemar")
    assert "McNemar" in message
    assert "--test" in message


def test_minimize_turns_the_difference_round(as_json: AsJson, runs: tuple[Path, ...]) -> None:
    (pair,) = as_json("compare", *runs[:2], "--minimize")["pairs"]
    assert pair["delta"] == pytest.approx(-9 / 12)


# -------------------------------------------------------------------------------------------------- bad input


def test_compare_runs_of_different_suites(
    refused: Refused, make_run: Callable[..., Path], runs: tuple[Path, ...], suite: Path, scores: Path
) -> None:
    other = make_run(suite, scores, "other")
    message = refused("compare", runs[0], other)
    assert message.startswith(f"{other}/run.jsonl: a run of small@")
    assert f"{runs[0]}/run.jsonl is one of twelve@" in message
    assert "same suite" in message


def test_a_suite_of_the_same_name_but_other_content(
    refused: Refused, make_run: Callable[..., Path], suite: Path, scores: Path
) -> None:
    one = make_run(suite, scores, "one")
    suite.write_text(suite.read_text(encoding="utf-8").replace("It was old (c)", "It was new (c)"), encoding="utf-8")
    other = make_run(suite, scores, "other")
    assert "a run of small@" in refused("compare", one, other)


def test_a_run_that_lost_its_end(refused: Refused, runs: tuple[Path, ...]) -> None:
    file = runs[1] / "run.jsonl"
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-1]))
    message = refused("compare", *runs[:2])
    assert str(file) in message


def test_compare_a_broken_record(refused: Refused, runs: tuple[Path, ...]) -> None:
    file = runs[1] / "run.jsonl"
    file.write_text(file.read_text(encoding="utf-8").replace('"id":"i4"', '"id":"i4'), encoding="utf-8")
    assert refused("compare", *runs[:2]).startswith(f"{file}: line 6: ")


def test_one_run_is_not_enough(refused: Refused, runs: tuple[Path, ...]) -> None:
    assert "two or more runs" in refused("compare", runs[0])


def test_compare_what_is_no_run(refused: Refused, runs: tuple[Path, ...], tmp_path: Path) -> None:
    assert "nowhere: no such file" in refused("compare", runs[0], "nowhere")
    message = refused("compare", runs[0], tmp_path / "twelve.jsonl")
    assert message.startswith(f"{tmp_path / 'twelve.jsonl'}: line 1: not a run")
    assert "anaphora score" in message


def test_compare_an_unknown_tag(refused: Refused, runs: tuple[Path, ...]) -> None:
    message = refused("compare", *runs[:2], "--by", "sde")
    assert "'sde' (did you mean side?)" in message


# --------------------------------------------------------------------------------------------------------------- report
# `anaphora report` from end to end.


@pytest.fixture
def run(make_run: Callable[..., Path], suite: Path, scores: Path) -> Path:
    return make_run(suite, scores, "before")


def test_report_writes_a_page_and_prints_its_summary(anaphora: Run, run: Path, suite: Path, tmp_path: Path) -> None:
    done = anaphora("report", run, "--suite", suite, "-o", tmp_path / "report.html", "--title", "Mine & yours")
    assert done.stdout == ""
    assert "On small (6 examples)" in done.stderr
    assert "report: " in done.stderr
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "<h1>Mine &amp; yours</h1>" in text


def test_report_json_names_the_files(as_json: AsJson, run: Path, suite: Path, tmp_path: Path) -> None:
    document = as_json("report", run, "--suite", suite, "--format", "csv", "-o", tmp_path / "tables")
    assert all(Path(file).is_file() and file.endswith(".csv") for file in document["files"])
    assert document["summary"][0].startswith("On small (6 examples)")


def test_missing_texts_are_reported(anaphora: Run, run: Path, tmp_path: Path) -> None:
    done = anaphora("report", run, "-o", tmp_path / "report.html")
    message = "the report has no examples of small, whose texts were not found: add --suite FILE"
    assert message in done.stderr


def test_bad_input_is_one_line(refused: Refused, run: Path, suite: Path, tmp_path: Path) -> None:
    assert "name one or more runs" in refused("report", "-o", tmp_path / "r.html")
    assert "is a suite" in refused("report", suite, "-o", tmp_path / "r.html")
    bad = tmp_path / "bad.json"
    bad.write_text("{", encoding="utf-8")
    assert "bad.json" in refused("report", run, "--result", bad, "-o", tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()
