"""`anaphora measure`: pairs, scores and evaluation of the learned measure."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.align.tokenize import describe_signs
from anaphora.cli.app import LazyGroup
from anaphora.cli.options import PATH, Share, format_options, json_option, option, options, setting_options
from anaphora.cli.output import echo_json, note, progress_bar, show
from anaphora.core.errors import AnaphoraError
from anaphora.core.lock import lock_output

if TYPE_CHECKING:
    from anaphora.evaluation.result import Result
    from anaphora.evaluation.result import Settings as ResultSettings
    from anaphora.measure.model import Measure, ScoredText
    from anaphora.measure.pairs import Statistics
    from anaphora.measure.scoring import Human
    from anaphora.measure.texts import Line, Text


@click.group(
    cls=LazyGroup,
    epilog="""\b
Examples:
  anaphora measure pairs -r ref.en -t google.en -t mine.en -l de-en -o pairs.jsonl
  anaphora measure train my-measure.toml -o models/measure
  anaphora measure evaluate pairs.jsonl --model models/measure
  anaphora measure score models/measure -r ref.en -t google.en -t mine.en
""",
    lazy={
        "pairs": ("anaphora.cli.measure:pairs", "Make pairs of references and pronoun errors of real systems."),
        "train": ("anaphora.cli.measure_training:train", "Train the measure on pairs."),
        "adapt": ("anaphora.cli.measure_training:adapt", "Adapt a language model to in-domain text with LoRA."),
        "score": ("anaphora.cli.measure:score", "Score sentences, and compare and rank systems."),
        "evaluate": ("anaphora.cli.measure:evaluate", "Measure how often it prefers the reference."),
    },
    aliases={
        "counts": "anaphora.cli.measure:counts",
        "example": "anaphora.cli.measure:example",
        "table": "anaphora.cli.measure:removed",
        "tune": "anaphora.cli.measure:removed",
    },
)
def measure() -> None:
    """Train and use a measure of pronoun translation that is learned from pairs (Jwalapuram et al. 2019)."""


class Removed(click.Command):
    """A command that accepts whatever it was called with."""

    allow_extra_args = ignore_unknown_options = True


@click.command(cls=Removed, add_help_option=False)
@click.pass_context
def removed(ctx: click.Context) -> None:
    """Say where a removed command went."""
    raise click.UsageError(
        f"`measure {ctx.info_name}` was removed in version 0.2.0: what it did is now a part of "
        "experiments/eval-anaphora-2019. See CHANGELOG.md."
    )


@click.command(
    epilog="""\b
Examples:
  anaphora measure pairs -r ref.en -t google.en -t mine.en -l de-en -o pairs.jsonl
  anaphora measure pairs -s src.de -r ref.en -t mine.en -l de-en --kind noisy --pair-list agreed.json -o pairs.jsonl
"""
)
@options("source")
@options("reference", required=True)
@options("translation", "name")
@options("languages", required=True)
@option("-o", "--output", type=PATH, required=True, metavar="PAIRS.jsonl", help="Suite file to write.")
@option(
    "--kind",
    type=click.Choice(["noisy", "system", "both"]),
    default="both",
    help="Kind of pairs to write: one pronoun changed (noisy), the whole translation (system), or both.",
)
@option("--context", type=click.IntRange(0), default=2, metavar="N", help="Number of preceding sentences to include.")
@options("docids", "pair-list")
@option(
    "--agreement",
    type=Share(0, 1),
    default=0.8,
    help="Minimum agreement of annotators on a pronoun pair, with --pair-list.",
)
@option(
    "--pronoun-list",
    "pronouns",
    type=PATH,
    aliases=("--pronouns",),
    metavar="FILE",
    help="File with your own list of pronouns.",
)
@option(
    "--matching",
    "aligner",
    type=click.Choice(["edit", "rescued", "statistical"]),
    default="edit",
    aliases=("--aligner",),
    help="Method that matches pronouns of translation and reference.",
)
@options("common-context")
@option("--year", help="Year to store with every pair, or the name of a test set.")
@json_option
def pairs(
    source: Path | None,
    reference: Path,
    translations: tuple[Path, ...],
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
    as_json: bool,
) -> None:
    """Write pairs where a system's pronoun differs from the reference's (Jwalapuram et al. 2019, §3).

    A noisy pair is the reference and the reference with one pronoun of a system; a system pair is the reference and
    the whole translation. The pairs are a suite, which any system can be evaluated on.
    """
    from anaphora.languages.pair_list import read_pair_list
    from anaphora.measure.pairs import Files, Settings, write_pairs

    if not translations:
        raise click.UsageError("pass the translations of one or more systems: -t FILE")
    if output.resolve() in {path.resolve() for path in (reference, *translations, *([source] if source else []))}:
        raise AnaphoraError(f"{output} is one of the input files. Choose another output")
    click.get_current_context().with_resource(lock_output(output))
    judged = read_pair_list(pair_list) if pair_list else None
    settings = Settings(kind, aligner, judged, agreement, not common_context, year)
    files = Files(reference, translations, source, names, pronouns, docids, context)
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
@option("--by-year", is_flag=True, help="Print a row for each year.")
@format_options
def counts(suites: tuple[str, ...], by_year: bool, format: str, as_json: bool) -> None:
    """Count unique pairs and source contexts by language and year (Tables 2 and 3 of the paper)."""
    from anaphora import api
    from anaphora.measure.pairs import count_pairs
    from anaphora.reports.data_tables import pair_counts_table

    found = count_pairs((api.load_suite(name) for name in suites), by_year=by_year)
    show(pair_counts_table(found), {name: count.to_dict() for name, count in found.items()}, format, as_json)


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
    from anaphora.measure.pairs import write_example

    files = [str(path) for path in write_example(folder)]
    if as_json:
        echo_json({"files": files})
    else:
        note(f"invented examples: {', '.join(files)}")


@click.command(
    epilog="""\b
