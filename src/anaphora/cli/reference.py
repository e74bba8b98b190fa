"""`anaphora apt`, `autoprf`, `metrics` and `align`: translations against a reference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.align.alignment import HEURISTICS
from anaphora.align.backend import Settings
from anaphora.align.tokenize import pair_of
from anaphora.cli.options import (
    PATH,
    format_options,
    given,
    json_option,
    option,
    options,
    sampling_options,
    split_aligner,
    split_words,
    text_options,
)
from anaphora.cli.output import echo_json, note, progress_bar, show_all, tell, tell_texts
from anaphora.core.errors import AnaphoraError

if TYPE_CHECKING:
    from anaphora.align.aligner import Aligner
    from anaphora.align.files import Aligned
    from anaphora.metrics.apt.result import AptResult

VARIANTS = ("paper", "idiap", "reference-side")
SAMPLING = ("confidence", "samples", "trials", "seed", "test")
SAME_NAMES = ("variant", "lists", "tokenize", "normalize", "by_pronoun")
USED_WITH_CONFIG = {"config", "variant", "details", "confusion", "format", "as_json", *SAMPLING}
FIXED_IN_SAVED = ("corpus", "save", "model", "cased", "tokenize", "normalize", "languages", "forward", "backward")


@click.command(
    epilog="""\b
Examples:
  anaphora apt -s src.en -r ref.fr -t a.fr --reference-alignments r.al --translation-alignments a.al -l en-fr
  anaphora apt -s src.en -r ref.fr -t a.fr -t b.fr -l en-fr --by-pronoun
  anaphora apt -s src.en -r ref.fr -t a.fr -l en-fr --pronouns it --details pronouns.tsv
  anaphora apt --variant idiap --config data_es-en/config_1
  anaphora apt --example example
"""
)
@options("source", "reference", "translation", "languages", "reference-alignments", "translation-alignments", "name")
@option("--variant", type=click.Choice(VARIANTS), default="paper", help="Variant of APT (docs/apt.md).")
@option("--config", type=PATH, metavar="FILE", help="Run a config file of the original program (with --variant idiap).")
@options("pronouns")
@option("--weights", default="1,0.5,0,0,0,0", metavar="W1,…,W6", help="Weights of the six cases.")
@option("--discard", metavar="CASES", default="", help="Cases to leave out of the score, for example 5,6.")
@option("--no-rescue", is_flag=True, help="Do not correct alignments with APT's pronoun heuristics.")
@options("lists", "corpus")
@options("aligner", default="thot")
@option("--align-model", metavar="NAME", hidden=True, help="Model of the aligner (use --aligner NAME:MODEL).")
@text_options
@option(
    "--source-tags",
    type=PATH,
    metavar="FILE",
    help="Part-of-speech tags of the source, one per word, to find its pronouns.",
)
@option(
    "--reference-tags",
    type=PATH,
    aliases=("--ref-tags",),
    metavar="FILE",
    help="Part-of-speech tags of the reference, one per word.",
)
@option(
    "--translation-tags",
    type=PATH,
    multiple=True,
    aliases=("--hyp-tags",),
    metavar="FILE",
    help="Part-of-speech tags of a translation, one per word (one file per -t).",
)
@option("--pronoun-tags", default="PRON", metavar="A,B,…", help="Tags that mark pronouns.")
@option("--by-pronoun", is_flag=True, help="Compare systems for each pronoun as well.")
@option(
    "--trials",
    type=click.IntRange(100),
    metavar="N",
    help="Number of trials of approximate randomization (default: as many as --samples).",
)
@sampling_options(test="randomisation")
@option("--confusion", is_flag=True, help="Print the confusion matrix of each system (JSON always has it).")
@options("details")
@option(
    "--score-file",
    type=PATH,
    multiple=True,
    metavar="FILE",
    help="Write the original program's .score file, one per -t.",
)
@option(
    "--matrix-length",
    type=click.IntRange(1),
    default=50,
    metavar="N",
    help="Maximum number of labels in the matrix of a score file.",
)
@options("example")
@format_options
def apt(
    config: Path | None,
    example: Path | None,
    details: Path | None,
    score_file: tuple[Path, ...],
    matrix_length: int,
    confusion: bool,
    format: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Compute APT, the accuracy of pronoun translation against a reference.

    Triples of a source pronoun, its reference and its candidate translation fall into six cases: same, equivalent,
    different, no candidate, no reference, neither. Texts without alignment files are aligned as by `anaphora align`.
    """
    from anaphora.metrics.apt.idiap_output import write_score_files
    from anaphora.metrics.apt.result import write_details
    from anaphora.reports.metric_tables import apt_tables

    if example:
        _write_example(example, as_json)
        return
    result = _run_config(config, options) if config else _measure(options)
    if not any(result.systems[0].score.cases):
        note("no pronouns were found, so the score is undefined")
    tell_texts(result.texts, normalized=False)
    if details:
        write_details(result, details)
    if score_file:
        write_score_files(result, score_file, matrix_length)
    show_all(apt_tables(result, confusion=confusion), result.to_dict(), format, as_json)


