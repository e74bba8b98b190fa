"""The documentation is true: every command it shows is run, and what it shows below a command is what is printed.

In README.md and docs/*.md, a line that begins with `$ anaphora` in a block fenced as `console` or `sh` is a command.
The commands of a document run in its order, in one empty folder, so that a document makes the files it goes on with
(most begin with `anaphora demo`). A command must succeed, unless the document shows it failing: an output with a line
that begins with `error: ` says exit code 2, with `failed: ` 1. In `console` blocks the lines below a command, if there
are any, are its output on a terminal; a line `…` or `...` stands for all that follows. A command with a comment
`# needs …` behind it, or alone in the line below it, is not run.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [path for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))] if path.is_file()]
FENCE = re.compile(r"^(?P<indent> *)(?P<marks>`{3,}|~{3,})(?P<language>[^`]*)$")
NEEDS = re.compile(r"(^|\s)# needs\b")
REST = ("…", "...")  # anything from here


@dataclass
class Command:
    """A command of a document, the line it is in, and what the document shows below it."""

    text: str
    line: int
    language: str
    shown: list[str] = field(default_factory=list)
    skipped: bool = False

    @property
    def exit_code(self) -> int:
        """What the shown output says of how the command ends."""
        codes = {"error: ": 2, "failed: ": 1}
        return next((code for line in self.shown for start, code in codes.items() if line.startswith(start)), 0)


def commands_of(markdown: str) -> list[Command]:
    """The commands of a document in its order."""
    found: list[Command] = []
    fence, language, indent = "", "", 0
    current: Command | None = None
    for number, line in enumerate(markdown.splitlines(), start=1):
        marks = FENCE.match(line)
        if not fence:
            if marks:
                fence, language, indent = marks["marks"], marks["language"].strip(), len(marks["indent"])
                current = None
            continue
        if marks and marks["marks"].startswith(fence) and not marks["language"].strip():
            fence = ""
            continue
        if language not in ("console", "sh"):
            continue
        line = line[indent:] if not line[:indent].strip() else line
        if current is not None and current.text.endswith("\\"):
            current.text = f"{current.text[:-1].rstrip()} {line.removeprefix('> ').strip()}"
        elif line.startswith("$ anaphora ") or line == "$ anaphora":
            current = Command(line.removeprefix("$ "), number, language)
            found.append(current)
        elif line.startswith("$ "):
            current = None  # a command of another program: neither run nor checked
        elif current is not None and NEEDS.match(line) and not current.shown:
            current.skipped = True
        elif current is not None and language == "console":
            current.shown.append(line.rstrip())
        if current is not None and NEEDS.search(current.text):
            current.skipped = True
    for command in found:
        while command.shown and not command.shown[-1]:
            command.shown.pop()
    return found


def difference(shown: list[str], real: list[str]) -> str | None:
    """How a shown output departs from the real one; None if it does not."""
    for number, line in enumerate(shown):
        if line.strip() in REST:
            return None
        if number >= len(real):
            return f"shown, but not printed: {line!r}"
        if line != real[number]:
            return f"shown:   {line!r}\nprinted: {real[number]!r}"
    return None if len(shown) == len(real) else f"printed, but not shown: {real[len(shown)]!r}"


def problems_of(markdown: str, folder: Path) -> list[str]:
    """Run the commands of a document in a folder; returns what is not as the document says."""
    program = folder / ".bin" / "anaphora"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m anaphora "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    python_path = [str(Path(part).absolute()) for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(program.parent), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join(python_path),
        "ANAPHORA_HOME": str(folder / ".home"),
        "NO_COLOR": "1",
    }
    problems = []
    for command in commands_of(markdown):
        if command.skipped:
            continue
        done = subprocess.run(
            ["sh", "-c", command.text],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,  # a reader sees both on the terminal
            encoding="utf-8",
            cwd=folder,
            env=environment,
            check=False,
        )
        printed = [line.rstrip() for line in done.stdout.rstrip().splitlines()]
        place = f"line {command.line}: $ {command.text}"
        if done.returncode != command.exit_code:
            problems.append(f"{place}\nexit code {done.returncode} instead of {command.exit_code}:\n{done.stdout}")
        elif command.shown and (departs := difference(command.shown, printed)):
            problems.append(f"{place}\n{departs}")
    return problems


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_commands_of_the_documentation(document: Path, tmp_path: Path) -> None:
    problems = problems_of(document.read_text(encoding="utf-8"), tmp_path)
    assert not problems, "\n\n".join(problems)


def test_the_readme_shows_the_program_at_work() -> None:
    commands = commands_of((ROOT / "README.md").read_text(encoding="utf-8"))
    assert any(command.shown and not command.skipped for command in commands)


def anchors(document: Path) -> set[str]:
    """The headings of a document as links name them: small letters, hyphens for spaces, no other signs."""
    outside = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", outside, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_between_the_documents_lead_somewhere(document: Path) -> None:
    for target, place in re.findall(r"\]\(([^)#\s]+)(?:#([^)]*))?\)", document.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), f"{document.name}: {target}"
            assert not place or place in anchors(document.parent / target), f"{document.name}: {target}#{place}"


# ------------------------------------------------------------------------------- is the mechanism itself right?

MADE_UP = """
# A document

