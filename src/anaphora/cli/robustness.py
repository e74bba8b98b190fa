"""`anaphora robustness`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from anaphora.cli.evaluate import setting_options
from anaphora.cli.output import PATH, format_options, note, show


@click.command(
    epilog="""\b
Examples:
  anaphora robustness runs/contrapro runs/true_colon runs/maria
  anaphora robustness runs/contrapro runs/attacks --by reference_pronoun --format markdown
  anaphora robustness runs/contrapro runs/attacks --figure drop.svg
"""
)
@click.argument("before", type=PATH, metavar="RUN")
@click.argument("attacked", nargs=-1, required=True, type=PATH, metavar="ATTACKED_RUN…")
@click.option(
    "--test",
    type=click.Choice(["mcnemar", "randomisation", "bootstrap"]),
    help="Whose p-value is shown: mcnemar, unless groups are resampled; then randomisation. JSON has all three.",
)
@click.option("--figure", type=PATH, help="Also draw it: an SVG file.")
@setting_options
@format_options
def robustness(
    before: Path,
    attacked: tuple[Path, ...],
    by: tuple[str, ...],
    test: str | None,
    figure: Path | None,
    format: str,
    as_json: bool,
    **settings: Any,
) -> None:
    """Accuracy of a system before and after attacks, on the same items, with paired tests.

    RUN is its run on a suite; the others are its runs on attacks of that suite, made by anaphora build attack.
    """
    from anaphora.core.files import atomic_writer
    from anaphora.evaluation.result import Settings
    from anaphora.evaluation.robustness import robustness as measure
    from anaphora.reports.charts import robustness_chart
    from anaphora.reports.tables import robustness_table
    from anaphora.runs import open_run

    runs = [open_run(path) for path in attacked]
    found = measure(open_run(before), runs, breakdowns=by, settings=Settings(**settings), test=test)
    if figure is not None:
        with atomic_writer(figure) as out:
            out.write(robustness_chart([found]).encode())
    show(robustness_table(found), found.to_dict(), format, as_json)
    if figure is not None and not as_json:
        note(f"the picture: {figure}")
