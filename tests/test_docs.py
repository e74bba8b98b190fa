"""The documentation is true: every command it shows is run, and what it shows below a command is what is printed.

In README.md and docs/*.md, blocks fenced as `sh` and `console` hold commands: the lines that begin with `$ `, or in a
`sh` block without such a line every line that is no comment. Blocks fenced as `python` are run, too, each after those
before it; a TOML block whose first line is `# NAME.toml` becomes that file. All of a document runs in its order, in
one folder that holds nothing but what the document makes, and small made-up inputs under the names that it uses
(tests/documented_inputs.py). A command must succeed, unless the document shows it failing: an output with a line that
begins with `error: ` says exit code 2, with `failed: ` 1. In `console` blocks the lines below a command, if there are
any, are its output on a terminal; a line `…` or `...` stands for any number of lines. The exit code is always checked,
that of every command in a pipe included.

What cannot run here says why: `# needs …` behind a command, alone in the line below it, or as the first line of a
Python block. Such commands are counted (`NOT_RUN`) and parsed. `pip install` must name extras that exist, `make` goals.
Where real data or pipelines are not on the machine, commands that name them are parsed, too; where they are, all run.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import click
import pytest

from anaphora.cli.app import app
from anaphora.cli.interrupts import parse_argv
from tests.documented_inputs import DATA, HOME, PIPELINES, provide
from tests.warm import client

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [path for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))] if path.is_file()]
FENCE = re.compile(r"^(?P<indent> *)(?P<marks>`{3,}|~{3,})(?P<language>[^`]*)$")
NEEDS = re.compile(r"(^|\s)# needs\b")
TOML = re.compile(r"# (\S+\.toml)$")
REST = ("…", "...")  # anything from here
OURS = r"https://(github\.com/anaphora-mt/anaphora/blob/main|raw\.githubusercontent\.com/anaphora-mt/anaphora/main)/"

# Why commands are not run here, for each document; a new one is to be noticed.
NOT_RUN = {
    "README.md": 2,  # the network
    "docs/attacks.md": 1,  # OpenThesaurus, WordNet and a dictionary
    "docs/attribution.md": 1,  # ContraPro
    "docs/measure.md": 2,  # base models
    "docs/metrics.md": 1,  # COMET
    "docs/mining-quality.md": 1,  # a French pipeline
    "docs/mining.md": 1,  # a cluster
    "docs/study.md": 6,  # servers that run until they are stopped, and answers of people
    "docs/suites.md": 1,  # the network
    "docs/systems.md": 6,  # servers, and a GGUF file
    "docs/training.md": 1,  # a GPU
    "docs/your-system.md": 4,  # Marian, Sockeye, fairseq and a server
}


@dataclass
class Command:
    """A command of a document, the line it is in, and what the document shows below it."""

    text: str
    line: int
    language: str
    shown: list[str] = field(default_factory=list)
    skipped: bool = False

    @property
    def exit_codes(self) -> tuple[int, ...]:
        """How the command may end: as its output says; a gate (--fail-…) without output may pass or fail."""
        codes = {"error: ": 2, "failed: ": 1}
        message = next((code for line in self.shown for start, code in codes.items() if line.startswith(start)), None)
        if message is not None:
            return (message,)
        return (0, 1) if " --fail-" in self.text and not self.shown else (0,)

    @property
    def program(self) -> str:
        return "python" if self.language == "python" else self.text.split()[0]


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the number of its first line, and its lines without their indentation."""

    language: str
    first: int
    lines: list[str]


def blocks_of(markdown: str) -> list[Block]:
    """The fenced blocks of a document in its order."""
    actual: list[Block] = []
    fence, indent = "", 0
    for number, line in enumerate(markdown.splitlines(), start=1):
        marks = FENCE.match(line)
        if not fence:
            if marks:
                fence, indent = marks["marks"], len(marks["indent"])
                actual.append(Block(marks["language"].strip(), number + 1, []))
        elif marks and marks["marks"].startswith(fence) and not marks["language"].strip():
            fence = ""
        else:
            actual[-1].lines.append((line[indent:] if not line[:indent].strip() else line).rstrip())
    return actual


