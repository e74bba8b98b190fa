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
        "pairs": ("anaphora.cli.measure_pairs:pairs", "Pairs of references and pronoun errors of real systems."),
        "counts": ("anaphora.cli.measure_pairs:counts", "How many pairs, by language and year."),
        "train": ("anaphora.cli.measure_train:train", "Learn the measure from pairs."),
        "table": ("anaphora.cli.measure_train:table", "Train and test the eight settings of the paper."),
        "adapt": ("anaphora.cli.measure_adapt:adapt", "Let a language model learn to read texts of a kind."),
        "tune": ("anaphora.cli.measure_tune:tune", "Let a language model learn from pairs, as a feature."),
        "evaluate": ("anaphora.cli.measure_evaluate:evaluate", "How often does it prefer the reference?"),
        "example": ("anaphora.cli.measure_pairs:example", "Write made-up files to try all of it with."),
        "score": ("anaphora.cli.measure_score:score", "Score sentences, compare and rank systems, show why."),
    },
)
def measure() -> None:
    """A measure of pronoun translation that is learned from pairs (Jwalapuram et al. 2019)."""
