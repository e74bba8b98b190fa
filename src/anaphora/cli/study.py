"""`anaphora study`: create, serve, agreement and export."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora import api
from anaphora.cli.app import LazyGroup
from anaphora.cli.options import (
    COUNT,
    Parsed,
    Share,
    WholeNumber,
    command,
    epilog,
    format_options,
    given,
    json_option,
    option,
    parameters,
    split_words,
)
from anaphora.cli.output import echo_json, note, show
from anaphora.core.errors import AnaphoraError

if TYPE_CHECKING:
    from anaphora.study.model import Study
    from anaphora.study.serving import Links


@click.group(
    cls=LazyGroup,
    epilog=epilog("""
anaphora study create pairs.jsonl -o study --annotators anna,ben,carla
anaphora study serve study --port 8000
anaphora study agreement study
anaphora study export study --pairs pairs.json
"""),
    lazy={
        "create": ("anaphora.cli.study:create", "Create a study from a suite: questions and assignments."),
        "serve": ("anaphora.cli.study:serve", "Serve a study: a personal link per annotator, and an overview."),
        "agreement": (
            "anaphora.cli.study:agreement",
            "Compute the annotators' agreement: κ, α, AC1, with intervals.",
        ),
        "export": ("anaphora.cli.study:export", "Export the answers, the pair list and judgments of systems."),
    },
)
def study() -> None:
    """Ask annotators which pronoun fits, and compute their agreement."""


def number_or_names(text: str) -> int | tuple[str, ...]:
    """Annotators as `3` or as `anna,ben`. A number that is no number of annotators (-1, 3.5) is not a name either."""
    if not re.fullmatch(r"[+-]?\d{1,9}(\.\d+)?", text):
        return split_words(text)
    if "." in text:
        raise AnaphoraError(f"{text} is not a number of annotators")
    return int(text)


@command("""
anaphora study create pairs.jsonl -o study
anaphora study create pairs.jsonl -o study --annotators anna,ben,carla,david --overlap 2 --sample 500
anaphora study create gaps.jsonl -o study --mode gaps --options il,elle,ils,elles,ce,on,cela
anaphora study create --example -o study
anaphora study create details.tsv -o study --mode gaps -s src.en -t a.fr -t b.fr --name a --name b -l en-fr
anaphora study create --from generative.jsonl --only wrong,not-found,unclear -o study
anaphora study create --from details.tsv --only 3-6 -s src.en -t a.fr -t b.fr --name a --name b -l en-fr -o study
""")
@parameters(
    api.create_study,
    arguments=["pairs=PAIRS"],
    pairs={"required": False},
    output={"metavar": "STUDY"},
    annotators={"type": Parsed(number_or_names), "multiple": False, "metavar": "N|NAMES"},
    overlap={"type": COUNT},
    show_source={"aliases": ("--no-source",)},
    format={"metavar": "FORMAT|FILE", "help": "Format of PAIRS, or details of apt or generative to ask verdicts on."},
    only={"type": Parsed(split_words), "multiple": False, "metavar": "A,B,…"},
    source={"aliases": ("--source-text",)},
    seed={"help": "Random seed. The orders of items and candidates are secret if it is not given."},
)
@option("--example", is_flag=True, help="Create an invented study with invented answers and exit.")
@json_option
def create(pairs: str | None, output: Path, example: bool, as_json: bool, **design: Any) -> None:
    """Create a STUDY from PAIRS, a suite with a reference and another candidate in each example.

    If an example has more than two candidates, the reference (gold) and a random other one are shown. Gaps (--mode
    gaps) need a tag `pronoun` with the word of the translation to hide; or PAIRS is the output of `apt --details`, with
    its texts as -s and -t.

    Verdicts (--from FILE, or --only) ask whether the pronoun of a single translation is right. FILE is the output of
    `generative --details FILE.jsonl` or `apt --details` (the latter needs its texts as -s and -t). --only selects the
    outcomes that the program is unsure of. `generative --answers STUDY` and `apt --answers STUDY` use the verdicts.
    """
    if example:
        from anaphora.study.create import write_example

        _describe(write_example(output), output, as_json)
        return
    if pairs is None and Path(design["format"]).suffix in (".jsonl", ".tsv", ".gz"):  # a file, and no format
        pairs, design["format"] = design["format"], "native"
        design["mode"] = design["mode"] if given("mode") else "verdicts"
    if pairs is None:
        raise click.UsageError("Missing argument 'PAIRS'.")
    _describe(api.create_study(pairs, output, **design), output, as_json)


def _describe(made: Study, output: Path, as_json: bool) -> None:
    loads = {annotator.name: len(annotator.assignments) for annotator in made.annotators}
    if as_json:
        fields = {"study": str(output), "id": made.id, "mode": made.mode, "items": len(made.items)}
        echo_json({**fields, "overlap": made.overlap, "annotators": loads})
    else:
        annotators = f"{len(loads):,} {'annotator' if len(loads) == 1 else 'annotators'}"
        answers = "1 answer" if made.overlap == 1 else f"{made.overlap} answers"
        items = "1 item" if len(made.items) == 1 else f"{len(made.items):,} items"
        note(f"{output}: {items}, {annotators}, {answers} each")
        note(f"next: anaphora study serve {output} --port 8000")


@command("""
anaphora study serve study --port 8000
anaphora study serve study --port 8000 --database postgresql://anna@localhost/studies
anaphora study serve study --host 0.0.0.0 --port 8000 --base-url https://study.example.org
""")
@parameters(
    api.serve_study,
    arguments=["study"],
    port={"type": WholeNumber(0, 65535), "metavar": "PORT"},
    host={"metavar": "ADDRESS"},
    base_url={"metavar": "URL"},
)
@json_option
def serve(study: Path, as_json: bool, **settings: Any) -> None:
    """Serve the pages of a STUDY until Ctrl-C or SIGTERM. Each annotator has a secret link, which is printed."""

    def announce(links: Links) -> None:
        if as_json:
            echo_json(links.to_dict())
        else:
            note(f"overview: {links.admin}")
            for name, link in links.annotators.items():
                note(f"{name}: {link}")
        sys.stdout.flush()

    api.serve_study(study, announce=announce, **settings)


@command("""
anaphora study agreement study
anaphora study agreement study --format latex
anaphora study agreement study --database postgresql://anna@localhost/studies --json
""")
@parameters(api.study_agreement, arguments=["study"])
@format_options
def agreement(study: Path, format: str, as_json: bool, **settings: Any) -> None:
    """Compute the agreement of a STUDY's annotators, overall and per pronoun pair, with and without ties."""
    from anaphora.reports.data_tables import agreement_table

    result = api.study_agreement(study, **settings)
    show(agreement_table(result), result.to_dict(), format, as_json)


@command("""
anaphora study export study > answers.jsonl
anaphora study export study -o answers.tsv --history
anaphora study export study --pairs pairs.json --min-agreement 0.8
anaphora study export study --judgments judgments.tsv --human-scores scores.tsv --metrics metrics.tsv
""")
@parameters(
    api.export_study,
    arguments=["study"],
    min_agreement={"type": Share(0, 1), "metavar": "AC1"},
    judgments={"aliases": ("--judgements",)},
    human_scores={"aliases": ("--human",)},
)
@json_option
def export(study: Path, as_json: bool, **files: Any) -> None:
    """Export the answers of a STUDY and tables made from them. Without a FILE, print the answers as JSON Lines."""
    from anaphora.study.export import as_jsonl

    exported = api.export_study(study, **files)
    if as_json:
        written = [str(path) for path in exported.files]
        echo_json({"study": str(study), "files": written, "answers": exported.answers})
    elif exported.files:
        note(f"{exported.current:,} answers: {', '.join(map(str, exported.files))}")
    else:
        click.echo(as_jsonl(exported.answers), nl=False)
