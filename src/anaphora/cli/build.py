"""`anaphora build`: templates, augmentation and mining (attacks: cli/attack.py)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.align.tokenize import describe_signs
from anaphora.cli.app import LazyGroup
from anaphora.cli.options import (
    PATH,
    format_options,
    json_option,
    option,
    options,
    split_aligner,
)
from anaphora.cli.output import echo_json, note, progress_bar, show
from anaphora.core.errors import AnaphoraError

if TYPE_CHECKING:
    from anaphora.build.mine.result import MiningResult


@click.group(
    cls=LazyGroup,
    epilog="""\b
Examples:
  anaphora build templates -o contracat.jsonl
  anaphora build mine --source a.en --target a.de -l en-de -o mined.jsonl
  anaphora build attack phrase contrapro --preset true_colon -o attacked.jsonl
""",
    lazy={
        "templates": ("anaphora.cli.build:templates", "Fill ContraCAT's templates with words."),
        "attack": ("anaphora.cli.attack:attack", "Change a suite in ways that must not change the answer."),
        "mine": ("anaphora.cli.build:mine", "Mine contrastive examples from parallel documents."),
        "mine-evaluate": ("anaphora.cli.build:mine_evaluate", "Evaluate mining on gold data."),
        "augment": ("anaphora.cli.build:augment", "Augment training data without antecedents (ContraCAT §7)."),
    },
)
def build() -> None:
    """Build suites from templates, parallel documents or other suites, and augmented training data."""


@click.command(
    epilog="""\b
Examples:
  anaphora build templates -o contracat.jsonl
  anaphora build templates --only overlap --only gender -l en-fr -o overlap.jsonl
  anaphora build templates --vocabulary ContraCAT/data/templates/vocabulary -o released.jsonl
  anaphora build templates -l my/en-it -o en-it.jsonl
""",
)
@option("--only", multiple=True, metavar="ID…", help="Template ids, or groups of them (prior, overlap) (repeatable).")
@click.argument("more", nargs=-1, metavar="", required=False)
@option("--vocabulary", type=PATH, metavar="DIR", help="Folder of word classes that replace the built-in ones.")
@option(
    "--edition",
    help="Edition: paper (the default), release (the settings of ContraCAT's files) or table-8 (its counts).",
)
@option(
    "-l",
    "--languages",
    default="en-de",
    metavar="PAIR|DIR",
    help="Language pair, or a folder of your own named like one.",
)
@option("-o", "--output", required=True, type=PATH, help="Suite file to write (.jsonl, .jsonl.gz).")
@json_option
def templates(
    only: tuple[str, ...],
    more: tuple[str, ...],
    vocabulary: Path | None,
    edition: str | None,
    languages: str,
    output: Path,
    as_json: bool,
) -> None:
    """Fill ContraCAT's templates with words, in any language pair that has data files (docs/templates.md).

    A folder in ContraCAT's own format given as --vocabulary also chooses the settings of the released files.
    """
    from anaphora import api_build

    if more and not only:  # --only takes several ids, as in --only prior/role markable
        raise AnaphoraError(f"unexpected argument {more[0]!r}. Choose templates with --only {more[0]}.")
    with progress_bar("examples") as progress:
        made = api_build.build_templates(
            output,
            only=(*only, *more),
            vocabulary=vocabulary,
            edition=edition,
            languages=languages,
            progress=progress,
        )
    if as_json:
        echo_json(
            {
                "suite": made.suite,
                "path": str(output),
                "sha256": made.sha256,
                "edition": made.edition,
                "examples": made.examples,
                "templates": made.templates,
            }
        )
        return
    for name, count in made.templates.items():
        too_few = "" if count else "  the vocabulary has too few words for it"
        note(f"{name:<20} {count:>6,}{too_few}")
    note(f"{made.suite}@{made.sha256[:6]}: {made.examples:,} examples: {output}")


@click.command(
    epilog="""\b
Examples:
  anaphora build augment --source a.en --target a.de -o out
  anaphora build augment --source a.en --target a.de --annotate-source spacy:en_core_web_sm \
--annotate-target stanza:de -o out
  anaphora build augment --source a.en --target a.de --annotate-source conllu:en.conllu \