def _measure(options: dict[str, Any]) -> AptResult:
    from anaphora.metrics.apt.metric import AptOptions, measure
    from anaphora.metrics.apt.task import Files, parse_cases, parse_weights

    needed = {"source": "-s", "reference": "-r", "translations": "-t", "languages": "-l"}
    missing = [flag for name, flag in needed.items() if not options[name]]
    if missing:
        raise AnaphoraError(
            f"missing {', '.join(missing)}: APT needs a source, a reference, translations and languages"
        )
    files = Files(
        source=options["source"],
        reference=options["reference"],
        hypotheses=options["translations"],
        reference_alignment=options["reference_alignments"],
        hypothesis_alignments=options["translation_alignments"],
        source_tags=options["source_tags"],
        reference_tags=options["reference_tags"],
        hypothesis_tags=options["translation_tags"],
        names=options["names"],
    )
    backend, model = split_aligner(options["aligner"], options["align_model"])
    chosen = AptOptions(
        pronouns=split_words(options["pronouns"]),
        weights=parse_weights(options["weights"]),
        discard=parse_cases(options["discard"]),
        rescue=not options["no_rescue"],
        pronoun_tags=split_words(options["pronoun_tags"]),
        corpora=options["corpus"],
        align_backend=backend,
        align_model=model,
        **{name: options[name] for name in (*SAME_NAMES, *SAMPLING)},
    )
    with progress_bar("steps") as progress:
        return measure(files, options["languages"], chosen, progress)


def _run_config(config: Path, options: dict[str, Any]) -> AptResult:
    """Run a config of the original program; options that it would override are refused."""
    from anaphora.metrics.apt.idiap_output import run_config
    from anaphora.stats.resampling import Resampling

    if options["variant"] != "idiap":
        raise AnaphoraError("--config runs a config of the original program. Add --variant idiap.")
    _refuse_ignored(click.get_current_context())
    result, files = run_config(config, Resampling(**{name: options[name] for name in SAMPLING}))
    note(f"wrote {files[0]} and {files[1]}")
    return result


def _write_example(folder: Path, as_json: bool) -> None:
    from anaphora.metrics.examples import write_example

    files = [str(path) for path in write_example("apt", folder)]
    if as_json:
        echo_json({"files": files})
    else:
        note(f"invented examples: {', '.join(files)}")


def _refuse_ignored(context: click.Context) -> None:
    for parameter in context.command.params:
        name = parameter.name or ""
        if (
            name not in USED_WITH_CONFIG
            and context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        ):
            raise AnaphoraError(f"{parameter.opts[-1]} cannot be combined with --config, which sets it")


