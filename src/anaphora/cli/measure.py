"""`anaphora measure`: pairs, training, adaptation, scores and evaluation of the learned measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora import api
from anaphora.align.tokenize import describe_signs
from anaphora.cli.app import LazyGroup
from anaphora.cli.options import (
    COUNT,
    PATH,
    Share,
    WholeNumber,
    command,
    details_option,
    epilog,
    format_options,
    json_option,
    option,
    parameters,
    plot_option,
)
from anaphora.cli.output import echo_examples, echo_json, note, progress_bar, show, write_plot
from anaphora.core.errors import AnaphoraError
from anaphora.table import Row, Table

if TYPE_CHECKING:
    from anaphora.api.measure import MeasureScores
    from anaphora.measure.model import ScoredText
    from anaphora.measure.pairs import Statistics
    from anaphora.measure.texts import Text


@click.group(
    cls=LazyGroup,
    epilog=epilog("""
anaphora measure pairs -r ref.en -t google.en -t mine.en -l de-en -o pairs.jsonl
anaphora measure train my-measure.toml -o models/measure
anaphora measure evaluate pairs.jsonl --model models/measure
anaphora measure score models/measure -r ref.en -t google.en -t mine.en
"""),
    lazy={
        "pairs": ("anaphora.cli.measure:pairs", "Make pairs of references and pronoun errors of real systems."),
        "train": ("anaphora.cli.measure:train", "Train the measure on pairs."),
        "adapt": ("anaphora.cli.measure:adapt", "Adapt a language model to in-domain text with LoRA."),
        "score": ("anaphora.cli.measure:score", "Score sentences, and compare and rank systems."),
        "evaluate": ("anaphora.cli.measure:evaluate", "Report how often a measure prefers the reference."),
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
        f"`measure {ctx.info_name}` was removed in version 0.2.0. See CHANGELOG.md and experiments/eval-anaphora-2019."
    )


@command("""
anaphora measure pairs -r ref.en -t google.en -t mine.en -l de-en -o pairs.jsonl
anaphora measure pairs -s src.de -r ref.en -t mine.en -l de-en --kind noisy --pair-list agreed.json -o pairs.jsonl
""")
@parameters(
    api.measure_pairs,
    output={"metavar": "PAIRS.jsonl"},
    agreement={"type": Share(0, 1)},
    pronoun_list={"aliases": ("--pronouns",)},
    matching={"aliases": ("--aligner",)},
)
@json_option
def pairs(output: Path, pair_list: Path | None, as_json: bool, **settings: Any) -> None:
    with progress_bar("steps") as progress:
        written = api.measure_pairs(output=output, pair_list=pair_list, progress=progress, **settings)
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


@command("anaphora measure counts de.jsonl fr.jsonl --by-year")
@click.argument("suites", nargs=-1, required=True, metavar="PAIRS.jsonl…")
@option("--by-year", is_flag=True, help="Print a row for each year.")
@format_options
def counts(suites: tuple[str, ...], by_year: bool, format: str, as_json: bool) -> None:
    """Count unique pairs and source contexts by language and year (Tables 2 and 3 of the paper)."""
    from anaphora.measure.pairs import count_pairs
    from anaphora.reports.data_tables import pair_counts_table

    counted = count_pairs((api.load_suite(name) for name in suites), by_year=by_year)
    show(pair_counts_table(counted), {name: count.to_dict() for name, count in counted.items()}, format, as_json)


@command("anaphora measure example made-up")
@click.argument("folder", type=PATH)
@json_option
def example(folder: Path, as_json: bool) -> None:
    """Write example files into FOLDER: a reference, two systems, annotators' judgments, a config."""
    from anaphora.measure.pairs import write_example

    echo_examples(write_example(folder), as_json)


@command("""
anaphora measure train my-measure.toml -o models/measure
anaphora measure train my-measure.toml --set model.context=NC --set training.epochs=5 -o models/no-context
anaphora measure train my-measure.toml --set model.encoder=hf:bert-base-uncased --cache states -o models/bert
""")
@parameters(api.measure_train, arguments=["config=CONFIG.toml"], output={"metavar": "MODEL"})
@json_option
def train(as_json: bool, **settings: Any) -> None:
    def report(record: Mapping[str, Any]) -> None:
        accuracy = f"dev accuracy {record['dev_accuracy']:.3f}"
        note(f"epoch {record['epoch']} · loss {record['loss']:.4f} · {accuracy}")

    with progress_bar("texts") as progress:
        trained = api.measure_train(progress=progress, report=report, **settings)
    best = f"best epoch {trained.best['epoch']}, dev accuracy {trained.best['dev_accuracy']:.3f}"
    note(f"{trained.model}: {trained.pairs:,} pairs, {best}")
    if as_json:
        echo_json({"model": str(trained.model), **trained.results, "log": trained.log})


