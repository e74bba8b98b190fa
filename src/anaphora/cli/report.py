"""`anaphora report`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from anaphora.cli.evaluate import setting_options
from anaphora.cli.output import PATH, echo_json, json_option, note

FORMATS = ("html", "md", "latex", "csv", "png", "svg")


@click.command(
    epilog="""\b
Examples:
  anaphora report runs/baseline runs/concat -o report.html
  anaphora report runs/* --suite mined.jsonl --name baseline --name concat -o report.html
  anaphora report runs/baseline runs/concat --result apt.json --result usage.json -o report.html
  anaphora report runs/baseline runs/concat --format latex -o tables/
"""
)
@click.argument("runs", nargs=-1, type=PATH, metavar="RUN…")
@click.option("-o", "--output", required=True, type=PATH, help="The page; with another --format a folder.")
@click.option(
    "--result",
    "results",
    multiple=True,
    type=PATH,
    help="What apt, generative or context-usage print with --json. Repeatable.",
)
@click.option(
    "--suite",
    "suites",
    multiple=True,
    metavar="SUITE",
    help="A suite that was scored (file or catalogue name), for the texts of its examples; those of the catalogue are "
    "found by themselves. Repeatable.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    help="What a system is called, one for each run in order; runs of one system have one name. OLD=NEW renames a "
    "system of a --result.",
)
@click.option("--title", default="", help="The heading.")
@click.option(
    "--format",
    "format",
    type=click.Choice(FORMATS),
    default="html",
    show_default=True,
    help="One page, or each part as a file.",
)
@setting_options
@json_option
def report(
    runs: tuple[Path, ...],
    output: Path,
    results: tuple[Path, ...],
    suites: tuple[str, ...],
    names: tuple[str, ...],
    title: str,
    format: str,
    by: tuple[str, ...],
    as_json: bool,
    **settings: Any,
) -> None:
    """Everything that runs say, as one HTML file that needs nothing else, or as parts for papers and wikis.

    Runs of several systems and suites may be mixed; attacks are set beside the suite that they attack.
    """
    from anaphora import api

    made = api.report(
        *runs, output=output, results=results, suites=suites, names=names, title=title, format=format, by=by, **settings
    )
    if as_json:
        echo_json({"files": [str(path) for path in made.files], "summary": list(made.summary)})
        return
    for word in made.summary:
        note(word)
    for name, remedy in zip(made.silent, made.remedies, strict=True):
        note(f"the texts of {name} are not at hand, so its examples are not in the report: {remedy}")
    note(f"{len(made.files):,} files in {output}" if format != "html" else f"the report: {output}")
