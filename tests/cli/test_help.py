"""Every command shows examples in its help, and every example is a call that the command understands."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click
import pytest

from anaphora.cli.app import app
from anaphora.cli.interrupts import parse_argv


def walk(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """The whole tree of commands, groups too."""
    yield " ".join(["anaphora", *path]), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from walk(found, (*path, name))


COMMANDS = dict(walk(app))


def examples(epilog: str) -> list[list[str]]:
    """The arguments of the examples: without what is the shell's, a comment, $( … ) around it, or where it goes."""
    found = []
    for line in epilog.partition("Examples:")[2].splitlines():
        _, program, rest = line.partition("anaphora ")
        words = shlex.split(rest.replace(')"', ""), comments=True)
        if program:
            ends = [place for place, word in enumerate(words) if word in (">", "|")]
            found.append(words[: min(ends, default=len(words))])
    return found


def test_the_tree_is_whole() -> None:
    assert len(COMMANDS) > 50
    assert {"anaphora build attack phrase", "anaphora suites get", "anaphora study serve"} <= set(COMMANDS)


@pytest.mark.parametrize("path", COMMANDS)
def test_examples_are_shown_and_understood(path: str) -> None:
    command = COMMANDS[path]
    found = examples(command.epilog or "")
    assert found, f"{path} --help has no example: write one in epilog"
    chosen = [parse_argv(app, words) for words in found]
    paths = [context.command_path for context in chosen]
    assert any(own == path or own.startswith(f"{path} ") for own in paths), f"no example of {path} calls it: {paths}"
    assert not [own for own in paths if isinstance(COMMANDS[own], click.Group)]


@pytest.mark.parametrize("path", COMMANDS)
def test_examples_are_lines_of_their_own(path: str) -> None:
    """A paragraph without the sign \\b would be one long line."""
    command = COMMANDS[path]
    shown = command.get_help(click.Context(command, info_name=path, max_content_width=100)).splitlines()
    for words in examples(command.epilog or ""):
        start = " ".join(["anaphora", *words[:1]])
        assert any(line.strip().startswith((start, f'eval "$({start}')) for line in shown), start


@pytest.mark.parametrize("path", [path for path, command in COMMANDS.items() if not isinstance(command, click.Group)])
def test_every_command_has_json_and_every_option_says_something(path: str) -> None:
    options = [option for option in COMMANDS[path].params if isinstance(option, click.Option)]
    assert any("--json" in option.opts for option in options)
    assert COMMANDS[path].help


def test_an_example_that_is_wrong_is_found() -> None:
    with pytest.raises(click.ClickException):
        parse_argv(app, ["score", "contrapro", "--sistem", "hf:x", "-o", "run"])
    with pytest.raises(click.ClickException):
        parse_argv(app, ["scores", "contrapro"])
