"""`anaphora compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from anaphora.cli.evaluate import setting_options
from anaphora.cli.output import PATH, format_options, show


@click.command(
    epilog="""\b
Examples:
  anaphora compare runs/old runs/new
  anaphora compare runs/a runs/b runs/c --by reference_pronoun --format markdown
  anaphora compare runs/old runs/new --resample document
"""
)
@click.argument("runs", nargs=-1, required=True, type=PATH, metavar="RUN RUN…")
@click.option(
    "--test",
    type=click.Choice(["mcnemar", "randomisation", "bootstrap"]),
    help="Whose p-value is shown: mcnemar, unless groups are resampled; then randomisation. JSON has all three.",
)
@setting_options
@format_options
def compare(
    runs: tuple[Path, ...], by: tuple[str, ...], test: str | None, format: str, as_json: bool, **settings: Any
) -> None:
    """Compare two or more runs on the same suite: differences, intervals, paired tests, the items that flipped.

    A run on an attack of the suite is compared with it, too, on the items that were attacked.
    """
    from anaphora import api
    from anaphora.reports.tables import comparison_table

    comparison = api.compare(*runs, by=by, test=test, **settings)
    show(comparison_table(comparison), comparison.to_dict(), format, as_json)
