"""`anaphora autoprf`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from anaphora.cli.output import PATH, format_options, note, progress_bar
from anaphora.cli.sampling import sampling_options, show_all
from anaphora.cli.text import tell_texts, text_options


@click.command(
    epilog="""\b
Examples:
  anaphora autoprf -s src.en -r ref.fr -t hyp.fr --ref-align ref.align --hyp-align hyp.align --pronouns it,they
  anaphora autoprf -s src.en -r ref.fr -t a.fr -t b.fr --ref-align r.al --hyp-align a.al --hyp-align b.al --json
  anaphora autoprf -s src.en -r ref.fr -t hyp.fr -l en-fr
"""
)
@click.option("-s", "--source", required=True, type=PATH, help="The source text, a sentence per line.")
@click.option("-r", "--reference", required=True, type=PATH, help="The reference translation.")
@click.option("-t", "--hypothesis", required=True, type=PATH, multiple=True, help="A translation. Repeatable.")
@click.option("-l", "--languages", metavar="SRC-TGT", help="Such as en-fr; by default what the files' names end in.")
@click.option("--ref-align", type=PATH, help="Alignment of source and reference, in Pharaoh format (0-0 1-2).")
@click.option("--hyp-align", type=PATH, multiple=True, help="Alignment of source and translation, one for each -t.")
@click.option("--name", multiple=True, help="What a translation is called in the result, one for each -t.")
@click.option("--pronouns", default="it,they", show_default=True, metavar="A,B,…", help="Source pronouns, in any case.")
@click.option(
    "--clip",
    type=click.Choice(["occurrence", "corpus"]),
    default="occurrence",
    show_default=True,
    help="Match words pronoun by pronoun as the original does, or over the whole text.",
)
@click.option("--lowercase", is_flag=True, help="Compare words without regard to case.")
@text_options
@sampling_options(test="randomisation")
@format_options
def autoprf(
    source: Path,
    reference: Path,
    hypothesis: tuple[Path, ...],
    languages: str | None,
    ref_align: Path | None,
    hyp_align: tuple[Path, ...],
    name: tuple[str, ...],
    pronouns: str,
    clip: str,
    lowercase: bool,
    tokenize: str,
    normalize: bool,
    format: str,
    as_json: bool,
    **sampling: Any,
) -> None:
    """AutoPRF: the words that a translation has for source pronouns, by precision and recall against a reference.

    Without alignment files the texts are aligned, as `anaphora align` does it.
    """
    from anaphora.metrics.apt.task import Files
    from anaphora.metrics.autoprf import autoprf_of_files
    from anaphora.reports.metric_tables import autoprf_tables
    from anaphora.stats.intervals import Resampling

    files = Files(source, reference, hypothesis, ref_align, hyp_align, names=name)
    words = [word.strip() for word in pronouns.split(",") if word.strip()]
    with progress_bar("iterations") as progress:
        result = autoprf_of_files(
            files,
            pronouns=words,
            clip=clip,
            lowercase=lowercase,
            tokenize=tokenize,
            normalize=normalize,
            languages=languages or "",
            resampling=Resampling(**sampling),
            progress=progress,
        )
    tell_texts(result.texts, normalized=False)
    for system, lines in result.outside.items():
        note(f"{system}: {lines:,} alignments name words past the end of the source; these points are left out")
    show_all(autoprf_tables(result), result.to_dict(), format, as_json)
