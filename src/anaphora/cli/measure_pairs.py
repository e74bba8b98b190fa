"""`anaphora measure pairs` and `anaphora measure counts`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from anaphora.cli.evaluate import Share
from anaphora.cli.output import PATH, echo_json, format_options, json_option, note, progress_bar, show
from anaphora.core.errors import AnaphoraError
from anaphora.core.lock import lock_output
from anaphora.normalization import describe_signs

if TYPE_CHECKING:
    from anaphora.measure.pairs import Statistics


@click.command(
    epilog="""\b
Examples:
  anaphora measure pairs -r ref.en -t google.en -t mine.en -l de-en -o pairs.jsonl
  anaphora measure pairs -s src.de -r ref.en -t mine.en -l de-en --kind noisy --pair-list agreed.json -o pairs.jsonl
"""
)
@click.option("-s", "--source", type=PATH, help="Source sentences; with them the pairs are a suite for translators.")
@click.option("-r", "--reference", type=PATH, required=True)
@click.option("-t", "--translation", "systems", type=PATH, multiple=True, help="Of a system. Repeatable.")
@click.option("--name", "names", multiple=True, help="The name of a system, one for each -t.")
@click.option("-l", "--languages", required=True, metavar="SRC-TGT")
@click.option("-o", "--output", type=PATH, required=True, metavar="PAIRS.jsonl")
@click.option("--kind", type=click.Choice(["noisy", "system", "both"]), default="both", show_default=True)
@click.option("--context", type=click.IntRange(0), default=2, show_default=True, help="Previous sentences.")
@click.option("--docids", is_flag=True, help="Every line is docid⇥sentence; else empty lines end documents.")
@click.option("--pair-list", type=PATH, help="Only pronoun pairs that people agree on, from this list.")
@click.option("--agreement", type=Share(0, 1), default=0.8, show_default=True, help="How much, with --pair-list.")
@click.option("--pronouns", type=PATH, help="A list of pronouns of your own.")
@click.option(
    "--aligner",
    type=click.Choice(["edit", "rescued", "statistical"]),
    default="edit",
    show_default=True,
    help="How pronouns are found that stand for each other.",
)
@click.option("--common-context", is_flag=True, help="The reference's context before translations, too.")
@click.option("--year", help="Noted with every pair; also the name of a test set.")
@click.option("--draw-from", metavar="PAIRS", help="Instead of -t: draw pronouns as they are confused in these pairs.")
@click.option("--balanced", is_flag=True, help="As many he:it as it:he and so on, with --draw-from.")
@click.option("--share", type=Share(0, 1), default=1.0, show_default=True, help="Of sentences, with --draw-from.")
@click.option("--seed", type=click.IntRange(0), default=12345, show_default=True, help="With --draw-from.")
@json_option
def pairs(
    source: Path | None,
    reference: Path,
    systems: tuple[Path, ...],
    names: tuple[str, ...],
    languages: str,
    output: Path,
    kind: str,
    context: int,
    docids: bool,
    pair_list: Path | None,
    agreement: float,
    pronouns: Path | None,
    aligner: str,
    common_context: bool,
    year: str | None,
    draw_from: str | None,
    balanced: bool,
    share: float,
    seed: int,
    as_json: bool,
) -> None:
    """Find pronouns of systems that differ from the reference's, and write pairs (Jwalapuram et al. 2019, §3).

    A noisy pair is the reference, and the same with one pronoun of a system; a system pair is the reference and the
    whole translation. The pairs are a suite: any system can be judged on them.
    """
    from anaphora import api
    from anaphora.measure.pair_list import read_pair_list
    from anaphora.measure.pair_suite import Files, write_drawn, write_pairs
    from anaphora.measure.pairs import Settings

    if bool(systems) == (draw_from is not None):
        raise click.UsageError("give translations (-t), or pairs to draw from (--draw-from)")
    if output.resolve() in {path.resolve() for path in (reference, *systems, *([source] if source else []))}:
        raise AnaphoraError(f"{output}: is one of the texts; name another file for the pairs")
    click.get_current_context().with_resource(lock_output(output))
    judged = read_pair_list(pair_list) if pair_list else None
    settings = Settings(kind, aligner, judged, agreement, not common_context, year)
    files = Files(reference, systems, source, names, pronouns, docids, context)
    if draw_from is not None:
        confused = api.load_suite(draw_from)
        written = write_drawn(files, languages, confused, output, seed=seed, share=share, year=year, equal=balanced)
    else:
        with progress_bar("steps") as progress:
            written = write_pairs(files, languages, output, settings, progress)
    if as_json:
        found = written.statistics.to_dict()
        echo_json({"suite": written.name, "output": str(output), "sha256": written.sha256, **found})
        return
    _print(written.statistics, output, pair_list)


def _print(statistics: Statistics, output: Path, pair_list: Path | None) -> None:
    for name, count in sorted(statistics.pairs.items()):
        click.echo(f"{count:9,}  {name} pairs ({statistics.duplicates[name]:,} duplicates dropped)")
    for name, count in statistics.errors.most_common():
        click.echo(f"{count:9,}  {name}")
    for file, signs in statistics.signs.items():
        if signs:
            note(f"normalized: {file} {describe_signs(signs)}")
    if pair_list is not None:
        note(f"{statistics.left_out:,} of {statistics.differing:,} differences left out by {pair_list}")
    if not statistics.pairs:
        note("no pronoun differs: the suite is empty")
    note(f"{output}: {statistics.translations:,} translations of {statistics.lines:,} sentences")


@click.command(
    epilog="""\b
Examples:
  anaphora measure counts de.jsonl fr.jsonl --by-year
"""
)
@click.argument("suites", nargs=-1, required=True, metavar="PAIRS.jsonl…")
@click.option("--by-year", is_flag=True, help="A row for each year.")
@format_options
def counts(suites: tuple[str, ...], by_year: bool, format: str, as_json: bool) -> None:
    """Unique pairs and source contexts by language and year (Tables 2 and 3 of the paper)."""
    from anaphora import api
    from anaphora.measure.pair_suite import count_pairs, counts_table

    found = count_pairs((api.load_suite(name) for name in suites), by_year=by_year)
    show(counts_table(found), {name: count.to_dict() for name, count in found.items()}, format, as_json)


@click.command(
    epilog="""\b
Examples:
  anaphora measure example made-up
"""
)
@click.argument("folder", type=PATH)
@json_option
def example(folder: Path, as_json: bool) -> None:
    """Write made-up files into FOLDER: a reference, two systems, what people said, a config."""
    from anaphora.measure.example import write_example

    files = [str(path) for path in write_example(folder)]
    if as_json:
        echo_json({"files": files})
    else:
        note(f"made-up examples: {', '.join(files)}")
