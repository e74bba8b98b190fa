"""`anaphora demo`, `doctor`, `systems` and `completion`: a first look, and help with the installation."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from anaphora import api
from anaphora import demo as demo_package
from anaphora import doctor as doctor_module
from anaphora.cli.options import command, format_options, json_option, parameters
from anaphora.cli.output import echo_json, note, progress_bar, show
from anaphora.core.errors import AnaphoraError
from anaphora.table import Row, Table

SHELLS = ("bash", "zsh", "fish")


@command("""
anaphora demo
anaphora demo --pretrained -o my-demo
anaphora demo --stand-ins --json
""")
@parameters(demo_package.run_demo, output={"metavar": "FOLDER"})
@json_option
def demo(output: Path, pretrained: bool, stand_ins: bool, as_json: bool) -> None:
    from anaphora.demo.story import Story
    from anaphora.reports.tables import comparison_table, result_table

    made = demo_package.run_demo(output, pretrained=pretrained, stand_ins=stand_ins, say=note, watch=progress_bar)
    if isinstance(made, Story):
        if as_json:
            results = {name: result.to_dict() for name, result in made.results.items()}
            echo_json({"systems": results, "summary": list(made.summary), "report": str(made.report)})
            return
        click.echo(comparison_table(made.comparison).render("table") + "\n")
        for line in made.summary:
            click.echo(line)
        click.echo(f"\nThe report: {made.report}; figures: {made.folder / 'results.json'}")
        return
    if as_json:
        results = {file.stem: result.to_dict() for file, result in zip(made.scores, made.results, strict=True)}
        echo_json({"systems": results, "comparison": made.comparison.to_dict()})
        return
    for file, result in zip(made.scores, made.results, strict=True):
        click.echo(f"$ {shlex.join(['anaphora', 'evaluate', str(made.suite), '--scores', str(file)])}")
        click.echo(result_table(result).render("table") + "\n")
    runs = shlex.join(str(made.folder / "runs" / file.stem) for file in made.scores)
    click.echo(f"$ anaphora compare {runs} --by reference_pronoun --by distance")
    click.echo(comparison_table(made.comparison).render("table"))
    click.echo(f"\nThe suite, the scores, the runs and results.json are in {made.folder}/.")


@command("""
anaphora doctor
anaphora doctor --json
""")
@parameters(doctor_module.check_installation)
@json_option
def doctor(as_json: bool) -> None:
    findings = doctor_module.check_installation()
    if as_json:
        echo_json({"findings": [finding.to_dict() for finding in findings]})
        return
    width = max(len(finding.name) for finding in findings)
    area = ""
    for finding in findings:
        if finding.area != area:
            area = finding.area
            click.echo(area)
        mark = {True: "✓", False: "✗", None: "·"}[finding.fine]
        remedy = f"  → {finding.remedy}" if finding.remedy else ""
        click.echo(f"  {mark} {finding.name:{width}}  {finding.found}{remedy}")
    click.echo("✓ installed   ✗ missing   · not installed, and needed only on request")


@command("""
anaphora systems
anaphora systems --json
""")
@parameters(api.list_systems)
@format_options
def systems(format: str, as_json: bool) -> None:
    kinds = api.list_systems()
    if as_json or format == "json":
        keys = ("kind", "what", "settings", "missing", "install")
        echo_json([{**{key: getattr(kind, key) for key in keys}, "installed": not kind.missing} for kind in kinds])
        return
    settings = (f"{kind.kind}:…? takes {', '.join(kind.settings)}" for kind in kinds if kind.settings)
    rows = tuple(Row((kind.kind, "no" if kind.missing else "yes", kind.what)) for kind in kinds)
    notes = tuple(
        f"{kind.kind} needs {', '.join(kind.missing)}" + (f": {kind.install}" if kind.install else "")
        for kind in kinds
        if kind.missing
    )
    show(Table("Kinds of systems", ("kind", "installed", "what"), rows, (*settings, *notes)), {}, format, as_json)


@command("""
eval "$(anaphora completion bash)"                                        # in ~/.bashrc
eval "$(anaphora completion zsh)"                                         # in ~/.zshrc
anaphora completion fish > ~/.config/fish/completions/anaphora.fish
""")
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
