"""`anaphora meta`: metrics against human judgments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from anaphora.cli.app import LazyGroup
from anaphora.cli.options import (
    PATH,
    Command,
    Share,
    format_options,
    option,
    options,
    sampling_options,
    split_words,
)
from anaphora.cli.output import echo_json, note, show, show_all

Values = tuple[str, ...]


@click.group(
    cls=LazyGroup,
    epilog="""\b
Examples:
  anaphora meta correlate scores.tsv --without OUTLIER
  anaphora meta cases details.tsv judgements.tsv
""",
    lazy={
        "correlate": (
            "anaphora.cli.meta:correlate",
            "Correlate metrics with human scores, with intervals and tests.",
        ),
        "sweep": ("anaphora.cli.meta:correlate_sweep", "Correlate APT for several weights and alignments."),
        "cases": ("anaphora.cli.meta:apt_judgements", "Compare APT's six cases with human judgments."),
        "equivalences": (
            "anaphora.cli.meta:apt_equivalences",
            "Learn which pronouns are equivalent, from judged samples.",
        ),
        "discomt": ("anaphora.cli.meta:discomt", "Compute DiscoMT's measures from gap-filling annotations."),
    },
)
def meta() -> None:
    """Evaluate metrics against human judgments (APT §3)."""


def correlation_options(command: Command) -> Command:
    """What `meta correlate` and `meta sweep` have in common."""
    command = options("confidence", "samples", "seed", "plot")(command)
    kinds = click.Choice(["bootstrap", "fisher"])
    command = option("--interval", type=kinds, default="bootstrap", help="Kind of interval.")(command)
    return options("human", "without")(command)


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
@option(
    "--metric", "metrics", multiple=True, metavar="COLUMN", help="Metric column to evaluate (repeatable, default: all)."
)
@option(
    "--lower-is-better",
    "minimize",
    multiple=True,
    metavar="COLUMN",
    aliases=("--minimize",),
    help="Column in which lower is better (repeatable).",
)
@options("example")
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
    """Correlate metrics with human scores over systems (Pearson, Spearman, Kendall), with Williams' test.

    SCORES.tsv has a header line, systems in the first column, a column of human scores, and a column per metric.
    """
    from anaphora import api_study
    from anaphora.reports.metric_tables import correlation_table

    if example is not None:
        write_examples(example, as_json)
        return
    if scores is None:
        raise click.UsageError("Missing argument 'SCORES.tsv'.")
    found = api_study.correlate(
        scores, human=human, metrics=metrics, lower_is_better=minimize, without=without, **settings
    )
    if plot is not None:
        from anaphora.reports.metric_charts import scatter

        draw(plot, scatter(found), as_json)
    show(correlation_table(found), found.to_dict(), format, as_json)


def write_examples(folder: Path, as_json: bool) -> None:
    """Write example files for the commands of `meta`."""
    from anaphora.metrics.examples import write_example

    files = [str(path) for path in write_example("meta", folder)]
    if as_json:
        echo_json({"files": files})
    else:
        note(f"invented examples: {', '.join(files)}")


def draw(path: Path, svg: str, quiet: bool) -> None:
    from anaphora.reports.charts import write_chart

    write_chart(path, svg)
    if not quiet:
        note(f"chart: {path}")


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
@option(
    "--cases",
    metavar="NAME=FILE",
    callback=named_files,
    multiple=True,
    required=True,
    help="Case counts of one alignment, as printed by `apt --json` (repeatable).",
)
@option(
    "--weights",
    metavar="W2,W6",
    callback=pairs_of_weights,
    multiple=True,
    help="Weights of cases 2 and 6, or all for 0, 0.5 and 1 in each (repeatable; default: the paper's Table 4).",
)
@option(
    "--discard",
    metavar="CASES",
    callback=sets_of_cases,
    multiple=True,
    help="Cases to leave out, or none (repeatable; default: none).",
)
@correlation_options
@format_options
def correlate_sweep(
    scores: Path,
    cases: list[tuple[str, Path]],
    weights: list[tuple[float, float] | str],
    discard: list[frozenset[int]],
    plot: Path | None,
    format: str,
    as_json: bool,
    **settings: Any,
) -> None:
    """Correlate APT with human scores for several weights and alignments.

    The chart shows the distribution of the six cases for each alignment.
    """
    from anaphora import api_study
    from anaphora.metrics.meta import FULL
    from anaphora.reports.metric_tables import sweep_table

    chosen = [pair for some in weights for pair in (FULL if isinstance(some, str) else [some])]
    found = api_study.sweep_weights(scores, cases, weights=chosen, discard=discard, **settings)
    if plot is not None:
        from anaphora.reports.metric_charts import case_bars

        draw(plot, case_bars(found.totals()), as_json)
    show(sweep_table(found), found.to_dict(), format, as_json)


@click.command(
    epilog="""\b
