"""`anaphora evaluate`: figures calculated by hand, every setting, the gate, bad input."""

from __future__ import annotations

import gzip
import json
import math
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[..., str]
AsJson = Callable[..., Any]

# the scores of conftest's suite with a number of tokens each: by their means a is wrong and c is right
WITH_TOKENS = [(-1, 1), (-2, 4), (-3, 1), (-1, 1), (-2, 1), (-2, 4), (-1, 1), *[(-1, 1)] * 2, (-1, 1), (-5, 1), (-5, 1)]
WITH_TOKENS += [(-1, 1)]


def wilson(correct: int, total: int, z: float = 1.959964) -> list[float]:
    """The score interval, from its definition: the shares that a z-test at the 5 % level does not reject."""
    a, b, c = 1 + z * z / total, -(2 * correct / total + z * z / total), (correct / total) ** 2
    root = math.sqrt(b * b - 4 * a * c)
    return [(-b - root) / (2 * a), (-b + root) / (2 * a)]


def counts(groups: dict[str, dict[str, Any]]) -> dict[str, tuple[int, int]]:
    """Right and total of each group of a breakdown."""
    return {name: (group["correct"], group["total"]) for name, group in groups.items()}


# --------------------------------------------------------------------------------------------------- figures


def test_json_is_that_of_the_contract(as_json: AsJson, suite: Path, scores: Path) -> None:
    result = as_json("evaluate", suite, "--scores", scores)
    keys = {"suite", "total", "correct", "accuracy", "interval", "ties", "breakdowns", "signature"}
    assert keys <= set(result)
    assert (result["suite"], result["total"], result["correct"]) == ("small", 6, 3)
    assert (result["accuracy"], result["ties"]) == (0.5, 1)
    assert result["interval"] == pytest.approx(wilson(3, 6), abs=1e-6)
    assert list(result["breakdowns"]) == ["pronoun"]
    groups = result["breakdowns"]["pronoun"]
    assert counts(groups) == {"er": (2, 2), "es": (1, 2), "sie": (0, 2)}
    for group in groups.values():
        assert set(group) == {"total", "correct", "accuracy", "interval"}
        assert group["accuracy"] == group["correct"] / group["total"]
        assert group["interval"] == pytest.approx(wilson(group["correct"], group["total"]), abs=1e-6)
    assert result["signature"].startswith(f"ctr|s:small@{result['sha256'][:6]}|norm:sum|tie:wrong|v:")


def test_format_json_is_the_same_as_json(anaphora: Run, suite: Path, scores: Path) -> None:
    arguments = ("evaluate", suite, "--scores", scores)
    assert anaphora(*arguments, "--format", "json").stdout == anaphora(*arguments, "--json").stdout


def test_a_run_equals_its_suite_with_its_score_file(
    as_json: AsJson, make_run: Callable[..., Path], suite: Path, scores: Path
) -> None:
    run = make_run(suite, scores, "run")
    for more in ([], ["--minimize", "--by", "distance>3×pronoun", "--resample", "document"]):
        assert as_json("evaluate", run, *more) == as_json("evaluate", suite, "--scores", scores, *more)
    assert as_json("evaluate", run / "run.jsonl") == as_json("evaluate", run)


def test_gzipped_suite_and_scores_give_the_same_figures(as_json: AsJson, suite: Path, scores: Path) -> None:
    packed = [path.with_name(f"{path.name}.gz") for path in (suite, scores)]
    for path, source in zip(packed, (suite, scores), strict=True):
        path.write_bytes(gzip.compress(source.read_bytes()))
    expected = as_json("evaluate", suite, "--scores", scores)
    document = as_json("evaluate", packed[0], "--scores", packed[1])
    assert {**document, "system": expected["system"]} == expected
    # a gzip file is known by its bytes, not by its name
    scores.write_bytes(packed[1].read_bytes())
    assert as_json("evaluate", packed[0], "--scores", scores) == expected


