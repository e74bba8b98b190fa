"""`anaphora build`: templates, augmentation and mining (attacks: cli/attack.py)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
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
from anaphora.core.files import remove_leftovers
from anaphora.core.lock import lock_folder

if TYPE_CHECKING:
    from anaphora.align import Settings as AlignSettings
    from anaphora.build.mine.pipeline import Output, Settings
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
    from anaphora.build.templates.suite import template_suite

    if more and not only:  # --only takes several ids, as in --only prior/role markable
        raise AnaphoraError(f"unexpected argument {more[0]!r}. Choose templates with --only {more[0]}.")
    made = template_suite(languages, (*only, *more), vocabulary, edition)
    with progress_bar("examples") as progress:
        counts, sha256 = made.write(output, progress)
    if as_json:
        echo_json(
            {
                "suite": made.suite.header.name,
                "path": str(output),
                "sha256": sha256,
                "edition": made.edition,
                "examples": sum(counts.values()),
                "templates": counts,
            }
        )
        return
    for name, count in counts.items():
        too_few = "" if count else "  the vocabulary has too few words for it"
        note(f"{name:<20} {count:>6,}{too_few}")
    note(f"{made.suite.header.name}@{sha256[:6]}: {sum(counts.values()):,} examples: {output}")


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
    link_confidence: float | None,
    as_json: bool,
) -> None:
    """Augment training data with examples in which *it* may be er, sie or es (antecedent-free augmentation).

    Finds English *it* whose antecedent is in neither the sentence nor its context, and gives its German pronoun the
    other two genders (ContraCAT, §7).
    """
    from anaphora.annotate import default_annotator, load_annotator
    from anaphora.build.augment import Block, Settings, Statistics, read_blocks, statistics_document, write_augmented
    from anaphora.build.augment import augment as candidates
    from anaphora.coref import load_linker

    if languages != "en-de":
        raise AnaphoraError(f"antecedent-free augmentation supports en-de only, not {languages}")
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
        found = candidates(blocks, english, german, linker, Settings(context, drop, link_confidence or 0.0), statistics)
        paths = write_augmented(found, output, separator=separator)
    more: dict[str, Any] = {"files": [str(path) for path in paths]}
    more["annotation"] = {"source": dict(english.settings()), "target": dict(german.settings())}
    document = statistics_document(statistics, **more, link=dict(linker.settings()))
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
def mine(workers: int | None, cluster: str | None, resume: bool, as_json: bool, **options: Any) -> None:
    """Mine a contrastive test set from parallel documents (ContraPro, §3.1).

    Reads, annotates, aligns, extracts and balances. Each stage keeps its files in the work folder: an interrupted run
    is resumed, and with other settings only the stages that depend on them run again. The default annotator is an
    installed spaCy pipeline.
    """
    from anaphora.build.mine.pipeline import mine as run
    from anaphora.build.mine.pipeline import runner_for

    settings, output = _settings(options), _output(options)
    runner = runner_for(workers, cluster)
    try:
        result = run(settings, output, runner, watch=_watch, resume=resume)
    finally:
        runner.close()
    files = [str(path) for path in (output.suite, output.contrapro) if path is not None]
    if as_json:
        echo_json({"output": files[0], "files": files, "work": str(output.work), **result.to_dict()})
        return
    _print_mined(result, files)


def _settings(options: dict[str, Any]) -> Settings:
    from anaphora.annotate import default_annotator
    from anaphora.build.mine.corpus import OVERLAP, Corpus, Sizes
    from anaphora.build.mine.pipeline import Settings
    from anaphora.build.mine.result import parse_size

    pair = options["languages"].split("-")
    if len(pair) != 2 or not all(pair):
        raise click.UsageError(f"-l {options['languages']}: expected SOURCE-TARGET, for example en-de")
    parse_size(options["per_class"])
    specs = [
        options[f"annotate_{side}"] or default_annotator(code, f"--annotate-{side}")
        for side, code in zip(("source", "target"), pair, strict=True)
    ]
    own = {
        "confidence": options["link_confidence"],
        "link_source": options["link_source"],
        "link_target": options["link_target"],
    }
    own = {name: value for name, value in own.items() if value is not None}
    return Settings(
        Corpus(*(options[name] for name in ("source", "target", "format", "links", "alignments"))),
        (pair[0], pair[1]),
        (specs[0], specs[1]),
        phenomenon=options["phenomenon"],
        options=tuple(sorted((own | _more(options["more"])).items())),
        clean=options["clean"],
        align=_aligner(*split_aligner(options["aligner"], options["align_model"]), options["symmetrize"]),
        align_train=options["align_train"],
        per_class=options["per_class"],
        context=options["context"],
        seed=options["seed"],
        sizes=Sizes(overlap=max(OVERLAP, options["context"])),
    )


def _aligner(backend: str, model: str | None, symmetrize: str | None) -> AlignSettings:
    """Return the settings of the aligner; the default heuristic for both directions is that of mining."""
    from anaphora.build.mine.pipeline import ALIGN

    return replace(ALIGN, backend=backend, model=model, symmetrize=symmetrize or ALIGN.symmetrize)


def _more(items: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for item in items:
        key, sign, value = item.partition("=")
        if not sign or not key.isidentifier():
            raise click.UsageError(f"--option {item}: expected KEY=VALUE")
        found[key] = value
    return found


def _output(options: dict[str, Any]) -> Output:
    from anaphora.build.mine.pipeline import Output

    path: Path = options["output"]
    beside = path.with_name(f"{path.name.removesuffix('.gz').removesuffix('.jsonl')}.contrapro.json")
    return Output(
        suite=path if options["to"] != "contrapro" else None,
        contrapro={"suite": None, "contrapro": path, "both": beside}[options["to"]],
        work=options["work"] or path.with_name(f"{path.name}.work"),
        name=options["name"] or path.name.removesuffix(".gz").removesuffix(".jsonl").removesuffix(".json"),
        citation=options["citation"],
        licence=options["licence"],
    )


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
def mine_evaluate(
    gold: Path,
    chains: str,
    languages: str | None,
    annotate_source: str | None,
    annotate_target: str | None,
    link_confidence: float | None,
    oblique: bool,
    neuter: str,
    format: str,
    as_json: bool,
) -> None:
    """Evaluate `build mine` on documents with gold coreference on both sides.

    GOLD holds ParCorFull's documents as JSON Lines (docs/mining-quality.md). The text is annotated as it would be for
    mining; the word alignment is that of the records.
    """
    from anaphora.build.mine.quality import Request, run
    from anaphora.reports.data_tables import quality_table

    request = Request(
        gold, chains, languages, (annotate_source, annotate_target), link_confidence, oblique=oblique, neuter=neuter
    )
    with progress_bar("documents") as progress:
        document = run(request, progress)
    show(quality_table(document), document, format, as_json)
