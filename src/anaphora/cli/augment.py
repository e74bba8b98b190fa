"""`anaphora build augment`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from anaphora.cli.evaluate import Share
from anaphora.cli.output import ANNOTATORS, PATH, echo_json, json_option, note, progress_bar
from anaphora.core.errors import AnaphoraError
from anaphora.core.files import remove_leftovers
from anaphora.core.lock import lock_folder


@click.command(
    epilog="""\b
Examples:
  anaphora build augment --source a.en --target a.de -o out
  anaphora build augment --source a.en --target a.de --annotate-source spacy:en_core_web_sm \
--annotate-target stanza:de -o out
  anaphora build augment --source a.en --target a.de --annotate-source conllu:en.conllu \
--annotate-target conllu:de.conllu --link chains --align a.align --drop pleonastic --drop event -o out
"""
)
@click.option("--source", required=True, type=PATH, help="English sentences.")
@click.option("--target", required=True, type=PATH, help="Their German translations, line by line.")
@click.option("-o", "--output", required=True, type=PATH, help="A folder for the files that are written.")
@click.option(
    "--format",
    "format",
    type=click.Choice(["lines", "docids", "tags"]),
    default="lines",
    show_default=True,
    help="Documents: a blank line between them, docid⇥sentence, or a line <d> before each.",
)
@click.option("-l", "--languages", default="en-de", show_default=True, metavar="SRC-TGT")
@click.option("--annotate-source", metavar="SPEC", help=ANNOTATORS)
@click.option("--annotate-target", metavar="SPEC", help="The same for the German side.")
@click.option("--link", "link", default="builtin", show_default=True, metavar="SPEC", help="What finds antecedents.")
@click.option("--align", "alignments", type=PATH, help="A Pharaoh file; else only sentences with one pronoun are used.")
@click.option("--context", type=click.IntRange(1), default=1, show_default=True, help="Sentences without antecedent.")
@click.option("--separator", default=" <SEP> ", show_default=True, help="What stands between sentences.")
@click.option(
    "--drop", type=click.Choice(["pleonastic", "event"]), multiple=True, help="Leave out such it. Repeatable."
)
@click.option("--confidence", type=Share(0, 1), default=0.0, show_default=True, help="How sure the linker must be.")
@json_option
def augment(
    source: Path,
    target: Path,
    output: Path,
    format: str,
    languages: str,
    annotate_source: str | None,
    annotate_target: str | None,
    link: str,
    alignments: Path | None,
    context: int,
    separator: str,
    drop: tuple[str, ...],
    confidence: float,
    as_json: bool,
) -> None:
    """Antecedent-free augmentation: training examples in which *it* may be er, sie or es.

    Finds English *it* whose antecedent is in neither the sentence nor its context, and gives its German pronoun the
    other two genders (ContraCAT, §7).
    """
    from anaphora.annotate import default_annotator, load_annotator
    from anaphora.build.augment import Block, Settings, Statistics, read_blocks, statistics_document, write_augmented
    from anaphora.build.augment import augment as candidates
    from anaphora.coref import load_linker

    if languages != "en-de":
        raise AnaphoraError(f"antecedent-free augmentation is for en-de, not {languages}: it knows German pronouns")
    click.get_current_context().with_resource(lock_folder(output))
    remove_leftovers(output)
    given = {"source": annotate_source, "target": annotate_target}
    english, german = (
        load_annotator(spec or default_annotator(code, f"--annotate-{side}"), code)
        for (side, spec), code in zip(given.items(), ("en", "de"), strict=True)
    )
    linker = load_linker(link, "en")
    statistics = Statistics()
    with progress_bar("sentences") as progress:

        def counted(blocks: Iterable[Block]) -> Iterator[Block]:
            for block in blocks:
                yield block
                if progress is not None:
                    progress(statistics.sentences, None)  # how many come is not known

        blocks = counted(read_blocks(source, target, format=format, alignments=alignments))
        found = candidates(blocks, english, german, linker, Settings(context, drop, confidence), statistics)
        paths = write_augmented(found, output, separator=separator)
    more: dict[str, Any] = {"files": [str(path) for path in paths]}
    more["annotation"] = {"source": dict(english.settings()), "target": dict(german.settings())}
    document = statistics_document(statistics, **more, link=dict(linker.settings()))
    if as_json:
        echo_json(document)
        return
    _print(document)


def _print(document: Any) -> None:
    note(f"{document['documents']:,} documents, {document['sentences']:,} sentences, {document['pronouns']:,} it")
    for outcome, count in document["outcomes"].items():
        click.echo(f"{count:9,}  {outcome}")
    files = ", ".join(document["files"])
    note(f"{document['candidates']:,} candidates and {document['new_examples']:,} new examples: {files}")
