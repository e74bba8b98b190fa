"""What the attacks of the command line share: the suite, phrases of one's own, and the new suite's file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anaphora.cli.output import PATH, Command, echo_json, json_option, note, progress_bar
from anaphora.core.errors import AnaphoraError

if TYPE_CHECKING:
    from anaphora.suites.example import Example
    from anaphora.suites.suite import Suite


def output_options(command: Command) -> Command:
    """SUITE, -o and --json."""
    command = click.argument("suite")(command)
    command = click.option("-o", "--output", required=True, type=PATH, help="The new suite file.")(command)
    return json_option(command)


def letter_option(command: Command) -> Command:
    text = "Whether sentences begin with a small letter; if not said, as most of the suite's do."
    return click.option("--truecased/--cased", default=None, help=text)(command)


def phrase_options(command: Command) -> Command:
    """A preset, or phrases of one's own."""
    options: list[Callable[[Command], Command]] = [
        click.option("--preset", "names", multiple=True, metavar="NAME", help="A named one; see: presets. Repeatable."),
        click.option("--presets", "file", type=PATH, help="A TOML file with presets of your own."),
        click.option("--source", metavar="TEXT", help="Your own, in the source language."),
        click.option("--target", metavar="TEXT", help="The same in the target language."),
        click.option("--name", default="own", show_default=True, help="What your own is called."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def own_phrases(names: tuple[str, ...], source: str | None, target: str | None) -> tuple[str, str] | None:
    """The user's phrases, if there are any; what is missing is said."""
    if names and (source or target):
        raise AnaphoraError("--preset names a phrase that exists; leave it out to give your own, or leave those out")
    if not names and not source and not target:
        raise AnaphoraError(
            "name a phrase with --preset (see: anaphora build attack presets), "
            "or give your own: --source TEXT --target TEXT"
        )
    if names:
        return None
    if not (source and source.strip() and target and target.strip()):
        given, missing = ("--source", "--target") if source else ("--target", "--source")
        raise AnaphoraError(
            f"a phrase for one language only: {given} without {missing}. Give it in both: {missing} TEXT"
        )
    return source.strip(), target.strip()


def with_context(name: str, size: int) -> Suite:
    """A suite by its name, which must have some context to change."""
    from anaphora import api

    suite = api.load_suite(name)
    if not any(sum(map(bool, example.source[:-1])) >= size for example in suite):
        what = "no context" if size == 1 else "no more than one sentence of context"
        raise AnaphoraError(
            f"{name}: {what}, there is nothing to change. Convert it with more: suites convert --context N"
        )
    return suite


def write(suite: Suite, output: Path, left: Counter[str], as_json: bool) -> None:
    """Write the attacked suite; say how many examples there are and why others are not."""
    from anaphora.suites.suite import suite_of

    count = 0

    def examples() -> Iterator[Example]:
        nonlocal count
        for example in suite:
            count += 1
            if bar is not None:
                bar(count, None)
            yield example
        if not count:
            why = "; ".join(f"{number:,}: {reason}" for reason, number in left.most_common()) or "it is empty"
            raise AnaphoraError(f"{suite.path or suite.header.name}: no example can be attacked ({why})")

    with progress_bar("examples") as bar:
        sha256 = suite_of(suite.header, examples).write(output)
    if as_json:
        document = {"suite": suite.header.name, "path": str(output), "sha256": sha256, "examples": count}
        echo_json({**document, "left_alone": dict(left.most_common())})
        return
    note(f"{suite.header.name}@{sha256[:6]}: {count:,} examples: {output}")
    for reason, number in left.most_common():
        note(f"  left alone: {number:,}, {reason}")
