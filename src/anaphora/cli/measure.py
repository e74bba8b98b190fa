"""`anaphora measure`: the learned pronoun measure and its pairs. Each command is imported when it is used."""

from __future__ import annotations

import click

from anaphora.cli.app import LazyGroup


@click.group(
    cls=LazyGroup,
    epilog="""\b
Examples:
  anaphora measure pairs -r ref.en -t google.en -t mine.en -l de-en -o pairs.jsonl
  anaphora measure train my-measure.toml -o models/measure
  anaphora measure evaluate pairs.jsonl --model models/measure
  anaphora measure score models/measure -r ref.en -t google.en -t mine.en
""",
    lazy={
        "pairs": ("anaphora.cli.measure_pairs:pairs", "Make pairs of references and pronoun errors of real systems."),
        "train": ("anaphora.cli.measure_train:train", "Train the measure on pairs."),
        "adapt": ("anaphora.cli.measure_adapt:adapt", "Adapt a language model to in-domain text with LoRA."),
        "score": ("anaphora.cli.measure_score:score", "Score sentences, and compare and rank systems."),
        "evaluate": ("anaphora.cli.measure_evaluate:evaluate", "Measure how often it prefers the reference."),
    },
    aliases={
        "counts": "anaphora.cli.measure_pairs:counts",
        "example": "anaphora.cli.measure_pairs:example",
        "table": "anaphora.cli.measure:removed",
        "tune": "anaphora.cli.measure:removed",
    },
)
def measure() -> None:
    """Train and use a measure of pronoun translation that is learned from pairs (Jwalapuram et al. 2019)."""


@click.command(add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def removed(ctx: click.Context, arguments: tuple[str, ...]) -> None:
    """Say where a removed command went."""
    raise click.UsageError(
        f"`measure {ctx.info_name}` was removed in version 0.2.0: what it did is now a part of "
        "experiments/eval-anaphora-2019. See CHANGELOG.md."
    )