def test_a_constant_scorer_has_no_right_answer(as_json: AsJson, suite: Path, tmp_path: Path) -> None:
    (tmp_path / "constant").write_text("0\n" * 13)
    result = as_json("evaluate", suite, "--scores", "constant")
    assert (result["correct"], result["ties"]) == (0, 6)


def test_minimize(as_json: AsJson, suite: Path, scores: Path, tmp_path: Path) -> None:
    result = as_json("evaluate", suite, "--scores", scores, "--minimize")
    assert (result["correct"], result["ties"]) == (2, 1)  # c and f, which are wrong where more is better
    negated = [f"{-float(line)}\n" for line in scores.read_text().splitlines()]
    (tmp_path / "losses").write_text("".join(negated))
    losses = as_json("evaluate", suite, "--scores", "losses", "--minimize")
    assert losses["breakdowns"] == as_json("evaluate", suite, "--scores", scores)["breakdowns"]


def test_scores_are_compared_as_numbers(as_json: AsJson, suite: Path, tmp_path: Path) -> None:
    """ContraCAT's own evaluation compares them as strings, by which 10 < 9."""
    best = [10, 9, 9, 10, 9, 1e2, 99, 9, 10, -9, -10, 1e-5, 0]
    (tmp_path / "scores").write_text("".join(f"{score}\n" for score in best))
    assert as_json("evaluate", suite, "--scores", "scores")["correct"] == 6


# -------------------------------------------------------------------------------------------------- --by


@pytest.mark.parametrize("cross", ["pronoun*document", "pronoun×document", " pronoun × document "])
def test_crossed_breakdowns(as_json: AsJson, suite: Path, scores: Path, cross: str) -> None:
    result = as_json("evaluate", suite, "--scores", scores, "--by", cross)
    assert list(result["breakdowns"]) == ["pronoun×document"]
    groups = result["breakdowns"]["pronoun×document"]
    assert counts(groups) == {"er×x": (2, 2), "es×y": (1, 2), "sie×x": (0, 1), "sie×y": (0, 1)}


def test_by_a_tag_that_not_every_example_has(anaphora: Run, as_json: AsJson, suite: Path, scores: Path) -> None:
    arguments = ("evaluate", suite, "--scores", scores, "--by", "distance")
    result = as_json(*arguments)
    assert counts(result["breakdowns"]["distance"]) == {"0": (1, 1), "1": (1, 2), "4": (0, 1), "7": (1, 1)}
    assert list(result["breakdowns"]["distance"]) == ["0", "1", "4", "7"]
    assert "antecedent distance: 1 without a value" in anaphora(*arguments).stdout


def test_by_merges_numbers_above_a_limit_and_can_be_repeated(as_json: AsJson, suite: Path, scores: Path) -> None:
    result = as_json("evaluate", suite, "--scores", scores, "--by", "distance>3", "--by", "document")
    assert list(result["breakdowns"]) == ["distance", "document"]
    assert counts(result["breakdowns"]["distance"]) == {"0": (1, 1), "1": (1, 2), ">3": (1, 2)}
    assert counts(result["breakdowns"]["document"]) == {"x": (2, 3), "y": (1, 3)}


def test_by_an_unknown_tag(refused: Refused, suite: Path, scores: Path) -> None:
    message = refused("evaluate", suite, "--scores", scores, "--by", "pronuon")
    assert "'pronuon' (did you mean pronoun?)" in message
    assert message.endswith("distance, document, pronoun")
    assert "'nix'" in refused("evaluate", suite, "--scores", scores, "--by", "pronoun×nix")


@pytest.mark.parametrize("by", ["", "pronoun×", "distance>far"])
def test_by_something_that_is_no_breakdown(refused: Refused, suite: Path, scores: Path, by: str) -> None:
    assert refused("evaluate", suite, "--scores", scores, "--by", by).startswith(f"not a breakdown: {by!r}")


# ------------------------------------------------------------------------------------------------ --normalize


