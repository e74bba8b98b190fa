"""`anaphora completion`: the Tab key in a real shell, and answers that import no command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def completed(*words: str) -> list[str]:
    """What bash is told when Tab is pressed behind these words."""
    environment = {**os.environ, "_ANAPHORA_COMPLETE": "bash_complete"}
    environment |= {"COMP_WORDS": " ".join(["anaphora", *words]), "COMP_CWORD": str(len(words))}
    # the installed script has this name; with -m the variable would be another
    code = "import sys; sys.argv[0] = 'anaphora'; from anaphora.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_commands_and_options() -> None:
    assert completed("sco") == ["score"]
    assert completed("build", "mi") == ["mine", "mine-evaluate"]
    assert completed("suites", "") == ["convert", "get", "list", "show", "validate"]
    assert completed("score", "--over") == ["--overwrite"]
    assert completed("score", "x", "--target-context", "") == ["gold", "produced", "none"]


def test_names_are_completed_without_importing_commands() -> None:
    code = """
import sys
from anaphora.cli.app import app
from click.shell_completion import ShellComplete
found = ShellComplete(app, {}, "anaphora", "_X").get_completions([], "st")
assert [(item.value, item.help[:10]) for item in found] == [("study", "Ask annota")], found
assert not [name for name in sys.modules if name.startswith("anaphora.cli.") and name != "anaphora.cli.app"]
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_in_bash(anaphora: Any, tmp_path: Path) -> None:
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
def test_other_shells(anaphora: Any, as_json: Callable[..., Any], shell: str) -> None:
    script = as_json("completion", shell)["script"]
    assert f"_ANAPHORA_COMPLETE={shell}_complete" in script
    assert anaphora("completion", SHELL=f"/usr/bin/{shell}").stdout == f"{script}\n"


def test_an_unknown_shell(anaphora: Any) -> None:
    done = anaphora("completion", check=2, SHELL="/bin/tcsh")
    assert done.stderr == "error: no completion for the shell 'tcsh': name one, anaphora completion bash|zsh|fish\n"
