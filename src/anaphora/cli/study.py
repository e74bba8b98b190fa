"""`anaphora study`: create, serve, agreement and export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.cli.app import LazyGroup
from anaphora.cli.options import PATH, Share, format_options, json_option
from anaphora.cli.output import echo_json, note, show

if TYPE_CHECKING:
    from anaphora.study.analysis import Key
    from anaphora.study.model import Study
    from anaphora.study.serving import Links
    from anaphora.study.store import Answer


@click.group(
    cls=LazyGroup,
    epilog="""\b
Examples:
  anaphora study create pairs.jsonl -o study --annotators anna,ben,carla
  anaphora study serve study --port 8000
  anaphora study agreement study
  anaphora study export study --pairs pairs.json
""",
    lazy={
        "create": ("anaphora.cli.study:create", "Make a study of a suite: questions and who is asked them."),
        "serve": ("anaphora.cli.study:serve", "Serve its pages: a personal link for everybody, and an overview."),
        "agreement": ("anaphora.cli.study:agreement", "How well people agree: κ, α, AC1, with intervals."),
        "export": ("anaphora.cli.study:export", "The answers, the pair list, judgements of systems."),
    },
)
def study() -> None:
    """Ask people which pronoun fits: a web page, a database, agreement."""


@click.command(
    epilog="""\b
Examples:
  anaphora study create pairs.jsonl -o study
  anaphora study create pairs.jsonl -o study --annotators anna,ben,carla,david --overlap 2 --sample 500
  anaphora study create gaps.jsonl -o study --mode gaps --options il,elle,ils,elles,ce,on,cela
  anaphora study create --example -o study
  anaphora study create details.tsv -o study --mode gaps -s src.en -t a.fr -t b.fr --name a --name b -l en-fr
"""
)
@click.argument("pairs", type=PATH, required=False)
@click.option("-o", "--output", type=PATH, required=True, metavar="STUDY", help="The folder to make.")
@click.option("--from", "format", default="native", show_default=True, metavar="FORMAT", help="The format of PAIRS.")
@click.option("--annotators", default="3", show_default=True, metavar="N|NAMES", help="How many, or their names.")
@click.option("--overlap", type=click.IntRange(1), metavar="N", help="How many people answer each item. [default: all]")
@click.option("--mode", type=click.Choice(["pairs", "gaps"]), default="pairs", show_default=True)
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Ask only this many items, drawn by the seed.")
@click.option("--context", type=click.IntRange(0), default=2, show_default=True, help="Previous sentences shown.")
@click.option("--source/--no-source", "show_source", default=True, show_default=True, help="Show the source?")
@click.option("--options", metavar="WORDS", help="Gaps: the pronouns to choose from. [default: those of the language]")
@click.option("--title", default="", help="What the study is called on its page.")
@click.option(
    "--instructions",
    type=PATH,
    metavar="FILE",
    help="A text, a paragraph a line, instead of the built-in text and example.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option("-s", "--source-text", type=PATH, metavar="FILE", help="Gaps of `apt --details`: the source.")
@click.option("-t", "--translation", "translations", type=PATH, multiple=True, metavar="FILE", help="… a translation.")
@click.option("--name", "names", multiple=True, help="… what a translation is called in PAIRS, in their order.")
@click.option("-l", "--languages", default="", metavar="SRC-TGT", help="… the languages.")
@click.option("--example", is_flag=True, help="Make a made-up study with made-up answers, and stop.")
@json_option
def create(
    pairs: Path | None,
    output: Path,
    format: str,
    annotators: str,
    options: str | None,
    instructions: Path | None,
    source_text: Path | None,
    translations: tuple[Path, ...],
    names: tuple[str, ...],
    languages: str,
    example: bool,
    as_json: bool,
    **design: Any,
) -> None:
    """Make a STUDY of a suite: PAIRS has a reference and another candidate in each example.

    Of more than two candidates the reference (gold) and another one, drawn by the seed, are shown. Gaps (--mode gaps)
    need a tag `pronoun`, which names the word of the translation to hide; or PAIRS is what `apt --details` wrote, and
    -s and -t are its texts.
    """
    from anaphora import api
    from anaphora.core.files import text_lines
    from anaphora.study.create import Design, make_study, suite_of_details, write_example
    from anaphora.study.model import write_study

    if example:
        _say(write_example(output), output, as_json)
        return
    if pairs is None:
        raise click.UsageError("Missing argument 'PAIRS'.")
    if bool(source_text) != bool(translations) or (source_text and (design["mode"] != "gaps" or not languages)):
        raise click.UsageError("The gaps of `apt --details` need --mode gaps, -s, -t and -l.")
    if source_text is not None:
        suite = suite_of_details(pairs, source_text, translations, names, languages)
    else:
        suite = api.load_suite(pairs, format)
    design["options"] = _words(options or "")
    if instructions is not None:
        design["instructions"] = tuple(line.strip() for line in text_lines(instructions) if line.strip())
    people = (
        tuple(f"annotator {k + 1}" for k in range(int(annotators)))
        if annotators.isdecimal() and len(annotators) < 6
        else _words(annotators)
    )
    made = make_study(suite, Design(annotators=people, **design))
    write_study(made, output)
    _say(made, output, as_json)


def _say(made: Study, output: Path, as_json: bool) -> None:
    loads = {annotator.name: len(annotator.assignments) for annotator in made.annotators}
    if as_json:
        fields = {"study": str(output), "id": made.id, "mode": made.mode, "items": len(made.items)}
        echo_json({**fields, "overlap": made.overlap, "annotators": loads})
    else:
        people = f"{len(loads):,} {'annotator' if len(loads) == 1 else 'annotators'}"
        answers = "1 answer" if made.overlap == 1 else f"{made.overlap} answers"
        note(f"{output}: {len(made.items):,} items, {people}, {answers} each")
        note(f"next: anaphora study serve {output} --port 8000")


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def database_option(command: click.decorators.FC) -> click.decorators.FC:
    return click.option(
        "--database",
        metavar="URL",
        envvar="ANAPHORA_STUDY_DATABASE",
        help="postgresql://… or sqlite:///FILE for the answers, or ANAPHORA_STUDY_DATABASE. [default: in STUDY]",
    )(command)


@click.command(
    epilog="""\b
Examples:
  anaphora study serve study --port 8000
  anaphora study serve study --port 8000 --database postgresql://anna@localhost/studies
  anaphora study serve study --host 0.0.0.0 --port 8000 --base-url https://study.example.org
"""
)
@click.argument("study", type=PATH)
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="0.0.0.0: reachable from other machines.")
@click.option("--base-url", metavar="URL", help="The address people see, behind a proxy that adds https.")
@database_option
@json_option
def serve(study: Path, port: int, host: str, base_url: str | None, database: str | None, as_json: bool) -> None:
    """Serve the pages of a STUDY until Ctrl-C or SIGTERM. The links it prints are secrets of their people."""
    import sys

    from anaphora.study.serving import serve as run

    def announce(links: Links) -> None:
        if as_json:
            echo_json(links.to_dict())
        else:
            note(f"overview: {links.admin}")
            for name, link in links.annotators.items():
                note(f"{name}: {link}")
        sys.stdout.flush()

    run(study, host=host, port=port, database=database, base_url=base_url, announce=announce)


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
