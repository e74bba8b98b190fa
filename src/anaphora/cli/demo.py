"""`anaphora demo`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from anaphora.cli.output import PATH, echo_json, json_option, note, progress_bar


@click.command(
    epilog="""\b
Examples:
  anaphora demo
  anaphora demo --pretrained -o my-demo
  anaphora demo --stand-ins --json
"""
)
@click.option(
    "-o", "--output", type=PATH, default=Path("anaphora-demo"), show_default=True, help="A folder for its files."
)
@click.option("--pretrained", is_flag=True, help="With models that come with the package, in seconds.")
@click.option("--stand-ins", is_flag=True, help="Without any model: score files made by rules, to see tables.")
@json_option
def demo(output: Path, pretrained: bool, stand_ins: bool, as_json: bool) -> None:
    """Train two small models, ask, attack, diagnose and compare them, and write a report; a few minutes."""
    if stand_ins:
        _stand_ins(output, as_json)
        return
    from anaphora.demo.story import run_story
    from anaphora.reports.tables import comparison_table

    story = run_story(output, pretrained=pretrained, say=note, watched=progress_bar)
    if as_json:
        results = {name: result.to_dict() for name, result in story.results.items()}
        echo_json({"systems": results, "summary": list(story.summary), "report": str(story.report)})
        return
    click.echo(comparison_table(story.comparison).render("table") + "\n")
    for line in story.summary:
        click.echo(line)
    click.echo(f"\nThe report: {story.report}; figures: {story.folder / 'results.json'}")


def _stand_ins(output: Path, as_json: bool) -> None:
    """Write a small suite, evaluate two example score files, compare them: what the tables look like."""
    from anaphora.demo.stand_ins import run_demo
    from anaphora.reports.tables import comparison_table, result_table

    found = run_demo(output)
    if as_json:
        results = {file.stem: result.to_dict() for file, result in zip(found.scores, found.results, strict=True)}
        echo_json({"systems": results, "comparison": found.comparison.to_dict()})
        return
    for file, result in zip(found.scores, found.results, strict=True):
        click.echo(f"$ {shlex.join(['anaphora', 'evaluate', str(found.suite), '--scores', str(file)])}")
        click.echo(result_table(result).render("table") + "\n")
    runs = shlex.join(str(found.folder / "runs" / file.stem) for file in found.scores)
    click.echo(f"$ anaphora compare {runs} --by reference_pronoun --by distance")
    click.echo(comparison_table(found.comparison).render("table"))
    click.echo(f"\nThe suite, the scores, the runs and results.json are in {found.folder}/.")
