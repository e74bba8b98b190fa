"""`anaphora study`: ask people. Each command is imported when it is used."""

from __future__ import annotations

import click

from anaphora.cli.app import LazyGroup


@click.group(
    cls=LazyGroup,
    epilog="""\b
Examples:
  anaphora study create pairs.jsonl -o study --annotators anna,ben,carla
  anaphora study serve study --port 8000
  anaphora study agreement study
  anaphora study export study --pairs pairs.json
""",
    lazy={
        "create": ("anaphora.cli.study_create:create", "Make a study of a suite: questions and who is asked them."),
        "serve": ("anaphora.cli.study_serve:serve", "Serve its pages: a personal link for everybody, and an overview."),
        "agreement": ("anaphora.cli.study_results:agreement", "How well people agree: κ, α, AC1, with intervals."),
        "export": ("anaphora.cli.study_results:export", "The answers, the pair list, judgements of systems."),
    },
)
def study() -> None:
    """Ask people which pronoun fits: a web page, a database, agreement."""
