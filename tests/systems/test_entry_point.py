"""A backend of another package: an entry point makes it a system that scores, translates, resumes and distributes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anaphora import api
from anaphora.cli import main
from anaphora.core.errors import AnaphoraError
from anaphora.demo.corpus import demo_suite
from anaphora.systems import kind_traits, kinds, load_system, scoring, systems
from anaphora.systems.context import Options

BACKEND = '''
from anaphora.runs import CandidateScores
from anaphora.systems import Traits
from anaphora.systems.context import split_settings


class Upper:
    """Likes capitals. It writes its process to a log, and stops once at an example if there is such a file."""

    traits = Traits(scope=True, prefix_tree=True)

    def __init__(self, what, options):
        self.log, self.given = split_settings(what, ("stop", "log"))
        self.options = options

    def settings(self):
        return {"likes": "capitals"}

    def score(self, examples, done=()):
        import os, pathlib

        with open(self.given["log"], "a") as log:
            log.write(f"{os.getpid()}\\n")
        for number, example in enumerate(examples):
            if number == 50 and self.given.get("stop") and pathlib.Path(self.given["stop"]).exists():
                raise KeyboardInterrupt
            if number not in done:
                targets = self.options.context.scoring_input(example).targets
                yield number, CandidateScores([-1.0 / (1 + sum(map(str.isupper, text))) for text in targets])

    def translate(self, texts, *, beams=None, max_tokens=256):
        return [text.upper() for text in texts]
'''


@pytest.fixture
def upper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The spec of the backend, installed here and in every process that is started."""
    packages = tmp_path / "packages"
    about = packages / "upper_case-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: upper-case\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[anaphora.systems]\nupper = upper_case:Upper\n")
    (packages / "upper_case.py").write_text(BACKEND, encoding="utf-8")
    monkeypatch.syspath_prepend(packages)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, [packages, *filter(None, sys.path)])))
    monkeypatch.chdir(tmp_path)
    systems.cache_clear()
    yield f"upper:x?log={tmp_path / 'log'}"
    systems.cache_clear()
    sys.modules.pop("upper_case", None)


def run(*arguments: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    assert stop.value.code == 0


def test_it_scores_with_every_option_of_its_traits(upper: str, capsys: pytest.CaptureFixture[str]) -> None:
    demo_suite().write(Path("suite.jsonl"))
    run("score", "suite.jsonl", "--system", upper, "-o", "run", "--context", "1", "--json")
    printed = capsys.readouterr()
    assert json.loads(printed.out)["examples"] == len(list(demo_suite()))
    assert "the prefix tree saves about" in printed.err  # as it says of itself
    assert api.score(demo_suite(), upper, "scope", scope="pronoun").header.settings["focus"] == "pronoun"
    assert 0 <= api.evaluate("run").accuracy <= 1


def test_it_translates(upper: str) -> None:
    Path("x.en").write_text("It fell.\n\nIt broke.\n")
    run("translate", "--system", upper, "-i", "x.en", "-o", "x.de")
    assert Path("x.de").read_text() == "IT FELL.\n\nIT BROKE.\n"


def test_it_resumes(upper: str, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    spec = f"{upper}&stop={flag}"
    whole = api.score(demo_suite(), spec, "whole").path.read_bytes()
    flag.touch()
    with pytest.raises(KeyboardInterrupt):
        api.score(demo_suite(), spec, "run")
    assert Path("run/run.jsonl.part").read_bytes().count(b"\n") == 1 + 50
    flag.unlink()
    assert api.score(demo_suite(), spec, "run", resume=True).path.read_bytes() == whole


def test_it_distributes(upper: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "SHARD", 100)
    alone = api.score(demo_suite(), upper, "alone").path.read_bytes()
    (tmp_path / "log").unlink()
    assert api.score(demo_suite(), upper, "together", workers=2).path.read_bytes() == alone
    assert os.getpid() not in set(map(int, (tmp_path / "log").read_text().split()))


def test_it_is_listed_and_keeps_its_system_loaded(upper: str) -> None:
    assert "upper" in [kind.kind for kind in kinds()]
    assert kind_traits(upper).prefix_tree
    cache = scoring.SystemCache()
    first, _ = cache(upper, Options())
    assert cache(upper, Options(threads=1))[0] is first


@pytest.mark.parametrize(("trait", "workers", "message"), [("single_process", 2, "^one at a time$")])
def test_it_may_refuse_workers(
    upper: str, trait: str, workers: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: Any = systems().load("upper")
    monkeypatch.setattr(made, "traits", made.traits._replace(**{trait: "one at a time"}))
    with pytest.raises(AnaphoraError, match=message):
        api.score(demo_suite(), upper, "run", workers=workers)
    assert load_system(upper).settings() == {"likes": "capitals"}


# Work is done once


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often examples and records are parsed."""
    from anaphora import run_writer, runs
    from anaphora.suites import suite

    counted = {"parse_example": 0, "parse_record": 0}

    def count(module: Any, name: str) -> None:
        real = getattr(module, name)

        def counting(*arguments: Any) -> Any:
            counted[name] += 1
            return real(*arguments)

        monkeypatch.setattr(module, name, counting)

    count(suite, "parse_example")
    count(runs, "parse_record")
    count(run_writer, "parse_record")
    return counted


@pytest.mark.parametrize("options", [[], ["--workers", "2"], ["--json"], ["--limit", "40"]])
def test_scoring_reads_its_suite_once_and_no_record(upper: str, options: list[str], counts: dict[str, int]) -> None:
    demo_suite().write(Path("suite.jsonl"))
    size = 40 if "--limit" in options else len(list(demo_suite()))
    counts["parse_example"] = 0
    run("score", "suite.jsonl", "--system", upper, "-o", "run", *options)
    assert size <= counts["parse_example"] <= size + 1  # a limit is noticed at the example after it
    assert counts["parse_record"] == 0


def test_importing_scores_reads_the_suite_once(upper: str, counts: dict[str, int]) -> None:
    demo_suite().write(Path("suite.jsonl"))
    candidates = [len(example.candidates) for example in demo_suite()]
    Path("x.scores").write_text("-1.0\n" * sum(candidates))
    counts["parse_example"] = 0
    run("score", "suite.jsonl", "--system", "scores:x.scores", "-o", "run")
    assert counts == {"parse_example": len(candidates), "parse_record": 0}


def test_resuming_parses_only_what_an_earlier_process_wrote(upper: str, tmp_path: Path, counts: dict[str, int]) -> None:
    flag = tmp_path / "flag"
    spec = f"{upper}&stop={flag}"
    flag.touch()
    with pytest.raises(KeyboardInterrupt):
        api.score(demo_suite(), spec, "run")
    assert counts["parse_record"] == 0
    flag.unlink()
    api.score(demo_suite(), spec, "run", resume=True).summarize()
    assert counts["parse_record"] == 50
