"""`anaphora meta discomt`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from anaphora.cli.output import PATH, echo_json, format_options, note
from anaphora.cli.sampling import sampling_options, show_all


@click.command(
    epilog="""\b
Examples:
  anaphora meta discomt annotations.tsv -l en-fr
  anaphora meta discomt annotations.tsv -l en-fr --json
  anaphora meta discomt --example annotations.tsv
"""
)
@click.argument("annotations", type=PATH)
@click.option("--example", is_flag=True, help="Write a small made-up table to ANNOTATIONS, and stop.")
@click.option("-l", "--languages", default="", metavar="SRC-TGT", help="Whose pronoun classes to use, such as en-fr.")
@sampling_options(test="randomisation")
@format_options
def discomt(annotations: Path, example: bool, languages: str, format: str, as_json: bool, **sampling: Any) -> None:
    """The measures of the DiscoMT shared tasks, from gap-filling ANNOTATIONS.

    A table with the columns item, translation, accepted (the options that annotators chose, separated by commas, or
    bad), and system where there are several.
    """
    from anaphora.metrics.discomt import discomt, read_annotations
    from anaphora.metrics.examples import copy_example
    from anaphora.reports.metric_tables import discomt_tables
    from anaphora.stats.intervals import Resampling

    if example:
        copy_example("discomt/annotations.tsv", annotations)
        if as_json:
            echo_json({"files": [str(annotations)]})
        else:
            note(f"a made-up example: {annotations}")
        return
    result = discomt(read_annotations(annotations, languages.rpartition("-")[2]), Resampling(**sampling))
    if len(result.systems) > 1 and not result.pairs:
        note("the systems do not have the same items: they are not compared")
    show_all(discomt_tables(result), result.to_dict(), format, as_json)
