"""`anaphora build`: suites and augmented training data. Each command is imported when it is used."""

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
        "templates": ("anaphora.cli.build_templates:templates", "Fill ContraCAT's templates with words."),
        "attack": ("anaphora.cli.attack:attack", "Change a suite in ways that must not change the answer."),
        "mine": ("anaphora.cli.mine:mine", "Mine contrastive examples from parallel documents."),
        "mine-evaluate": ("anaphora.cli.mine_evaluate:mine_evaluate", "Evaluate mining on gold data."),
        "augment": ("anaphora.cli.augment:augment", "Augment training data without antecedents (ContraCAT §7)."),
    },
)
def build() -> None:
    """Build suites from templates, parallel documents or other suites, and augmented training data."""
