"""`anaphora apt`, `autoprf`, `metrics` and `align`: translations against a reference."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.align.alignment import DEFAULT as SYMMETRIZE
from anaphora.align.alignment import HEURISTICS
from anaphora.align.backend import KINDS, Settings
from anaphora.align.tokenize import DEFAULT, TOKENIZERS, pair_of
from anaphora.cli.options import PATH, TOKENIZE_HELP, format_options, json_option, sampling_options, text_options
from anaphora.cli.output import echo_json, note, progress_bar, show_all, tell, tell_texts
from anaphora.core.errors import AnaphoraError

if TYPE_CHECKING:
    from anaphora.align.aligner import Aligner
    from anaphora.align.files import Aligned
    from anaphora.metrics.apt.result import AptResult

VARIANTS = ("paper", "idiap", "reference-side")
SAMPLING = ("confidence", "samples", "trials", "seed", "test")
SAME_NAMES = ("variant", "lists", "tokenize", "normalize", "align_backend", "align_model", "by_pronoun")
HEARD_WITH_CONFIG = {"config", "variant", "details", "confusion", "format", "as_json", *SAMPLING}
DEFAULTS = Settings()


@click.command(
    epilog="""\b
Examples:
  anaphora apt -s src.en -r ref.fr -t hyp.fr --ref-align ref.align --hyp-align hyp.align -l en-fr
  anaphora apt -s src.en -r ref.fr -t a.fr -t b.fr -l en-fr --by-pronoun
  anaphora apt -s src.en -r ref.fr -t a.fr -l en-fr --pronouns it --details pronouns.tsv
  anaphora apt --variant idiap --config data_es-en/config_1
  anaphora apt --example example