Examples:
  anaphora measure score MODEL "He was creative, and I will miss him."
  anaphora measure score MODEL "It was creative." --before "My uncle died." --plot attention.svg
  anaphora measure score MODEL -t google.en -t mine.en
  anaphora measure score MODEL -r ref.en -t google.en -t mine.en --common-context --details scores.tsv
"""
)
@click.argument("model", type=PATH)
@click.argument("sentences", nargs=-1, metavar="[SENTENCE]…")
@option("--before", multiple=True, help="Sentence before SENTENCE, in order (repeatable).")
@options("translation", "name", "reference", "docids", "common-context", "details")
@options("plot", aliases=("--why",))
@option("--line", type=click.IntRange(1), metavar="N", help="Line of the files to draw with --plot.")
@options("encoder", "cache", "threads", "confidence", "samples", "seed")
@format_options
def score(
    model: Path,
    sentences: tuple[str, ...],
    translations: tuple[Path, ...],
    encoder: str | None,
    cache: Path | None,
    threads: int | None,
    format: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Score sentences with a learned measure, or rank systems on the same sentences.

    A score is a sum over pronouns: it is meaningful compared with another translation of the same sentence, and a
    sentence without a pronoun has the score 0.
    """
    from anaphora.measure import check_installed

    if bool(sentences) == bool(translations):
        raise click.UsageError("give sentences, or files of systems (-t)")
    check_installed()
    from anaphora.measure.training import load_measure

    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    measure = load_measure(model, cache=cache, fallback=encoder)
    if sentences:
        _sentences(measure, sentences, options, format, as_json)
    else:
        _systems(measure, translations, options, format, as_json)


def _sentences(
    measure: Measure, sentences: tuple[str, ...], options: dict[str, Any], format: str, as_json: bool
) -> None:
    from anaphora.measure.texts import text_of
    from anaphora.table import Row, Table

    count, plain = measure.config.context_sentences, measure.config.plain
    passages = [(*options["before"], sentence) for sentence in sentences]
    texts = [text_of(passage, measure.readings, sentences=count, plain=plain) for passage in passages]
    found = measure.score(texts)
    if options["plot"]:
        _draw(options["plot"], [(s, t, f) for s, t, f in zip(sentences, texts, found, strict=True)])
    rows = []
    for sentence, scored in zip(sentences, found, strict=True):
        rows.append(Row((sentence, f"{scored.score:+.3f}")))
        for word, share in zip(scored.pronouns, scored.shares, strict=True):
            rows.append(Row((word, f"{share:+.3f}"), indent=1))
    document = [{"sentence": s, **_document(f)} for s, f in zip(sentences, found, strict=True)]
    show(Table("Learned pronoun measure", ("", "score"), tuple(rows)), {"sentences": document}, format, as_json)


def _systems(measure: Measure, systems: tuple[Path, ...], options: dict[str, Any], format: str, as_json: bool) -> None:
    from anaphora.measure.pairs import Files
    from anaphora.measure.scoring import rank, texts_of
    from anaphora.measure.texts import read_lines
    from anaphora.reports.data_tables import ranking_table

    reference: Path | None = options["reference"]
    if options["common_context"] and reference is None:
        raise AnaphoraError("--common-context is the reference's: name it with -r")
    names = Files(systems[0], systems, names=options["names"]).system_names()
    lines = list(
        read_lines(reference or systems[0], systems, context=measure.config.sentences, docids=options["docids"])
    )
    own = not options["common_context"]
    texts = {name: texts_of(lines, k, measure, own_context=own) for k, name in enumerate(names)}
    if reference is not None:
        if "reference" in texts:
            raise AnaphoraError("a system cannot be called 'reference' where there is one: name it with --name")
        texts = {"reference": texts_of(lines, None, measure, own_context=True), **texts}
    with progress_bar("texts") as progress:
        sampling = {name: options[name] for name in ("samples", "seed", "confidence")}
        found = rank(measure, texts, **sampling, progress=progress)
    if options["details"]:
        _write_details(options["details"], lines, found.details)
    if options["plot"]:
        _draw_line(options["plot"], options["line"], lines, texts, found.details)
    show(ranking_table(found), found.to_dict(), format, as_json)


