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
        "counts": ("anaphora.cli.measure_pairs:counts", "Count pairs by language and year."),
        "train": ("anaphora.cli.measure_train:train", "Train the measure on pairs."),
        "table": ("anaphora.cli.measure_train:table", "Train and test the eight settings of the paper (Table 4)."),
        "adapt": ("anaphora.cli.measure_adapt:adapt", "Adapt a language model to in-domain text with LoRA."),
        "tune": ("anaphora.cli.measure_tune:tune", "Tune a language model on pairs."),
        "evaluate": ("anaphora.cli.measure_evaluate:evaluate", "Measure how often it prefers the reference."),
        "example": ("anaphora.cli.measure_pairs:example", "Write made-up example files."),
        "score": ("anaphora.cli.measure_score:score", "Score sentences, and compare and rank systems."),
    },
)
def measure() -> None:
    """A measure of pronoun translation that is learned from pairs (Jwalapuram et al. 2019)."""
