"""`anaphora build`: templates, augmentation and mining (attacks: cli/attack.py); `anaphora train`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora import api
from anaphora.align.tokenize import describe_signs
from anaphora.cli.app import LazyGroup
from anaphora.cli.options import (
    COUNT,
    WholeNumber,
    aligner_spec,
    command,
    epilog,
    format_options,
    json_option,
    key_values,
    option,
    parameters,
)
from anaphora.cli.output import echo_json, note, progress_bar, show
from anaphora.cli.streams import echo
from anaphora.core.errors import AnaphoraError

if TYPE_CHECKING:
    from anaphora.build.mine.result import MiningResult


@click.group(
    cls=LazyGroup,
    epilog=epilog("""
anaphora build templates -o contracat.jsonl
anaphora build mine --source a.en --target a.de -l en-de -o mined.jsonl
anaphora build attack phrase contrapro --preset true_colon -o attacked.jsonl
"""),
    lazy={
        "templates": ("anaphora.cli.build:templates", "Generate ContraCAT's templates."),
        "attack": ("anaphora.cli.attack:attack", "Change a suite in ways that must not change the answer."),
        "mine": ("anaphora.cli.build:mine", "Mine contrastive examples from parallel documents."),
        "mine-evaluate": ("anaphora.cli.build:mine_evaluate", "Evaluate mining on gold data."),
        "augment": ("anaphora.cli.build:augment", "Augment training data (antecedent-free, ContraCAT §7)."),
    },
)
def build() -> None:
    """Build suites from templates, parallel documents or other suites, and augmented training data."""


@command("""
anaphora build templates -o contracat.jsonl
anaphora build templates --only overlap --only gender -l en-fr -o overlap.jsonl
anaphora build templates --vocabulary ContraCAT/data/templates/vocabulary -o released.jsonl
anaphora build templates -l my/en-it -o en-it.jsonl
""")
@parameters(
    api.build_templates,
    only={"metavar": "ID…"},
    vocabulary={"metavar": "DIR"},
    languages={"metavar": "PAIR|DIR"},
)
@click.argument("more", nargs=-1, metavar="", required=False)
@json_option
def templates(only: tuple[str, ...], more: tuple[str, ...], output: Path, as_json: bool, **settings: Any) -> None:
    """Generate ContraCAT's templates for any language pair that has data files (docs/templates.md).

    If --vocabulary is a folder in ContraCAT's own format, the settings of the released files are used.
    """
    if more and not only:  # --only takes several ids, as in --only prior/role markable
        raise AnaphoraError(f"unexpected argument {more[0]!r}. Choose templates with --only {more[0]}.")
    with progress_bar("examples") as progress:
        built = api.build_templates(output, only=(*only, *more), progress=progress, **settings)
    if as_json:
        document = {"suite": built.suite, "path": str(output), "sha256": built.sha256, "edition": built.edition}
        echo_json({**document, "examples": built.examples, "templates": built.templates})
        return
    for name, count in built.templates.items():
        too_few = "" if count else "  the vocabulary has too few words for it"
        note(f"{name:<20} {count:>6,}{too_few}")
    note(f"{built.suite}@{built.sha256[:6]}: {built.examples:,} examples: {output}")


@command("""
anaphora build augment --source a.en --target a.de -o out
anaphora build augment --source a.en --target a.de --annotate-source spacy:en_core_web_sm \
--annotate-target stanza:de -o out
anaphora build augment --source a.en --target a.de --annotate-source conllu:en.conllu \
--annotate-target conllu:de.conllu --link chains --alignments a.align --drop pleonastic --drop event -o out
""")
@parameters(
    api.augment,
    output={"metavar": "FOLDER"},
    input_format={"aliases": ("--format",)},
    link={"metavar": "SPEC"},
    alignments={"aliases": ("--align",)},
    context={"type": COUNT},
    separator="Text between the sentences of a passage, exactly as given.",
)
@json_option
def augment(as_json: bool, **options: Any) -> None:
    """Augment training data with examples in which *it* may be er, sie or es (antecedent-free augmentation).

    Finds English *it* whose antecedent is in neither the sentence nor its context, and gives its German pronoun the
    other two genders (ContraCAT, §7).
    """
    with progress_bar("sentences") as progress:
        document = api.augment(progress=progress, **options)
    if as_json:
        echo_json(document)
        return
    note(f"{document['documents']:,} documents, {document['sentences']:,} sentences, {document['pronouns']:,} it")
    for outcome, count in document["outcomes"].items():
        echo(f"{count:9,}  {outcome}")
    files = ", ".join(document["files"])
    note(f"{document['candidates']:,} candidates and {document['new_examples']:,} new examples: {files}")


@command("""
anaphora build mine --source a.en --target a.de -l en-de -o mined.jsonl
anaphora build mine --source a.en --target a.de -l en-de --input-format tags --per-class even --to both -o mined.jsonl
anaphora build mine --source en.zip --target de.zip --input-format opus --links de-en.xml.gz -l en-de -o mined.jsonl
anaphora build mine --source a.en --target a.de -l en-de --annotate-target stanza:de --cluster -o mined.jsonl
""")
@parameters(
    api.mine,
    target={"required": False},
    input_format={"aliases": ("--format",)},
    align_train={"type": COUNT},
    link_source={"metavar": "SPEC"},
    link_target={"metavar": "SPEC"},
    option={"type": str, "multiple": True, "default": (), "callback": key_values, "metavar": "KEY=VALUE"},
    per_class={"metavar": "N|all|even"},
    work={"metavar": "FOLDER"},
    licence={"flags": ("--license",), "aliases": ("--licence",)},
)
@option("--align-model", hidden=True, help="Model of the aligner (use --aligner NAME:MODEL).")
@json_option
def mine(aligner: str, align_model: str | None, as_json: bool, **options: Any) -> None:
    mined = api.mine(aligner=aligner_spec(aligner, align_model), watch=_watch, **options)
    files = [str(path) for path in mined.files]
    if as_json:
        echo_json({"output": files[0], "files": files, "work": str(mined.work), **mined.result.to_dict()})
        return
    _print_mined(mined.result, files)


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
    echo("\n\n".join(RENDERERS["table"](table) for table in tables))
    for label, count in sorted(result.found.items()):
        if result.statistics.classes[label] < max(result.statistics.classes.values()):
            note(
                f"only {count:,} examples of class {label} were found: the suite is not balanced (see --per-class even)"
            )
    note(f"{result.statistics.classes.total():,} examples of {result.index.documents:,} documents: {', '.join(files)}")


@command(
    """
