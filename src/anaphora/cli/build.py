"""`anaphora build`: makers of suites. Each command is imported when it is used."""

from __future__ import annotations

import click

from anaphora.cli.app import LazyGroup


@click.group(
    cls=LazyGroup,
    epilog="""\b
Examples:
  anaphora build templates -o contracat.jsonl
  anaphora build mine --source a.en --target a.de -l en-de -o mined.jsonl
  anaphora build attack phrase contrapro --preset true_colon -o attacked.jsonl
""",
    lazy={
        "templates": ("anaphora.cli.build_templates:templates", "ContraCAT's templates, filled with words."),
        "mine": ("anaphora.cli.mine:mine", "Contrastive examples from parallel documents."),
        "mine-evaluate": ("anaphora.cli.mine_evaluate:mine_evaluate", "How good mined examples are, on gold data."),
        "attack": ("anaphora.cli.attack:attack", "Change a suite in ways that must not change the answer."),
    },
)
def build() -> None:
    """Make suites: from templates, from parallel documents, or from other suites."""
