"""`anaphora meta`: metrics against human judgments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from anaphora import api
from anaphora.cli.app import LazyGroup
from anaphora.cli.options import Share, command, epilog, example_option, format_options, option, parameters, plot_option
from anaphora.cli.output import echo_examples, note, show, show_all, write_examples, write_plot

Values = tuple[str, ...]


@click.group(
    cls=LazyGroup,
    epilog=epilog("""
anaphora meta correlate scores.tsv --without OUTLIER
anaphora meta cases details.tsv judgments.tsv
"""),
    lazy={
        "correlate": (
            "anaphora.cli.meta:correlate",
            "Correlate metrics with human scores, with intervals and tests.",
        ),
        "sweep": ("anaphora.cli.meta:correlate_sweep", "Correlate APT for several weights and alignments."),
        "cases": ("anaphora.cli.meta:apt_judgments", "Compare APT's six cases with human judgments."),
        "equivalences": (
            "anaphora.cli.meta:apt_equivalences",
            "Learn which pronouns are equivalent, from judged samples.",
        ),
        "discomt": ("anaphora.cli.meta:discomt", "Compute DiscoMT's measures from gap-filling annotations."),
    },
)
def meta() -> None:
    """Evaluate metrics against human judgments (APT §3)."""


@command("""
anaphora meta correlate scores.tsv
anaphora meta correlate scores.tsv --human accuracy --without A3-108 --plot figure1.svg
anaphora meta correlate scores.tsv --without auto --lower-is-better ter --format latex
anaphora meta correlate --example example/
""")
@parameters(
    api.correlate,
    arguments=["scores=SCORES.tsv"],
    scores={"required": False},
    metrics={"flags": ("--metric",), "metavar": "COLUMN"},
    lower_is_better={"aliases": ("--minimize",), "metavar": "COLUMN"},
)
@plot_option()
@example_option
@format_options
def correlate(
    scores: Path | None, plot: Path | None, example: Path | None, format: str, as_json: bool, **settings: Any
) -> None:
    """Correlate metrics with human scores over systems (Pearson, Spearman, Kendall), with Williams' test.

    SCORES.tsv has a header line, systems in the first column, a column of human scores, and a column per metric.
    """
    from anaphora.reports.metric_charts import scatter
    from anaphora.reports.metric_tables import correlation_table

    if example is not None:
        write_examples("meta", example, as_json)
        return
    if scores is None:
        raise click.UsageError("Missing argument 'SCORES.tsv'.")
    result = api.correlate(scores, **settings)
    if plot is not None:
        write_plot(plot, scatter(result), quiet=as_json)
    show(correlation_table(result), result.to_dict(), format, as_json)


def named_files(_: click.Context, __: click.Parameter, values: Values) -> list[tuple[str, Path]]:
    """NAME=FILE, or a file that is called by its name."""
    files = []
    for value in values:
        name, equals, file = value.partition("=")
        if equals and not (name and file):
            raise click.BadParameter(f"{value!r} is not NAME=FILE.")
        path = Path(file if equals else value)
        files.append((name if equals else path.name.removesuffix(".gz").removesuffix(".json"), path))
    return files


def pairs_of_weights(_: click.Context, __: click.Parameter, values: Values) -> list[tuple[float, float] | str]:
    """Return pairs of w2 and w6; `all` is left for the library to spell out."""
    pairs: list[tuple[float, float] | str] = []
    for value in values:
        try:
            w2, w6 = (0.0, 0.0) if value == "all" else map(float, value.split(","))
        except ValueError:
            raise click.BadParameter(f"{value!r} is not two numbers such as 0.5,0, nor all.") from None
        if not (0 <= w2 <= 1 and 0 <= w6 <= 1):
            raise click.BadParameter("weights are numbers from 0 to 1.")
        pairs.append("all" if value == "all" else (w2, w6))
    return pairs


def sets_of_cases(_: click.Context, __: click.Parameter, values: Values) -> list[frozenset[int]]:
    """Cases that are discarded, or none."""
    sets = []
    for value in values:
        words = [] if value == "none" else [word.strip() for word in value.split(",")]
        if not set(words) <= set("123456") or len(set(words)) == 6:
            raise click.BadParameter(f"{value!r} is not a list of some of the cases such as 5,6, nor none.")
        sets.append(frozenset(map(int, words)))
    return sets


def texts(metavar: str, callback: Any, help: str) -> dict[str, Any]:
    """Return an option that is repeated, and whose texts a callback parses."""
    return {"type": str, "multiple": True, "nargs": 1, "metavar": metavar, "callback": callback, "help": help}


@command(
    """
