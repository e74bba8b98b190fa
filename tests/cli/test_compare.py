"""`anaphora compare`: differences and p-values reckoned by hand, all pairs of runs, runs that do not go together."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora import api

Run = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[..., str]
AsJson = Callable[..., Any]
TESTS = {"mcnemar", "randomisation", "bootstrap"}


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


def test_two_runs(as_json: AsJson, runs: tuple[Path, ...], tmp_path: Path) -> None:
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
    assert pair["tests"]["randomisation"] == pytest.approx(24 / 2048, abs=0.005)
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


def test_the_same_system_twice_goes_by_the_paths_of_its_runs(as_json: AsJson, runs: tuple[Path, ...]) -> None:
    comparison = as_json("compare", runs[0], runs[0])
    assert comparison["systems"] == [str(runs[0] / "run.jsonl")] * 2
    assert (comparison["pairs"][0]["delta"], comparison["pairs"][0]["p_value"]) == (0, 1)


def test_table(anaphora: Run, runs: tuple[Path, ...]) -> None:
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
def test_other_formats(anaphora: Run, runs: tuple[Path, ...], format: str, signs: list[str]) -> None:
    text = anaphora("compare", *runs, "--format", format).stdout
    for sign in signs:
        assert sign in text


@pytest.mark.parametrize("settings", [["--json"], ["--resample", "side", "--by", "odd", "--format", "markdown"]])
def test_the_same_output_twice(anaphora: Run, runs: tuple[Path, ...], settings: list[str]) -> None:
    assert anaphora("compare", *runs, *settings).stdout == anaphora("compare", *runs, *settings).stdout


def test_another_seed_gives_other_samples(as_json: AsJson, runs: tuple[Path, ...]) -> None:
    """Exact figures stay; the p-value of the randomisation, a count of random swaps, does not."""
    found = [as_json("compare", *runs[:2], "--seed", seed)["pairs"][0] for seed in ("1", "2")]
    assert found[0]["p_value"] == found[1]["p_value"]
    assert found[0]["tests"]["randomisation"] != found[1]["tests"]["randomisation"]


@pytest.mark.parametrize("test", sorted(TESTS))
def test_the_p_value_is_that_of_the_test_asked_for(as_json: AsJson, runs: tuple[Path, ...], test: str) -> None:
    comparison = as_json("compare", *runs[:2], "--test", test)
    assert comparison["test"] == test
    (pair,) = comparison["pairs"]
    assert pair["p_value"] == pair["tests"][test]
    assert len(set(pair["tests"].values())) == 3


def test_resampled_groups(as_json: AsJson, refused: Refused, runs: tuple[Path, ...]) -> None:
    """Two units, both better in the second: of the four ways to swap them two are as extreme."""
    comparison = as_json("compare", *runs[:2], "--resample", "side")
    assert comparison["test"] == "randomisation"
    assert comparison["pairs"][0]["p_value"] == pytest.approx(0.5, abs=0.03)
    assert "|by:side|" in comparison["signature"]
    message = refused("compare", *runs[:2], "--resample", "side", "--test", "mcnemar")
    assert "McNemar" in message
    assert "--test" in message


def test_minimize_turns_the_difference_round(as_json: AsJson, runs: tuple[Path, ...]) -> None:
    (pair,) = as_json("compare", *runs[:2], "--minimize")["pairs"]
    assert pair["delta"] == pytest.approx(-9 / 12)


# -------------------------------------------------------------------------------------------------- bad input


def test_runs_of_different_suites(
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


def test_a_broken_record(refused: Refused, runs: tuple[Path, ...]) -> None:
    file = runs[1] / "run.jsonl"
    file.write_text(file.read_text(encoding="utf-8").replace('"id":"i4"', '"id":"i4'), encoding="utf-8")
    assert refused("compare", *runs[:2]).startswith(f"{file}: line 6: ")


def test_one_run_is_not_enough(refused: Refused, runs: tuple[Path, ...]) -> None:
    assert "two or more runs" in refused("compare", runs[0])


def test_what_is_no_run(refused: Refused, runs: tuple[Path, ...], tmp_path: Path) -> None:
    assert "nowhere: no such file" in refused("compare", runs[0], "nowhere")
    message = refused("compare", runs[0], tmp_path / "twelve.jsonl")
    assert message.startswith(f"{tmp_path / 'twelve.jsonl'}: line 1: not a run")
    assert "anaphora score" in message


def test_an_unknown_tag(refused: Refused, runs: tuple[Path, ...]) -> None:
    message = refused("compare", *runs[:2], "--by", "sde")
    assert "'sde' (did you mean side?)" in message
