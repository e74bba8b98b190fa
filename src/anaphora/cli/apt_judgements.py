"""`anaphora meta cases`."""

from __future__ import annotations

from pathlib import Path

import click

from anaphora.cli.output import PATH, format_options, show


@click.command(
    "apt-judgements",
    epilog="""\b
Examples:
  anaphora meta cases details.tsv judgements.tsv
  anaphora meta cases details.tsv answers.tsv -l en-fr --options il,elle,ils,elles,ce,on,ça,cela --format latex
""",
)
@click.argument("details", type=PATH)
@click.argument("judgements", type=PATH)
@click.option(
    "--options",
    metavar="WORDS",
    help="Gaps: the pronouns that could be chosen; other words are other. [default: all that were chosen]",
)
@click.option("-l", "--languages", metavar="PAIR", help="Gaps: forms of one pronoun are the same (en-fr: c' is ce).")
@format_options
def apt_judgements(
    details: Path, judgements: Path, options: str | None, languages: str | None, format: str, as_json: bool
) -> None:
    """Do people find APT's identical pronouns correct, and its different ones not? Cases by human judgement.

    DETAILS is what `apt --details` writes. JUDGMENTS has the columns system, sentence, position, and either judgement
    (correct, incorrect, bad) or answers: what annotators put into the gap, for example il|ce, other, or bad.
    """
    from anaphora.languages.pronouns import normalise
    from anaphora.metrics.judgments import judge_cases, same_forms
    from anaphora.reports.metric_tables import judgment_table

    words = [word.strip() for word in options.split(",") if word.strip()] if options else []
    form = normalise if languages is None else same_forms(languages)
    found = judge_cases(details, judgements, options=words, form=form)
    show(judgment_table(found), found.to_dict(), format, as_json)