anaphora meta sweep scores.tsv --cases basic=basic.json --cases heuristics=rescued.json
anaphora meta sweep scores.tsv --cases apt.json --weights all --discard none --discard 5,6
anaphora meta sweep scores.tsv --cases basic.json --cases rescued.json --plot figure2.svg
""",
    "correlate-sweep",
)
@parameters(
    api.sweep_weights,
    arguments=["scores=SCORES.tsv"],
    cases=texts("NAME=FILE", named_files, "Case counts of one alignment, as printed by `apt --json` (repeatable)."),
    weights=texts(
        "W2,W6",
        pairs_of_weights,
        "Weights of cases 2 and 6, or all for 0, 0.5 and 1 in each (repeatable; default: the paper's Table 4).",
    ),
    discard=texts("CASES", sets_of_cases, "Cases to exclude, or none (repeatable; default: none)."),
)
@plot_option()
@format_options
def correlate_sweep(plot: Path | None, format: str, as_json: bool, **settings: Any) -> None:
    """Correlate APT with human scores for several weights and alignments.

    The chart shows the distribution of the six cases for each alignment.
    """
    from anaphora.reports.metric_charts import case_bars
    from anaphora.reports.metric_tables import sweep_table

    result = api.sweep_weights(**settings)
    if plot is not None:
        write_plot(plot, case_bars(result.totals()), quiet=as_json)
    show(sweep_table(result), result.to_dict(), format, as_json)


@command("""
anaphora meta equivalences judged.tsv -l en-fr -o french.toml
anaphora apt -s src -r ref -t hyp -l en-fr --lists french.toml
""")
@parameters(
    api.learn_equivalences,
    arguments=["samples=SAMPLES.tsv"],
    least_share={"type": Share(0, 1)},
    above={"type": Share(0, 1)},
)
@format_options
def apt_equivalences(output: Path | None, format: str, as_json: bool, **settings: Any) -> None:
    """Learn which pronouns are equivalent from human judgments of translations (APT §2.5).

    SAMPLES.tsv has a header and the columns candidate, reference and correct (1 or 0), one row per pronoun.
    """
    from anaphora.reports.metric_tables import equivalence_table

    learned = api.learn_equivalences(output=output, **settings)
    if output:
        note(f"wrote {output}")
    show(equivalence_table(learned), learned.to_dict(), format, as_json)


@command(
    """
anaphora meta cases details.tsv judgments.tsv
anaphora meta cases details.tsv answers.tsv -l en-fr --options il,elle,ils,elles,ce,on,ça,cela --format latex
""",
    "apt-judgments",
)
@parameters(api.compare_cases, arguments=["details", "judgments=JUDGMENTS"])
@format_options
def apt_judgments(format: str, as_json: bool, **settings: Any) -> None:
    """Compare APT's six cases with human judgments of the pronouns.

    DETAILS is the output of `apt --details`. JUDGMENTS has the columns system, sentence, position, and either judgment
    (correct, incorrect, bad) or answers: the options that annotators chose, for example il|ce, other, or bad.
    """
    from anaphora.reports.metric_tables import judgment_table

    result = api.compare_cases(**settings)
    show(judgment_table(result), result.to_dict(), format, as_json)


@command("""
anaphora meta discomt annotations.tsv -l en-fr
anaphora meta discomt annotations.tsv -l en-fr --json
anaphora meta discomt --example annotations.tsv
""")
@parameters(api.discomt, arguments=["annotations"])
@option("--example", is_flag=True, help="Write an invented table to ANNOTATIONS and exit.")
@format_options
def discomt(annotations: Path, example: bool, format: str, as_json: bool, **settings: Any) -> None:
    """Compute the measures of the DiscoMT shared tasks from gap-filling ANNOTATIONS.

    ANNOTATIONS is a table with the columns item, translation, accepted (the options that annotators chose, separated by
    commas, or bad) and, if there are several systems, system.
    """
    from anaphora.metrics import copy_example
    from anaphora.reports.metric_tables import discomt_tables

    if example:
        copy_example("discomt/annotations.tsv", annotations)
        echo_examples([annotations], as_json)
        return
    result = api.discomt(annotations, **settings)
    if len(result.systems) > 1 and not result.pairs:
        note("the systems do not have the same items: they are not compared")
    show_all(discomt_tables(result), result.to_dict(), format, as_json)
