"""`anaphora align`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.align.alignment import DEFAULT, HEURISTICS
from anaphora.align.backend import KINDS, Settings
from anaphora.align.tokenize import TOKENIZERS, pair_of
from anaphora.cli.output import PATH, echo_json, json_option, note, progress_bar
from anaphora.cli.text import TOKENIZE_HELP, tell_texts
from anaphora.core.errors import AnaphoraError

if TYPE_CHECKING:
    from anaphora.align.aligner import Aligner
    from anaphora.align.files import Aligned

DEFAULTS = Settings()


@click.command(
    epilog="""\b
Examples:
  anaphora align talk.en talk.fr -o talk.align
  anaphora align talk.en talk.fr -o talk.align --corpus train.en train.fr --save en-fr.model
  anaphora align new.en new.fr -o new.align --load en-fr.model
  anaphora align raw.en raw.fr -o raw.align -l en-fr --tokens tok.en tok.fr
  anaphora align talk.en talk.fr -o talk.align --backend pharaoh --forward ef.align --backward fe.align
"""
)
@click.argument("source", type=PATH, metavar="SRC")
@click.argument("target", type=PATH, metavar="TGT")
@click.option(
    "-o", "--output", required=True, type=PATH, help="Alignments: source-target word numbers from 0, a line per pair."
)
@click.option("--backend", type=click.Choice(list(KINDS)), help=f"What finds the links; {DEFAULTS.backend} by default.")
@click.option(
    "--model", metavar="NAME", help="The backend's model. thot: eflomal (default), fast_align, hmm, ibm1 … ibm4."
)
@click.option(
    "--symmetrize",
    type=click.Choice(HEURISTICS),
    help=f"How both directions are merged; {DEFAULT} by default.",
)
@click.option(
    "--corpus", type=PATH, nargs=2, multiple=True, metavar="SRC TGT", help="More text to learn from. Repeatable."
)
@click.option("--save", type=PATH, metavar="FOLDER", help="Keep what was learned.")
@click.option("--load", type=PATH, metavar="FOLDER", help="Apply what was saved; nothing is learned.")
@click.option("--tokenize", type=click.Choice(TOKENIZERS), help=f"{TOKENIZE_HELP}  [default: {DEFAULTS.tokenize}]")
@click.option(
    "--normalize/--no-normalize",
    default=None,
    help="Make one of ’ ' &apos; &#39;, of no-break and other spaces, of full-width signs (the default), or not.",
)
@click.option("-l", "--languages", metavar="SRC-TGT", help="Such as en-fr; by default what the files' names end in.")
@click.option("--tokens", type=PATH, nargs=2, metavar="SRC TGT", help="Write the words that the numbers count.")
@click.option("--cased", is_flag=True, help="Tell words apart that differ in case only.")
@click.option("--forward", type=PATH, help="For --backend pharaoh: the alignments to read.")
@click.option(
    "--backward", type=PATH, help="For --backend pharaoh: those of the other direction, as source-target too."
)
@click.option("--gold", type=PATH, help="Alignments to compare with: precision, recall, F.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=DEFAULTS.seed, show_default=True)
@click.option("--threads", type=click.IntRange(1), help="Default: as many as give the same result every time.")
@json_option
def align(
    source: Path,
    target: Path,
    output: Path,
    corpus: tuple[tuple[Path, Path], ...],
    save: Path | None,
    tokens: tuple[Path, Path] | None,
    gold: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Align the words of SRC and TGT, which belong together line by line.

    The lines are aligned inside a larger corpus, if one is given: the more text, the better the links.
    """
    from anaphora.align.aligner import check_output
    from anaphora.align.files import align_files

    if save is not None:
        check_output(save)
    aligner = _aligner(texts=(source, target), corpus=bool(corpus), save=save, **options)
    with progress_bar("steps") as progress:
        found = align_files(
            aligner, source, target, output, corpora=corpus, tokens=tokens, gold=gold, progress=progress
        )
    if save is not None:
        aligner.save(save)
    if as_json:
        tell_texts(found.texts, normalized=False)
        echo_json(found.to_dict())
    else:
        _tell(found, tokens=tokens is not None)
        if save is not None:
            note(f"saved: {save}")


def _aligner(
    texts: tuple[Path, Path],
    load: Path | None,
    languages: str | None,
    cased: bool,
    corpus: bool,
    save: Path | None,
    **options: Any,
) -> Aligner:
    """The aligner that the options ask for: one that was saved, or a new one."""
    from anaphora.align.aligner import Aligner

    pair = pair_of(languages, *texts)
    chosen = {name: value for name, value in options.items() if value is not None}
    if load is None:
        if chosen.get("backend") == "pharaoh" and save is not None:
            raise AnaphoraError("--save: backend 'pharaoh' learns nothing that could be saved")
        if chosen.get("backend") != "pharaoh" and {"forward", "backward"} & chosen.keys():
            raise AnaphoraError("--forward and --backward name alignments to read: they go with --backend pharaoh")
        return Aligner(replace(DEFAULTS, **chosen, lowercase=not cased, languages=pair))
    fixed = {"--corpus": corpus, "--save": save, "--model": options["model"], "--cased": cased}
    fixed |= {"--tokenize": options["tokenize"], "--languages": languages}
    fixed |= {f"--{name}": options[name] for name in ("forward", "backward")}
    fixed |= {"--normalize" if options["normalize"] else "--no-normalize": options["normalize"] is not None}
    for name, value in fixed.items():
        if value:
            raise AnaphoraError(f"{name} does not go with --load: that was settled when the model was trained")
    return Aligner.load(load, **{name: options[name] for name in ("backend", "symmetrize", "threads")})


def _tell(found: Aligned, *, tokens: bool) -> None:
    settings, backend = found.aligner.settings, found.aligner.backend
    how = f"{settings.backend} {backend.model}, {found.aligner.symmetrize}"
    note(f"{found.pairs:,} pairs, {found.points:,} links: {found.output} ({how})")
    if not tokens and any(treatment.tokenize == "moses" for treatment in found.texts.values()):
        note("plain text was tokenized: the numbers count Moses' words. Write these with --tokens SRC TGT")
    tell_texts(found.texts)
    if found.empty or found.unaligned:
        note(f"without links: {found.empty:,} pairs with an empty side, {found.unaligned:,} others")
    if not backend.reproducible:
        note(f"{backend.version()} may give slightly different links every time")
    if found.agreement is not None:
        figures = found.agreement
        values = {"precision": figures.precision, "recall": figures.recall, "F": figures.f}
        shown = (f"{name} {'–' if value is None else f'{value:.3f}'}" for name, value in values.items())
        click.echo(f"against {figures.given:,} given links: {', '.join(shown)}")
