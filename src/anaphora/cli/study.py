"""`anaphora study`: create, serve, agreement and export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.cli.app import LazyGroup
from anaphora.cli.options import (
    PATH,
    Share,
    format_options,
    json_option,
    option,
    options,
    split_words,
)
from anaphora.cli.output import echo_json, note, show

if TYPE_CHECKING:
    from anaphora.study.model import Study
    from anaphora.study.serving import Links


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
    """Ask annotators which pronoun fits: web page, answers, agreement."""


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
@option("-o", "--output", type=PATH, required=True, metavar="STUDY", help="Folder to create.")
@options("from")
@option("--annotators", default="3", metavar="N|NAMES", help="Number of annotators, or their names.")
@option("--overlap", type=click.IntRange(1), metavar="N", help="Number of annotators per item (default: all).")
@option(
    "--mode",
    type=click.Choice(["pairs", "gaps"]),
    default="pairs",
    help="Kind of question: choose between pairs, or fill gaps.",
)
@options("sample")
@option("--context", type=click.IntRange(0), default=2, metavar="N", help="Number of preceding sentences to show.")
@option(
    "--show-source/--no-show-source",
    "show_source",
    default=True,
    aliases=("--no-source",),
    help="Show the source (the default), or not.",
)
@options("options", "title")
@option(
    "--instructions",
    type=PATH,
    metavar="FILE",
    help="Text with a paragraph per line, instead of the built-in instructions.",
)
@options("seed", default=1)
@options("source", aliases=("--source-text",))
@options("translation", "name", "languages")
@option("--example", is_flag=True, help="Create an invented study with invented answers and exit.")
@json_option
def create(
    pairs: Path | None,
    output: Path,
    annotators: str,
    options: str | None,
    example: bool,
    as_json: bool,
    **design: Any,
) -> None:
    """Create a STUDY from a suite; PAIRS has a reference and another candidate in each example.

    With more than two candidates, the reference (gold) and a random other one are shown. Gaps (--mode gaps)
    need a tag `pronoun`, which names the word of the translation to hide; or PAIRS is what `apt --details` wrote, and
    -s and -t are its texts.
    """
    from anaphora import api_study

    if example:
        from anaphora.study.create import write_example

        _say(write_example(output), output, as_json)
        return
    if pairs is None:
        raise click.UsageError("Missing argument 'PAIRS'.")
    counted = annotators.isdecimal() and len(annotators) < 6
    made = api_study.create_study(
        pairs,
        output,
        annotators=int(annotators) if counted else split_words(annotators),
        options=split_words(options),
        **design,
    )
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


@click.command(
    epilog="""\b
Examples:
  anaphora study serve study --port 8000
  anaphora study serve study --port 8000 --database postgresql://anna@localhost/studies
  anaphora study serve study --host 0.0.0.0 --port 8000 --base-url https://study.example.org
"""
)
@click.argument("study", type=PATH)
@option("--port", type=click.IntRange(0, 65535), default=8000, help="Port to listen on (0: any free port).")
@option("--host", default="127.0.0.1", help="Address to listen on (0.0.0.0: reachable from other machines).")
@option("--base-url", metavar="URL", help="Public address of the study, behind a proxy that adds https.")
@options("database")
@json_option
def serve(study: Path, port: int, host: str, base_url: str | None, database: str | None, as_json: bool) -> None:
    """Serve the pages of a STUDY until Ctrl-C or SIGTERM. Each printed link is the secret of its annotator."""
    import sys

    from anaphora import api_study

    def announce(links: Links) -> None:
        if as_json:
            echo_json(links.to_dict())
        else:
            note(f"overview: {links.admin}")
            for name, link in links.annotators.items():
                note(f"{name}: {link}")
        sys.stdout.flush()

    api_study.serve_study(study, host=host, port=port, database=database, base_url=base_url, announce=announce)


@click.command(
    epilog="""\b
Examples:
  anaphora study agreement study
  anaphora study agreement study --format latex
  anaphora study agreement study --database postgresql://anna@localhost/studies --json
"""
)
@click.argument("study", type=PATH)
@options("database")
@options("samples", "confidence", "seed")
@format_options
def agreement(study: Path, database: str | None, format: str, as_json: bool, **resampling: Any) -> None:
    """Compute the agreement of a STUDY's annotators, overall and per pronoun pair, with and without ties."""
    from anaphora import api_study
    from anaphora.reports.data_tables import agreement_table

    found = api_study.study_agreement(study, database=database, **resampling)
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
@option("-o", "--output", type=PATH, metavar="FILE", help="Write the answers as JSON Lines, or as a table (FILE.tsv).")
@option("--history", is_flag=True, help="Include answers that were changed or withdrawn.")
@option(
    "--pairs",
    type=PATH,
    metavar="FILE",
    help="Write pronoun pairs with their agreement as JSON, or as a table (FILE.tsv).",
)
@option(
    "--min-agreement",
    type=Share(0, 1),
    metavar="AC1",
    help="Keep only pairs with at least this agreement (0.8 in the paper).",
)
@option(
    "--judgments",
    "judgements",
    type=PATH,
    metavar="FILE",
    aliases=("--judgements",),
    help="Write the answers for `meta cases` (gap studies).",
)
@option("--annotations", type=PATH, metavar="FILE", help="Write accepted options for `meta discomt` (gap studies).")
@option(
    "--human-scores",
    "human",
    type=PATH,
    metavar="FILE",
    aliases=("--human",),
    help="Write the accuracy of each system for `meta correlate` (gap studies).",
)
@option("--metrics", type=PATH, metavar="FILE", help="Table of metrics to add to --human-scores.")
@options("database")
@json_option
def export(study: Path, judgements: Path | None, human: Path | None, as_json: bool, **files: Any) -> None:
    """Export the answers of a STUDY and tables made from them. Without a FILE, print the answers as JSON Lines."""
    from anaphora import api_study
    from anaphora.study.export import as_jsonl

    made = api_study.export_study(study, judgments=judgements, human_scores=human, **files)
    if as_json:
        echo_json({"study": str(study), "files": [str(path) for path in made.files], "answers": made.answers})
    elif made.files:
        note(f"{made.current:,} answers: {', '.join(map(str, made.files))}")
    else:
        click.echo(as_jsonl(made.answers), nl=False)