def test_normalize_by_length(as_json: AsJson, suite: Path, tmp_path: Path) -> None:
    (tmp_path / "scores").write_text("".join(f"{score}\t{tokens}\n" for score, tokens in WITH_TOKENS))
    total = as_json("evaluate", suite, "--scores", "scores", "--by", "pronoun×document")
    mean = as_json("evaluate", suite, "--scores", "scores", "--by", "pronoun×document", "--normalize", "mean")
    assert counts(total["breakdowns"]["pronoun×document"])["er×x"] == (2, 2)
    assert counts(mean["breakdowns"]["pronoun×document"])["er×x"] == (1, 2)  # a: -1 a token against -0.5
    assert counts(total["breakdowns"]["pronoun×document"])["sie×x"] == (0, 1)
    assert counts(mean["breakdowns"]["pronoun×document"])["sie×x"] == (1, 1)  # c: -0.5 a token against -1
    assert "|norm:sum|" in total["signature"]
    assert "|norm:mean|" in mean["signature"]


def test_normalize_a_run_by_length(as_json: AsJson, make_run: Callable[..., Path], suite: Path, tmp_path: Path) -> None:
    scores = tmp_path / "scores"
    scores.write_text("".join(f"{score}\t{tokens}\n" for score, tokens in WITH_TOKENS))
    run = make_run(suite, scores, "run")
    from_run = as_json("evaluate", run, "--normalize", "mean")
    assert from_run == as_json("evaluate", suite, "--scores", scores, "--normalize", "mean")


def test_normalize_without_token_counts(refused: Refused, suite: Path, scores: Path) -> None:
    message = refused("evaluate", suite, "--scores", scores, "--normalize", "mean")
    assert "example a" in message
    assert "no token counts" in message
    assert "--normalize sum" in message


def test_token_counts_on_some_lines_only(refused: Refused, suite: Path, tmp_path: Path) -> None:
    (tmp_path / "scores").write_text("-1\t3\n-2\n" + "-1\n" * 11)
    message = refused("evaluate", suite, "--scores", "scores")
    assert message.startswith("scores: line 2: ")
    assert "every line" in message


# ---------------------------------------------------------------------------------------------- --fail-under


def test_fail_under(anaphora: Run, suite: Path, scores: Path) -> None:
    arguments = ("evaluate", suite, "--scores", scores)
    expected = anaphora(*arguments, "--json")
    done = anaphora(*arguments, "--json", "--fail-under", "0.51", check=1)
    assert done.stdout == expected.stdout, "the result is printed all the same"
    assert done.stderr == "failed: accuracy 0.5000 is under 0.51 on small\n"
    assert anaphora(*arguments, "--json", "--fail-under", "0.5").stdout == expected.stdout
    table = anaphora(*arguments, "--fail-under", "1", check=1)
    assert table.stdout == anaphora(*arguments).stdout


def test_fail_under_where_there_is_no_accuracy(anaphora: Run, tmp_path: Path, suite: Path) -> None:
    """A suite of priors alone has no right answers: a gate on it cannot pass."""
    header, *examples = map(json.loads, suite.read_text(encoding="utf-8").splitlines())
    rows = [header, *({**example, "gold": None} for example in examples)]
    suite.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "scores").write_text("".join(f"{-k}\n" for k in range(13)))
    done = anaphora("evaluate", suite, "--scores", "scores", "--json", "--fail-under", "0", check=1)
    result = json.loads(done.stdout)
    assert (result["total"], result["accuracy"]) == (0, None)
    assert {choice: figure["count"] for choice, figure in result["priors"]["all"].items()} == {"candidate 1": 6}
    assert done.stderr.startswith("failed: no accuracy")


# ------------------------------------------------------------------------------------------------- intervals