--annotate-target conllu:de.conllu --link chains --alignments a.align --drop pleonastic --drop event -o out
"""
)
@options("source", required=True)
@option("--target", required=True, type=PATH, help="Target text, one sentence per line.")
@option("-o", "--output", required=True, type=PATH, help="Folder for the files that are written.")
@option(
    "--input-format",
    "format",
    type=click.Choice(["lines", "docids", "tags"]),
    default="lines",
    aliases=("--format",),
    help="Layout of documents: blank lines between them, docid⇥sentence, or a line <d> before each.",
)
@options("languages", default="en-de")
@options("annotate-source", "annotate-target")
@option("--link", "link", default="builtin", metavar="SPEC", help="Resolver of antecedents (docs/annotation.md).")
@options("alignments", aliases=("--align",))
@option(
    "--context",
    type=click.IntRange(1),
    default=1,
    metavar="N",
    help="Number of preceding sentences that must not contain the antecedent.",
)
@options("separator", default=" <SEP> ")
@option(
    "--drop", type=click.Choice(["pleonastic", "event"]), multiple=True, help="Exclude this kind of *it* (repeatable)."
)
@options("link-confidence")
@json_option
def augment(source: Path, target: Path, output: Path, format: str, as_json: bool, **options: Any) -> None:
    """Augment training data with examples in which *it* may be er, sie or es (antecedent-free augmentation).

    Finds English *it* whose antecedent is in neither the sentence nor its context, and gives its German pronoun the
    other two genders (ContraCAT, §7).
    """
    from anaphora import api_build

    with progress_bar("sentences") as progress:
        document = api_build.augment(source, target, output, input_format=format, progress=progress, **options)
    if as_json:
        echo_json(document)
        return
    _print_augmented(document)


def _print_augmented(document: Any) -> None:
    note(f"{document['documents']:,} documents, {document['sentences']:,} sentences, {document['pronouns']:,} it")
    for outcome, count in document["outcomes"].items():
        click.echo(f"{count:9,}  {outcome}")
    files = ", ".join(document["files"])
    note(f"{document['candidates']:,} candidates and {document['new_examples']:,} new examples: {files}")


@click.command(
    epilog="""\b
Examples:
  anaphora build mine --source a.en --target a.de -l en-de -o mined.jsonl
  anaphora build mine --source a.en --target a.de -l en-de --input-format tags --per-class even --to both -o mined.jsonl
  anaphora build mine --source en.zip --target de.zip --input-format opus --links de-en.xml.gz -l en-de -o mined.jsonl
  anaphora build mine --source a.en --target a.de -l en-de --annotate-target stanza:de --cluster -o mined.jsonl
"""
)
@options("source", required=True)
@option("--target", type=PATH, help="Target text, one sentence per line.")
@options("languages", required=True)
@option("-o", "--output", required=True, type=PATH, help="Suite file to write.")
@option(
    "--input-format",
    "format",
    type=click.Choice(["lines", "docids", "tags", "tsv", "moses", "opus"]),
    default="lines",
    aliases=("--format",),
    help="Layout: blank lines between documents, docid⇥sentence, <d> lines, docid⇥source⇥target, OPUS lines, or OPUS "
    "XML (folders or zip files).",
)
@option("--links", type=PATH, metavar="FILE", help="OPUS alignment file: .xml.gz (opus) or .ids (moses).")
@option("--clean", type=click.Choice(["none", "subtitles"]), default="none", help="Clean-up of the lines.")
@options("annotate-source", "annotate-target", "alignments")
@options("aligner", default="builtin")
@option("--align-model", hidden=True, help="Model of the aligner (use --aligner NAME:MODEL).")
@option("--symmetrize", help="Heuristic that merges both directions (default: grow-diag-final-and).")
@option(
    "--align-train",
    type=click.IntRange(1),
    default=200000,
    metavar="N",
    help="Maximum number of sentence pairs to train the aligner on.",
)
@option("--phenomenon", default="pronouns", help="Phenomenon to mine.")
@option("--link-source", metavar="SPEC", help="Resolver of antecedents in the source (docs/annotation.md).")
@option("--link-target", metavar="SPEC", help="Resolver of antecedents in the target.")
@options("link-confidence")
@option("--option", "more", multiple=True, metavar="KEY=VALUE", help="Setting of the phenomenon (repeatable).")
@option("--per-class", default="4000", metavar="N|all|even", help="Maximum number of examples per class.")
@option("--context", type=click.IntRange(0), default=5, metavar="N", help="Number of preceding sentences to include.")
@options("seed", default=1, type=click.INT)
@option(
    "--to",
    type=click.Choice(["suite", "contrapro", "both"]),
    default="suite",
    help="Output: a suite, ContraPro's JSON, or both (OUTPUT and OUTPUT.contrapro.json).",
)
@option("--suite-name", "name", aliases=("--name",), help="Name of the suite (default: that of the format or file).")
@option("--citation", default="", help="Citation to store in the suite.")
@option("--licence", default="", help="License of the corpus to store in the suite.")
@option("--work", type=PATH, metavar="FOLDER", help="Folder for the files of the stages (default: OUTPUT.work).")
@option("--resume/--no-resume", default=True, help="Reuse what an earlier run finished (the default), or not.")
@options("workers", "cluster")
@json_option
def mine(
    source: Path,
    target: Path | None,
    languages: str,
    output: Path,
    format: str,
    aligner: str,
    align_model: str | None,
    more: tuple[str, ...],
    name: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Mine a contrastive test set from parallel documents (ContraPro, §3.1).

    Reads, annotates, aligns, extracts and balances. Each stage keeps its files in the work folder: an interrupted run
    is resumed, and with other settings only the stages that depend on them run again. The default annotator is an
    installed spaCy pipeline.
    """
    from anaphora import api_build

    backend, model = split_aligner(aligner, align_model)
    mined = api_build.mine(
        source,
        target,
        languages,
        output,
        input_format=format,
        aligner=f"{backend}:{model}" if model else backend,
        option=_more(more),
        suite_name=name,
        watch=_watch,
        **options,
    )
    files = [str(path) for path in mined.files]
    if as_json:
        echo_json({"output": files[0], "files": files, "work": str(mined.work), **mined.result.to_dict()})
        return
    _print_mined(mined.result, files)


