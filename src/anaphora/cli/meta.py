"""`anaphora meta`: metrics against human judgments. Each command is imported when it is used."""

from __future__ import annotations

import click

from anaphora.cli.app import LazyGroup


@click.group(
    cls=LazyGroup,
    epilog="""\b
Examples:
  anaphora meta correlate scores.tsv --without OUTLIER
  anaphora meta cases details.tsv judgements.tsv
""",
    lazy={
        "correlate": (
            "anaphora.cli.correlate:correlate",
            "Correlate metrics with human scores, with intervals and tests.",
        ),
        "sweep": ("anaphora.cli.correlate_sweep:correlate_sweep", "Correlate APT for several weights and alignments."),
        "cases": ("anaphora.cli.apt_judgements:apt_judgements", "Compare APT's six cases with human judgments."),
        "equivalences": (
            "anaphora.cli.apt_equivalences:apt_equivalences",
            "Learn which pronouns are equivalent, from judged samples.",
        ),
        "discomt": ("anaphora.cli.discomt:discomt", "Compute DiscoMT's measures from gap-filling annotations."),
    },
)
def meta() -> None:
    """Evaluate metrics against human judgments (APT §3)."""