def test_bootstrap_intervals_are_seeded(as_json: AsJson, suite: Path, scores: Path) -> None:
    arguments = ("evaluate", suite, "--scores", scores, "--interval", "bootstrap", "--samples", "1000")
    result = as_json(*arguments)
    assert result == as_json(*arguments)
    low, high = result["interval"]
    assert 0 <= low < 0.5 < high <= 1
    assert "|ci:bs1000|seed:12345|" in result["signature"]
    assert "|seed:7|" in as_json(*arguments, "--seed", "7")["signature"]


def test_a_higher_confidence_gives_a_wider_interval(anaphora: Run, as_json: AsJson, suite: Path, scores: Path) -> None:
    arguments = ("evaluate", suite, "--scores", scores, "--confidence", "0.99")
    assert as_json(*arguments)["interval"] == pytest.approx(wilson(3, 6, z=2.575829), abs=1e-6)
    assert "99 % interval" in anaphora(*arguments).stdout


def test_resample_whole_documents(as_json: AsJson, suite: Path, scores: Path) -> None:
    """Document x has two of three right, y one of three: resampled totals are 2/6, 3/6 or 4/6."""
    result = as_json("evaluate", suite, "--scores", scores, "--resample", "document")
    assert result["interval"] == pytest.approx([1 / 3, 2 / 3])
    assert "|ci:bs10000:document|" in result["signature"]


def test_resample_by_what_some_examples_lack(refused: Refused, suite: Path, scores: Path) -> None:
    message = refused("evaluate", suite, "--scores", scores, "--resample", "distance")
    assert "example f" in message
    assert "'distance'" in message
    message = refused("evaluate", suite, "--scores", scores, "--resample", "document", "--interval", "wilson")
    assert "--resample" in message


# ---------------------------------------------------------------------------------------------------- formats


def test_table(anaphora: Run, suite: Path, scores: Path) -> None:
    lines = anaphora("evaluate", suite, "--scores", scores).stdout.splitlines()
    assert lines[0] == f"small en→de · scores:{scores}"
    assert lines[1].split() == ["n", "accuracy", "95", "%", "interval"]
    assert lines[2].split() == ["all", "6", "0.500", "[0.188,", "0.812]"]
    assert [line.split()[:3] for line in lines[4:7]] == [
        ["er", "2", "1.000"],
        ["es", "2", "0.500"],
        ["sie", "2", "0.000"],
    ]
    assert lines[7].startswith("1 tie · signature ctr|s:small@")
    assert len({len(line) for line in (lines[1], lines[2], *lines[4:7])}) == 1, "the columns are aligned"


def test_markdown(anaphora: Run, suite: Path, scores: Path) -> None:
    lines = anaphora("evaluate", suite, "--scores", scores, "--format", "markdown").stdout.splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert table[0] == "|  | n | accuracy | 95 % interval |"
    assert table[1] == "| :-- | --: | --: | --: |"
    assert table[2] == "| all | 6 | 0.500 | [0.188, 0.812] |"
    assert {line.count("|") for line in table} == {5}


def test_latex(anaphora: Run, suite: Path, scores: Path) -> None:
    text = anaphora("evaluate", suite, "--scores", scores, "--format", "latex", "--by", "distance>3×pronoun").stdout
    for part in ("\\begin{tabular}{lrrr}", "\\toprule", "\\midrule", "\\bottomrule", "\\end{table}"):
        assert text.count(part) == 1
    assert "all & 6 & 0.500 & [0.188, 0.812] \\\\" in text
    assert "95 \\% interval" in text
    assert "$>$3$\\times$es" in text
    assert "×" not in text


def test_tsv(anaphora: Run, suite: Path, scores: Path) -> None:
    done = anaphora("evaluate", suite, "--scores", scores, "--format", "tsv")
    table = [line.split("\t") for line in done.stdout.splitlines()]
    assert table[0] == ["section", "", "n", "accuracy", "95 % interval"]
    assert table[1] == ["", "all", "6", "0.500", "[0.188, 0.812]"]
    assert [row[:4] for row in table[2:]] == [
        ["pronoun", "er", "2", "1.000"],
        ["pronoun", "es", "2", "0.500"],
        ["pronoun", "sie", "2", "0.000"],
    ]


