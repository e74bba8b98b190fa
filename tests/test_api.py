"""The Python interface is as short as the command line, and says the same things."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import anaphora as package
from anaphora import api
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.demo.corpus import demo_suite
from anaphora.runs import CandidateScores, Run
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, suite_of


def example(k: int) -> Example:
    tags = {"pronoun": "er" if k % 2 else "sie", "document": f"d{k // 5}"}
    return Example(str(k), ("It is old.",), (("Er ist alt.",), ("Sie ist alt.",), ("Es ist alt.",)), k % 3, tags)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Twenty examples whose gold is the first, second or third candidate in turn."""
    file = tmp_path / "suite.jsonl"
    header = Header("small", "en", "de", ("pronoun",))
    suite_of(header, lambda: [example(k) for k in range(20)]).write(file)
    return file


@pytest.fixture
def always_first(tmp_path: Path) -> Path:
    """A system that always prefers the first candidate: right on 7 of 20."""
    file = tmp_path / "first.scores"
    file.write_text("-1\n-2\n-3\n" * 20)
    return file


@pytest.fixture
def perfect(tmp_path: Path) -> Path:
    file = tmp_path / "perfect.scores"
    file.write_text("".join("-1\n" if j == k % 3 else "-2\n" for k in range(20) for j in range(3)))
    return file


def test_the_package_offers_the_interface_and_imports_nothing_heavy() -> None:
    assert package.evaluate is api.evaluate
    assert package.compare is api.compare
    assert package.score is api.score
    assert package.load_suite is api.load_suite
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        package.evaluat  # noqa: B018
    program = "import sys, anaphora; print(*sorted({'numpy', 'click', 'rich', 'torch', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_suite_is_loaded_by_its_file(suite: Path) -> None:
    loaded = package.load_suite(suite)
    assert isinstance(loaded, Suite)
    assert loaded.header.name == "small"
    assert len(list(loaded)) == 20
    assert list(package.load_suite(str(suite))) == list(loaded)


def test_a_suite_is_loaded_from_a_published_format(data: Callable[[str], Path]) -> None:
    loaded = package.load_suite(data("disceval-en-fr") / "anaphora.json", "disceval")
    assert loaded.header.name == "bawden-coreference"
    with pytest.raises(AnaphoraError, match="--split is not an option of the format 'disceval'"):
        package.load_suite(data("disceval-en-fr") / "anaphora.json", "disceval", split="test")


def test_a_suite_and_its_scores_are_evaluated(suite: Path, always_first: Path) -> None:
    result = package.evaluate(suite, scores=always_first)
    assert (result.figure.correct, result.figure.total) == (7, 20)
    assert result == package.evaluate(package.load_suite(suite), scores=str(always_first))
    assert list(result.breakdowns) == ["pronoun"]
    assert list(package.evaluate(suite, scores=always_first, by=["document"]).breakdowns) == ["document"]


def test_settings_are_passed_on(suite: Path, always_first: Path) -> None:
    assert package.evaluate(suite, scores=always_first, minimize=True).figure.correct == 6  # the third is lowest
    narrow = package.evaluate(suite, scores=always_first, confidence=0.5).figure.interval
    wide = package.evaluate(suite, scores=always_first, confidence=0.99).figure.interval
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    with pytest.raises(AnaphoraError, match="unknown normalize 'tokens'"):
        package.evaluate(suite, scores=always_first, normalize="tokens")


def test_resampling_documents_means_bootstrap_intervals(suite: Path, always_first: Path) -> None:
    """Wilson's interval takes examples to be independent; asked to resample documents, it would be a lie."""
    result = package.evaluate(suite, scores=always_first, resample="document", samples=500)
    assert result.settings.interval == "bootstrap"
    assert result.figure.interval != package.evaluate(suite, scores=always_first).figure.interval
    assert "ci:bs500:document" in result.signature


