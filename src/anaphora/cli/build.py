"""`anaphora build`: makers of suites. Each command is imported when it is used."""

from __future__ import annotations

import click

from anaphora.cli.app import LazyGroup


@click.group(
    cls=LazyGroup,
    epilog="""\b
Examples:
  anaphora build templates -o contracat.jsonl
  anaphora build attack phrase contrapro --preset true_colon -o attacked.jsonl
""",
    lazy={
        "templates": ("anaphora.cli.build_templates:templates", "ContraCAT's templates, filled with words."),
        "attack": ("anaphora.cli.attack:attack", "Change a suite in ways that must not change the answer."),
    },
)
def build() -> None:
    """Make suites: from templates, or from other suites."""
