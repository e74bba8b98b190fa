"""`anaphora apt`, `autoprf`, `metrics` and `align`: translations against a reference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora import api
from anaphora.align.alignment import HEURISTICS
from anaphora.cli.options import (
    NORMALIZE_TEXT,
    PATH,
    WORDS,
    Parsed,
    WholeNumber,
    aligner_spec,
    command,
    details_option,
    example_option,
    format_options,
    given,
    json_option,
    option,
    parameters,
    split_words,
)
from anaphora.cli.output import echo_json, note, note_all, note_texts, progress_bar, show_all, write_examples
from anaphora.core.errors import AnaphoraError

if TYPE_CHECKING:
    from anaphora.align.aligner import Aligned
    from anaphora.metrics.apt.result import AptResult

SAMPLING = ("trials", "test", "confidence", "samples", "seed")
USED_WITH_CONFIG = {"config", "variant", "details", "confusion", "format", "as_json", "database", *SAMPLING}
NEEDED = {"source": "-s", "reference": "-r", "translations": "-t", "languages": "-l"}


def _weights(text: str) -> tuple[float, ...]:
    from anaphora.metrics.apt.task import parse_weights

    return parse_weights(text)


def _cases(text: str) -> tuple[int, ...]:
    from anaphora.metrics.apt.task import parse_cases

    return parse_cases(text)


@command("""
anaphora apt -s src.en -r ref.fr -t a.fr --reference-alignments r.al --translation-alignments a.al -l en-fr
anaphora apt -s src.en -r ref.fr -t a.fr -t b.fr -l en-fr --by-pronoun
anaphora apt -s src.en -r ref.fr -t a.fr -l en-fr --pronouns it --details pronouns.tsv
anaphora apt -s src.en -r ref.fr -t a.fr -l en-fr --answers study
anaphora apt --variant idiap --config data_es-en/config_1
anaphora apt --example example
""")
@option("--config", type=PATH, metavar="FILE", help="Run a config file of the original program (with --variant idiap).")
@parameters(
    api.apt,
    source={"required": False},
    reference={"required": False},
    translations={"required": False},
    languages={"required": False},
    weights={"type": Parsed(_weights), "multiple": False, "metavar": "W1,…,W6"},
    discard={"type": Parsed(_cases), "multiple": False, "metavar": "CASES"},
    rescue={
        "flags": ("--no-rescue",),
        "flag_value": False,
        "show_default": False,
        "help": "Do not correct alignments with APT's pronoun heuristics.",
    },
    reference_tags={"aliases": ("--ref-tags",)},
    translation_tags={"aliases": ("--hyp-tags",)},
    pronoun_tags=WORDS,
    normalize=NORMALIZE_TEXT,
    trials={"type": WholeNumber(100)},
)
@option("--align-model", metavar="NAME", hidden=True, help="Model of the aligner (use --aligner NAME:MODEL).")
@option("--confusion", is_flag=True, help="Print the confusion matrix of each system (JSON always has it).")
@details_option
@option(
    "--score-file",
    type=PATH,
    multiple=True,
    metavar="FILE",
    help="Write the original program's .score file, one per -t.",
)
@option(
    "--matrix-length",
    type=WholeNumber(1),
    default=50,
    metavar="N",
    help="Maximum number of labels in the matrix of a score file.",
)
@example_option
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
    from anaphora.metrics.apt.idiap_output import write_score_files
    from anaphora.metrics.apt.result import write_details
    from anaphora.reports.metric_tables import apt_tables

    if example:
        write_examples("apt", example, as_json)
        return
    if score_file and options["answers"]:
        raise AnaphoraError("--score-file has the original program's cases only. Leave out --answers.")
    result = _run_config(config, options) if config else _measure(**options)
    if not any(result.systems[0].score.cases):
        note("no pronouns were found, so the score is undefined")
    note_texts(result.texts, normalized=False)
    if details:
        write_details(result, details)
    if score_file:
        write_score_files(result, score_file, matrix_length)
    show_all(apt_tables(result, confusion=confusion), result.to_dict(), format, as_json)


def _measure(aligner: str, align_model: str | None, **options: Any) -> AptResult:
    if missing := [flag for name, flag in NEEDED.items() if not options[name]]:
        raise AnaphoraError(
            f"missing {', '.join(missing)}: APT needs a source, a reference, translations and languages"
        )
    with progress_bar("steps") as progress:
        return api.apt(aligner=aligner_spec(aligner, align_model), progress=progress, **options)


def _run_config(config: Path, options: dict[str, Any]) -> AptResult:
    """Run a config of the original program; options that it would override are refused."""
    if options["variant"] != "idiap":
        raise AnaphoraError("--config runs a config of the original program. Add --variant idiap.")
    for parameter in click.get_current_context().command.params:
        name = parameter.name or ""
        if name not in USED_WITH_CONFIG and given(name):
            raise AnaphoraError(f"{parameter.opts[-1]} cannot be combined with --config, which sets it")
    result, files = api.run_apt_config(config, **{name: options[name] for name in SAMPLING})
    note(f"wrote {files[0]} and {files[1]}")
    return result


@command("""
anaphora autoprf -s src.en -r ref.fr -t hyp.fr --reference-alignments r.al --translation-alignments h.al
anaphora autoprf -s src.en -r ref.fr -t a.fr -t b.fr -l en-fr --json
anaphora autoprf -s src.en -r ref.fr -t hyp.fr -l en-fr
""")
@parameters(api.autoprf, ignore_case={"aliases": ("--lowercase",)}, normalize=NORMALIZE_TEXT)
@format_options
def autoprf(format: str, as_json: bool, **settings: Any) -> None:
    from anaphora.reports.metric_tables import autoprf_tables

    with progress_bar("iterations") as progress:
        result = api.autoprf(progress=progress, **settings)
    note_texts(result.texts, normalized=False)
    for system, lines in result.outside.items():
        note(f"{system}: {lines:,} alignments have indices beyond the end of the source; these links are ignored")
    show_all(autoprf_tables(result), result.to_dict(), format, as_json)


@command("""
anaphora metrics -r ref.fr -t hyp.fr -l en-fr
anaphora metrics -r ref.fr -t a.fr -t b.fr -l en-fr --metric bleu,chrf --metric meteor-pronouns
anaphora metrics -r one.fr -r other.fr -t hyp.fr -l en-fr
anaphora metrics -s src.en -r ref.de -t hyp.de -l en-de --metric comet
""")
@parameters(
    api.compute_metrics,
    metrics={
        "flags": ("--metric",),
        "metavar": "NAME",
        "default": ["bleu,chrf,ter,meteor"],
        "help": "Metric: bleu, chrf, chrf++, ter, meteor, meteor-pronouns or comet (repeatable, or separated by "
        "commas).",
    },
    normalize={"flags": NORMALIZE_TEXT["flags"], "aliases": NORMALIZE_TEXT["aliases"]},
    frequency_corpus={"aliases": ("--corpus",)},
)
@option("--tokenised", "tokenized", is_flag=True, hidden=True, help="Same as --tokenize none.")
@format_options
def metrics(
    metrics: tuple[str, ...], tokenize: str, tokenized: bool, format: str, as_json: bool, **settings: Any
) -> None:
    from anaphora.reports.metric_tables import metrics_tables

    result = api.compute_metrics(
        metrics=[word for text in metrics for word in split_words(text)],
        tokenize="none" if tokenized else tokenize,
        **settings,
    )
    note_texts(result.texts, normalized=False)
    note_all(result.warnings())
    show_all(metrics_tables(result), result.to_dict(), format, as_json)


@command("""
anaphora align talk.en talk.fr -o talk.align
anaphora align talk.en talk.fr -o talk.align --corpus train.en train.fr --save en-fr.model
anaphora align new.en new.fr -o new.align --aligner-model en-fr.model
anaphora align raw.en raw.fr -o raw.align -l en-fr --tokens tok.en tok.fr
anaphora align talk.en talk.fr -o talk.align --aligner pharaoh --forward ef.align --backward fe.align
""")
@parameters(
    api.align_texts,
    arguments=["source=SRC", "target=TGT"],
    aligner={"default": "thot"},
    symmetrize={"type": click.Choice(HEURISTICS)},
    save={"metavar": "FOLDER"},
    aligner_model={"aliases": ("--load",)},
    tokenize={"default": "auto"},
    normalize=NORMALIZE_TEXT,
    tokens={"metavar": "SRC TGT"},
    keep_case={"aliases": ("--cased",)},
)
@option("--model", metavar="NAME", hidden=True, help="Model of the aligner (use --aligner NAME:MODEL).")
@json_option
def align(
    aligner: str, model: str | None, save: Path | None, tokens: tuple[Path, Path] | None, as_json: bool, **options: Any
) -> None:
    """Align the words of SRC and TGT, which are parallel line by line.

    With --corpus, the aligner is trained on that text as well. More text gives better links.
    """
    chosen = aligner_spec(aligner, model) if given("aligner") or model else None
    options |= {name: None for name in ("tokenize", "normalize") if not given(name)}
    with progress_bar("steps") as progress:
        aligned = api.align_texts(aligner=chosen, save=save, tokens=tokens, progress=progress, **options)
    if as_json:
        note_texts(aligned.texts, normalized=False)
        echo_json(aligned.to_dict())
    else:
        _describe(aligned, tokens=tokens is not None)
        if save is not None:
            note(f"saved: {save}")


def _describe(aligned: Aligned, *, tokens: bool) -> None:
    settings, backend = aligned.aligner.settings, aligned.aligner.backend
    how = f"{settings.backend} {backend.model}, {aligned.aligner.symmetrize}"
    note(f"{aligned.pairs:,} pairs, {aligned.points:,} links: {aligned.output} ({how})")
    if not tokens and any(treatment.tokenize == "moses" for treatment in aligned.texts.values()):
        note("the text was tokenized with Moses, and indices count its tokens. Write them with --tokens SRC TGT")
    note_texts(aligned.texts)
    if aligned.empty or aligned.unaligned:
        note(f"without links: {aligned.empty:,} pairs with an empty side, {aligned.unaligned:,} other pairs")
    if not backend.reproducible:
        note(f"{backend.version()} is not deterministic: links may differ slightly between runs")
    if aligned.agreement is not None:
        figures = aligned.agreement
        values = {"precision": figures.precision, "recall": figures.recall, "F": figures.f}
        shown = (f"{name} {'–' if value is None else f'{value:.3f}'}" for name, value in values.items())
        click.echo(f"against {figures.given:,} gold links: {', '.join(shown)}")