def test_a_system_scores_a_suite_into_a_run(suite: Path, always_first: Path, tmp_path: Path) -> None:
    run = package.score(suite, f"scores:{always_first}", tmp_path / "runs" / "first")
    assert isinstance(run, Run)
    assert run.path == tmp_path / "runs" / "first" / "run.jsonl"
    assert run.header.system == f"scores:{always_first}"
    assert run.header.sha256 == package.load_suite(suite).sha256()
    direct = package.evaluate(suite, scores=always_first)
    for what in (run, run.path, str(run.path.parent)):
        assert package.evaluate(what) == direct


def test_a_run_that_cannot_be_made_leaves_nothing(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "short.scores").write_text("1\n2\n")
    with pytest.raises(BadInput, match="60 scores expected"):
        package.score(suite, f"scores:{tmp_path / 'short.scores'}", tmp_path / "run.jsonl")
    assert not (tmp_path / "run.jsonl").exists()


def test_runs_are_compared(suite: Path, always_first: Path, perfect: Path, tmp_path: Path) -> None:
    one = package.score(suite, f"scores:{always_first}", tmp_path / "one")
    two = package.score(suite, f"scores:{perfect}", tmp_path / "two.jsonl.gz")
    comparison = package.compare(one, two, samples=500)
    pair = comparison.pairs[0]
    assert (pair.overall.first, pair.overall.second) == (0.35, 1.0)
    assert len(pair.gained) == 13
    assert pair.lost == ()
    assert pair.overall.p_value == pytest.approx(2 / 2**13)
    assert package.compare(str(one.path), two.path, samples=500) == comparison
    documents = package.compare(one, two, by=["document"], resample="document", samples=500)
    assert documents.test == "randomization"
    assert list(documents.pairs[0].breakdowns) == ["document"]


def test_scores_are_needed_exactly_where_there_are_none(suite: Path, always_first: Path, tmp_path: Path) -> None:
    run = package.score(suite, f"scores:{always_first}", tmp_path / "run")
    with pytest.raises(AnaphoraError, match="a run already has scores"):
        package.evaluate(run, scores=always_first)
    with pytest.raises(AnaphoraError, match="a suite cannot be evaluated without scores"):
        package.evaluate(package.load_suite(suite))
    with pytest.raises(AnaphoraError, match=r"is a suite\. Evaluate a system"):
        package.evaluate(suite)


def test_missing_files_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANAPHORA_HOME", str(tmp_path / "home"))
    with pytest.raises(AnaphoraError):
        package.load_suite("no-such-suite")
    with pytest.raises(BadInput, match="no such file"):
        package.evaluate(tmp_path / "no-run")


def test_one_breakdown_needs_no_list_and_results_print_themselves(
    suite: Path, perfect: Path, always_first: Path
) -> None:
    result = package.evaluate(suite, scores=perfect, by="document")
    assert list(result.breakdowns) == ["document"]
    assert str(result).splitlines()[0].startswith("small en→de")
    runs = [package.score(suite, f"scores:{file}", file.with_suffix("")) for file in (always_first, perfect)]
    comparison = package.compare(*runs, by="document", resample="document")
    assert "13 items gained, 0 lost" in str(comparison)
    assert set(comparison.pairs[0].overall.tests) == {"randomization", "bootstrap"}  # McNemar's needs independent items


@pytest.mark.parametrize("arguments", [{"workers": 2}, {"cluster": ""}])
def test_a_server_is_asked_by_one_process(arguments: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match="concurrency=N"):
        api.score(demo_suite(), "openai:http://127.0.0.1:9/v1?model=m", tmp_path / "run", **arguments)


def test_results_show_themselves_in_notebooks_and_as_flat_numbers(suite: Path, always_first: Path) -> None:
    result = api.evaluate(suite, scores=always_first)
    assert "<table>" in result._repr_html_()
    figures = result.metrics()
    assert figures["accuracy"] == result.accuracy
    assert figures["accuracy/pronoun/er"] == result.breakdowns["pronoun"]["er"].accuracy
    assert (figures["total"], figures["ties"]) == (20, 0)


