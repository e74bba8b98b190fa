"""`anaphora demo`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from anaphora.cli.output import PATH, echo_json, json_option


@click.command(
    epilog="""\b
Examples:
  anaphora demo
  anaphora demo -o my-demo --json
"""
)
@click.option(
    "-o", "--output", type=PATH, default=Path("anaphora-demo"), show_default=True, help="A folder for its files."
)
@json_option
def demo(output: Path, as_json: bool) -> None:
    """Write a small suite, evaluate two example score files, compare them: what the tables look like."""
    from anaphora.demo import run_demo
    from anaphora.reports.tables import comparison_table, result_table

    found = run_demo(output)
    if as_json:
        results = {file.stem: result.to_dict() for file, result in zip(found.scores, found.results, strict=True)}
        echo_json({"systems": results, "comparison": found.comparison.to_dict()})
        return
    for file, result in zip(found.scores, found.results, strict=True):
        click.echo(f"$ {shlex.join(['anaphora', 'evaluate', str(found.suite), '--scores', str(file)])}")
        click.echo(result_table(result).render("table") + "\n")
    runs = shlex.join(str(found.folder / "runs" / file.stem) for file in found.scores)
    click.echo(f"$ anaphora compare {runs} --by reference_pronoun --by distance")
    click.echo(comparison_table(found.comparison).render("table"))
    click.echo(f"\nThe suite, the scores, the runs and results.json are in {found.folder}/.")
