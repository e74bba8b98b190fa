"""Ctrl-C: what a stopped command leaves behind, and the command that goes on. The one place that says it.

Files appear under their name only when they are whole, so a stopped command leaves what it made to go on with, or
nothing. What is kept is looked up on disk, not remembered: the sentence is true wherever the command was.
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
class Leaves:
    """What a command leaves when it is stopped.

    kept: says what is there to go on with, from the command's options; empty where there is nothing
    add, drop: an option that the command goes on with, and one that it must not have then
    """

    kept: Callable[[Options], str]
    add: str = ""
    drop: str = ""


def sentence(root: click.Command, arguments: Sequence[str]) -> str:
    """What is kept of the command that was called with these arguments, and how it goes on."""
    if found := kept(root, arguments):
        return f"stopped; {found[0]}. Go on with: {found[1]}"
    try:
        context = called(root, arguments)
    except click.ClickException:  # stopped before it was known to be wrong
        return "stopped; nothing was written"
    return f"stopped; {_nothing(context.params)}. Start again with: {_shell(arguments)}"


def kept(root: click.Command, arguments: Sequence[str]) -> tuple[str, str] | None:
    """What a command has kept that was called with these arguments, and the command that goes on; None: nothing."""
    try:
        context = called(root, arguments)
    except (click.ClickException, click.exceptions.Exit):  # Exit: --help
        return None
    leaves = LEAVES.get(_path(context))
    found = leaves.kept(context.params) if leaves else ""
    if leaves is None or not found:
        return None
    words = [word for word in arguments if word != leaves.drop]
    return found, _shell([*words, *_missing(leaves.add, words)])


def called(root: click.Command, arguments: Sequence[str]) -> click.Context:
    """The context of the command that these arguments call, with its options; nothing is run."""
    context = root.make_context("anaphora", list(arguments))
    while isinstance(context.command, click.Group):
        rest = [*context._protected_args, *context.args]
        if not rest:
            break
        name, command, words = context.command.resolve_command(context, rest)
        if command is None:
            break
        context = command.make_context(name, words, parent=context)
    return context


def _path(context: click.Context) -> str:
    """`build mine`: the names of a command without the program's."""
    return context.command_path.partition(" ")[2]


def _shell(words: Sequence[str]) -> str:
    return shlex.join(["anaphora", *words])


def _missing(option: str, words: Sequence[str]) -> list[str]:
    return [option] if option and option not in words else []


def _nothing(options: Options) -> str:
    """An output that is there was there before, or is whole: then only that is said which is certain."""
    output = options.get("output")
    there = isinstance(output, Path) and output.exists()
    return f"nothing in {output} is half-written" if there else "nothing was written"


def _lines(path: Path) -> int:
    """Whole lines of an unfinished file, without its header."""
    return max(0, path.read_bytes().count(b"\n") - 1) if path.is_file() else 0


def _score(options: Options) -> str:
    from anaphora.runs import run_file

    file = run_file(options["output"])
    part = file.with_name(f"{file.name}.part")
    return f"{_lines(part):,} answers are kept in {part}" if part.is_file() else ""


def _translate(options: Options) -> str:
    output: Path = options["output"]
    part = output.with_name(f"{output.name}.part")
    return f"{_lines(part):,} translations are kept in {part}" if part.is_file() else ""


def _train(options: Options) -> str:
    """The last checkpoint; with --sweep, of the model that was being trained."""
    output: Path | None = options["output"]
    if output is None or not output.is_dir():
        return ""
    found = sorted(output.glob("checkpoints/update-*/state.json"))
    found = found or sorted(output.glob("*/checkpoints/update-*/state.json"), key=lambda path: path.stat().st_mtime)
    if found:
        place = found[-1].parent
        return f"update {int(place.name.removeprefix('update-')):,} is kept in {place}"
    folders = [output, *(folder for folder in output.iterdir() if folder.is_dir())]
    begun = any((folder / "config.toml").is_file() for folder in folders)
    return f"there is no checkpoint yet, only the vocabulary and config in {output}" if begun else ""


def _context_usage(options: Options) -> str:
    output: Path = options["output"]
    runs = [*output.glob("**/run.jsonl"), *output.glob("**/*.jsonl.part")] if output.is_dir() else []
    return f"every answer so far is kept in {output}" if runs else ""


def _mine(options: Options) -> str:
    output: Path = options["output"]
    work = options["work"] or output.with_name(f"{output.name}.work")
    shards = sum(1 for _ in work.glob("*/*.jsonl.gz"))
    return f"{shards:,} finished shards are kept in {work}" if work.is_dir() else ""


def _demo(options: Options) -> str:
    models: Path = options["output"] / "models"
    trains = not options["pretrained"] and not options["stand_ins"]
    return f"what is trained so far is kept in {models}" if trains and models.is_dir() else ""


def _cache(options: Options) -> str:
    """A measure is written when it is learned; states of the encoder, which take the time, are kept as they come."""
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
    from anaphora.suites.get import home

    downloads = home() / "downloads"
    return f"files that are complete are kept in {downloads}" if downloads.is_dir() else ""


LEAVES: dict[str, Leaves] = {
    "score": Leaves(_score, add="--resume", drop="--overwrite"),
    "translate": Leaves(_translate, add="--resume", drop="--overwrite"),
    "train": Leaves(_train, add="--resume"),
    "context-usage": Leaves(_context_usage),
    "build mine": Leaves(_mine, drop="--no-resume"),
    "demo": Leaves(_demo),
    "measure adapt": Leaves(_adapt),
    "measure train": Leaves(_cache),
    "measure evaluate": Leaves(_cache),
    "measure score": Leaves(_cache),
    "study serve": Leaves(_serve),
    "suites get": Leaves(_get),
}