# ------------------------------------------------------------------------------------- objects, functions, data frames


class Mine:
    """A system as a user writes one: it prefers the first candidate, and likes context."""

    def settings(self) -> dict[str, Any]:
        return {"likes": "the first"}

    def score(self, examples: Any, done: Any = ()) -> Any:
        for number, example in enumerate(examples):
            if number not in done:
                yield number, CandidateScores([-float(k) for k in range(len(example.candidates))])


def test_a_system_of_ones_own_scores_a_suite(suite: Path, tmp_path: Path) -> None:
    run = package.score(suite, Mine(), tmp_path / "mine")
    assert package.evaluate(run).figure.correct == 7
    assert (run.header.system, run.header.context) == ("python:Mine", "0+0")
    assert run.header.settings["likes"] == "the first"


def test_a_function_scores_a_suite(tmp_path: Path) -> None:
    """It is given the source and the candidate as texts, with as much context as is asked for."""
    asked: list[tuple[str, str]] = []

    def shorter(source: str, translation: str) -> float:
        asked.append((source, translation))
        return -len(translation)

    rows = [{"source": ["The cup fell.", "It broke."], "candidates": ["Sie brach.", "Er brach."], "gold": 1}]
    made = package.load_suite(rows, name="cups", languages="en-de")
    run = package.score(made, shorter, tmp_path / "shorter", context=1, separator=" | ")
    assert asked == [("The cup fell. | It broke.", "Sie brach."), ("The cup fell. | It broke.", "Er brach.")]
    assert [list(item.scores) for item in run] == [[-10.0, -9.0]]
    assert run.header.system == "python:shorter"


@pytest.mark.parametrize(
    ("system", "says"),
    [
        (42, "42 is not a system. Name one (KIND:WHAT), or pass a function of source and translation"),
        (lambda source, translation: "high", "the score of a candidate is a number, not 'high'"),
        (lambda source, translation: float("nan"), "the score of a candidate is a finite number, not nan"),
        (lambda source, translation: 10**5000, "the score of a candidate is a finite number, not a value that cannot"),
        ([0.5] * 5000, "0.5, 0.5,… is not a system. Name one (KIND:WHAT)"),
    ],
)
def test_what_is_no_system_is_refused(suite: Path, tmp_path: Path, system: Any, says: str) -> None:
    with pytest.raises(AnaphoraError) as error:
        package.score(suite, system, tmp_path / "run")
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_objects_stay_in_this_process(suite: Path, tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match="a Python object scores in this process"):
        package.score(suite, Mine(), tmp_path / "run", workers=2)


def test_a_suite_is_written_by_the_name_of_a_file(suite: Path, tmp_path: Path) -> None:
    loaded = package.load_suite(suite)
    assert loaded.write(str(tmp_path / "again.jsonl")) == loaded.sha256()
    assert list(package.load_suite(tmp_path / "again.jsonl")) == list(loaded)


def test_a_data_frame_is_a_suite() -> None:
    pandas = pytest.importorskip("pandas")
    rows = [
        {"source": "It broke.", "candidates": ["Sie brach.", "Er brach."], "gold": 0, "pronoun": "sie"},
        {"source": "It fell.", "candidates": ["Sie fiel.", "Er fiel."], "gold": None, "pronoun": None},
    ]
    loaded = package.load_suite(pandas.DataFrame(rows), name="frame", languages="en-de")
    assert list(loaded) == list(package.load_suite(rows, name="frame", languages="en-de"))
    assert [example.gold for example in loaded] == [0, None]
    assert [dict(example.tags) for example in loaded] == [{"pronoun": "sie"}, {}]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda suite, scores: package.evaluate(suite, scores=scores, normalise="mean"), "normalize"),
        (lambda suite, scores: package.compare(suite, suite, sample=10), "samples"),
        (lambda suite, scores: package.score(suite, "scores:x", "run", contxt=1), "context"),
    ],
)
def test_an_unknown_parameter_is_refused_with_the_known_ones(
    suite: Path, always_first: Path, call: Callable[..., Any], says: str
) -> None:
    with pytest.raises(TypeError, match=rf"did you mean {says}\b.*It takes: .*{says}"):
        call(suite, always_first)


