"""`anaphora diagnose`."""

from __future__ import annotations

from pathlib import Path

import click

from anaphora.cli.evaluate import Share
from anaphora.cli.output import PATH, echo_json, format_options, note


@click.command(
    epilog="""\b
Examples:
  anaphora diagnose runs/templates runs/contrapro runs/true_colon
  anaphora diagnose runs/opus-* runs/mine-* --format markdown
  anaphora diagnose runs/* --system mine --items evidence/
"""
)
@click.argument("runs", nargs=-1, required=True, type=PATH, metavar="RUN…")
@click.option(
    "--system", metavar="NAME", help="All runs are of this one system (score files do not say whose they are)."
)
@click.option("--items", type=PATH, metavar="FOLDER", help="Write the items behind each statement: a file per rule.")
@click.option("--max-items", type=click.IntRange(0), default=20, show_default=True, help="Ids per statement in JSON.")
@click.option("--minimize", is_flag=True, help="Lower scores are better (losses, perplexities).")
@click.option(
    "--normalize",
    type=click.Choice(["sum", "mean"]),
    default="sum",
    show_default=True,
    help="Compare sums of log-probabilities, or means per token.",
)
@click.option("--confidence", type=Share(0, 1, True, True), default=0.95, show_default=True)
@format_options
def diagnose(
    runs: tuple[Path, ...],
    system: str | None,
    items: Path | None,
    max_items: int,
    minimize: bool,
    normalize: str,
    confidence: float,
    format: str,
    as_json: bool,
) -> None:
    """Which step of pronoun translation fails, what the priors are, how robust the score is.

    RUN…: a system's runs on templates, test sets and attacks on them, in any order; several systems are set side by
    side. Words come first (--format latex and tsv: the table alone), then one table.
    """
    from anaphora.evaluation.diagnosis import diagnose as examine
    from anaphora.evaluation.result import Settings
    from anaphora.reports.tables import STATEMENT_FORMATS, diagnosis_table, diagnosis_text, write_items
    from anaphora.runs import open_run

    settings = Settings(minimize=minimize, normalize=normalize, confidence=confidence)
    diagnoses = examine([open_run(path) for path in runs], system=system, settings=settings)
    written = write_items(diagnoses, items) if items is not None else []
    if as_json or format == "json":
        echo_json({"systems": [diagnosis.to_dict(max_items) for diagnosis in diagnoses]})
        return
    if format in STATEMENT_FORMATS:
        click.echo(f"{diagnosis_text(diagnoses, format)}\n")
    click.echo(diagnosis_table(diagnoses).render(format))
    if items is not None:
        note(f"the items behind {len(written)} statements: {items}")
