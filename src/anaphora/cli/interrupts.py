"""Ctrl-C and full disks: what an interrupted command has kept, and the command that resumes it.

Files appear under their name only when they are complete. What is kept is described by the library that wrote it
(`kept` of its module), from the disk: the sentence is true wherever the command was interrupted.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

Options = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ResumeHint:
    """How a command is resumed.

    kept: asks the library what there is to resume, given the command's options; empty where there is nothing
    add, drop: an option to resume with, and one that must be left out then
    """

    kept: Callable[[Options], str]
    add: str = ""
    drop: str = ""


def resume_message(root: click.Command, arguments: Sequence[str]) -> str:
    """What is kept of the command that was called with these arguments, and how to resume it."""
    if hint := kept(root, arguments):
        return f"stopped; {hint[0]}. Resume with: {hint[1]}"
    try:
        context = parse_argv(root, arguments)
    except click.ClickException:  # interrupted before the mistake was found
        return "stopped; nothing was written"
    output = context.params.get("output")
    # an output that exists was there before, or is complete
    exists = isinstance(output, Path) and output.exists()
    state = f"nothing in {output} is half-written" if exists else "nothing was written"
    return f"stopped; {state}. Start again with: {_shell(arguments)}"


def kept(root: click.Command, arguments: Sequence[str]) -> tuple[str, str] | None:
    """What the command has kept that was called with these arguments, and the command that resumes it."""
    try:
        context = parse_argv(root, arguments)
    except (click.ClickException, click.exceptions.Exit):  # Exit: --help
        return None
    hint = RESUME_HINTS.get(context.command_path.partition(" ")[2])
    text = hint.kept(context.params) if hint else ""
    if hint is None or not text:
        return None
    words = [word for word in arguments if word != hint.drop]
    added = [hint.add] if hint.add and hint.add not in words else []
    return text, _shell([*words, *added])


def parse_argv(root: click.Command, arguments: Sequence[str]) -> click.Context:
    """The context of the command that these arguments call, with its options; nothing is run."""
    command, words, parent = root, list(arguments), None
    name = "anaphora"
    while isinstance(command, click.Group):
        parent = click.Context(command, info_name=name, parent=parent, **command.context_settings)
        place = next((k for k, word in enumerate(words) if not word.startswith("-")), None)  # groups have flags only
        if place is None:
            raise click.exceptions.NoArgsIsHelpError(parent)
        name = words.pop(place)
        subcommand = command.get_command(parent, name)
        if subcommand is None:
            raise click.UsageError(f"No such command {name!r}.", parent)
        command = subcommand
    return command.make_context(name, words, parent=parent)


def _shell(words: Sequence[str]) -> str:
    return shlex.join(["anaphora", *words])


def _score(options: Options) -> str:
    from anaphora.runs import kept

    return kept(options["output"])


def _translate(options: Options) -> str:
    from anaphora.systems.translation import kept

    return kept(options["output"])


def _train(options: Options) -> str:
    from anaphora.nmt.log import kept

    return "" if options["output"] is None else kept(options["output"])


def _context_usage(options: Options) -> str:
    from anaphora.evaluation.context_usage import kept

    return kept(options["output"])


def _mine(options: Options) -> str:
    from anaphora.build.mine.pipeline import kept

    output: Path = options["output"]
    return kept(options["work"] or output.with_name(f"{output.name}.work"))


def _demo(options: Options) -> str:
    from anaphora.demo.story import kept

    return "" if options["pretrained"] or options["stand_ins"] else kept(options["output"])


def _cache(options: Options) -> str:
    """A measure is written when it is trained; encoder states, which take the time, are kept as they come."""
    cache: Path | None = options["cache"]
    return f"the encoder's states so far are kept in {cache}" if cache is not None and cache.is_dir() else ""


def _adapt(options: Options) -> str:
    from anaphora.cli.measure_training import kept_file

    part = kept_file(options["output"])
    return f"what it has learned so far is kept in {part}" if part.is_file() else ""


def _serve(options: Options) -> str:
    place = options["study"] if options["database"] is None else "its database"  # the URL may hold a password
    return f"every answer is kept in {place}"


def _get(options: Options) -> str:
    from anaphora.suites.get import kept

    return kept()


RESUME_HINTS: dict[str, ResumeHint] = {
    "score": ResumeHint(_score, add="--resume", drop="--overwrite"),
    "translate": ResumeHint(_translate, add="--resume", drop="--overwrite"),
    "train": ResumeHint(_train, add="--resume"),
    "context-usage": ResumeHint(_context_usage),
    "build mine": ResumeHint(_mine, drop="--no-resume"),
    "demo": ResumeHint(_demo),
    "measure adapt": ResumeHint(_adapt),
    "measure train": ResumeHint(_cache),
    "measure evaluate": ResumeHint(_cache),
    "measure score": ResumeHint(_cache),
    "study serve": ResumeHint(_serve),
    "suites get": ResumeHint(_get),
}