def test_scores_come_from_arrays(suite: Path, perfect: Path) -> None:
    np = pytest.importorskip("numpy")
    rows = [[-1.0 if j == k % 3 else -2.0 for j in range(3)] for k in range(20)]
    flat = [number for row in rows for number in row]
    results = [package.evaluate(suite, scores=given) for given in (perfect, rows, flat, np.array(rows))]
    assert {(result.accuracy, result.figure.total, result.sha256) for result in results} == {
        (1.0, 20, results[0].sha256)
    }
    with pytest.raises(AnaphoraError, match=r"60 scores expected .* got 61"):
        package.evaluate(suite, scores=[*flat, 0.0])
    with pytest.raises(AnaphoraError, match="too few"):
        package.evaluate(suite, scores=rows[:-1])
    with pytest.raises(AnaphoraError, match="finite"):
        package.evaluate(suite, scores=[[float("nan")] * 3, *rows[1:]])


def test_items_of_a_result_are_right_or_wrong(suite: Path, always_first: Path) -> None:
    result = package.evaluate(suite, scores=always_first)
    items = list(result.items())
    assert len(items) == 20
    assert sum(item["correct"] for item in items) == result.figure.correct == 7
    assert items[1] == {
        **{"id": "1", "gold": 1, "chosen": 0, "correct": False, "tie": False, "scores": [-1.0, -2.0, -3.0]},
        **{"pronoun": "er", "document": "d0"},
    }
    pytest.importorskip("pandas")
    assert result.to_pandas()["correct"].sum() == 7


def test_a_function_is_scored_in_memory(suite: Path) -> None:
    run = package.score(suite, lambda source, translation: -len(translation))
    result = package.evaluate(run)
    assert [item["correct"] for item in result.items()].count(True) == result.figure.correct
    assert package.load_run(run.path).header == run.header


def translating(tmp_path: Path, code: str, end: str) -> tuple[str, Path, Path]:
    """A system that ends after 300 lines, and its input and output."""
    program = tmp_path / "dies.py"
    program.write_text(f"import sys\nfor n, line in zip(range(300), sys.stdin): {code}\n{end}")
    (tmp_path / "in").write_text("a\n" * 600)
    return f"command:{sys.executable} {program}", tmp_path / "in", tmp_path / "out"


def test_a_translation_is_not_resumed_for_other_languages(tmp_path: Path) -> None:
    """They are part of the prompts of language models."""
    call = translating(tmp_path, "print(line, end='', flush=True)", "sys.exit(1)")
    with pytest.raises(AnaphoraError, match="after 300 of 512 lines"):
        api.translate(*call, languages="en-de")
    with pytest.raises(AnaphoraError, match="languages: 'en-de', now 'en-fr'"):
        api.translate(*call, languages="en-fr", resume=True)


@pytest.mark.parametrize(("code", "left"), [("print(line, end='', flush=True)", ["out.in-doubt"]), ("pass", [])])
def test_translations_in_doubt_are_put_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, left: list[str]
) -> None:
    """The program has not answered line by line: perhaps none of its translations belongs to its sentence."""
    monkeypatch.setattr("anaphora.systems.command.CommandSystem.PATIENCE", 0.3)
    call = translating(tmp_path, code, "")
    with pytest.raises(AnaphoraError, match="what it has answered so far was put aside"):
        api.translate(*call)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(("out", "."))] == left