anaphora build mine-evaluate parcorfull.en-de.jsonl.gz --annotate-source spacy:en_core_web_sm \
--annotate-target spacy:de_core_news_sm
anaphora build mine-evaluate parcorfull.en-fr.jsonl.gz --chains gold --json
""",
    "mine-evaluate",
)
@parameters(api.evaluate_mining, arguments=["gold"])
@format_options
def mine_evaluate(gold: Path, format: str, as_json: bool, **options: Any) -> None:
    """Evaluate `build mine` on documents with gold coreference on both sides.

    GOLD contains ParCorFull's documents as JSON Lines (docs/mining-quality.md). The text is annotated as for mining;
    the word alignment is that of the records.
    """
    from anaphora.reports.data_tables import quality_table

    with progress_bar("documents") as progress:
        document = api.evaluate_mining(gold, progress=progress, **options)
    show(quality_table(document), document, format, as_json)


# `anaphora train`


@command("""
anaphora train --list
anaphora train my-model.toml -o models/mine
anaphora train transformer-concat22-laptop -o models/small --set data.source=train.en --set data.target=train.de
anaphora train my-model.toml -o models/mine --resume --set training.updates=20000
anaphora train fine-tune.toml -o models/tuned --sweep training.learning_rate=2e-6,2e-7,2e-8
""")
@parameters(
    api.train,
    arguments=["config=CONFIG.toml|PRESET"],
    config={"required": False},
    output={"required": False, "metavar": "MODEL"},
    sweep={"metavar": "SECTION.KEY=A,B,…"},
    average={"type": WholeNumber(2)},
)
@option("--list", "listing", is_flag=True, help="List the presets and exit.")
@json_option
def train(config: str | None, output: Path | None, listing: bool, as_json: bool, **settings: Any) -> None:
    """Train a context-aware translation model, which is then available as the system nmt:MODEL."""
    if listing:
        _list(as_json)
        return
    if config is None or output is None:
        raise click.UsageError("a config (or a preset, see --list) and -o MODEL are needed")
    with progress_bar("updates") as bar:
        updates = 0

        def report(record: Mapping[str, Any]) -> None:
            nonlocal updates
            if record["kind"] == "data":
                updates = record["updates"]
            elif bar is not None:
                bar(record["update"], updates)
            if bar is None or record["kind"] != "training" or record.get("final"):
                note(_describe(record))

        models = api.train(config, output, report=report, **settings)
    if as_json:
        documents = [model.to_dict() for model in models]
        echo_json(documents[0] if settings["sweep"] is None else {"models": documents})


def _describe(record: Mapping[str, Any]) -> str:
    """Return a record of the training log as a line."""
    if record["kind"] == "data":
        size = f"{record['examples']:,} examples, {record['pieces']:,} pieces"
        return f"{record['model']}: {size}; left out: {record['left_out']}"
    if record["kind"] == "end":
        ended = "stopped early" if record["stopped_early"] else "done"
        return f"{ended} after {record['update']:,} updates: nmt:{record['model']}"
    if record["kind"] == "training":
        return f"update {record['update']:,} · loss {record['loss']:.4f} · rate {record['rate']:.2g}"
    parts = [f"update {record['update']:,}"]
    if "perplexity" in record:
        parts.append(f"validation perplexity {_figure(record['perplexity'])}")
    parts += [f"{name} {_figure(accuracy)}" for name, accuracy in record.get("accuracy", {}).items()]
    return " · ".join(parts)


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _list(as_json: bool) -> None:
    presets = api.list_presets()
    if as_json:
        echo_json({"presets": presets})
        return
    width = max(map(len, presets))
    for name, description in presets.items():
        if not name.endswith("-laptop"):
            echo(f"{name:{width}}  {description}")
    echo("\nNAME-laptop is the same model at a size that learns on a laptop's processor.")
