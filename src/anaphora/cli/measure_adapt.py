"""`anaphora measure adapt`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from anaphora.cli.measure_tune import dev_option, language_model, pairs_in
from anaphora.cli.output import PATH, echo_json, json_option, note, progress_bar


@click.command(
    epilog="""\b
Examples:
  anaphora measure adapt lm:HuggingFaceTB/SmolLM2-135M news.en talks.en --dev dev.jsonl -o adapted
  anaphora measure adapt lm:HuggingFaceTB/SmolLM2-135M news.en --plain --steps 300 -o adapted
"""
)
@click.argument("lm", metavar="lm:NAME_OR_PATH")
@click.argument("texts", nargs=-1, required=True, type=PATH, metavar="TEXT...")
@dev_option
@click.option("-o", "--output", type=PATH, required=True, metavar="FOLDER", help="A new folder for the model.")
@click.option("--plain", is_flag=True, help="Lower case and no punctuation first, as the annotated pairs are.")
@click.option("--steps", type=click.IntRange(1), default=150, show_default=True)
@click.option("--batch", type=click.IntRange(1), default=8, show_default=True, help="Passages per step.")
@click.option("--pieces", type=click.IntRange(2), default=160, show_default=True, help="Of a passage at most.")
@click.option("--rank", type=click.IntRange(1), default=16, show_default=True, help="Of the changes (LoRA).")
@click.option("--rate", type=float, default=1e-3, show_default=True, help="Of learning, at its highest.")
@click.option("--context", type=click.IntRange(0), default=2, show_default=True, help="Previous sentences of --dev.")
@click.option("--seed", type=click.IntRange(0), default=12345, show_default=True)
@click.option("--threads", type=click.IntRange(1))
@json_option
def adapt(
    lm: str,
    texts: tuple[Path, ...],
    dev: tuple[str, ...],
    output: Path,
    plain: bool,
    context: int,
    threads: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Let a language model learn to read texts like those it will judge; it becomes a feature lm:FOLDER.

    A sentence per line; an empty line ends a document. Interrupted, the same command goes on.
    """
    features = language_model(lm, output, threads, "peft")
    from anaphora.core.files import text_lines
    from anaphora.measure.adapting import Adapting, documents
    from anaphora.measure.adapting import adapt as learn
    from anaphora.measure.tuning import preferred, save_tuned

    settings = Adapting(**options)
    pairs = pairs_in(dev, "both", context, plain)
    known = [document for path in texts for document in documents(text_lines(path), plain=plain)]
    before = preferred(features, pairs)
    kept = kept_file(output)
    with progress_bar("steps") as progress:
        told = None if progress is None else lambda line: progress(line["step"], line["steps"])
        log = learn(features, known, settings, keep=kept, report=told)
    after = preferred(features, pairs)
    save_tuned(features, output)
    kept.unlink(missing_ok=True)
    pieces = sum(line["pieces"] for line in log)
    note(f"{output}: {pieces:,} pieces" + (f", dev accuracy {before:.3f} → {after:.3f}" if pairs else ""))
    if as_json:
        accuracy = {"before": before, "after": after} if pairs else None
        echo_json({"model": str(output), "pieces": pieces, "dev_pairs": len(pairs), "dev": accuracy, "log": log})


def kept_file(output: Path) -> Path:
    """What an interrupted run goes on with."""
    return output.with_name(f"{output.name}.part")