@click.command(
    epilog="""\b
Examples:
  anaphora autoprf -s src.en -r ref.fr -t hyp.fr --reference-alignments r.al --translation-alignments h.al
  anaphora autoprf -s src.en -r ref.fr -t a.fr -t b.fr -l en-fr --json
  anaphora autoprf -s src.en -r ref.fr -t hyp.fr -l en-fr
"""
)
@options("source", "reference", "translation", required=True)
@options("languages", "reference-alignments", "translation-alignments", "name")
@options("pronouns", default="it,they", help="Source pronouns to evaluate, in any case.")
@option(
    "--clip",
    type=click.Choice(["occurrence", "corpus"]),
    default="occurrence",
    help="Clip matches for each pronoun, as the original does, or over the whole corpus.",
)
@option("--ignore-case", is_flag=True, aliases=("--lowercase",), help="Compare words without regard to case.")
@text_options
@sampling_options(test="randomisation")
@format_options
def autoprf(languages: str | None, pronouns: str, format: str, as_json: bool, **settings: Any) -> None:
    """Compute AutoPRF: precision and recall of the translations of source pronouns against a reference.

    Texts without alignment files are aligned as by `anaphora align`.
    """
    from anaphora import api_texts
    from anaphora.reports.metric_tables import autoprf_tables

    with progress_bar("iterations") as progress:
        result = api_texts.autoprf(
            languages=languages or "", pronouns=split_words(pronouns), progress=progress, **settings
        )
    tell_texts(result.texts, normalized=False)
    for system, lines in result.outside.items():
        note(f"{system}: {lines:,} alignments have indices beyond the end of the source; these links are ignored")
    show_all(autoprf_tables(result), result.to_dict(), format, as_json)


@click.command(
    epilog="""\b
Examples:
  anaphora metrics -r ref.fr -t hyp.fr -l en-fr
  anaphora metrics -r ref.fr -t a.fr -t b.fr -l en-fr --metric bleu,chrf --metric meteor-pronouns
  anaphora metrics -r one.fr -r other.fr -t hyp.fr -l en-fr
  anaphora metrics -s src.en -r ref.de -t hyp.de -l en-de --metric comet
"""
)
@options("reference", multiple=True, required=True)
@options("translation", required=True)
@options("source", "languages", "name")
@option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    default=["bleu,chrf,ter,meteor"],
    help="Metric: bleu, chrf, chrf++, ter, meteor, meteor-pronouns or comet (repeatable, or separated by commas).",
)
@options("tokenize")
@option("--tokenised", is_flag=True, hidden=True, help="Same as --tokenize none.")
@option(
    "--normalize-text/--no-normalize-text",
    "normalize",
    default=None,
    aliases=("--normalize", "--no-normalize"),
    help="Unify apostrophes, spaces and full-width characters for all metrics, or for none (default: for METEOR only).",
)
@options("pronouns", help="Pronouns of meteor-pronouns (default: those of the DiscoMT shared tasks).")
@option(
    "--frequency-corpus",
    type=PATH,
    aliases=("--corpus",),
    metavar="FILE",
    help="Text from which METEOR's function words are counted (default: the reference).",
)
@options("wordnet")
@option(
    "--meteor",
    type=click.Choice(["universal", "ranking"]),
    default="universal",
    help="METEOR's parameters: for any language, or tuned for the target language.",
)
@option("--comet-model", default="Unbabel/wmt22-comet-da", help="COMET model: a name, or a .ckpt file.")
@option("--comet-gpus", type=click.IntRange(0), default=0, metavar="N", help="Number of GPUs for COMET.")
@sampling_options(test="bootstrap")
@format_options
def metrics(
    languages: str | None,
    metrics: tuple[str, ...],
    tokenize: str,
    tokenised: bool,
    pronouns: str | None,
    format: str,
    as_json: bool,
    **settings: Any,
) -> None:
    """Compute BLEU, chrF, TER, METEOR and COMET of translations, with intervals and paired tests."""
    from anaphora import api_texts
    from anaphora.reports.metric_tables import metrics_tables

    result = api_texts.compute_metrics(
        languages=languages or "",
        metrics=[word for given in metrics for word in split_words(given)],
        tokenize="none" if tokenised else tokenize,
        pronouns=split_words(pronouns),
        **settings,
    )
    tell_texts(result.texts, normalized=False)
    tell(result.warnings())
    show_all(metrics_tables(result), result.to_dict(), format, as_json)


