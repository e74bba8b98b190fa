"""`anaphora score`."""

from __future__ import annotations

from pathlib import Path

import click

from anaphora.cli.output import PATH, echo_json, json_option, note


@click.command(
    epilog="""\b
Examples:
  anaphora score suite.jsonl --system scores:my.scores -o runs/my-model
"""
)
@click.argument("suite")
@click.option(
    "--system", required=True, metavar="SPEC", help="The system, KIND:WHAT; scores:FILE imports a score file."
)
@click.option(
    "-o", "--output", required=True, type=PATH, metavar="RUN", help="A folder, or a file ending in .jsonl[.gz]."
)
@json_option
def score(suite: str, system: str, output: Path, as_json: bool) -> None:
    """Let a system score the candidates of SUITE (a suite file or a catalogue name) and write a run."""
    from anaphora import api

    run = api.score(suite, system, output)
    if as_json:
        echo_json({"run": str(run.path), "suite": run.header.suite, "sha256": run.header.sha256, "system": system})
    else:
        note(f"{run.header.suite}@{run.header.sha256[:6]} scored by {system}: {run.path}")
