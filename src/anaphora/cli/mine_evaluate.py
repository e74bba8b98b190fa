"""`anaphora build mine-evaluate`."""

from __future__ import annotations

from pathlib import Path

import click

from anaphora.cli.evaluate import Share
from anaphora.cli.output import PATH, format_options, progress_bar, show


@click.command(
    "mine-evaluate",
    epilog="""\b
Examples:
  anaphora build mine-evaluate parcorfull.en-de.jsonl.gz --annotate-source spacy:en_core_web_sm \
--annotate-target spacy:de_core_news_sm
  anaphora build mine-evaluate parcorfull.en-fr.jsonl.gz --chains gold --json
""",
)
@click.argument("gold", type=PATH)
@click.option(
    "--chains",
    type=click.Choice(["builtin", "gold"]),
    default="builtin",
    show_default=True,
    help="Antecedents by the built-in resolver, or by the annotation itself, the upper bound.",
)
@click.option("-l", "--languages", metavar="SRC-TGT", help="The language pair.  [default: that of the records]")
@click.option("--annotate-source", metavar="SPEC", help="spacy:PIPELINE or stanza:LANGUAGE.  [default: what is there]")
@click.option("--annotate-target", metavar="SPEC", help="The same for the target side.")
@click.option("--confidence", type=Share(0, 1), help="How sure the resolver must be.  [default: as in build mine]")
@click.option("--oblique", is_flag=True, help="With the pronouns that are taken on request only (ihn, ihm, ihr).")
@click.option(
    "--neuter",
    type=click.Choice(["both", "source"]),
    default="both",
    show_default=True,
    help="es needs an antecedent on both sides, or on the source's alone (ContraPro).",
)
@format_options
def mine_evaluate(
    gold: Path,
    chains: str,
    languages: str | None,
    annotate_source: str | None,
    annotate_target: str | None,
    confidence: float | None,
    oblique: bool,
    neuter: str,
    format: str,
    as_json: bool,
) -> None:
    """How good is what `build mine` finds? Against documents with coreference annotated by hand on both sides.

    GOLD holds ParCorFull's documents as JSON Lines (docs/mining-quality.md). The text is annotated as it would be for
    mining; the word alignment is that of the records.
    """
    from anaphora.build.mine.quality import Request, run, table_of

    request = Request(
        gold, chains, languages, (annotate_source, annotate_target), confidence, oblique=oblique, neuter=neuter
    )
    with progress_bar("documents") as progress:
        document = run(request, progress)
    show(table_of(document), document, format, as_json)