@click.command(
    epilog="""\b
Examples:
  anaphora align talk.en talk.fr -o talk.align
  anaphora align talk.en talk.fr -o talk.align --corpus train.en train.fr --save en-fr.model
  anaphora align new.en new.fr -o new.align --aligner-model en-fr.model
  anaphora align raw.en raw.fr -o raw.align -l en-fr --tokens tok.en tok.fr
  anaphora align talk.en talk.fr -o talk.align --aligner pharaoh --forward ef.align --backward fe.align
"""
)
@click.argument("source", type=PATH, metavar="SRC")
@click.argument("target", type=PATH, metavar="TGT")
@option(
    "-o",
    "--output",
    required=True,
    type=PATH,
    help="Alignments in Pharaoh format: source-target word indices from 0, one line per pair.",
)
@options("aligner")
@option("--model", metavar="NAME", hidden=True, help="Model of the aligner (use --aligner NAME:MODEL).")
@option(
    "--symmetrize",
    type=click.Choice(HEURISTICS),
    help="Heuristic that merges both directions (default: grow-diag-final).",
)
@options("corpus")
@option("--save", type=PATH, metavar="FOLDER", help="Save the trained aligner to this folder.")
@options("aligner-model", aliases=("--load",))
@options("tokenize", "normalize-text", "languages")
@option("--tokens", type=PATH, nargs=2, metavar="SRC TGT", help="Write the tokenized text that the indices refer to.")
@option("--keep-case", "cased", is_flag=True, aliases=("--cased",), help="Distinguish words that differ only in case.")
@option("--forward", type=PATH, metavar="FILE", help="Alignments to read, with --aligner pharaoh.")
@option(
    "--backward",
    type=PATH,
    metavar="FILE",
    help="Alignments of the other direction, also as source-target, with --aligner pharaoh.",
)
@option("--gold", type=PATH, metavar="FILE", help="Gold alignments to compare with: precision, recall, F.")
@options("seed", "threads")
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
    """Align the words of SRC and TGT, which are parallel line by line.

    With --corpus the aligner is trained on that text as well: the more text, the better the links.
    """
    from anaphora.align.aligner import check_output
    from anaphora.align.files import align_files

    if save is not None:
        check_output(save)
    aligner = _aligner((source, target), save=save, **options)
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
    *,
    aligner: str,
    model: str | None,
    aligner_model: Path | None,
    languages: str | None,
    cased: bool,
    save: Path | None,
    symmetrize: str | None,
    threads: int | None,
    **settings: Any,
) -> Aligner:
    """The saved aligner of --aligner-model, or a new one."""
    from anaphora.align.aligner import Aligner

    pair = pair_of(languages, *texts)
    backend, model = split_aligner(aligner, model)
    if aligner_model is None:
        if backend == "pharaoh" and save is not None:
            raise AnaphoraError("--save: the aligner 'pharaoh' reads alignments and has nothing to save")
        if backend != "pharaoh" and (settings["forward"] or settings["backward"]):
            raise AnaphoraError("--forward and --backward name alignments to read and need --aligner pharaoh")
        chosen = Settings(backend, model, symmetrize, threads=threads, lowercase=not cased, languages=pair, **settings)
        return Aligner(chosen)
    parameters = click.get_current_context().command.params
    for parameter in parameters:
        if parameter.name in FIXED_IN_SAVED and given(parameter.name):
            refused = (parameter.secondary_opts or parameter.opts)[-1]
            raise AnaphoraError(f"{refused} cannot be combined with --aligner-model: it was set when that was trained")
    return Aligner.load(
        aligner_model, backend=backend if given("aligner") else None, symmetrize=symmetrize, threads=threads
    )


def _tell(found: Aligned, *, tokens: bool) -> None:
    settings, backend = found.aligner.settings, found.aligner.backend
    how = f"{settings.backend} {backend.model}, {found.aligner.symmetrize}"
    note(f"{found.pairs:,} pairs, {found.points:,} links: {found.output} ({how})")
    if not tokens and any(treatment.tokenize == "moses" for treatment in found.texts.values()):
        note("the text was tokenized with Moses, and indices count its tokens. Write them with --tokens SRC TGT")
    tell_texts(found.texts)
    if found.empty or found.unaligned:
        note(f"without links: {found.empty:,} pairs with an empty side, {found.unaligned:,} other pairs")
    if not backend.reproducible:
        note(f"{backend.version()} is not deterministic: links may differ slightly between runs")
    if found.agreement is not None:
        figures = found.agreement
        values = {"precision": figures.precision, "recall": figures.recall, "F": figures.f}
        shown = (f"{name} {'–' if value is None else f'{value:.3f}'}" for name, value in values.items())
        click.echo(f"against {figures.given:,} gold links: {', '.join(shown)}")
