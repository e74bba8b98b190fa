"""`anaphora demo`, `doctor`, `systems` and `completion`: a first look, and help with the installation."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from anaphora.cli.options import PATH, format_options, json_option, option
from anaphora.cli.output import echo_json, note, progress_bar, show
from anaphora.core.errors import AnaphoraError

SHELLS = ("bash", "zsh", "fish")


@click.command(
    epilog="""\b
Examples:
  anaphora demo
  anaphora demo --pretrained -o my-demo
  anaphora demo --stand-ins --json
"""
)
@option("-o", "--output", type=PATH, default=Path("anaphora-demo"), help="Folder for the demo's files.")
@option("--pretrained", is_flag=True, help="Use the models that come with the package, which takes seconds.")
@option("--stand-ins", is_flag=True, help="Use score files made by rules instead of models, to see the tables.")
@json_option
def demo(output: Path, pretrained: bool, stand_ins: bool, as_json: bool) -> None:
    """Train, score, attack, diagnose and compare two small models, and write a report (takes a few minutes)."""
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
    """Write a small suite, and evaluate and compare two example score files."""
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


@click.command(
    epilog="""\b
Examples:
  anaphora doctor
  anaphora doctor --json
"""
)
@json_option
def doctor(as_json: bool) -> None:
    """Check which optional dependencies are installed and how to install the missing ones."""
    from anaphora import api_suites

    found = api_suites.check_installation()
    if as_json:
        echo_json({"findings": [finding.to_dict() for finding in found]})
        return
    width = max(len(finding.name) for finding in found)
    area = ""
    for finding in found:
        if finding.area != area:
            area = finding.area
            click.echo(area)
        mark = {True: "✓", False: "✗", None: "·"}[finding.fine]
        remedy = f"  → {finding.remedy}" if finding.remedy else ""
        click.echo(f"  {mark} {finding.name:{width}}  {finding.found}{remedy}")
    click.echo("✓ there   ✗ missing   · not here, and needed only by those who ask for it")


@click.command(
    epilog="""\b
Examples:
  anaphora systems
  anaphora systems --json
"""
)
@format_options
def systems(format: str, as_json: bool) -> None:
    """List the kinds of systems that --system accepts, and whether their dependencies are installed."""
    from anaphora import api_suites
    from anaphora.table import Row, Table

    found = api_suites.list_systems()
    if as_json or format == "json":
        keys = ("kind", "what", "settings", "missing", "install")
        echo_json([{**{key: getattr(kind, key) for key in keys}, "installed": not kind.missing} for kind in found])
        return
    settings = (f"{kind.kind}:…? takes {', '.join(kind.settings)}" for kind in found if kind.settings)
    rows = tuple(Row((kind.kind, "no" if kind.missing else "yes", kind.what)) for kind in found)
    notes = tuple(
        f"{kind.kind} needs {', '.join(kind.missing)}" + (f": {kind.install}" if kind.install else "")
        for kind in found
        if kind.missing
    )
    show(Table("Kinds of systems", ("kind", "installed", "what"), rows, (*settings, *notes)), {}, format, as_json)


@click.command(
    epilog="""\b
Examples:
  eval "$(anaphora completion bash)"                                        # in ~/.bashrc
  eval "$(anaphora completion zsh)"                                         # in ~/.zshrc
  anaphora completion fish > ~/.config/fish/completions/anaphora.fish
"""
)
@click.argument("shell", type=click.Choice(SHELLS), required=False)
@json_option
def completion(shell: str | None, as_json: bool) -> None:
    """Print the script for Tab completion of commands, options and files (default: for $SHELL)."""
    from click.shell_completion import get_completion_class

    from anaphora.cli.app import app

    chosen = shell or Path(os.environ.get("SHELL", "")).name
    completer = get_completion_class(chosen)
    if completer is None or chosen not in SHELLS:
        raise AnaphoraError(f"no completion for the shell {chosen!r}: name one, anaphora completion {'|'.join(SHELLS)}")
    script = completer(app, {}, "anaphora", "_ANAPHORA_COMPLETE").source()
    if as_json:
        echo_json({"shell": chosen, "script": script})
    else:
        click.echo(script)
