"""The commands for a first look: demo, doctor, systems and completion."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import util
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import pytest

import anaphora as package
from anaphora import systems
from anaphora.cli import main
from anaphora.systems import KINDS
from tests import warm

# ----------------------------------------------------------------------------------------------------------------- demo
# `anaphora demo`: what it leaves behind, and that every command it prints does what it shows.

Run = Callable[..., subprocess.CompletedProcess[str]]
SYSTEMS = ["sentence-level", "context-aware"]


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_demo_files_left_behind(anaphora: Run, tmp_path: Path) -> None:
    done = anaphora("demo", "--stand-ins", "-o", "demo")
    assert done.stderr == ""
    scores, runs = ([f.format(name) for name in SYSTEMS] for f in ("{}.scores", "runs/{}/run.jsonl"))
    assert set(files_of(tmp_path / "demo")) == {"suite.jsonl", "results.json", *scores, *runs}
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]
    assert "demo/" in done.stdout.splitlines()[-1]


def test_the_default_folder_of_the_demo(anaphora: Run, tmp_path: Path) -> None:
    anaphora("demo", "--stand-ins")
    assert [path.name for path in tmp_path.iterdir()] == ["anaphora-demo"]


def test_demo_results(anaphora: Run, as_json: Callable[..., Any], tmp_path: Path) -> None:
    anaphora("demo", "--stand-ins", "-o", "demo")
    systems = json.loads((tmp_path / "demo" / "results.json").read_text(encoding="utf-8"))["systems"]
    assert list(systems) == SYSTEMS
    for name, figures in systems.items():
        assert figures == as_json("evaluate", f"demo/runs/{name}")
        assert figures["total"] == 432
    # the demo has a story to tell: the system that knows the context is better, but on er and sie still not good
    assert systems["context-aware"]["accuracy"] > systems["sentence-level"]["accuracy"] + 0.2
    groups = systems["context-aware"]["breakdowns"]["reference_pronoun"]
    assert groups["es"]["accuracy"] > groups["er"]["accuracy"]


def test_demo_json(anaphora: Run, as_json: Callable[..., Any], tmp_path: Path) -> None:
    document = as_json("demo", "--stand-ins", "-o", "demo")
    results = json.loads((tmp_path / "demo" / "results.json").read_text(encoding="utf-8"))
    assert document["systems"] == results["systems"]
    assert document["comparison"]["pairs"][0]["delta"] > 0.2


def test_the_same_files_every_time(anaphora: Run, tmp_path: Path) -> None:
    first = anaphora("demo", "--stand-ins", "-o", "demo").stdout
    files = files_of(tmp_path / "demo")
    assert anaphora("demo", "--stand-ins", "-o", "demo").stdout == first
    assert files_of(tmp_path / "demo") == files


@pytest.mark.parametrize("folder", ["demo", "my first demo"])
def test_printed_commands_give_what_is_printed_below_them(anaphora: Run, folder: str) -> None:
    printed = anaphora("demo", "--stand-ins", "-o", folder).stdout
    blocks = printed.split("$ anaphora ")[1:]
    assert [block.split()[0] for block in blocks] == ["evaluate", "evaluate", "compare"]
    for block in blocks:
        command, _, below = block.partition("\n")
        shown = below.partition("\n\n")[0].rstrip("\n")
        assert anaphora(*shlex.split(command)).stdout.rstrip("\n") == shown


def test_demo_the_suite_is_sound(as_json: Callable[..., Any], anaphora: Run) -> None:
    anaphora("demo", "--stand-ins", "-o", "demo")
    assert as_json("suites", "validate", "demo/suite.jsonl") == {"valid": True, "problems": []}
    facts = as_json("suites", "show", "demo/suite.jsonl")
    assert (facts["examples"], facts["candidates"], facts["languages"]) == (432, 1296, "en-de")


def test_a_folder_that_cannot_be_made(refused: Callable[..., str], suite: Path) -> None:
    assert "cannot be written" in refused("demo", "--stand-ins", "-o", suite)


# --------------------------------------------------------------------------------------------------------------- doctor
# `anaphora doctor`.


def test_it_says_what_is_there_and_imports_nothing_heavy(
    anaphora: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    done = anaphora("doctor", PYTHONPROFILEIMPORTTIME="1")
    assert f"✓ anaphora {package.__version__}" in " ".join(done.stdout.split())
    assert not [line for line in done.stderr.splitlines() if line.rpartition("|")[2].strip() in ("torch", "spacy")]


def test_doctor_json(as_json: Callable[..., Any]) -> None:
    findings = as_json("doctor")["findings"]
    assert {finding["area"] for finding in findings} == {"machine", "extras", "systems", "suites", "programs"}
    assert all(finding["remedy"] for finding in findings if finding["fine"] is False)


# -------------------------------------------------------------------------------------------------------------- systems
# `anaphora systems`: the kinds there are, what they need, and how to get it.


@pytest.fixture
def listed(capsys: pytest.CaptureFixture[str]) -> Callable[[], dict[str, dict[str, Any]]]:
    def call() -> dict[str, dict[str, Any]]:
        with pytest.raises(SystemExit) as stop:
            main(["systems", "--json"])
        assert stop.value.code == 0
        return {row["kind"]: row for row in json.loads(capsys.readouterr().out)}

    return call


def without(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    """As if packages were not installed."""
    real = util.find_spec

    def find_spec(name: str) -> ModuleSpec | None:
        return None if name.partition(".")[0] in packages else real(name)

    monkeypatch.setattr(systems, "find_spec", find_spec)


def test_every_kind_is_listed_and_says_how_it_is_written(listed: Callable[[], dict[str, dict[str, Any]]]) -> None:
    actual = listed()
    assert list(actual)[: len(KINDS)] == list(KINDS)
    for kind in KINDS:
        assert f"{kind}:" in actual[kind]["what"]
    for kind in ("command", "scores"):  # these need nothing
        assert actual[kind]["installed"] is True


def test_what_is_missing_and_how_to_get_it(
    listed: Callable[[], dict[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without(monkeypatch, "torch", "transformers", "ctranslate2")
    actual = listed()
    for kind in ("hf", "lm"):
        assert actual[kind]["installed"] is False
        assert {"torch", "transformers"} == set(actual[kind]["missing"])
        assert actual[kind]["install"] == 'pip install "anaphora[hf]"'
    assert "ctranslate2" in actual["ct2"]["missing"]
    assert actual["ct2"]["install"] == 'pip install "anaphora[ct2]"'
    assert actual["scores"] == {
        "kind": "scores",
        "what": KINDS["scores"].what,
        "settings": ["are"],
        "missing": [],
        "install": None,
        "installed": True,
    }
    with pytest.raises(SystemExit):
        main(["systems"])
    assert 'hf needs torch, transformers: pip install "anaphora[hf]"' in capsys.readouterr().out.splitlines()


def test_kinds_that_other_packages_bring(
    listed: Callable[[], dict[str, dict[str, Any]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "more_systems-2.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: more-systems\nVersion: 2.0\n")
    (about / "entry_points.txt").write_text(
        "[anaphora.systems]\nmore = more_systems:More\ngone = gone_systems.inner:Gone\nscores = more_systems:Scores\n"
    )
    (tmp_path / "more_systems.py").write_text("import json\nfrom surely_not_here import thing\n")
    monkeypatch.syspath_prepend(tmp_path)
    actual = listed()
    assert actual["more"]["what"] == "brought by more-systems 2.0"
    assert actual["more"]["missing"] == []
    assert actual["gone"]["missing"] == ["gone_systems"]
    assert actual["scores"]["what"] == "brought by more-systems 2.0"  # it takes the place of ours
    assert "more_systems" not in sys.modules


def test_nothing_heavy_is_imported_to_find_out() -> None:
    program = (
        "import sys\nfrom anaphora.systems import kinds\nassert kinds()\n"
        "assert not {'torch', 'transformers', 'ray', 'ctranslate2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


# ----------------------------------------------------------------------------------------------------------- completion
# `anaphora completion`: the Tab key in a real shell, and answers that import no command.


def completed(*words: str) -> list[str]:
    """What bash is told when Tab is pressed behind these words."""
    environment = {**os.environ, "_ANAPHORA_COMPLETE": "bash_complete"}
    environment |= {"COMP_WORDS": " ".join(["anaphora", *words]), "COMP_CWORD": str(len(words))}
    # the installed script has this name; with -m the variable would be another
    code = "import sys; sys.argv[0] = 'anaphora'; from anaphora.cli import main; main()"
    command = [*warm.client(), "python", "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_completion_commands_and_options() -> None:
    assert completed("sco") == ["score"]
    assert completed("build", "mi") == ["mine", "mine-evaluate"]
    assert completed("suites", "") == ["list", "show", "get", "convert", "validate", "baselines"]
    assert completed("score", "--over") == ["--overwrite"]
    assert completed("score", "x", "--target-context", "") == ["gold", "produced", "none"]


def test_names_are_completed_without_importing_commands() -> None:
    code = """
