"""`anaphora measure pairs` and `anaphora measure counts`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from anaphora.align.tokenize import describe_signs
from anaphora.cli.evaluate import Share
from anaphora.cli.output import PATH, echo_json, format_options, json_option, note, progress_bar, show
from anaphora.core.errors import AnaphoraError
from anaphora.core.lock import lock_output

if TYPE_CHECKING:
    from anaphora.measure.pairs import Statistics


@click.command(
    epilog="""\b
Examples:
  anaphora measure pairs -r ref.en -t google.en -t mine.en -l de-en -o pairs.jsonl
  anaphora measure pairs -s src.de -r ref.en -t mine.en -l de-en --kind noisy --pair-list agreed.json -o pairs.jsonl
"""
)
@click.option("-s", "--source", type=PATH, help="Source sentences; with them the pairs test translation systems, too.")
@click.option("-r", "--reference", type=PATH, required=True, help="The reference translation.")
@click.option("-t", "--translation", "systems", type=PATH, multiple=True, help="A system's translation. Repeatable.")
@click.option("--name", "names", multiple=True, help="The name of a system, one for each -t.")
@click.option("-l", "--languages", required=True, metavar="SRC-TGT")
@click.option("-o", "--output", type=PATH, required=True, metavar="PAIRS.jsonl")
@click.option("--kind", type=click.Choice(["noisy", "system", "both"]), default="both", show_default=True)
@click.option("--context", type=click.IntRange(0), default=2, show_default=True, help="Context sentences.")
@click.option("--docids", is_flag=True, help="Every line is docid⇥sentence; else empty lines end documents.")
@click.option("--pair-list", type=PATH, help="Keep only the pronoun pairs of this list that annotators agree on.")
@click.option("--agreement", type=Share(0, 1), default=0.8, show_default=True, help="Minimum, with --pair-list.")
@click.option("--pronouns", type=PATH, help="Your own list of pronouns (TOML).")
@click.option(
    "--aligner",
    type=click.Choice(["edit", "rescued", "statistical"]),
    default="edit",
    show_default=True,
    help="How pronouns of both texts are aligned.",
)
@click.option("--common-context", is_flag=True, help="Use the reference's context for translations, too.")
@click.option("--year", help="The year or name of the test set, stored with every pair.")
@click.option("--draw-from", metavar="PAIRS", help="Instead of -t: sample errors by the confusions in these pairs.")
@click.option("--balanced", is_flag=True, help="Keep as many he:it as it:he and so on, with --draw-from.")
@click.option("--share", type=Share(0, 1), default=1.0, show_default=True, help="Share of sentences, with --draw-from.")
@click.option("--seed", type=click.IntRange(0), default=12345, show_default=True, help="Random seed, with --draw-from.")
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
    """Write pairs where a system's pronoun differs from the reference's (Jwalapuram et al. 2019, §3).

    A noisy pair is the reference and the reference with one pronoun of a system; a system pair is the reference and
    the whole translation. The pairs are a suite, which any system can be evaluated on.
    """
    from anaphora import api
    from anaphora.measure.pair_list import read_pair_list
    from anaphora.measure.pair_suite import Files, write_pairs, write_sampled_pairs
    from anaphora.measure.pairs import Settings

    if bool(systems) == (draw_from is not None):
        raise click.UsageError("pass translations (-t), or pairs to sample errors from (--draw-from)")
    if output.resolve() in {path.resolve() for path in (reference, *systems, *([source] if source else []))}:
        raise AnaphoraError(f"{output} is one of the input files. Choose another output")
    click.get_current_context().with_resource(lock_output(output))
    judged = read_pair_list(pair_list) if pair_list else None
    settings = Settings(kind, aligner, judged, agreement, not common_context, year)
    files = Files(reference, systems, source, names, pronouns, docids, context)
    if draw_from is not None:
        confused = api.load_suite(draw_from)
        written = write_sampled_pairs(
            files, languages, confused, output, seed=seed, share=share, year=year, equal=balanced
        )
    else:
        with progress_bar("steps") as progress:
            written = write_pairs(files, languages, output, settings, progress)
    if as_json:
        counts = written.statistics.to_dict()
        echo_json({"suite": written.name, "output": str(output), "sha256": written.sha256, **counts})
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
@click.option("--by-year", is_flag=True, help="Show a row for each year.")
@format_options
def counts(suites: tuple[str, ...], by_year: bool, format: str, as_json: bool) -> None:
    """Count unique pairs and source contexts by language and year (Tables 2 and 3 of the paper)."""
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
    """Write example files into FOLDER: a reference, two systems, annotators' judgments, a config."""
    from anaphora.measure.pair_suite import write_example

    files = [str(path) for path in write_example(folder)]
    if as_json:
        echo_json({"files": files})
    else:
        note(f"made-up examples: {', '.join(files)}")