def commands_of(markdown: str) -> list[Command]:
    """The commands of a document in its order, Python blocks and files of TOML among them."""
    actual: list[Command] = []
    for block in blocks_of(markdown):
        if block.language == "python":
            text = "\n".join(block.lines)
            actual.append(Command(text, block.first, "python", skipped=bool(NEEDS.search(block.lines[0]))))
        elif block.language == "toml" and TOML.match(block.lines[0]):
            actual.append(Command("\n".join(block.lines), block.first, "toml"))
        elif block.language in ("sh", "console"):
            actual += _shell(block)
    return actual


def _shell(block: Block) -> list[Command]:
    """The commands of a shell block."""
    prompted = block.language == "console" or any(line.startswith("$ ") for line in block.lines)
    actual: list[Command] = []
    for number, line in enumerate(block.lines, start=block.first):
        if actual and actual[-1].text.endswith("\\"):
            actual[-1].text = f"{actual[-1].text[:-1].rstrip()} {line.removeprefix('> ').strip()}"
        elif actual and NEEDS.match(line) and not actual[-1].shown:
            actual[-1].skipped = True
        elif line.startswith("$ ") or (not prompted and line and not line.startswith("#")):
            actual.append(Command(line.removeprefix("$ "), number, block.language))
        elif actual and block.language == "console":
            actual[-1].shown.append(line)
        if actual and NEEDS.search(actual[-1].text):
            actual[-1].skipped = True
    for command in actual:
        while command.shown and not command.shown[-1]:
            command.shown.pop()
    return actual


