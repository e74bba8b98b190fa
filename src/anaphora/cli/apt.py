"""`anaphora apt`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.cli.output import PATH, echo_json, format_options, note, progress_bar
from anaphora.cli.sampling import sampling_options, show_all
from anaphora.cli.text import tell_texts, text_options
from anaphora.core.errors import AnaphoraError

if TYPE_CHECKING:
    from anaphora.metrics.apt.result import AptResult

VARIANTS = ("paper", "idiap", "reference-side")
SAMPLING = ("confidence", "samples", "trials", "seed", "test")
SAME_NAMES = ("variant", "lists", "tokenize", "normalize", "align_backend", "align_model", "by_pronoun")
HEARD_WITH_CONFIG = {"config", "variant", "details", "confusion", "format", "as_json", *SAMPLING}


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