def test_long_signature(anaphora: Run, as_json: AsJson, suite: Path, scores: Path) -> None:
    arguments = ("evaluate", suite, "--scores", scores, "--minimize")
    result = as_json(*arguments)
    assert f"|suite:small@{result['sha256']}|" in result["long_signature"]
    assert "|better:lower|" in result["long_signature"]
    lines = anaphora(*arguments, "--long-signature").stdout.splitlines()
    assert lines[-1] == result["long_signature"]
    assert lines[:-1] == anaphora(*arguments).stdout.splitlines()


# -------------------------------------------------------------------------------------------------- bad input


def lines(*changed: tuple[int, str], of: Sequence[str] = ("-1",) * 13) -> str:
    """A score file with some of its lines (counted from 1) replaced."""
    new = dict(changed)
    return "".join(f"{new.get(number, line)}\n" for number, line in enumerate(of, start=1))


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("-1\n" * 12, 12, ["13 scores expected", "found 12", "anaphora suites convert SUITE --to text"]),
        ("", None, ["13 scores expected", "found 0", "anaphora suites convert SUITE --to text"]),
        ("-1\n" * 15, 14, ["13 scores expected", "found 15", "anaphora suites convert SUITE --to text"]),
        (lines((3, "nan")), 3, ["'nan'", "One score per candidate and line"]),
        (lines((4, "-inf")), 4, ["'-inf'", "One score per candidate and line"]),
        (lines((5, "1e999")), 5, ["'1e999'"]),
        (lines((13, "good")), 13, ["'good'", "One score per candidate and line"]),
        (lines((2, "1_000")), 2, ["'1_000'"]),
        (lines((2, "1 2")), 2, ["'1 2'"]),
        (lines((7, "")), 7, ["an empty line", "One score per candidate and line"]),
        (lines((1, "-1\tmany")), 1, ["'many'"]),
        (lines((1, "-1\t-3")), 1, ["'-3'"]),
    ],
    ids=["few", "none", "many", "nan", "inf", "overflow", "word", "underscore", "two", "empty", "tokens", "negative"],
)
def test_a_bad_score_file(
    refused: Refused, suite: Path, tmp_path: Path, text: str, line: int | None, expected: list[str]
) -> None:
    (tmp_path / "my.scores").write_text(text)
    message = refused("evaluate", suite, "--scores", "my.scores")
    assert message.startswith("my.scores: 13" if line is None else f"my.scores: line {line}: ")
    for part in expected:
        assert part in message


def test_windows_line_ends_and_a_byte_order_mark_are_accepted(
    as_json: AsJson, suite: Path, scores: Path, tmp_path: Path
) -> None:
    expected = as_json("evaluate", suite, "--scores", scores)
    scores.write_bytes(b"\xef\xbb\xbf" + scores.read_bytes().replace(b"\n", b"\r\n"))
    assert as_json("evaluate", suite, "--scores", scores) == expected


def test_a_score_file_that_is_not_there(refused: Refused, suite: Path, tmp_path: Path) -> None:
    assert refused("evaluate", suite, "--scores", "nowhere") == "nowhere: no such file"
    assert refused("evaluate", suite, "--scores", tmp_path) == f"{tmp_path}: is a directory. A file is expected here."


@pytest.mark.parametrize("which", ["small.jsonl", "first.scores"])
def test_a_truncated_gzip(refused: Refused, suite: Path, scores: Path, which: str) -> None:
    path = suite if suite.name == which else scores
    path.write_bytes(gzip.compress(path.read_bytes())[:-9])  # the check sum and the end of the data are lost
    message = refused("evaluate", suite, "--scores", scores)
    assert message.startswith(f"{path}: line ")
    assert message.endswith("the gzip file is truncated. Copy or download it again.")


