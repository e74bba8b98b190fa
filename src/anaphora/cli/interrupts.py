"""Ctrl-C and full disks: what an interrupted command has kept, and the command that resumes it.

Files appear under their name only when they are complete. What is kept is described by the library that wrote it
(`kept` of its module), from the disk: the sentence is true wherever the command was interrupted.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from anaphora.core.errors import AnaphoraError


@dataclass(frozen=True, slots=True)
class ResumeHint:
    """How a command is resumed.

    target: "module:function" of the library that says what there is to resume; empty where there is nothing
    parameters: the parameters of the command that the function is given
    add, drop: an option to resume with, and one that must be left out then
    """

    target: str
    parameters: tuple[str, ...] = ("output",)
    add: str = ""
    drop: str = ""

    def kept(self, options: Mapping[str, Any]) -> str:
        """Ask the library what the command with these options has kept."""
        if "output" in self.parameters and options["output"] is None:  # as of `train --list`
            return ""
        module, _, name = self.target.partition(":")
        description: str = getattr(import_module(module), name)(*(options[key] for key in self.parameters))
        return description


def resume_message(root: click.Command, arguments: Sequence[str]) -> str:
    """Return what is kept of the command that was called with these arguments, and how to resume it."""
    if hint := kept(root, arguments):
        return f"stopped; {hint[0]}. Resume with: {hint[1]}"
    try:
        context = parse_argv(root, arguments)
    except (click.ClickException, AnaphoraError):  # interrupted before the mistake was found
        return "stopped; nothing was written"
    output = context.params.get("output")
    # an output that exists was there before, or is complete
    exists = isinstance(output, Path) and output.exists()
    state = f"nothing in {output} is half-written" if exists else "nothing was written"
    return f"stopped; {state}. Start again with: {_shell(arguments)}"


def kept(root: click.Command, arguments: Sequence[str]) -> tuple[str, str] | None:
    """Return what the command has kept that was called with these arguments, and the command that resumes it."""
    try:
        context = parse_argv(root, arguments)
    except (click.ClickException, click.exceptions.Exit, AnaphoraError):  # Exit: --help
        return None
    hint = RESUME_HINTS.get(context.command_path.partition(" ")[2])
    text = ""
    with contextlib.suppress(OSError, ValueError, AnaphoraError):  # the output has a name that no file can have
        text = hint.kept(context.params) if hint else ""
    if hint is None or not text:
        return None
    words = [word for word in arguments if word != hint.drop]
    added = [hint.add] if hint.add and hint.add not in words else []
    return text, _shell([*words, *added])


def parse_argv(root: click.Command, arguments: Sequence[str]) -> click.Context:
    """Return the context of the command that these arguments call, with its options; nothing is run."""
    command, words, parent = root, list(arguments), None
    name = "anaphora"
    while isinstance(command, click.Group):
        parent = click.Context(command, info_name=name, parent=parent, **command.context_settings)
        index = next((k for k, word in enumerate(words) if not word.startswith("-")), None)  # groups have flags only
        if index is None:
            raise click.exceptions.NoArgsIsHelpError(parent)
        name = words.pop(index)
        subcommand = command.get_command(parent, name)
        if subcommand is None:
            raise click.UsageError(f"No such command {name!r}.", parent)
        command = subcommand
    return command.make_context(name, words, parent=parent)


def _shell(words: Sequence[str]) -> str:
    return shlex.join(["anaphora", *words])


RESUME_HINTS: dict[str, ResumeHint] = {
    "score": ResumeHint("anaphora.run_writer:kept", add="--resume", drop="--overwrite"),
    "attribute": ResumeHint("anaphora.run_writer:kept", add="--resume", drop="--overwrite"),
    "translate": ResumeHint("anaphora.systems.translation:kept", add="--resume", drop="--overwrite"),
    "train": ResumeHint("anaphora.nmt.log:kept", add="--resume"),
    "context-usage": ResumeHint("anaphora.evaluation.context_usage:kept"),
    "build mine": ResumeHint("anaphora.build.mine.pipeline:kept", ("output", "work"), drop="--no-resume"),
    "demo": ResumeHint("anaphora.demo:kept", ("output", "pretrained", "stand_ins")),
    "measure adapt": ResumeHint("anaphora.measure:kept_model"),
    "measure train": ResumeHint("anaphora.measure:kept_states", ("cache",)),
    "measure evaluate": ResumeHint("anaphora.measure:kept_states", ("cache",)),
    "measure score": ResumeHint("anaphora.measure:kept_states", ("cache",)),
    "study serve": ResumeHint("anaphora.study.store:kept", ("study", "database")),
    "suites get": ResumeHint("anaphora.suites.get:kept", ()),
}
