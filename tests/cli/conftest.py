"""What the tests of the command line share: a suite small enough to compute by hand, its scores, and refusals."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from anaphora.cli import main

Run = Callable[..., subprocess.CompletedProcess[str]]

HEADER = {
    "anaphora": 1,
    "name": "small",
    "source_language": "en",
    "target_language": "de",
    "breakdowns": ["pronoun"],
    "citation": "@misc{small}",
    "licence": "CC0",
}
# id, gold, the scores of its candidates, tags. With these scores a, b and e are right, d is a tie: 3 of 6.
EXAMPLES: tuple[tuple[str, int, tuple[float, ...], dict[str, Any]], ...] = (
    ("a", 0, (-1, -2), {"pronoun": "er", "distance": 0, "document": "x"}),
    ("b", 1, (-3, -1, -2), {"pronoun": "er", "distance": 1, "document": "x"}),
    ("c", 0, (-2, -1), {"pronoun": "sie", "distance": 1, "document": "x"}),
    ("d", 1, (-1, -1), {"pronoun": "sie", "distance": 4, "document": "y"}),
    ("e", 0, (-1, -5), {"pronoun": "es", "distance": 7, "document": "y"}),
    ("f", 0, (-5, -1), {"pronoun": "es", "document": "y"}),
)
SCORES = tuple(score for _, _, scores, _ in EXAMPLES for score in scores)
# another system: right on a, c, d and f; it gains c, d and f and loses b and e
OTHER_SCORES = (-1, -2, -1, -2, -3, -1, -2, -2, -1, -5, -1, -1, -5)


@pytest.fixture(autouse=True)
def _pythonpath_from_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """`PYTHONPATH=src pytest` works, too: commands run in folders of their own, where a relative path leads nowhere."""
    if actual := os.environ.get("PYTHONPATH"):
        monkeypatch.setenv(
            "PYTHONPATH", os.pathsep.join(str(Path(part).absolute()) for part in actual.split(os.pathsep))
        )


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """The suite of six examples and thirteen candidates above."""
    path = tmp_path / "small.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in suite_rows()), encoding="utf-8")
    return path


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """Its scores, by which three of six are right."""
    return write_scores(tmp_path / "first.scores", SCORES)


@pytest.fixture
def other_scores(tmp_path: Path) -> Path:
    """Scores of another system, by which four of six are right."""
    return write_scores(tmp_path / "second.scores", OTHER_SCORES)


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Call the program with what it must refuse; returns the message without `error: `.

    Many things are refused: they are tried in this process, which is fast. That the process as a whole ends as it
    should is tested in test_app.py.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANAPHORA_HOME", str(tmp_path / "home"))

    def run(*arguments: str | Path) -> str:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        return refusal(stop.value.code, *capsys.readouterr())

    return run


@pytest.fixture
def refused_by_process(anaphora_process: Run) -> Callable[..., str]:
    """The same with a process of its own."""

    def run(*arguments: str | Path) -> str:
        done = anaphora_process(*arguments, check=None)
        return refusal(done.returncode, done.stdout, done.stderr)

    return run


def refusal(code: object, out: str, err: str) -> str:
    """The contract: exit 2, one line on stderr that begins with `error: `, nothing on stdout."""
    assert (code, out) == (2, ""), f"exit {code}\n{out}\n{err}"
    assert err.startswith("error: "), err
    assert err.count("\n") == 1, err
    assert err.endswith("\n")
    return err.removeprefix("error: ").rstrip("\n")


@pytest.fixture
def as_json(anaphora: Run) -> Callable[..., Any]:
    """Run a command with --json; the whole of stdout must be one JSON document."""

    def run(*arguments: str | Path, check: int = 0) -> Any:
        return json.loads(anaphora(*arguments, "--json", check=check).stdout)

    return run


@pytest.fixture
def make_run(anaphora: Run, tmp_path: Path) -> Callable[..., Path]:
    """Make a run of a score file by `anaphora score`."""

    def make(suite: Path, scores: Path, name: str) -> Path:
        anaphora("score", suite, "--system", f"scores:{scores}", "-o", tmp_path / name)
        return tmp_path / name

    return make


def suite_rows() -> list[dict[str, Any]]:
    """The header and the examples as the lines of a suite file hold them."""
    return [HEADER, *(_row(identifier, gold, len(s), tags) for identifier, gold, s, tags in EXAMPLES)]


def _row(identifier: str, gold: int, candidates: int, tags: Mapping[str, Any]) -> dict[str, Any]:
    texts = [["Da lag etwas.", f"{word} war alt."] for word in ("Er", "Sie", "Es")[:candidates]]
    source = ["There was something.", f"It was old ({identifier})."]
    return {"id": identifier, "source": source, "candidates": texts, "gold": gold, "tags": dict(tags)}


def write_scores(path: Path, numbers: tuple[float, ...]) -> Path:
    path.write_text("".join(f"{number}\n" for number in numbers), encoding="utf-8")
    return path


def instead(arguments: Sequence[Any], *options: str) -> list[Any]:
    """The arguments with options that take one value each, in the place of those that are there or added."""
    kept = list(arguments)
    for name in options[::2]:
        while name in kept:
            del kept[kept.index(name) : kept.index(name) + 2]
    return [*kept, *options]