def test_a_damaged_gzip(refused: Refused, suite: Path, scores: Path) -> None:
    packed = bytearray(gzip.compress(scores.read_bytes()))
    packed[-8] ^= 1  # of the check sum
    scores.write_bytes(packed)
    message = refused("evaluate", suite, "--scores", scores)
    assert message.startswith(f"{scores}: line ")
    assert message.endswith("the gzip file is damaged. Copy or download it again.")


def test_bad_utf8_in_the_suite(refused: Refused, suite: Path, scores: Path) -> None:
    suite.write_bytes(suite.read_bytes().replace(b"It was old (c)", b"It was \xf6ld (c)"))
    message = refused("evaluate", suite, "--scores", scores)
    assert message.startswith(f"{suite}: line 4: not UTF-8 at byte ")
    assert "0xf6" in message
    assert "iconv" in message


@pytest.mark.parametrize(
    ("old", "new", "output"),
    [
        ('"gold": 1', '"gold": 9', "gold is 9"),
        ('"id": "b"', '"id": 5', "'id' must be a string"),
        ('"candidates"', '"kandidaten"', "'candidates' is missing"),
        ('{"id": "b"', '"id": "b"', "not JSON"),
    ],
)
def test_a_bad_line_in_the_suite(refused: Refused, suite: Path, scores: Path, old: str, new: str, output: str) -> None:
    rows = suite.read_text(encoding="utf-8").splitlines()
    assert old in rows[2]
    rows[2] = rows[2].replace(old, new)
    suite.write_text("\n".join(rows) + "\n", encoding="utf-8")
    message = refused("evaluate", suite, "--scores", scores)
    assert message.startswith(f"{suite}: line 3: ")
    assert output in message


def test_what_is_no_suite(refused: Refused, suite: Path, scores: Path) -> None:
    message = refused("evaluate", scores, "--scores", scores)
    assert message.startswith(f"{scores}: line 1: not a suite file")
    assert "anaphora suites convert" in message
    suite.write_text(suite.read_text(encoding="utf-8").replace('"anaphora": 1', '"anaphora": 99'), encoding="utf-8")
    message = refused("evaluate", suite, "--scores", scores)
    assert message.startswith(f"{suite}: line 1: ")
    assert "version 99" in message
    assert "pip install -U anaphora" in message


ADVICE = "Evaluate a system's scores on it"


def test_what_is_no_run(refused: Refused, suite: Path, tmp_path: Path) -> None:
    assert refused("evaluate", suite).endswith(
        f"is a suite. Evaluate a system's scores on it: anaphora evaluate {suite} --scores FILE"
    )
    assert "contrapro is a suite" in refused("evaluate", "contrapro")
    (tmp_path / "text").write_text("hello\n", encoding="utf-8")
    message = refused("evaluate", tmp_path / "text")
    assert message.startswith(f"{tmp_path / 'text'}: line 1: not a run")
    assert "anaphora score" in message
    assert "no such file" in refused("evaluate", tmp_path)


def test_a_suite_of_the_catalog_that_is_not_here_yet(refused: Refused, scores: Path) -> None:
    message = refused("evaluate", "bawden-coreference", "--scores", scores)
    assert message.endswith("Get it with: anaphora suites get bawden-coreference")
    message = refused("evaluate", "contrapro-rebuilt", "--scores", scores)
    assert message.endswith("anaphora suites get contrapro-rebuilt --from-path PATH")
    message = refused("evaluate", "contrapo", "--scores", scores)
    assert "did you mean contrapro" in message
    assert "anaphora suites list" in message


# --------------------------------------------------------------------------------- scores that are means per token