def parse_problem(text: str) -> str | None:
    """What is wrong with a command that is not run; None for programs that are not ours."""
    words = shlex.split(text, comments=True)
    ends = [position for position, word in enumerate(words) if word in (">", "|", "&&", ";")]
    words = words[: min(ends, default=len(words))]
    if words[0] == "anaphora":
        try:
            parse_argv(app, words[1:])
        except click.ClickException as error:
            return error.format_message()
        return None
    if words[:2] == ["pip", "install"]:
        known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
        extras = {extra for word in words for extra in re.findall(r"[\w-]+", "".join(re.findall(r"\[(.*)\]", word)))}
        return f"no such extra: {', '.join(extras - set(known))}" if extras - set(known) else None
    if words[0] == "make":
        done = subprocess.run(["make", "-n", *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
        return done.stderr if done.returncode else None
    return None


def difference(shown: list[str], real: list[str]) -> str | None:
    """How a shown output departs from the real one; None if it does not."""
    after = next((number for number, line in enumerate(shown) if line.strip() in REST), None)
    for number, line in enumerate(shown[:after]):
        if number >= len(real):
            return f"shown, but not printed: {line!r}"
        if line != real[number]:
            return f"shown:   {line!r}\nprinted: {real[number]!r}"
    if after is None:
        return None if len(shown) == len(real) else f"printed, but not shown: {real[len(shown)]!r}"
    rest = shown[after + 1 :]
    if not rest:
        return None
    departs = [difference(rest, real[start:]) for start in range(after, len(real) + 1)]
    return None if None in departs else f"shown after an ellipsis, but not printed: {rest[0]!r}"


def names_made_by(source: str) -> set[str]:
    """The names that a Python block assigns or imports; a block that cannot be parsed is a SyntaxError."""
    nodes = list(ast.walk(ast.parse(source)))
    imports = [alias for n in nodes if isinstance(n, ast.Import | ast.ImportFrom) for alias in n.names]
    assigned = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return assigned | {(alias.asname or alias.name).split(".")[0] for alias in imports}


def names_read_by(source: str) -> set[str]:
    """The names that a Python block reads."""
    return {n.id for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def problems_of(markdown: str, folder: Path, *, all_inputs: bool = False) -> list[str]:
    """Run the commands of a document in a folder; returns what is not as the document says.

    all_inputs: whether an input that cannot be made on this machine is a problem
    """
    commands = commands_of(markdown)
    lacking = provide(folder, "\n".join(command.text for command in commands if not command.skipped))
    if all_inputs and lacking:
        return [f"inputs that are not there, without a `# needs …` in the document: {', '.join(sorted(lacking))}"]
    environment = _environment(folder)
    problems, before = [], ""
    unmade: set[str] = set()  # names that Python blocks would have made that did not run
    for command in commands:
        position = f"line {command.line}: $ {command.text}"
        if any(sign in command.text for sign in REST) and command.language in ("sh", "console"):
            problems.append(f"{position}\nan ellipsis in a command: it could not be run by a reader")
        elif command.language == "toml":
            (folder / TOML.match(command.text.splitlines()[0])[1]).write_text(command.text + "\n", encoding="utf-8")  # type: ignore[index]
        elif command.language == "python":
            made = names_made_by(command.text)
            if command.skipped or any(name in command.text for name in lacking) or unmade & names_read_by(command.text):
                unmade |= made - names_made_by(before)
            else:
                before += command.text + "\n"
                done = _run(["python", "-c", before], folder, environment)
                if done.returncode:
                    problems.append(f"{position}\nexit code {done.returncode}:\n{done.stdout}")
        elif command.skipped or command.program in ("pip", "make") or any(name in command.text for name in lacking):
            if wrong := parse_problem(command.text):
                problems.append(f"{position}\n{wrong}")
        else:
            done = _run(["bash", "-e", "-o", "pipefail", "-c", command.text], folder, environment)
            printed = [line.rstrip() for line in done.stdout.rstrip().splitlines()]
            if done.returncode not in command.exit_codes:
                expected = " or ".join(map(str, command.exit_codes))
                problems.append(f"{position}\nexit code {done.returncode} instead of {expected}:\n{done.stdout}")
            elif command.shown and (departs := difference(command.shown, printed)):
                problems.append(f"{position}\n{departs}")
    return problems


def _environment(folder: Path) -> dict[str, str]:
    """Where `anaphora` and `python` are those of the tests, started warm, and the home is the document's own."""
    bin = folder / ".bin"
    bin.mkdir()
    for name in ("anaphora", "python", "python3"):
        (bin / name).write_text(f'#!/bin/sh\nexec {shlex.join(client())} {name} "$@"\n', encoding="utf-8")
        (bin / name).chmod(0o755)
    python_path = [str(Path(part).absolute()) for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    return {
        **os.environ,
        "PATH": os.pathsep.join([str(bin), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join(python_path),
        "ANAPHORA_HOME": str(folder / HOME),
        "ANAPHORA_MODELS": str(PIPELINES),
        "NO_COLOR": "1",
    }


def _run(words: list[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/usr/bin/env", *words],  # found where the environment says
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,  # a reader sees both on the terminal
        encoding="utf-8",
        cwd=folder,
        env=environment,
        check=False,
    )


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_commands_of_the_documentation(document: Path, tmp_path: Path) -> None:
    """Where the real data are, whatever is not marked with `# needs` runs: nothing is only parsed without a reason."""
    here = DATA.is_dir() and PIPELINES.is_dir()
    problems = problems_of(document.read_text(encoding="utf-8"), tmp_path, all_inputs=here)
    assert not problems, "\n\n".join(problems)


def test_what_is_not_run_is_known() -> None:
    """A reason why a command cannot run here is an exception; whoever adds one writes it down."""
    marked = Counter(
        document.relative_to(ROOT).as_posix()
        for document in DOCUMENTS
        for command in commands_of(document.read_text(encoding="utf-8"))
        if command.skipped
    )
    assert dict(marked) == NOT_RUN


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_commands_in_sentences_have_options_that_exist(document: Path) -> None:
    """A sentence names a command with as much as matters there; what it names must be there."""
    text = re.sub(r"^( *)(```|~~~).*?^\1\2$", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for command in re.findall(r"`(anaphora [^`]+)`", text):
        words = re.split(r"\s*(?:…|\.\.\.|\[)", " ".join(command.split()))[0]
        if "|" not in words and "--help" not in words:
            problem = parse_problem(words) or ""
            assert not re.search(r"No such|Unexpected|Invalid value", problem), f"{command}: {problem}"


def test_workflows_have_commands_that_are_understood() -> None:
    blocks = blocks_of((ROOT / "docs" / "ci.md").read_text(encoding="utf-8"))
    lines = [line for block in blocks if block.language == "yaml" for line in block.lines]
    actual = [match[1] for line in lines if (match := re.search(r"((?:anaphora [a-z]+|pip install) .*)$", line))]
    assert len(actual) > 5
    assert [problem for command in actual if (problem := parse_problem(command))] == []


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
    for target, position in re.findall(r"\]\(([^)#\s]+)(?:#([^)]*))?\)", document.read_text(encoding="utf-8")):
        ours = re.sub(OURS, f"{ROOT}/", target)
        if "://" not in ours:
            assert (document.parent / ours).exists(), f"{document.name}: {target}"
            assert not position or position in anchors(document.parent / ours), f"{document.name}: {target}#{position}"


# ------------------------------------------------------------------------------- is the mechanism itself right?

MADE_UP = """
# A document

```console
$ anaphora --version
anaphora 0.0.0
$ anaphora demo --stand-ins -o demo
…
$ tail -n 1 demo/results.json
}
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
   anaphora without a prompt, where there are prompts: an output
   $ anaphora suites get voita-ellipsis-vp
   # needs the network
   ```

```sh
# a comment
anaphora evaluate demo/runs/context-aware --fail-under 1
pip install "anaphora[hf,nmt]"
anaphora build attack phrase contrapro --preset true_colon \\
    -o attacked.jsonl
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

```python
number = 1
```

```toml
# some.toml
key = 1
```

```python
import tomllib
assert tomllib.load(open("some.toml", "rb"))["key"] == number
```
"""


def test_the_commands_of_a_document_are_found() -> None:
    actual = commands_of(MADE_UP)
    assert [(command.line, command.text.split(" #")[0].split()[:3]) for command in actual] == [
        (5, ["anaphora", "--version"]),
        (7, ["anaphora", "demo", "--stand-ins"]),
        (9, ["tail", "-n", "1"]),
        (11, ["anaphora", "evaluate", "demo/suite.jsonl"]),
        (25, ["anaphora", "suites", "list"]),
        (26, ["anaphora", "suites", "get"]),
        (28, ["anaphora", "suites", "get"]),
        (34, ["anaphora", "evaluate", "demo/runs/context-aware"]),
        (35, ["pip", "install", '"anaphora[hf,nmt]"']),
        (36, ["anaphora", "build", "attack"]),
        (41, ["anaphora", "evaluate", "demo/runs/context-aware"]),
        (44, ["anaphora", "evaluate", "demo/runs/context-aware"]),
        (51, ["number", "=", "1"]),
        (55, ["#", "some.toml", "key"]),
        (60, ["import", "tomllib", "assert"]),
    ]
    assert [number for number, command in enumerate(actual) if command.skipped] == [5, 6]
    assert actual[3].text == "anaphora evaluate demo/suite.jsonl --scores nowhere"
    shown = [["anaphora 0.0.0"], ["…"], ["}"], ["error: nowhere: no such file"]]
    assert [command.shown for command in actual[:10]] == [*shown, *[[]] * 6]
    exits = {3: (2,), 7: (0, 1), 11: (1,)}
    assert [command.exit_codes for command in actual] == [exits.get(number, (0,)) for number in range(len(actual))]
    assert len(actual[11].shown) == 3


def test_a_document_that_is_not_true_is_found_out(tmp_path: Path) -> None:
    problems = problems_of(MADE_UP, tmp_path)
    assert len(problems) == 1, problems  # of all that is run only the version is not as shown
    assert problems[0].startswith("line 5: $ anaphora --version\nshown:   'anaphora 0.0.0'\nprinted: 'anaphora ")
    assert (tmp_path / "list.json").stat().st_size > 0
    assert (tmp_path / "demo" / "results.json").is_file()
    assert (tmp_path / "attacked.jsonl").is_file()  # of a made-up contrapro


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("anaphora score contrapro --sistem hf:x -o run  # needs the network", "--sistem"),
        ("anaphora suites  # needs the network", "Usage: anaphora suites"),
        ("anaphora score … -o run", "an ellipsis in a command"),
        ('pip install "anaphora[nothing]"', "no such extra: nothing"),
        ("make nothing", "No rule to make target"),
        ("anaphora evaluate demo/runs/context-aware", "no such file"),  # nobody made it
        ("anaphora evaluate nowhere --json | cat", "exit code 2"),  # a pipe does not hide it
        ("anaphora evaluate nowhere; true", "exit code 2"),
        ("nonsense-of-another-program", "exit code 127"),
    ],
)
def test_a_command_that_cannot_work_is_found_out(tmp_path: Path, text: str, says: str) -> None:
    (problem,) = problems_of(f"```sh\n{text}\n```\n", tmp_path)
    assert says in problem


def test_a_warm_process_is_like_a_cold_one(tmp_path: Path) -> None:
    code = "import os, sys; print(sys.argv, os.getcwd(), os.environ['X'], sys.stdin.read()); sys.exit('no')"
    commands: list[tuple[list[str], int]] = [
        (["python", "-c", code, "a", "ü\nb"], 1),
        (["python", "-c", "print('half', end=''); 1 / 0"], 1),
        (["python", "-c", "import os; os.kill(os.getpid(), 9)"], 137),
        (["anaphora", "evaluate", "nowhere"], 2),
    ]
    for words, expected in commands:
        cold = [sys.executable, *(words[1:] if words[0] == "python" else ["-m", *words])]
        ends = [
            subprocess.run(call, cwd=tmp_path, env={**os.environ, "X": "1"}, input="in", capture_output=True, text=True)
            for call in (cold, [*client(), *words])
        ]
        assert ends[0].stdout == ends[1].stdout
        assert ends[0].stderr.splitlines()[-1:] == ends[1].stderr.splitlines()[-1:]
        codes = [end.returncode if end.returncode >= 0 else 128 - end.returncode for end in ends]
        assert codes == [expected] * 2


def test_a_python_block_that_fails_is_found_out(tmp_path: Path) -> None:
    (problem,) = problems_of("```python\nprint(nothing)\n```\n", tmp_path)
    assert "NameError" in problem


def test_an_input_that_is_lacking_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.test_docs.provide", lambda folder, commands: frozenset({"a_pipeline"}))
    (problem,) = problems_of("```sh\nanaphora evaluate a_pipeline\n```\n", tmp_path, all_inputs=True)
    assert "a_pipeline" in problem


def test_python_blocks_after_one_that_cannot_run_are_only_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.test_docs.provide", lambda folder, commands: frozenset({"a_pipeline"}))
    blocks = ('document = load("a_pipeline")', "print(document)", "import os\nprint(os.sep)", "print(nothing)")
    (problem,) = problems_of("".join(f"```python\n{block}\n```\n" for block in blocks), tmp_path)
    assert problem.startswith("line 12: $ print(nothing)\nexit code 1")  # the last one is wrong by itself


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
        (["a", "…", "c"], ["a", "b", "c"], True),
        (["…", "c"], ["a", "b", "c"], True),
        (["a", "…", "b"], ["a", "b", "c"], False),
        (["a", "…", "d"], ["a", "b", "c"], False),
        (["a", "…", "b", "…"], ["a", "b", "c"], True),
        ([" a"], ["a"], False),
    ],
)
def test_comparison_of_outputs(shown: list[str], real: list[str], same: bool) -> None:
    assert (difference(shown, real) is None) is same