"""
)
@click.option("-s", "--source", type=PATH, help="The source text, a sentence per line.")
@click.option("-r", "--reference", type=PATH, help="The reference translation.")
@click.option("-t", "--hypothesis", type=PATH, multiple=True, help="A translation to evaluate. Repeatable.")
@click.option("-l", "--languages", metavar="PAIR", help="Whose pronoun lists to use, such as en-fr.")
@click.option("--ref-align", type=PATH, help="Alignment of source and reference, in Pharaoh format (0-0 1-2).")
@click.option("--hyp-align", type=PATH, multiple=True, help="Alignment of source and translation, one for each -t.")
@click.option("--name", multiple=True, help="What a translation is called in the result, one for each -t.")
@click.option("--variant", type=click.Choice(VARIANTS), default="paper", show_default=True, help="See docs/apt.md.")
@click.option("--config", type=PATH, help="Run a config of the original program (with --variant idiap).")
@click.option("--pronouns", metavar="A,B,…", help="The pronouns to evaluate, instead of those of the lists.")
@click.option("--weights", default="1,0.5,0,0,0,0", show_default=True, help="What each of the six cases is worth.")
@click.option("--discard", metavar="CASES", default="", help="Cases to leave out of the score, such as 5,6.")
@click.option("--no-rescue", is_flag=True, help="Believe the alignment, without the heuristics for pronouns.")
@click.option("--lists", type=PATH, help="A TOML file with pronoun lists, over the built-in ones.")
@click.option("--corpus", type=PATH, nargs=2, multiple=True, metavar="SRC TGT", help="More text for the aligner.")
@click.option("--align-backend", default="thot", show_default=True, help="What aligns texts without alignment files.")
@click.option("--align-model", metavar="NAME", help="A model of that backend, such as hmm.")
@text_options
@click.option("--source-tags", type=PATH, help="A tag for each word of the source: its pronouns by their tags.")
@click.option("--ref-tags", type=PATH, help="A tag for each word of the reference.")
@click.option("--hyp-tags", type=PATH, multiple=True, help="A tag for each word of a translation, one for each -t.")
@click.option("--pronoun-tags", default="PRON", show_default=True, metavar="A,B,…", help="The tags of pronouns.")
@click.option("--by-pronoun", is_flag=True, help="Compare systems pronoun by pronoun, too.")
@click.option("--trials", type=click.IntRange(100), default=10_000, show_default=True, help="Of randomisation.")
@sampling_options(test="randomisation")
@click.option("--confusion", is_flag=True, help="Print the confusion matrix of each system (JSON always has it).")
@click.option("--details", type=PATH, help="Write one row per pronoun to this file (TSV).")
@click.option("--score-file", type=PATH, multiple=True, help="Write the original program's .score, one for each -t.")
@click.option("--matrix-length", type=click.IntRange(1), default=50, show_default=True, help="Labels in a score file.")
@click.option("--example", type=PATH, metavar="FOLDER", help="Write made-up example files into a folder, and stop.")
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
    """APT: how many pronouns does a translation have as the reference has them?

    Triples of a source pronoun, its reference and its candidate translation fall into six cases: the same, equivalent,
    different, no candidate, no reference, neither. Texts without alignment files are aligned, as `anaphora align` does.
    """
    from anaphora.metrics.apt.idiap_output import write_score_files
    from anaphora.metrics.apt.result import write_details
    from anaphora.reports.metric_tables import apt_tables

    if example:
        _write_example(example, as_json)
        return
    result = _run_config(config, options) if config else _measure(options)
    if not any(result.systems[0].score.cases):
        note("no pronoun was found: the score is not defined")
    tell_texts(result.texts, normalized=False)
    if details:
        write_details(result, details)
    if score_file:
        write_score_files(result, score_file, matrix_length)
    show_all(apt_tables(result, confusion=confusion), result.to_dict(), format, as_json)


def _measure(options: dict[str, Any]) -> AptResult:
    from anaphora.metrics.apt.metric import AptOptions, measure
    from anaphora.metrics.apt.task import Files, parse_cases, parse_weights

    needed = {"source": "-s", "reference": "-r", "hypothesis": "-t", "languages": "-l"}
    missing = [flag for name, flag in needed.items() if not options[name]]
    if missing:
        raise AnaphoraError(f"missing {', '.join(missing)}: source, reference, translations and languages are needed")
    files = Files(
        source=options["source"],
        reference=options["reference"],
        hypotheses=options["hypothesis"],
        reference_alignment=options["ref_align"],
        hypothesis_alignments=options["hyp_align"],
        source_tags=options["source_tags"],
        reference_tags=options["ref_tags"],
        hypothesis_tags=options["hyp_tags"],
        names=options["name"],
    )
    chosen = AptOptions(
        pronouns=_words(options["pronouns"]),
        weights=parse_weights(options["weights"]),
        discard=parse_cases(options["discard"]),
        rescue=not options["no_rescue"],
        pronoun_tags=_words(options["pronoun_tags"]),
        corpora=options["corpus"],
        **{name: options[name] for name in (*SAME_NAMES, *SAMPLING)},
    )
    with progress_bar("steps") as progress:
        return measure(files, options["languages"], chosen, progress)


def _run_config(config: Path, options: dict[str, Any]) -> AptResult:
    """Settings come from the config; an option that says otherwise is a mistake, as it would not be heard."""
    from anaphora.metrics.apt.idiap_output import run_config
    from anaphora.stats.intervals import Resampling

    if options["variant"] != "idiap":
        raise AnaphoraError("--config is a config of the original program: add --variant idiap")
    _refuse_unheard(click.get_current_context())
    result, files = run_config(config, Resampling(**{name: options[name] for name in SAMPLING}))
    note(f"wrote {files[0]} and {files[1]}")
    return result


def _write_example(folder: Path, as_json: bool) -> None:
    from anaphora.metrics.examples import write_example

    files = [str(path) for path in write_example("apt", folder)]
    if as_json:
        echo_json({"files": files})
    else:
        note(f"made-up examples: {', '.join(files)}")


def _refuse_unheard(context: click.Context) -> None:
    for parameter in context.command.params:
        name = parameter.name or ""
        if (
            name not in HEARD_WITH_CONFIG
            and context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        ):
            raise AnaphoraError(f"{parameter.opts[-1]} cannot be given with --config: the config says it")


def _words(text: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())


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


@click.command(
    epilog="""\b