Examples:
  anaphora meta equivalences judged.tsv -l en-fr -o french.toml
  anaphora apt -s src -r ref -t hyp -l en-fr --lists french.toml
"""
)
@click.argument("samples", type=PATH, metavar="SAMPLES.tsv")
@option("-o", "--output", type=PATH, metavar="FILE", help="Write the list as a TOML file for `anaphora apt --lists`.")
@options("languages", "lists")
@option(
    "--least-share",
    type=Share(0, 1),
    default=0.05,
    help="Minimum share of a pair among the samples of its reference pronoun.",
)
@option("--above", type=Share(0, 1), default=0.5, help="Keep pairs judged correct more often than this.")
@format_options
def apt_equivalences(
    samples: Path,
    output: Path | None,
    languages: str | None,
    lists: Path | None,
    least_share: float,
    above: float,
    format: str,
    as_json: bool,
) -> None:
    """Learn which pronouns are equivalent from human judgments of translations (APT §2.5).

    SAMPLES.tsv has a header and the columns candidate, reference and correct (1 or 0), one row per pronoun.
    """
    from anaphora import api_study
    from anaphora.reports.metric_tables import equivalence_table

    learned = api_study.learn_equivalences(
        samples, output=output, languages=languages, lists=lists, least_share=least_share, above=above
    )
    if output:
        note(f"wrote {output}")
    show(equivalence_table(learned), learned.to_dict(), format, as_json)


@click.command(
    "apt-judgements",
    epilog="""\b
Examples:
  anaphora meta cases details.tsv judgements.tsv
  anaphora meta cases details.tsv answers.tsv -l en-fr --options il,elle,ils,elles,ce,on,ça,cela --format latex
""",
)
@click.argument("details", type=PATH)
@click.argument("judgements", type=PATH, metavar="JUDGMENTS")
@options("options", "languages")
@format_options
def apt_judgements(
    details: Path, judgements: Path, options: str | None, languages: str | None, format: str, as_json: bool
) -> None:
    """Compare APT's six cases with human judgments of the pronouns.

    DETAILS is what `apt --details` writes. JUDGMENTS has the columns system, sentence, position, and either judgement
    (correct, incorrect, bad) or answers: what annotators put into the gap, for example il|ce, other, or bad.
    """
    from anaphora import api_study
    from anaphora.reports.metric_tables import judgment_table

    found = api_study.compare_cases(details, judgements, options=split_words(options), languages=languages)
    show(judgment_table(found), found.to_dict(), format, as_json)


@click.command(
    epilog="""\b
Examples:
  anaphora meta discomt annotations.tsv -l en-fr
  anaphora meta discomt annotations.tsv -l en-fr --json
  anaphora meta discomt --example annotations.tsv
"""
)
@click.argument("annotations", type=PATH)
@option("--example", is_flag=True, help="Write an invented table to ANNOTATIONS and exit.")
@options("languages")
@sampling_options(test="randomisation")
@format_options
def discomt(
    annotations: Path, example: bool, languages: str | None, format: str, as_json: bool, **sampling: Any
) -> None:
    """Compute the measures of the DiscoMT shared tasks from gap-filling ANNOTATIONS.

    A table with the columns item, translation, accepted (the options that annotators chose, separated by commas, or
    bad), and system where there are several.
    """
    from anaphora import api_study
    from anaphora.metrics.examples import copy_example
    from anaphora.reports.metric_tables import discomt_tables

    if example:
        copy_example("discomt/annotations.tsv", annotations)
        if as_json:
            echo_json({"files": [str(annotations)]})
        else:
            note(f"an invented example: {annotations}")
        return
    result = api_study.discomt(annotations, languages=languages, **sampling)
    if len(result.systems) > 1 and not result.pairs:
        note("the systems do not have the same items: they are not compared")
    show_all(discomt_tables(result), result.to_dict(), format, as_json)