def _draw_line(path: Path, line: int | None, lines: list[Line], texts: dict[str, list[Text]], details: Any) -> None:
    place = next((n for n, found in enumerate(lines) if found.number == line), None)
    if place is None:
        raise AnaphoraError("--plot with files draws one line: say which with --line N, a line that is not empty")
    _draw(path, [(name, texts[name][place], details[name][place]) for name in texts])


def _draw(path: Path, found: list[tuple[str, Text, ScoredText]]) -> None:
    from anaphora.reports.charts import write_chart
    from anaphora.reports.metric_charts import Attention, attention_chart

    passages = [
        Attention(f"{title}  ({scored.score:+.3f})", text.words, text.pronouns, scored.shares, scored.attention)
        for title, text, scored in found
    ]
    write_chart(path, attention_chart(passages))
    note(f"wrote {path}")


def _write_details(path: Path, lines: list[Line], details: Any) -> None:
    from anaphora.core.columns import tsv_line
    from anaphora.core.files import atomic_writer

    with atomic_writer(path) as out:
        out.write(tsv_line(["line", *details]).encode() + b"\n")
        for n, line in enumerate(lines):
            row = [str(line.number), *(f"{found[n].score:.6f}" for found in details.values())]
            out.write("\t".join(row).encode() + b"\n")


def _document(found: ScoredText) -> dict[str, Any]:
    shares = [{"pronoun": w, "share": s} for w, s in zip(found.pronouns, found.shares, strict=True)]
    return {"score": found.score, "pronouns": shares}


@click.command(
    epilog="""\b
Examples:
  anaphora measure evaluate pairs.jsonl --model models/measure
  anaphora measure evaluate pairs.jsonl --system lm:my-model --context 2
  anaphora measure evaluate pairs.jsonl --run runs/judge --pair-list agreed.json
"""
)
@click.argument("pairs", metavar="PAIRS")
@option("--model", type=PATH, metavar="MODEL", help="Measure trained by `measure train`.")
@options("system")
@option("--run", "run", type=PATH, metavar="RUN", help="Run of `anaphora score` to evaluate instead.")
@options("encoder")
@option(
    "--context",
    type=click.IntRange(0),
    default=2,
    metavar="N",
    help="Number of preceding sentences to include, with --system.",
)
@options("pair-list", "cache", "limit", "threads")
@setting_options
@format_options
def evaluate(
    pairs: str,
    model: Path | None,
    system: str | None,
    run: Path | None,
    pair_list: Path | None,
    by: tuple[str, ...],
    format: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Report how often a measure, or any other system, prefers the reference on PAIRS, a suite."""
    from anaphora.evaluation.result import Settings
    from anaphora.reports.tables import result_table

    if sum(what is not None for what in (model, system, run)) != 1:
        raise click.UsageError("name one judge: --model MODEL, --system SPEC or --run RUN")
    names = ("minimize", "normalize", "confidence", "resample", "samples", "seed")
    settings = Settings(
        **{name: options[name] for name in names}, interval="wilson" if options["resample"] is None else "bootstrap"
    )
    result, human = _judged(pairs, model, system, run, pair_list, by, settings, options)
    document = {**result.to_dict(), "human": human.to_dict() if human else None}
    show(result_table(result), document, format, as_json)
    if human is not None and human.ac1 is not None and not as_json:
        note(
            f"annotators: the same preference in {human.accuracy:.3f} of {human.pairs:,} pairs, AC1 {human.ac1:.3f} "
            f"({human.ties:,} ties left out)"
        )


def _judged(
    pairs: str,
    model: Path | None,
    system: str | None,
    run: Path | None,
    pair_list: Path | None,
    by: tuple[str, ...],
    settings: ResultSettings,
    options: dict[str, Any],
) -> tuple[Result, Human | None]:
    from anaphora import api
    from anaphora.measure import check_installed
    from anaphora.measure.scoring import with_human_counts
    from anaphora.runs import open_run

    suite = api.load_suite(pairs)
    if pair_list is not None:
        suite = with_human_counts(suite, pair_list)
    if model is not None:
        check_installed()
        if options["threads"]:
            import torch

            torch.set_num_threads(options["threads"])
        from anaphora.measure.scoring import evaluate_measure
        from anaphora.measure.training import load_measure

        measure = load_measure(model, cache=options["cache"], fallback=options["encoder"])
        with progress_bar("texts") as progress:
            return evaluate_measure(
                measure, suite, str(model), breakdowns=by, settings=settings, limit=options["limit"], progress=progress
            )
    from anaphora.measure.scoring import judge_run

    if run is not None:
        return judge_run(open_run(run), suite, by, settings)
    with tempfile.TemporaryDirectory() as folder, progress_bar("examples") as progress:
        made = api.score(
            suite,
            str(system),
            Path(folder) / "run",
            context=options["context"],
            limit=options["limit"],
            threads=options["threads"],
            progress=progress,
        )
        return judge_run(made, suite, by, settings)
