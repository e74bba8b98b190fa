"""`anaphora measure tune`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.cli.output import PATH, echo_json, json_option, note, progress_bar
from anaphora.core.errors import AnaphoraError
from anaphora.core.lock import lock_output

if TYPE_CHECKING:
    from anaphora.measure.features import LanguageModelFeatures
    from anaphora.measure.model import Pair


dev_option = click.option("--dev", "dev", multiple=True, metavar="PAIRS", help="To say what it was worth. Repeatable.")


@click.command(
    epilog="""\b
Examples:
  anaphora measure tune lm:HuggingFaceTB/SmolLM2-135M --train drawn.jsonl --dev dev.jsonl -o tuned
  anaphora measure tune "lm:tuned?restore=true" --train drawn.jsonl --plain --layers 8 -o tuned-more
"""
)
@click.argument("lm", metavar="lm:NAME_OR_PATH")
@click.option("--train", "train", multiple=True, required=True, metavar="PAIRS", help="Repeatable.")
@dev_option
@click.option("-o", "--output", type=PATH, required=True, metavar="FOLDER", help="A new folder for the model.")
@click.option("--kind", type=click.Choice(["noisy", "system", "both"]), default="noisy", show_default=True)
@click.option("--layers", type=click.IntRange(1), default=6, show_default=True, help="How many of the last ones learn.")
@click.option("--rate", type=float, default=1e-4, show_default=True, help="Of learning, at its highest.")
@click.option("--batch", type=click.IntRange(1), default=8, show_default=True, help="Pairs per step.")
@click.option("--epochs", type=click.IntRange(1), default=1, show_default=True)
@click.option("--context", type=click.IntRange(0), default=2, show_default=True, help="Previous sentences.")
@click.option("--plain", is_flag=True, help="Lower case and no punctuation first, as the annotated pairs are.")
@click.option("--limit", type=click.IntRange(1), help="Only the first so many pairs of each.")
@click.option("--seed", type=click.IntRange(0), default=12345, show_default=True)
@click.option("--threads", type=click.IntRange(1))
@json_option
def tune(
    lm: str,
    train: tuple[str, ...],
    dev: tuple[str, ...],
    output: Path,
    kind: str,
    context: int,
    plain: bool,
    limit: int | None,
    threads: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Let the last layers of a language model learn from pairs which text is better; it becomes a feature lm:FOLDER."""
    features = language_model(lm, output, threads)
    from anaphora.measure.tuning import Tuning, preferred, save_tuned
    from anaphora.measure.tuning import tune as learn

    pairs, others = (pairs_in(files, kind, context, plain)[:limit] for files in (train, dev))
    before = preferred(features, others)
    with progress_bar("steps") as progress:
        told = None if progress is None else lambda line: progress(line["step"], line["steps"])
        log = learn(features, pairs, Tuning(**options), told)
    after = preferred(features, others)
    save_tuned(features, output)
    note(f"{output}: {len(pairs):,} pairs" + (f", dev accuracy {before:.3f} → {after:.3f}" if others else ""))
    if as_json:
        accuracy = {"before": before, "after": after} if others else None
        echo_json({"model": str(output), "pairs": len(pairs), "dev_pairs": len(others), "dev": accuracy, "log": log})


def language_model(lm: str, output: Path, threads: int | None, *needed: str) -> LanguageModelFeatures:
    """The language model that is to learn, once it is certain that it can be written afterwards."""
    from anaphora.measure import check_installed

    check_installed(*needed)
    import torch

    from anaphora.measure.checkpoint import check_new
    from anaphora.measure.features import LanguageModelFeatures

    name, _, what = lm.partition(":")
    if name != "lm" or not what:
        raise AnaphoraError(f"not a language model: {lm!r}. Write lm:NAME_OR_PATH")
    check_new(output)
    click.get_current_context().with_resource(lock_output(output))
    if threads is not None:
        torch.set_num_threads(threads)
    return LanguageModelFeatures(what)


def pairs_in(files: tuple[str, ...], kind: str, context: int, plain: bool) -> list[Pair]:
    from anaphora import api
    from anaphora.languages.pronouns import load_readings
    from anaphora.measure.config import Model
    from anaphora.measure.model import pairs_of

    found: list[Pair] = []
    for name in files:
        suite = api.load_suite(name)
        model = Model(plain=plain, sentences=context, language=suite.header.target_language)
        found += pairs_of(suite, model, load_readings(model.language), kind)
    return found
