"""`anaphora meta sweep`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from anaphora.cli.correlate import correlation_options, draw
from anaphora.cli.output import PATH, Command, format_options, show
from anaphora.cli.text import text_options
from anaphora.core.errors import AnaphoraError

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


def texts(command: Command) -> Command:
    """Texts instead of case counts, as `apt` takes them."""
    options: list[Callable[[Command], Command]] = [
        click.option("-s", "--source", type=PATH, help="Instead of --cases: the source text,"),
        click.option("-r", "--reference", type=PATH, help="its reference translation,"),
        click.option("-t", "--hypothesis", type=PATH, multiple=True, help="and the systems' translations. Repeatable."),
        click.option("--name", multiple=True, help="The name of a translation's system, one for each -t."),
        click.option("-l", "--languages", metavar="PAIR", help="Whose pronoun lists to use, such as en-fr."),
        click.option("--ref-align", type=PATH, help="Alignment of source and reference (Pharaoh format)."),
        click.option("--hyp-align", type=PATH, multiple=True, help="Alignment of source and translation, for each -t."),
        click.option("--pronouns", metavar="A,B,…", help="The pronouns to evaluate, instead of those of the lists."),
        click.option("--lists", type=PATH, help="A TOML file with pronoun lists, over the built-in ones."),
        text_options,
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command(
    "correlate-sweep",
    epilog="""\b
Examples:
  anaphora meta sweep scores.tsv --cases basic=basic.json --cases heuristics=rescued.json
  anaphora meta sweep scores.tsv --cases apt.json --weights all --discard none --discard 5,6
  anaphora meta sweep scores.tsv --cases basic.json --cases rescued.json --plot figure2.svg
  anaphora meta sweep scores.tsv -s src.en -r ref.fr -t a.fr -t b.fr -t c.fr -l en-fr
""",
)
@click.argument("scores", type=PATH, metavar="SCORES.tsv")
@click.option(
    "--cases",
    metavar="NAME=FILE",
    callback=named_files,
    multiple=True,
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
@texts
@correlation_options
@format_options
def correlate_sweep(
    scores: Path,
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
    **given: Any,
) -> None:
    """How much do APT's weights and its alignment matter? Correlation with human scores for each choice of them.

    From case counts, or from texts with their alignments, which are then used as they are (basic) and with APT's
    heuristics. The picture is the distribution of the six cases for each alignment.
    """
    from anaphora.metrics.meta.evaluation import read_human
    from anaphora.metrics.meta.sweep import FULL, NOTHING, TABLE_4, sweep
    from anaphora.reports.metric_tables import sweep_table
    from anaphora.stats.correlation import Settings

    chosen = [pair for some in weights or TABLE_4 for pair in (FULL if isinstance(some, str) else [some])]
    found = sweep(
        read_human(scores, human),
        case_counts(**given),
        weights=chosen,
        discard=discard or [NOTHING],
        without=without,
        settings=Settings(samples, seed, confidence, interval=interval),
    )
    if plot is not None:
        from anaphora.reports.metric_charts import case_bars

        draw(plot, case_bars(found.totals()), as_json)
    show(sweep_table(found), found.to_dict(), format, as_json)


def case_counts(cases: list[tuple[str, Path]], **given: Any) -> dict[str, dict[str, tuple[int, ...]]]:
    """From the documents of `apt`, or from texts."""
    from anaphora.metrics.apt.task import Files
    from anaphora.metrics.meta.sweep import cases_of_texts, read_cases

    how = {name: given.pop(name) for name in ("tokenize", "normalize")}
    needed = {"-s": given["source"], "-r": given["reference"], "-t": given["hypothesis"], "-l": given["languages"]}
    if cases:
        if any(given.values()):
            raise AnaphoraError("give case counts (--cases) or texts (-s -r -t -l), not both")
        return read_cases(cases)
    missing = [flag for flag, value in needed.items() if not value]
    if missing:
        raise AnaphoraError(f"missing {', '.join(missing)}: give case counts (--cases), or texts (-s -r -t -l)")
    files = Files(
        source=given["source"],
        reference=given["reference"],
        hypotheses=given["hypothesis"],
        reference_alignment=given["ref_align"],
        hypothesis_alignments=given["hyp_align"],
        names=given["name"],
    )
    pronouns = [word.strip() for word in (given["pronouns"] or "").split(",") if word.strip()]
    return cases_of_texts(files, given["languages"], pronouns=pronouns, lists=given["lists"], **how)