```console
$ anaphora --version
anaphora 0.0.0
$ anaphora demo --stand-ins -o demo
…
$ cat demo/results.json
{}
$ anaphora evaluate demo/suite.jsonl \\
    --scores nowhere
error: nowhere: no such file
```

    $ anaphora indented code is not fenced

```text
$ anaphora neither is this a console
```

1. A list

   ```sh
   $ anaphora suites list --json > list.json   # a comment is the shell's
   $ anaphora suites get scat                  # needs the network
   anaphora without a prompt
   $ anaphora suites get voita-ellipsis-vp
   # needs the network
   ```

~~~console
$ anaphora evaluate demo/runs/context-aware --json | head -n 2
{
  "suite": "demo",
$ anaphora evaluate demo/runs/context-aware --fail-under 1
demo en→de · scores:demo/context-aware.scores
...
failed: accuracy 0.7222 is under 1 on demo
~~~
"""


def test_the_commands_of_a_document_are_found() -> None:
    found = commands_of(MADE_UP)
    assert [(command.line, command.text.split(" #")[0].split()[1:3]) for command in found] == [
        (5, ["--version"]),
        (7, ["demo", "--stand-ins"]),
        (11, ["evaluate", "demo/suite.jsonl"]),
        (25, ["suites", "list"]),
        (26, ["suites", "get"]),
        (28, ["suites", "get"]),
        (33, ["evaluate", "demo/runs/context-aware"]),
        (36, ["evaluate", "demo/runs/context-aware"]),
    ]
    assert [command.skipped for command in found] == [False, False, False, False, True, True, False, False]
    assert found[2].text == "anaphora evaluate demo/suite.jsonl --scores nowhere"
    assert [command.shown for command in found[:3]] == [["anaphora 0.0.0"], ["…"], ["error: nowhere: no such file"]]
    assert [command.exit_code for command in found] == [0, 0, 2, 0, 0, 0, 0, 1]
    assert [command.shown for command in found[3:6]] == [[], [], []]
    assert len(found[7].shown) == 3


def test_a_document_that_is_not_true_is_found_out(tmp_path: Path) -> None:
    problems = problems_of(MADE_UP, tmp_path)
    assert len(problems) == 1, problems  # of all that is run only the version is not as shown
    assert problems[0].startswith("line 5: $ anaphora --version\nshown:   'anaphora 0.0.0'\nprinted: 'anaphora ")
    assert (tmp_path / "list.json").stat().st_size > 0
    assert (tmp_path / "demo" / "results.json").is_file()


def test_files_are_there_only_if_the_document_made_them(tmp_path: Path) -> None:
    text = "```console\n$ anaphora evaluate demo/runs/context-aware\n```\n"
    (problem,) = problems_of(text, tmp_path)
    assert "exit code 2 instead of 0" in problem
    assert "no such file" in problem


@pytest.mark.parametrize(
    ("shown", "real", "same"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a", "…"], ["a", "b", "c"], True),
        (["a", "  ..."], ["a"], True),
        (["…"], [], True),
        (["a"], ["a", "b"], False),
        (["a", "b"], ["a"], False),
        (["b", "…"], ["a", "b"], False),
        ([" a"], ["a"], False),
    ],
)
def test_comparison_of_outputs(shown: list[str], real: list[str], same: bool) -> None:
    assert (difference(shown, real) is None) is same
