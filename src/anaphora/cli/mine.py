"""`anaphora build mine`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.align.tokenize import describe_signs
from anaphora.cli.evaluate import Share
from anaphora.cli.output import ANNOTATORS, PATH, echo_json, json_option, note, progress_bar

if TYPE_CHECKING:
    from anaphora.align import Settings as AlignSettings
    from anaphora.build.mine.pipeline import Output, Settings
    from anaphora.build.mine.result import MiningResult


@click.command(
    epilog="""\b
Examples:
  anaphora build mine --source a.en --target a.de -l en-de -o mined.jsonl
  anaphora build mine --source a.en --target a.de -l en-de --format tags --per-class even --to both -o mined.jsonl
  anaphora build mine --source en.zip --target de.zip --format opus --links de-en.xml.gz -l en-de -o mined.jsonl
  anaphora build mine --source a.en --target a.de -l en-de --annotate-target stanza:de --cluster -o mined.jsonl
"""
)
@click.option("--source", required=True, type=PATH, help="Sentences; for opus, the folder or zip of the XML files.")
@click.option("--target", type=PATH, help="Their translations.")
@click.option("-l", "--languages", required=True, metavar="SRC-TGT", help="The language pair, such as en-de.")
@click.option("-o", "--output", required=True, type=PATH, help="The suite that is written.")
@click.option(
    "--format",
    "format",
    type=click.Choice(["lines", "docids", "tags", "tsv", "moses", "opus"]),
    default="lines",
    show_default=True,
    help="Blank lines between documents; docid⇥sentence; <d> before each; docid⇥source⇥target; OPUS's lines; its XML.",
)
@click.option("--links", type=PATH, help="opus: the alignment file (.xml.gz); moses: the .ids file.")
@click.option(
    "--clean", type=click.Choice(["none", "subtitles"]), default="none", show_default=True, help="Clean-up of lines."
)
@click.option("--annotate-source", metavar="SPEC", help=ANNOTATORS)
@click.option("--annotate-target", metavar="SPEC", help="The same for the other side.")
@click.option("--alignments", type=PATH, help="A Pharaoh file of the words of the lines; none is trained then.")
@click.option("--align-backend", default="builtin", show_default=True, help="What aligns; see: anaphora align --help.")
@click.option("--align-model", help="Its model; builtin has fast_align. That of thot, eflomal, is better, and slower.")
@click.option("--symmetrize", help="How both directions are merged; default: grow-diag-final-and.")
@click.option(
    "--align-train", type=click.IntRange(1), default=200_000, show_default=True, help="Pairs it is trained on at most."
)
@click.option("--phenomenon", default="pronouns", show_default=True, help="What is mined.")
@click.option("--link-source", metavar="SPEC", help="What finds antecedents; see docs/annotation.md.")
@click.option("--link-target", metavar="SPEC", help="The same for the other side.")
@click.option("--confidence", type=Share(0, 1), help="How sure of antecedents a linker must be.")
@click.option("--option", "more", multiple=True, metavar="KEY=VALUE", help="Of the phenomenon. Repeatable.")
@click.option(
    "--per-class", default="4000", show_default=True, metavar="N|all|even", help="Examples of each class at most."
)
@click.option("--context", type=click.IntRange(0), default=5, show_default=True, help="Sentences before the current.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the sample.")
@click.option(
    "--to",
    type=click.Choice(["suite", "contrapro", "both"]),
    default="suite",
    show_default=True,
    help="A suite, ContraPro's JSON, or the suite and OUTPUT.contrapro.json.",
)
@click.option("--name", help="Of the suite; default: of its file.")
@click.option("--citation", default="", help="Kept in the suite.")
@click.option("--licence", default="", help="Of the corpus, kept in the suite.")
@click.option("--work", type=PATH, metavar="FOLDER", help="For the files of the stages; default: OUTPUT.work.")
@click.option("--resume/--no-resume", default=True, help="Use what a run before has finished (the default), or not.")
@click.option("--workers", type=click.IntRange(1), help="Processes side by side; default: one for each processor.")
@click.option(
    "--cluster",
    is_flag=False,
    flag_value="",
    metavar="[ADDRESS]",
    help="Run on a Ray cluster, HOST:PORT, or what RAY_ADDRESS says, or one on this machine.",
)
@json_option
def mine(workers: int | None, cluster: str | None, resume: bool, as_json: bool, **options: Any) -> None:
    """Mine a contrastive test set from parallel documents (ContraPro, §3.1).

    Reads, annotates, aligns, extracts and balances. Each stage leaves its files in the work folder: stopped and run
    again, it goes on where it was; with other settings, only what depends on them is done anew.
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
    _print(result, files)


def _settings(options: dict[str, Any]) -> Settings:
    from anaphora.annotate import default_annotator
    from anaphora.build.mine.corpus import OVERLAP, Corpus, Sizes
    from anaphora.build.mine.pipeline import Settings
    from anaphora.build.mine.result import parse_size

    pair = options["languages"].split("-")
    if len(pair) != 2 or not all(pair):
        raise click.UsageError(f"-l {options['languages']}: write SOURCE-TARGET, such as en-de")
    parse_size(options["per_class"])
    specs = [
        options[f"annotate_{side}"] or default_annotator(code, f"--annotate-{side}")
        for side, code in zip(("source", "target"), pair, strict=True)
    ]
    own = {name: options[name] for name in ("confidence", "link_source", "link_target") if options[name] is not None}
    return Settings(
        Corpus(*(options[name] for name in ("source", "target", "format", "links", "alignments"))),
        (pair[0], pair[1]),
        (specs[0], specs[1]),
        phenomenon=options["phenomenon"],
        options=tuple(sorted((own | _more(options["more"])).items())),
        clean=options["clean"],
        align=_aligner(options["align_backend"], options["align_model"], options["symmetrize"]),
        align_train=options["align_train"],
        per_class=options["per_class"],
        context=options["context"],
        seed=options["seed"],
        sizes=Sizes(overlap=max(OVERLAP, options["context"])),
    )


def _aligner(backend: str, model: str | None, symmetrize: str | None) -> AlignSettings:
    """What is not said is the backend's own choice, and how both directions are merged that of mining."""
    from anaphora.build.mine.pipeline import ALIGN

    return replace(ALIGN, backend=backend, model=model, symmetrize=symmetrize or ALIGN.symmetrize)


def _more(items: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for item in items:
        key, sign, value = item.partition("=")
        if not sign or not key.isidentifier():
            raise click.UsageError(f"--option {item}: write KEY=VALUE")
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
    """A bar for a stage, with its name, from the first sign of life."""
    with progress_bar(unit) as bar:
        begun: list[str] = []

        def count(done: int, total: int | None) -> None:
            if not begun:
                begun.append(stage)
                note(f"{stage} …")
            if bar is not None:
                bar(done, total)

        yield count


def _print(result: MiningResult, files: list[str]) -> None:
    from anaphora.reports.mining import candidates_table, distance_table, pronoun_tables
    from anaphora.table import RENDERERS

    for stage in result.stages:
        rate = f"{stage.pairs / stage.seconds:,.0f} pairs/s" if stage.pairs and stage.seconds else "nothing to do"
        reused = f", {stage.reused:,} of {stage.shards:,} shards were there" if stage.reused else ""
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
            note(f"only {count:,} of class {label} were found: the suite is not balanced (--per-class even)")
    note(f"{result.statistics.classes.total():,} examples of {result.index.documents:,} documents: {', '.join(files)}")