@pytest.fixture
def means(tmp_path: Path) -> Path:
    """Scores of fairseq for two candidates each: the first has the better mean, the second the better sum."""
    header = {"anaphora": 1, "name": "means", "source_language": "en", "target_language": "fr", "breakdowns": []}
    rows = [{"id": str(k), "source": ["It."], "candidates": [["Il."], ["Elle."]], "gold": 0} for k in range(20)]
    (tmp_path / "means.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [header, *rows]))
    (tmp_path / "fair.scores").write_text("-1.0\t10\n-1.5\t5\n" * 20)
    return tmp_path / "means.jsonl"


def test_means_per_token_are_compared_as_sums(as_json: AsJson, means: Path) -> None:
    asked = ("evaluate", means, "--scores", "fair.scores")
    as_they_are, sums = as_json(*asked), as_json(*asked, "--scores-are", "mean")
    assert (as_they_are["correct"], sums["correct"]) == (20, 0)  # −1 > −1.5, but −10 < −7.5
    assert "norm:sum" in sums["signature"]
    assert "scores:mean" in sums["long_signature"]
    assert "scores:mean" not in as_they_are["long_signature"]
    assert as_json(*asked, "--scores-are", "sum") == as_they_are


def test_means_per_token_can_be_compared_as_means(as_json: AsJson, means: Path) -> None:
    asked = ("evaluate", means, "--scores", "fair.scores", "--scores-are", "mean", "--normalize", "mean")
    result = as_json(*asked)
    assert result["correct"] == 20
    assert "norm:mean" in result["signature"]
    (means.parent / "fair.scores").write_text("-1.0\n-1.5\n" * 20)  # no counts are needed for it
    assert as_json(*asked)["correct"] == 20


def test_means_without_counts_are_refused(refused: Refused, means: Path) -> None:
    (means.parent / "fair.scores").write_text("-1.0\t10\n-1.5\t5\n" + "-1.0\n-1.5\n" * 19)
    message = refused("evaluate", means, "--scores", "fair.scores", "--scores-are", "mean")
    assert "fair.scores: line 3: a mean per token without a number of tokens" in message
    assert "--normalize mean" in message


def test_scores_are_goes_with_scores(refused: Refused, anaphora: Run, suite: Path, scores: Path) -> None:
    anaphora("score", suite, "--system", f"scores:{scores}", "-o", "run")
    assert "--scores-are needs --scores" in refused("evaluate", "run", "--scores-are", "mean")


def test_a_run_of_means_holds_sums(anaphora: Run, as_json: AsJson, means: Path, refused: Refused) -> None:
    anaphora("score", means, "--system", "scores:fair.scores?are=mean", "-o", "run")
    header, first, *_ = map(json.loads, (means.parent / "run" / "run.jsonl").read_text().splitlines())
    assert (first["scores"], first["tokens"]) == ([-10.0, -7.5], [10, 5])
    assert header["system"] == "scores:fair.scores?are=mean"
    assert as_json("evaluate", "run")["correct"] == 0
    assert as_json("evaluate", "run", "--normalize", "mean")["correct"] == 20
    assert "unknown setting 'is'" in refused("score", means, "--system", "scores:fair.scores?is=mean", "-o", "other")
    assert "'means'" in refused("score", means, "--system", "scores:fair.scores?are=means", "-o", "other")


def test_a_run_needs_no_score_file(refused: Refused, make_run: Callable[..., Path], suite: Path, scores: Path) -> None:
    run = make_run(suite, scores, "run")
    for name in (run, run / "run.jsonl"):
        message = refused("evaluate", name, "--scores", scores)
        assert message == f"{name} is a run of small, with scores of its own. Drop --scores {scores}, or name the suite"


@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_an_unfinished_run_says_so(
    refused: Refused, make_run: Callable[..., Path], suite: Path, scores: Path, command: str
) -> None:
    """newcomer.md B16: "run.jsonl: no such file" next to run.jsonl.part."""
    run = make_run(suite, scores, "run")
    lines = (run / "run.jsonl").read_bytes().splitlines(keepends=True)
    (run / "run.jsonl.part").write_bytes(b"".join(lines[:3]))
    (run / "run.jsonl").unlink()
    message = refused(command, run, *(["-o", "report.html"] if command == "report" else []))
    assert message == (
        f"{run / 'run.jsonl.part'}: an unfinished run: 2 of 6 examples are scored. "
        "Finish it with the command that started it and --resume."
    )
