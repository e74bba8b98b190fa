"""`anaphora study create`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.cli.output import PATH, echo_json, json_option, note

if TYPE_CHECKING:
    from anaphora.study.model import Study


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
