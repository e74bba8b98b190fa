"""`anaphora meta correlate` and its sisters: which metric agrees with people?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from anaphora.cli.evaluate import Share
from anaphora.cli.output import PATH, Command, echo_json, format_options, note, show


def correlation_options(command: Command) -> Command:
    """What `meta correlate` and `meta sweep` have in common."""
    options: list[Callable[[Command], Command]] = [
        click.option("--human", default="human", show_default=True, metavar="COLUMN", help="The human scores."),
        click.option(
            "--without",
            multiple=True,
            metavar="SYSTEM",
            help="Also without this system; auto: without outliers by their human score. Repeatable.",
        ),
        click.option(
            "--interval",
            type=click.Choice(["bootstrap", "fisher"]),
            default="bootstrap",
            show_default=True,
            help="How intervals are made.",
        ),
        click.option("--confidence", type=Share(0, 1, True, True), default=0.95, show_default=True),
        click.option("--samples", type=click.IntRange(100), default=10_000, show_default=True),
        click.option("--seed", type=click.IntRange(0), default=12345, show_default=True),
        click.option("--plot", type=PATH, metavar="FILE", help="Draw a picture: .svg, or .png (extra png)."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command(
    epilog="""\b
Examples:
  anaphora meta correlate scores.tsv
  anaphora meta correlate scores.tsv --human accuracy --without A3-108 --plot figure1.svg
  anaphora meta correlate scores.tsv --without auto --minimize ter --format latex
  anaphora meta correlate --example example/
"""
)
@click.argument("scores", type=PATH, metavar="SCORES.tsv", required=False)
@click.option("--metric", "metrics", multiple=True, metavar="COLUMN", help="Only this column. Repeatable.")
@click.option("--minimize", multiple=True, metavar="COLUMN", help="In this column lower is better. Repeatable.")
@click.option(
    "--example",
    type=PATH,
    metavar="FOLDER",
    help="Write made-up example files into a folder, and stop.",
)
@correlation_options
@format_options
def correlate(
    scores: Path | None,
    metrics: tuple[str, ...],
    minimize: tuple[str, ...],
    example: Path | None,
    human: str,
    without: tuple[str, ...],
    plot: Path | None,
    format: str,
    as_json: bool,
    **settings: Any,
) -> None:
    """Pearson, Spearman and Kendall of metrics with human scores over systems, and Williams' test between metrics.

    SCORES.tsv has a header line, systems in the first column, a column of human scores, and a column per metric.
    """
    from anaphora.metrics.meta import meta_evaluate, read_scores
    from anaphora.reports.metric_tables import correlation_table
    from anaphora.stats.correlation import Settings

    if example is not None:
        write_examples(example, as_json)
        return
    if scores is None:
        raise click.UsageError("Missing argument 'SCORES.tsv'.")
    table = read_scores(scores, human=human, metrics=metrics, minimize=minimize)
    found = meta_evaluate(table, without=without, settings=Settings(**settings))
    if plot is not None:
        from anaphora.reports.metric_charts import scatter

        draw(plot, scatter(found), as_json)
    show(correlation_table(found), found.to_dict(), format, as_json)


def write_examples(folder: Path, as_json: bool) -> None:
    """Example files for this command and its sisters."""
    from anaphora.metrics.examples import write_example

    files = [str(path) for path in write_example("meta", folder)]
    if as_json:
        echo_json({"files": files})
    else:
        note(f"made-up examples: {', '.join(files)}")


def draw(path: Path, svg: str, quiet: bool) -> None:
    from anaphora.reports.charts import write_chart

    write_chart(path, svg)
    if not quiet:
        note(f"the picture: {path}")
