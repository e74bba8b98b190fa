"""Names and provenance of runs."""

from __future__ import annotations

import html
import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import anaphora
from anaphora import api
from anaphora.core.errors import AnaphoraError
from anaphora.reports.charts import COLORS, SHAPES, assign_styles
from anaphora.reports.page import make_report, page
from anaphora.reports.provenance import in_words, names_of, provenance, without_folders
from anaphora.runs import Run, open_run
from anaphora.suites.suite import Suite
from tests.warm import client

# How runs were made: commands that run to the letter, settings in words, no path of this machine.

PROGRAM = """import sys
for line in sys.stdin:
    print(-sum(map(ord, line)) / 1000, flush=True)
"""
MODELS = Path(anaphora.__file__).parent / "demo" / "pretrained"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANAPHORA_HOME", str(tmp_path / "home"))


@pytest.fixture
def elsewhere(tmp_path: Path, suite: Suite) -> Path:
    """Another folder with the files that a command names."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    suite.write(folder / "small.jsonl")
    (tmp_path / "scorer.py").write_text(PROGRAM, encoding="utf-8")
    (folder / "scorer.py").write_text(PROGRAM, encoding="utf-8")
    (folder / "context-aware").symlink_to(MODELS / "context-aware")
    return folder


@pytest.mark.parametrize(
    ("system", "options"),
    [
        ("command", {"context": 1, "separator": " <SEP> ", "target_context": "none", "limit": 3}),
        ("command", {"context": 1, "separator": "'; \\ "}),
        ("command", {"sample": 2, "seed": 7}),
        ("nmt", {"target_context": "produced", "truncate": True}),
        ("nmt", {"context": 0, "margins_only": True, "plain": True}),
    ],
)
def test_the_command_of_the_page_makes_the_run_again(
    system: str,
    options: dict[str, Any],
    suite: Suite,
    elsewhere: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    if system == "nmt":
        pytest.importorskip("torch", reason="needs torch")
        spec = f"nmt:{MODELS}/context-aware"
    else:
        spec = f"command:{Path(sys.executable).name} {tmp_path}/scorer.py"
    made = api.score(suite, spec, tmp_path / "first", **options)
    text = page(make_report([made], suites=[tmp_path / "small.jsonl"]))
    (command,) = re.findall(r"<pre><code>(.*?)</code></pre>", text)
    words = shlex.split(html.unescape(command))
    assert words[0] == "anaphora"
    subprocess.run([*client(), *words], cwd=elsewhere, check=True, capture_output=True)
    again = open_run(elsewhere / "runs" / "first")
    assert list(again) == list(made)
    assert again.header.context == made.header.context
    assert again.header.settings == {
        key: without_folders(value) if isinstance(value, str) else value for key, value in made.header.settings.items()
    }


def test_no_path_of_this_machine_is_in_the_page(suite: Suite, elsewhere: Path, tmp_path: Path) -> None:
    made = api.score(suite, f"command:{sys.executable} {tmp_path}/scorer.py", tmp_path / "deep" / "first")
    text = page(make_report([made], suites=[tmp_path / "small.jsonl"]))
    assert str(tmp_path) not in text
    assert str(Path.home()) + "/" not in text
    assert str(Path(sys.executable).parent) not in text
    assert "Paths are cut to their last part: run it where these files are." in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nmt:/home/x/models/a,/home/x/models/b/?device=cpu", "nmt:a,b?device=cpu"),
        ("hf:~/models/opus?tokenizer=/opt/tok", "hf:opus?tokenizer=tok"),
        ("hf:Helsinki-NLP/opus-mt-en-de", "hf:Helsinki-NLP/opus-mt-en-de"),
        ("nmt:models/a", "nmt:models/a"),
        ("openai:http://localhost:8000/v1?model=org/name", "openai:http://localhost:8000/v1?model=org/name"),
        ("command:/usr/bin/python3 '/home/x y/score.py' --model /m/x", "command:python3 'home y/score.py' --model x"),
        ("gguf:C:\\models\\x.gguf", "gguf:x.gguf"),
    ],
)
def test_paths_are_cut_to_their_last_part(text: str, expected: str) -> None:
    if "'" not in text:  # a path with a space is not known to be one; what matters is that its folder is gone
        assert without_folders(text) == expected
    assert "/home" not in without_folders(text)


def test_settings_are_words() -> None:
    arrangement = {"joined_source": 1, "joined_target": 0, "contexts": [], "context_sentences": 1}
    settings = {"architecture": "transformer", "parameters": 363_072, "arrangement": arrangement, "normalise": 1.0}
    settings |= {
        "separator": " ",
        "limit": None,
        "plain": False,
        "chat": True,
        "prompt": "Translate this: ",
        "stop": [],
    }
    assert in_words(settings) == (
        "architecture transformer; parameters 363,072; arrangement: joined source 1; arrangement: joined target 0; "
        "arrangement: context sentences 1; normalise 1; chat; prompt “Translate this: ”"
    )


def test_a_suite_of_the_catalog_goes_by_its_name(runs: list[Run]) -> None:
    run = replace(runs[0], header=replace(runs[0].header, suite="contrapro", context="1+1"))
    made = provenance(run, spec="hf:org/model", name="model", signature="ctr|x")
    assert made.command == "anaphora score contrapro --system hf:org/model --context 1 -o runs/sentence"
    assert made.notes == ("Get the suite first, if it is not on your machine: anaphora suites get contrapro",)


# How systems are called and drawn.


def named(run: Run, *systems: str | tuple[str, str]) -> list[Run]:
    pairs = [system if isinstance(system, tuple) else (system, "1+1") for system in systems]
    return [replace(run, header=replace(run.header, system=name, context=context)) for name, context in pairs]


@pytest.mark.parametrize(
    ("systems", "expected"),
    [
        (["hf:Helsinki-NLP/opus-mt-en-de"], ["opus-mt-en-de"]),
        (["nmt:models/a", "nmt:models/b"], ["a", "b"]),
        (["nmt:one/model", "nmt:two/model"], ["one/model", "two/model"]),
        (["hf:model", "ct2:model"], ["hf/model", "ct2/model"]),
        (["scores:x/base.scores", "scores:x/new.scores"], ["base", "new"]),
        (["nmt:a", "nmt:a"], ["a", "a"]),  # the same system on two suites
        ([("nmt:a", "0+0"), ("nmt:a", "1+1")], ["a (0+0 context)", "a (1+1 context)"]),
    ],
)
def test_a_name_is_as_long_as_it_must_be(runs: list[Run], systems: list[str], expected: list[str]) -> None:
    assert names_of(named(runs[0], *systems)) == expected


def test_names_can_be_given(runs: list[Run]) -> None:
    assert names_of(runs, ["old", "new"]) == ["old", "new"]
    with pytest.raises(AnaphoraError, match="1 names for 2 runs"):
        names_of(runs, ["old"])


def test_no_two_of_many_systems_look_alike() -> None:
    drawn = assign_styles([str(k) for k in range(len(COLORS) * len(SHAPES))])
    assert len({(style.color, style.shape) for style in drawn.values()}) == len(drawn)