def _more(items: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for item in items:
        key, sign, value = item.partition("=")
        if not sign or not key.isidentifier():
            raise click.UsageError(f"--option {item}: expected KEY=VALUE")
        found[key] = value
    return found


@contextlib.contextmanager
def _watch(stage: str, unit: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show a progress bar for a stage from its first report on."""
    with progress_bar(unit) as bar:
        begun: list[str] = []

        def count(done: int, total: int | None) -> None:
            if not begun:
                begun.append(stage)
                note(f"{stage} …")
            if bar is not None:
                bar(done, total)

        yield count


def _print_mined(result: MiningResult, files: list[str]) -> None:
    from anaphora.reports.data_tables import candidates_table, distance_table, pronoun_tables
    from anaphora.table import RENDERERS

    for stage in result.stages:
        rate = f"{stage.pairs / stage.seconds:,.0f} pairs/s" if stage.pairs and stage.seconds else "nothing to do"
        reused = f", {stage.reused:,} of {stage.shards:,} shards reused" if stage.reused else ""
        note(f"{stage.name}: {rate}{reused}")
    for side, signs in result.index.normalized.items():
        if signs:
            note(f"normalized in the {side}: {describe_signs(signs)}")
    for side, rules in result.cleaned.items():
        changed = ", ".join(f"{rule} {count:,}" for rule, count in rules.items() if count) or "nothing"
        note(f"clean-up of the {side} changed: {changed}")
    tables = [candidates_table(result), *pronoun_tables(result), distance_table(result)]
    click.echo("\n\n".join(RENDERERS["table"](table) for table in tables))
    for label, count in sorted(result.found.items()):
        if result.statistics.classes[label] < max(result.statistics.classes.values()):
            note(
                f"only {count:,} examples of class {label} were found: the suite is not balanced (see --per-class even)"
            )
    note(f"{result.statistics.classes.total():,} examples of {result.index.documents:,} documents: {', '.join(files)}")


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
@option(
    "--chains",
    type=click.Choice(["builtin", "gold"]),
    default="builtin",
    help="Antecedents from the built-in resolver, or from the gold annotation (the upper bound).",
)
@options("languages", "annotate-source", "annotate-target", "link-confidence")
@option("--oblique", is_flag=True, help="Include pronouns that are mined only on request (ihn, ihm, ihr).")
@option(
    "--neuter",
    type=click.Choice(["both", "source"]),
    default="both",
    help="Whether es needs an antecedent on both sides, or on the source side only (ContraPro).",
)
@format_options
def mine_evaluate(gold: Path, format: str, as_json: bool, **options: Any) -> None:
    """Evaluate `build mine` on documents with gold coreference on both sides.

    GOLD holds ParCorFull's documents as JSON Lines (docs/mining-quality.md). The text is annotated as it would be for
    mining; the word alignment is that of the records.
    """
    from anaphora import api_build
    from anaphora.reports.data_tables import quality_table

    with progress_bar("documents") as progress:
        document = api_build.evaluate_mining(gold, progress=progress, **options)
    show(quality_table(document), document, format, as_json)
