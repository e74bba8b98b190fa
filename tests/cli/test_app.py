"""The program as a whole: help, version, exit codes, one-line errors, clean output, light imports."""

from __future__ import annotations

import importlib
import json
import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from anaphora import __version__
from anaphora.cli.app import app, explain
from anaphora.cli.interrupts import parse_argv

# ------------------------------------------------------------------------------------------------------------------ app
# The program as a whole: help, version, exit codes, one-line errors, clean output, light imports.

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("torch", "pandas", "spacy", "transformers", "scipy", "numpy", "rich")
Run = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[..., str]


def commands(group: click.Group = app, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command and group of the program with the words that call it."""
    yield path, group
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = dict(commands())
each_command = pytest.mark.parametrize("path", COMMANDS, ids=lambda path: "-".join(path) or "anaphora")


def test_the_commands_of_the_contract_are_there() -> None:
    suites = {("suites", name) for name in ("list", "show", "get", "convert", "validate")}
    assert {("score",), ("evaluate",), ("compare",), ("demo",), *suites} <= set(COMMANDS)


@pytest.fixture(scope="module")
def helps() -> dict[tuple[str, ...], tuple[list[str], str]]:
    """The help of every command, all in one fresh interpreter: the heavy packages it has after each, and the text."""
    program = f"""
import contextlib, io, json, sys
from anaphora.cli import main

for path in {list(map(list, COMMANDS))!r}:
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
        main([*path, "--help"])
    heavy = [name for name in {HEAVY!r} if name in sys.modules]
    print(json.dumps([path, heavy, printed.getvalue()]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    actual = map(json.loads, done.stdout.splitlines())
    return {tuple(path): (heavy, printed) for path, heavy, printed in actual}


@each_command
def test_help_shows_usage_and_examples_and_is_light(
    helps: dict[tuple[str, ...], tuple[list[str], str]], path: tuple[str, ...]
) -> None:
    heavy, printed = helps[path]
    assert heavy == []
    assert printed.startswith(" ".join(["Usage: anaphora", *path]))
    assert "Examples:\n" in printed  # what they are: test_help.py


def test_the_short_help_option(anaphora_process: Run) -> None:  # click keeps a command's help option in the process
    short, long = anaphora_process("suites", "get", "-h"), anaphora_process("suites", "get", "--help")
    assert short.stdout == long.stdout != ""
    assert short.stderr == long.stderr == ""


def test_the_root_help_lists_every_command(anaphora: Run) -> None:
    text = anaphora("--help").stdout
    for name in app.list_commands(click.Context(app)):
        assert f"\n  {name} " in text


def test_version(anaphora: Run) -> None:
    done = anaphora("--version")
    assert (done.stdout, done.stderr) == (f"anaphora {__version__}\n", "")


def test_the_installed_script_is_the_same_program() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["scripts"]["anaphora"].partition(":")
    script = getattr(importlib.import_module(module), name)
    with pytest.raises(SystemExit) as stop:
        script(["--version"])
    assert stop.value.code == 0
    assert script is importlib.import_module("anaphora.__main__").main


@pytest.mark.parametrize("path", [(), ("suites",)], ids=["anaphora", "suites"])
def test_a_group_alone_shows_its_help_and_exits_with_2(anaphora: Run, path: tuple[str, ...]) -> None:
    done = anaphora(*path, check=2)
    assert done.stdout == ""
    assert done.stderr.startswith(" ".join(["Usage: anaphora", *path]))
    assert "Usage: " in done.stderr


def test_an_unknown_command_names_a_near_one(refused_by_process: Refused) -> None:
    message = refused_by_process("evalute")
    assert "'evalute'" in message
    assert "did you mean evaluate" in message
    assert "anaphora --help" in message
    assert "did you mean" not in refused_by_process("xyzzy")


def test_an_unknown_subcommand(refused: Refused) -> None:
    assert "'lst'" in refused("suites", "lst")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--nope"], "--nope"),
        (["suites", "list", "--nope"], "--nope"),
        (["evaluate", "x", "--scoers", "y"], "--scores"),  # a near option is named
        (["evaluate"], "RUN|SUITE"),
        (["evaluate", "x", "y"], "y"),
        (["compare"], "RUN RUN"),
        (["score", "x"], "--system"),
        (["score", "x", "--system", "scores:y"], "--output"),
        (["suites", "show"], "NAME|FILE"),
        (["suites", "get"], "NAME"),
        (["suites", "convert", "x"], "--output"),
        (["suites", "validate"], "SUITE"),
        (["evaluate", "x", "--format", "html"], "markdown"),
        (["evaluate", "x", "--normalize", "max"], "mean"),
        (["evaluate", "x", "--confidence", "1"], "--confidence"),
        (["evaluate", "x", "--confidence", "nan"], "--confidence"),
        (["evaluate", "x", "--samples", "5"], "--samples"),
        (["evaluate", "x", "--seed", "-1"], "--seed"),
        (["evaluate", "x", "--fail-under", "nan"], "--fail-under"),
        (["evaluate", "x", "--fail-under", "70"], "--fail-under"),
        (["evaluate", "x", "--fail-under", "much"], "--fail-under"),
        (["compare", "x", "y", "--test", "t"], "mcnemar"),
        (["suites", "convert", "x", "--to", "xml", "-o", "y"], "text"),
        (["suites", "convert", "x", "--limit", "0", "-o", "y"], "--limit"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_wrong_usage_is_one_line(refused: Refused, arguments: list[str], message: str) -> None:
    assert message in refused(*arguments)


@pytest.mark.parametrize("format", [["--json"], ["--format", "latex"]])
def test_an_error_leaves_stdout_empty_in_every_format(refused_by_process: Refused, format: list[str]) -> None:
    assert refused_by_process("evaluate", "nowhere", "--scores", "x", *format).startswith("nowhere: no such file")


def test_a_name_that_no_file_can_have(refused_by_process: Refused) -> None:
    assert "too long" in refused_by_process("evaluate", "x" * 300, "--scores", "y")


def test_a_folder_where_the_output_goes(refused_by_process: Refused, suite: Path, tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").mkdir()
    assert "out.jsonl" in refused_by_process("suites", "convert", suite, "-o", "out.jsonl")
    assert not list((tmp_path / "out.jsonl").iterdir())
    assert not list(tmp_path.glob(".*")), "a temporary file was left"


@pytest.mark.parametrize("output", ["", ".", "/"])
def test_a_folder_without_a_name_is_no_output(refused: Refused, suite: Path, output: str) -> None:
    text = suite.with_name("x.en")
    text.write_text("It works.\n")
    for command in (("suites", "convert", suite), ("translate", "--system", "command:cat", "-i", text)):
        assert refused(*command, "-o", output) == f"{output or '.'}: cannot be written: a folder"


@pytest.mark.parametrize("output", ["loop", "loop/x", "n" * 300])
def test_an_output_that_cannot_be_has_one_line(
    refused: Refused, suite: Path, scores: Path, tmp_path: Path, output: str
) -> None:
    """A link that leads to itself, and a name that is too long."""
    (tmp_path / "loop").symlink_to("loop")
    message = refused("score", suite, "--system", f"scores:{scores}", "-o", output)
    assert output in message
    assert "cannot be written: " in message


def test_an_error_message_has_a_bounded_length(refused: Refused) -> None:
    message = refused("evaluate", "x" * 100_000)
    assert len(message) < 3100
    assert message.endswith("file name too long")


@pytest.mark.parametrize("command", ["convert --to text", "convert --to sources", "score --context 1"])
def test_a_separator_that_is_not_utf8(refused: Refused, suite: Path, command: str) -> None:
    group = ["suites"] if command.startswith("convert") else []
    words = [*group, *command.split(), *(["--system", "metric:chrf?reference=x"] if not group else [])]
    assert refused(*words, suite, "-o", "out", "--separator", "a\udce9") == "the separator is not UTF-8: 'a\\udce9'"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("arguments", [["--help"], ["suites", "list", "--json"]], ids=lambda a: a[0])
def test_a_full_disk_is_an_error_of_one_line(tmp_path: Path, arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "anaphora", *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (2, "error: no space left on device\n")


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["suites", "--help"], ["--version"], ["suites", "list"], ["suites", "show", "contrapro", "--json"]],
    ids=" ".join,
)
def test_a_reader_that_goes_away_is_no_error(arguments: list[str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "anaphora", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()  # before the first byte is written, so that every write fails
        message = process.stderr.read()
    assert (process.returncode, message) == (0, b"")


def test_importing_is_light() -> None:
    assert heavy_after("import anaphora, anaphora.api") == ([], "")


def test_version_and_wrong_usage_are_light() -> None:
    assert heavy_after("from anaphora.cli import main; run(main, ['--version']); run(main, ['nix'])")[0] == []


def test_the_check_for_light_imports_sees_a_heavy_one() -> None:
    assert heavy_after("import anaphora.evaluation.compare")[0] == ["numpy"]


def heavy_after(code: str) -> tuple[list[str], str]:
    """Which heavy packages a fresh interpreter has imported after running the code, and what it printed."""
    program = f"""
import sys

def run(main, arguments):
    try:
        main(arguments)
    except SystemExit:
        pass

{code}
sys.stderr.write("\\n" + " ".join(name for name in {HEAVY!r} if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stderr.rpartition("\n")[2].split(), done.stdout


def test_json_is_all_there_is_on_stdout(
    as_json: Callable[..., Any], make_run: Callable[..., Path], suite: Path, scores: Path, other_scores: Path
) -> None:
    first, second = make_run(suite, scores, "first"), make_run(suite, other_scores, "second")
    assert as_json("suites", "list")[0]["name"]
    assert as_json("suites", "show", "contrapro")["name"] == "contrapro"
    assert as_json("suites", "show", suite)["examples"] == 6
    assert as_json("suites", "validate", suite) == {"valid": True, "problems": []}
    assert as_json("suites", "convert", suite, "-o", "copy.jsonl")["suite"] == "small"
    assert as_json("suites", "convert", suite, "--to", "text", "-o", "lines")["candidates"] == 13
    assert as_json("score", suite, "--system", f"scores:{scores}", "-o", "third")["suite"] == "small"
    assert as_json("evaluate", first)["total"] == 6
    assert as_json("compare", first, second)["suite"] == "small"
    assert as_json("demo", "--stand-ins")["systems"]


def test_what_is_no_result_goes_to_stderr(anaphora: Run, suite: Path, scores: Path) -> None:
    done = anaphora("suites", "convert", suite, "-o", "copy.jsonl")
    assert done.stdout == ""
    assert "copy.jsonl" in done.stderr
    done = anaphora("score", suite, "--system", f"scores:{scores}", "-o", "run")
    assert done.stdout == ""
    assert "run.jsonl" in done.stderr


def test_no_command_gives_a_warning(anaphora: Run) -> None:
    assert anaphora("demo", "--stand-ins", PYTHONWARNINGS="error").stderr == ""


def test_no_color_codes_where_none_are_wanted(anaphora: Run, suite: Path, scores: Path) -> None:
    done = anaphora("evaluate", suite, "--scores", scores, "--fail-under", "1", check=1, FORCE_COLOR="1")
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_output_is_utf8_whatever_the_locale(anaphora: Run, suite: Path, scores: Path, encoding: str) -> None:
    arguments = ("evaluate", suite, "--scores", scores)
    expected = anaphora(*arguments)
    assert "→" in expected.stdout
    assert anaphora(*arguments, PYTHONIOENCODING=encoding, PYTHONUTF8="0").stdout == expected.stdout


def test_a_file_name_that_is_not_utf8(tmp_path: Path, suite: Path, scores: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/b\xe4d.scores"
    try:
        os.rename(os.fsencode(scores), odd)  # noqa: PTH104  (a name in bytes is no Path)
    except OSError:
        pytest.skip("the file system takes UTF-8 names only")
    command = [os.fsencode(sys.executable), b"-m", b"anaphora", b"evaluate", os.fsencode(suite), b"--scores", odd]
    assert json.loads(subprocess.run([*command, b"--json"], capture_output=True, check=True).stdout)["correct"] == 3
    assert b"0.500" in subprocess.run(command, capture_output=True, check=True).stdout


PLUG_IN = """
class System:
    def __init__(self, what, options):
        pass

    def settings(self):
        return {}

    def score(self, examples, done=()):
        raise ZeroDivisionError("a fault\\nof the plug-in")
        yield
"""


@pytest.mark.parametrize("debug", [None, "0", "1"])
def test_an_unexpected_exception_has_its_own_exit_code(tmp_path: Path, suite: Path, debug: str | None) -> None:
    """newcomer.md B16: 1 is a failed gate, and a bug is none."""
    about = tmp_path / "packages" / "plug_in-1.0.dist-info"
    about.mkdir(parents=True)
    (about.parent / "plug_in.py").write_text(PLUG_IN)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: plug-in\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[anaphora.systems]\nplug = plug_in:System\n")
    search = [str(about.parent), *(str(Path(part).absolute()) for part in sys.path if part)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(search)}
    environment.pop("ANAPHORA_DEBUG", None)
    if debug is not None:
        environment["ANAPHORA_DEBUG"] = debug
    command = [
        sys.executable,
        "-m",
        "anaphora",
        "score",
        str(suite),
        "--system",
        "plug:x",
        "--context",
        "1",
        "-o",
        "run",
    ]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (70, "")
    *before, last = done.stderr.splitlines()
    assert last.startswith("error: unexpected ZeroDivisionError: a fault of the plug-in. This is a bug in anaphora ")
    assert last.endswith(project_urls()["Issues"])
    assert ("Traceback" in done.stderr) == (debug == "1")
    assert len(before) == 1 or debug == "1"  # what is scored was said before


def project_urls() -> dict[str, str]:
    urls: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    return urls


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("apt -s a -r b -r c -t d -l en-fr", "-r/--reference is given 2 times, but apt takes one"),
        ("apt -s a --source=x -s y -r b -t d -l en-fr", "-s/--source is given 3 times, but apt takes one"),
        ("autoprf -s a -r b --reference c -t d", "-r/--reference is given 2 times, but autoprf takes one"),
        ("measure pairs -r b -r c -t d -l en-fr -o x", "-r/--reference is given 2 times, but pairs takes one"),
        ("metrics -r b -t d -s x -s y -l en-fr", "-s/--source is given 2 times, but metrics takes one"),
        ("generative s -t d --tokenize none --tokenize moses", "--tokenize is given 2 times"),
        ("align a b -o x -o y", "-o/--output is given 2 times"),
        ("metrics -r b -t d --normalize --no-normalize", "--normalize-text/--no-normalize-text is given 2 times"),
    ],
)
def test_a_value_that_would_be_dropped_is_refused(refused: Callable[..., str], command: str, option: str) -> None:
    assert option in refused(*command.split())


def test_flags_and_repeatable_options_may_be_repeated(refused: Callable[..., str]) -> None:
    assert "no such file" in refused("metrics", "-r", "a", "-r", "b", "-t", "c", "-t", "d", "--json", "--json")


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: you …")])
def test_too_little_memory_is_no_bug(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        explain(error, ["score"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("error: out of memory. Close other programs")
    assert explain(RuntimeError("another"), ["score"]) is None  # a mistake of ours


# ----------------------------------------------------------------------------------------------------------------- help
# Every command shows examples in its help, and every example is a call that the command understands.


def walk(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """The whole tree of commands, groups too."""
    yield " ".join(["anaphora", *path]), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            actual = command.get_command(context, name)
            assert actual is not None
            yield from walk(actual, (*path, name))


BY_NAME = dict(walk(app))


def examples(epilog: str) -> list[list[str]]:
    """The arguments of the examples: without what is the shell's, a comment, $( … ) around it, or where it goes."""
    actual = []
    for line in epilog.partition("Examples:")[2].splitlines():
        _, program, rest = line.partition("anaphora ")
        words = shlex.split(rest.replace(')"', ""), comments=True)
        if program:
            ends = [position for position, word in enumerate(words) if word in (">", "|")]
            actual.append(words[: min(ends, default=len(words))])
    return actual


def test_the_tree_is_whole() -> None:
    assert len(BY_NAME) > 50
    assert {"anaphora build attack phrase", "anaphora suites get", "anaphora study serve"} <= set(BY_NAME)


@pytest.mark.parametrize("path", BY_NAME)
def test_examples_are_shown_and_understood(path: str) -> None:
    command = BY_NAME[path]
    actual = examples(command.epilog or "")
    assert actual, f"{path} --help has no example: write one in epilog"
    chosen = [parse_argv(app, words) for words in actual]
    paths = [context.command_path for context in chosen]
    assert any(own == path or own.startswith(f"{path} ") for own in paths), f"no example of {path} calls it: {paths}"
    assert not [own for own in paths if isinstance(BY_NAME[own], click.Group)]


@pytest.mark.parametrize("path", BY_NAME)
def test_examples_are_lines_of_their_own(path: str) -> None:
    """A paragraph without the sign \\b would be one long line."""
    command = BY_NAME[path]
    shown = command.get_help(click.Context(command, info_name=path, max_content_width=100)).splitlines()
    for words in examples(command.epilog or ""):
        start = " ".join(["anaphora", *words[:1]])
        assert any(line.strip().startswith((start, f'eval "$({start}')) for line in shown), start


@pytest.mark.parametrize("path", [path for path, command in BY_NAME.items() if not isinstance(command, click.Group)])
def test_every_command_has_json_and_every_option_says_something(path: str) -> None:
    options = [option for option in BY_NAME[path].params if isinstance(option, click.Option)]
    assert any("--json" in option.opts for option in options)
    assert BY_NAME[path].help


def test_an_example_that_is_wrong_is_found() -> None:
    with pytest.raises(click.ClickException):
        parse_argv(app, ["score", "contrapro", "--sistem", "hf:x", "-o", "run"])
    with pytest.raises(click.ClickException):
        parse_argv(app, ["scores", "contrapro"])