import sys
from anaphora.cli.app import app
from click.shell_completion import ShellComplete
found = ShellComplete(app, {}, "anaphora", "_X").get_completions([], "st")
assert [(item.value, item.help[:10]) for item in found] == [("study", "Ask annota")], found
light = {"anaphora.cli.app", "anaphora.cli.streams"}
assert not [name for name in sys.modules if name.startswith("anaphora.cli.") and name not in light]
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_completion_in_bash(anaphora: Any, tmp_path: Path) -> None:
    """The script is loaded, and what it registers is called as readline calls it."""
    program = tmp_path / "anaphora"
    program.write_text(f"#!{sys.executable}\nfrom anaphora.cli import main\nmain()\n")
    program.chmod(0o755)
    (tmp_path / "script").write_text(anaphora("completion", "bash").stdout)
    ask = """
source ./script
COMP_WORDS=(anaphora eval); COMP_CWORD=1
"$(complete -p anaphora | sed 's/.*-F \\([^ ]*\\).*/\\1/')" anaphora
echo "${COMPREPLY[@]}"
"""
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", ask], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("evaluate\n", "")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_completion_other_shells(anaphora: Any, as_json: Callable[..., Any], shell: str) -> None:
    script = as_json("completion", shell)["script"]
    assert f"_ANAPHORA_COMPLETE={shell}_complete" in script
    assert anaphora("completion", SHELL=f"/usr/bin/{shell}").stdout == f"{script}\n"


def test_completion_an_unknown_shell(anaphora: Any) -> None:
    done = anaphora("completion", check=2, SHELL="/bin/tcsh")
    assert done.stderr == "error: no completion for the shell 'tcsh': name one, anaphora completion bash|zsh|fish\n"