@command("""
anaphora measure adapt lm:HuggingFaceTB/SmolLM2-135M news.en talks.en --dev dev.jsonl -o adapted
anaphora measure adapt lm:HuggingFaceTB/SmolLM2-135M news.en --lowercase --adapter --steps 300 -o adapter
""")
@parameters(
    api.measure_adapt,
    arguments=["lm=lm:NAME_OR_PATH", "texts=TEXT..."],
    output={"metavar": "FOLDER"},
    dev={"metavar": "PAIRS"},
    plain={"flags": ("--lowercase",), "aliases": ("--plain",)},
    steps={"type": COUNT},
    batch={"type": COUNT},
    pieces={"type": WholeNumber(2)},
    rank={"type": COUNT},
)
@json_option
def adapt(lm: str, texts: tuple[Path, ...], as_json: bool, **settings: Any) -> None:
    """Adapt a language model to in-domain text with LoRA; the result is used as lm:FOLDER.

    Each TEXT has one sentence per line; an empty line ends a document. Run the same command again to resume an
    interrupted run.
    """
    with progress_bar("steps") as progress:
        adapted = api.measure_adapt(lm, *texts, progress=progress, **settings)
    accuracy = None if adapted.before is None else {"before": adapted.before, "after": adapted.after}
    change = "" if adapted.before is None else f", dev accuracy {adapted.before:.3f} → {adapted.after:.3f}"
    note(f"{adapted.model}: {adapted.pieces:,} pieces{change}")
    if as_json:
        document = {"model": str(adapted.model), "pieces": adapted.pieces, "dev_pairs": adapted.dev_pairs}
        echo_json({**document, "dev": accuracy, "log": adapted.log})


@command("""
anaphora measure score MODEL "He was creative, and I will miss him."
anaphora measure score MODEL "It was creative." --before "My uncle died." --plot attention.svg
anaphora measure score MODEL -t google.en -t mine.en
anaphora measure score MODEL -r ref.en -t google.en -t mine.en --common-context --details scores.tsv
""")
@parameters(api.measure_score, arguments=["model", "sentences=[SENTENCE]…"], sentences={"required": False})
@details_option
@plot_option(aliases=("--why",))
@option("--line", type=COUNT, metavar="N", help="Line of the files to draw with --plot.")
@format_options
def score(
    model: Path,
    sentences: tuple[str, ...],
    details: Path | None,
    plot: Path | None,
    line: int | None,
    format: str,
    as_json: bool,
    **settings: Any,
) -> None:
    from anaphora.reports.data_tables import ranking_table

    with progress_bar("texts") as progress:
        result = api.measure_score(model, *sentences, progress=progress, **settings)
    if result.ranking is None:
        if plot:
            _draw(plot, list(zip(sentences, result.texts["sentences"], result.scores["sentences"], strict=True)))
        _show_sentences(sentences, result.scores["sentences"], format, as_json)
        return
    if details:
        _write_details(details, result)
    if plot:
        _draw(plot, _texts_of_line(result, line))
    show(ranking_table(result.ranking), result.ranking.to_dict(), format, as_json)


def _show_sentences(sentences: Sequence[str], scores: Sequence[ScoredText], format: str, as_json: bool) -> None:
    rows, documents = [], []
    for sentence, scored in zip(sentences, scores, strict=True):
        shares = list(zip(scored.pronouns, scored.shares, strict=True))
        rows.append(Row((sentence, f"{scored.score:+.3f}")))
        rows += [Row((pronoun, f"{share:+.3f}"), indent=1) for pronoun, share in shares]
        pronouns = [{"pronoun": pronoun, "share": share} for pronoun, share in shares]
        documents.append({"sentence": sentence, "score": scored.score, "pronouns": pronouns})
    show(Table("Learned pronoun measure", ("", "score"), tuple(rows)), {"sentences": documents}, format, as_json)


def _texts_of_line(result: MeasureScores, line: int | None) -> list[tuple[str, Text, ScoredText]]:
    """Return the text and the score of each system at a line of the files."""
    index = next((n for n, read in enumerate(result.lines) if read.number == line), None)
    if index is None:
        raise AnaphoraError("--plot with files draws one line: say which with --line N, a line that is not empty")
    return [(name, texts[index], result.scores[name][index]) for name, texts in result.texts.items()]


def _draw(path: Path, scored: Sequence[tuple[str, Text, ScoredText]]) -> None:
    from anaphora.reports.metric_charts import Attention, attention_chart

    passages = [
        Attention(f"{title}  ({score.score:+.3f})", text.words, text.pronouns, score.shares, score.attention)
        for title, text, score in scored
    ]
    write_plot(path, attention_chart(passages))


def _write_details(path: Path, result: MeasureScores) -> None:
    from anaphora.core.columns import tsv_line
    from anaphora.core.files import atomic_writer

    with atomic_writer(path) as out:
        out.write(tsv_line(["line", *result.scores]).encode("utf-8", "backslashreplace") + b"\n")
        for n, line in enumerate(result.lines):
            row = [str(line.number), *(f"{scores[n].score:.6f}" for scores in result.scores.values())]
            out.write("\t".join(row).encode() + b"\n")


@command("""
anaphora measure evaluate pairs.jsonl --model models/measure
anaphora measure evaluate pairs.jsonl --system lm:my-model --context 2
anaphora measure evaluate pairs.jsonl --run runs/judge --pair-list agreed.json
""")
@parameters(
    api.measure_evaluate,
    arguments=["pairs=PAIRS"],
    model={"metavar": "MODEL"},
    run={"metavar": "RUN"},
)
@format_options
def evaluate(pairs: str, format: str, as_json: bool, **settings: Any) -> None:
    """Report how often a measure, or any other system, prefers the reference on PAIRS, a suite."""
    from anaphora.reports.tables import result_table

    with progress_bar("texts") as progress:
        result, human = api.measure_evaluate(pairs, progress=progress, **settings)
    document = {**result.to_dict(), "human": human.to_dict() if human else None}
    show(result_table(result), document, format, as_json)
    if human is not None and human.ac1 is not None and not as_json:
        note(
            f"annotators: the same preference in {human.accuracy:.3f} of {human.pairs:,} pairs, AC1 {human.ac1:.3f} "
            f"({human.ties:,} ties left out)"
        )
