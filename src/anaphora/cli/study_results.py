"""`anaphora study agreement` and `anaphora study export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.cli.evaluate import Share
from anaphora.cli.output import PATH, echo_json, format_options, json_option, note, show
from anaphora.cli.study_serve import database_option

if TYPE_CHECKING:
    from anaphora.study.analysis import Key
    from anaphora.study.model import Study
    from anaphora.study.store import Answer


def load(folder: Path, database: str | None) -> tuple[Study, list[Answer], dict[Key, Answer]]:
    """A study, the log of its answers, and those that count."""
    from anaphora.study.analysis import current_answers
    from anaphora.study.model import read_study
    from anaphora.study.store import ANSWERS_FILE, read_answers

    study = read_study(folder)
    log = read_answers(study, folder, database)
    return study, log, current_answers(study, log, str(folder / ANSWERS_FILE) if database is None else "the database")


@click.command(
    epilog="""\b
Examples:
  anaphora study agreement study
  anaphora study agreement study --format latex
  anaphora study agreement study --database postgresql://anna@localhost/studies --json
"""
)
@click.argument("study", type=PATH)
@database_option
@click.option("--samples", type=click.IntRange(100), default=10_000, show_default=True, help="Bootstrap samples.")
@click.option("--confidence", type=Share(0, 1, True, True), default=0.95, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=12345, show_default=True)
@format_options
def agreement(study: Path, database: str | None, format: str, as_json: bool, **resampling: Any) -> None:
    """How well the annotators of a STUDY agree, in all and for each pair of pronouns, with and without ties."""
    from anaphora.reports.data_tables import agreement_table
    from anaphora.stats.intervals import Resampling
    from anaphora.study.analysis import study_agreement

    found_study, _, current = load(study, database)
    found = study_agreement(found_study, current, Resampling(**resampling))
    show(agreement_table(found), found.to_dict(), format, as_json)


@click.command(
    epilog="""\b
Examples:
  anaphora study export study > answers.jsonl
  anaphora study export study -o answers.tsv --history
  anaphora study export study --pairs pairs.json --min-agreement 0.8
  anaphora study export study --judgements judgements.tsv --human scores.tsv --metrics metrics.tsv
"""
)
@click.argument("study", type=PATH)
@click.option("-o", "--output", type=PATH, metavar="FILE", help="Answers as JSON Lines, or as a table: FILE.tsv.")
@click.option("--history", is_flag=True, help="Also answers that were changed or taken back.")
@click.option(
    "--pairs", type=PATH, metavar="FILE", help="Pronoun pairs with their agreement: JSON, or a table: FILE.tsv."
)
@click.option(
    "--min-agreement", type=Share(0, 1), metavar="AC1", help="Only pairs that people agree on (0.8 in the paper)."
)
@click.option("--judgements", type=PATH, metavar="FILE", help="Gaps: answers for `meta cases`.")
@click.option("--annotations", type=PATH, metavar="FILE", help="Gaps: accepted options for `meta discomt`.")
@click.option("--human", type=PATH, metavar="FILE", help="Gaps: accuracy of each system for `meta correlate`.")
@click.option("--metrics", type=PATH, metavar="FILE", help="A table of metrics to put beside --human.")
@database_option
@json_option
def export(
    study: Path,
    output: Path | None,
    history: bool,
    pairs: Path | None,
    min_agreement: float | None,
    judgements: Path | None,
    annotations: Path | None,
    human: Path | None,
    metrics: Path | None,
    database: str | None,
    as_json: bool,
) -> None:
    """The answers of a STUDY and what is made of them. Without a FILE the answers go to stdout as JSON Lines."""
    from anaphora.study import analysis as out
    from anaphora.study.analysis import study_agreement

    found, log, current = load(study, database)
    answers = log if history else sorted(current.values(), key=lambda answer: answer.number)
    rows = list(out.answer_rows(found, answers))
    # everything is made before anything is written, so that an error leaves no half of the files behind
    texts = {
        **({output: out.as_tsv(rows) if output.suffix == ".tsv" else out.as_jsonl(rows)} if output else {}),
        **({judgements: out.judgements(found, current)} if judgements else {}),
        **({annotations: out.gap_annotations(found, current)} if annotations else {}),
        **({human: out.scores_table(out.human_accuracy(found, current), metrics)} if human else {}),
    }
    if pairs is not None:
        texts[pairs] = out.pair_list_text(study_agreement(found, current), pairs, min_agreement)
    for path, text in texts.items():
        out.write_text(path, text)
    if as_json:
        echo_json({"study": str(study), "files": [str(path) for path in texts], "answers": rows})
    elif texts:
        note(f"{len(current):,} answers: {', '.join(map(str, texts))}")
    else:
        click.echo(out.as_jsonl(rows), nl=False)
