"""`anaphora meta sweep`."""

from __future__ import annotations

from pathlib import Path

import click

from anaphora.cli.correlate import correlation_options, draw
from anaphora.cli.output import PATH, format_options, show

Values = tuple[str, ...]


def named_files(_: click.Context, __: click.Parameter, values: Values) -> list[tuple[str, Path]]:
    """NAME=FILE, or a file that is called by its name."""
    found = []
    for value in values:
        name, equals, file = value.partition("=")
        if equals and not (name and file):
            raise click.BadParameter(f"{value!r} is not NAME=FILE.")
        path = Path(file if equals else value)
        found.append((name if equals else path.name.removesuffix(".gz").removesuffix(".json"), path))
    return found


def pairs_of_weights(_: click.Context, __: click.Parameter, values: Values) -> list[tuple[float, float] | str]:
    """Pairs of w2 and w6; `all` is left for the library to spell out."""
    found: list[tuple[float, float] | str] = []
    for value in values:
        try:
            w2, w6 = (0.0, 0.0) if value == "all" else map(float, value.split(","))
        except ValueError:
            raise click.BadParameter(f"{value!r} is not two numbers such as 0.5,0, nor all.") from None
        if not (0 <= w2 <= 1 and 0 <= w6 <= 1):
            raise click.BadParameter("weights are numbers from 0 to 1.")
        found.append("all" if value == "all" else (w2, w6))
    return found


def sets_of_cases(_: click.Context, __: click.Parameter, values: Values) -> list[frozenset[int]]:
    """Cases that are discarded, or none."""
    found = []
    for value in values:
        words = [] if value == "none" else [word.strip() for word in value.split(",")]
        if not set(words) <= set("123456") or len(set(words)) == 6:
            raise click.BadParameter(f"{value!r} is not a list of some of the cases such as 5,6, nor none.")
        found.append(frozenset(map(int, words)))
    return found


@click.command(
    "correlate-sweep",
    epilog="""\b
Examples:
  anaphora meta sweep scores.tsv --cases basic=basic.json --cases heuristics=rescued.json
  anaphora meta sweep scores.tsv --cases apt.json --weights all --discard none --discard 5,6
  anaphora meta sweep scores.tsv --cases basic.json --cases rescued.json --plot figure2.svg
""",
)
@click.argument("scores", type=PATH, metavar="SCORES.tsv")
@click.option(
    "--cases",
    metavar="NAME=FILE",
    callback=named_files,
    multiple=True,
    required=True,
    help="Case counts of one alignment, as `apt --json` writes them. Repeatable.",
)
@click.option(
    "--weights",
    metavar="W2,W6",
    callback=pairs_of_weights,
    multiple=True,
    help="Weights of cases 2 and 6, or all for 0, 0.5, 1 in each. Repeatable. [default: those of the paper's Table 4]",
)
@click.option(
    "--discard",
    metavar="CASES",
    callback=sets_of_cases,
    multiple=True,
    help="Cases left out, or none. Repeatable. [default: none]",
)
@correlation_options
@format_options
def correlate_sweep(
    scores: Path,
    cases: list[tuple[str, Path]],
    weights: list[tuple[float, float] | str],
    discard: list[frozenset[int]],
    human: str,
    without: tuple[str, ...],
    plot: Path | None,
    format: str,
    as_json: bool,
    interval: str,
    confidence: float,
    samples: int,
    seed: int,
) -> None:
    """How much do APT's weights and its alignment matter? Correlation with human scores for each choice of them.

    The chart is the distribution of the six cases for each alignment.
    """
    from anaphora.metrics.meta import FULL, NOTHING, TABLE_4, read_cases, read_human, sweep
    from anaphora.reports.metric_tables import sweep_table
    from anaphora.stats.correlation import Settings

    chosen = [pair for some in weights or TABLE_4 for pair in (FULL if isinstance(some, str) else [some])]
    found = sweep(
        read_human(scores, human),
        read_cases(cases),
        weights=chosen,
        discard=discard or [NOTHING],
        without=without,
        settings=Settings(samples, seed, confidence, interval=interval),
    )
    if plot is not None:
        from anaphora.reports.metric_charts import case_bars

        draw(plot, case_bars(found.totals()), as_json)
    show(sweep_table(found), found.to_dict(), format, as_json)
