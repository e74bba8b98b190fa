"""`anaphora translate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from anaphora.cli.output import PATH, echo_json, json_option, note, progress_bar


@click.command(
    epilog="""\b
Examples:
  anaphora translate --system hf:Helsinki-NLP/opus-mt-en-de -l en-de -i talk.en -o talk.de
  anaphora translate --system hf:my-concat-model -l en-de -i talk.en -o talk.de --context 1 --separator ' <SEP> '
"""
)
@click.option("--system", required=True, metavar="SPEC", help="The system, KIND:WHAT; see: anaphora systems.")
@click.option("-i", "--input", "source", required=True, type=PATH, help="Sentences, a blank line between documents.")
@click.option("-o", "--output", required=True, type=PATH, help="Translations, laid out as the input.")
@click.option("-l", "--languages", default="", metavar="SRC-TGT", help="For multilingual systems and prompts: en-de.")
@click.option("--docids", is_flag=True, help="The input has docid⇥sentence on each line.")
@click.option(
    "--context",
    type=click.IntRange(0),
    help="Previous sentences to give; default: what an nmt: model was trained with, else none.",
)
@click.option("--separator", default=" ", help="What stands between sentences, exactly as given.")
@click.option(
    "--target-context",
    type=click.Choice(["produced", "none"]),
    default="none",
    show_default=True,
    help="Whether the system's output holds the context as well, and is cut at the separator.",
)
@click.option(
    "--context-from",
    type=PATH,
    help="Translations of the input by another system, as target context (nmt: models that read it).",
)
@click.option(
    "--n-best", type=click.IntRange(0), default=0, help="Also so many translations with scores, in OUTPUT.nbest (nmt:)."
)
@click.option("--beams", type=click.IntRange(1), help="Default: 4 for translation models, 1 for language models.")
@click.option("--max-tokens", type=click.IntRange(1), default=256, show_default=True)
@click.option("--threads", type=click.IntRange(1))
@click.option("--batch-tokens", type=click.IntRange(1), default=2048, show_default=True)
@click.option("--resume", is_flag=True, help="Go on with an unfinished translation.")
@click.option("--overwrite", is_flag=True, help="Start anew where there is one already.")
@json_option
def translate(
    system: str,
    source: Path,
    output: Path,
    languages: str,
    context: int | None,
    separator: str,
    target_context: str,
    threads: int | None,
    batch_tokens: int,
    as_json: bool,
    **settings: Any,
) -> None:
    """Translate documents, each sentence with those before it; batched, in order, resumable."""
    from anaphora.systems import kind_traits, load_system
    from anaphora.systems.context import Context, Options
    from anaphora.systems.translation import check_separator, translate_file

    chosen = Context(context or 0, separator, target_context)
    if not kind_traits(system).own_context:  # such a model knows where its sentences end
        check_separator(chosen)
    first, _, second = languages.partition("-")
    options = Options(chosen, (first, second), threads, batch_tokens, own_context=context is None)
    with progress_bar("sentences") as progress:
        loaded = load_system(system, options)
        found = translate_file(loaded, system, source, output, context=chosen, progress=progress, **settings)
    if as_json:
        document = {"output": str(output), "sentences": found.sentences}
        echo_json(document | {"missing_separators": found.missing, "surplus_separators": found.surplus})
        return
    note(f"{found.sentences:,} sentences: {output}")
    if found.missing or found.surplus:
        note(f"{found.missing:,} outputs lack a separator (kept whole), {found.surplus:,} have one too many")