Examples:
  anaphora metrics -r ref.fr -t hyp.fr -l en-fr
  anaphora metrics -r ref.fr -t a.fr -t b.fr -l en-fr --metric bleu,chrf --metric meteor-pronouns
  anaphora metrics -r one.fr -r other.fr -t hyp.fr -l en-fr
  anaphora metrics -s src.en -r ref.de -t hyp.de -l en-de --metric comet
"""
)
@click.option(
    "-r",
    "--reference",
    "references",
    required=True,
    type=PATH,
    multiple=True,
    help="A reference translation, a sentence per line. Repeatable: several references.",
)
@click.option("-t", "--hypothesis", required=True, type=PATH, multiple=True, help="A translation. Repeatable.")
@click.option("-s", "--source", type=PATH, help="The source text (for COMET).")
@click.option("-l", "--languages", default="", metavar="SRC-TGT", help="Such as en-fr: for tokenization and stems.")
@click.option("--name", multiple=True, help="What a translation is called in the result, one for each -t.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    default=["bleu,chrf,ter,meteor"],
    show_default=True,
    help="bleu, chrf, chrf++, ter, meteor, meteor-pronouns, comet. Repeatable, or with commas.",
)
@click.option(
    "--tokenize",
    type=click.Choice(TOKENIZERS),
    default=DEFAULT,
    show_default=True,
    help="For METEOR. auto: Moses, unless the text is tokenized already; none: BLEU takes it as tokenized, too.",
)
@click.option("--tokenised", is_flag=True, hidden=True, help="The same as --tokenize none.")
@click.option(
    "--normalize/--no-normalize",
    default=None,
    help="Make one of ’ ' &apos; &#39;, of spaces, of full-width signs for all metrics or for none.  [for METEOR]",
)
@click.option("--pronouns", default="", metavar="A,B,…", help="Those of meteor-pronouns; else the shared tasks'.")
@click.option("--corpus", type=PATH, help="A text in which METEOR's function words are frequent.  [the reference]")
@click.option("--wordnet", type=PATH, help="WordNet's folder, for METEOR's English synonyms.  [/usr/share/wordnet]")
@click.option(
    "--meteor",
    "parameters",
    type=click.Choice(["universal", "ranking"]),
    default="universal",
    show_default=True,
    help="METEOR's parameters: for any language, or tuned for the target language.",
)
@click.option("--comet-model", default="Unbabel/wmt22-comet-da", show_default=True, help="A name, or a .ckpt file.")
@click.option("--comet-gpus", type=click.IntRange(0), default=0, show_default=True)
@sampling_options(test="bootstrap")
@format_options
def metrics(
    references: tuple[Path, ...],
    hypothesis: tuple[Path, ...],
    source: Path | None,
    languages: str,
    name: tuple[str, ...],
    metrics: tuple[str, ...],
    tokenize: str,
    tokenised: bool,
    normalize: bool | None,
    pronouns: str,
    format: str,
    as_json: bool,
    **options: Any,
) -> None:
    """BLEU, chrF, TER, METEOR and COMET of translations, with intervals and paired tests."""
    from anaphora.metrics.corpus import measure, read_texts
    from anaphora.reports.metric_tables import metrics_tables
    from anaphora.stats.intervals import Resampling

    sampling = {key: options.pop(key) for key in ("samples", "seed", "confidence", "test")}
    texts = read_texts(
        references,
        hypothesis,
        source=source,
        names=name,
        languages=languages,
        tokenize="none" if tokenised else tokenize,
        normalize=normalize,
    )
    wanted = [word for given in metrics for word in _words(given)]
    result = measure(texts, wanted, resampling=Resampling(**sampling), pronouns=_words(pronouns), **options)
    tell_texts(result.texts, normalized=False)
    tell(result.warnings())
    show_all(metrics_tables(result), result.to_dict(), format, as_json)


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
    help=f"How both directions are merged; {SYMMETRIZE} by default.",
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
    from anaphora.align.aligner import check_place
    from anaphora.align.files import align_files

    if save is not None:
        check_place(save)
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
