"""`anaphora doctor`."""

from __future__ import annotations

import click

from anaphora.cli.output import echo_json, json_option


@click.command(
    epilog="""\b
Examples:
  anaphora doctor
  anaphora doctor --json
"""
)
@json_option
def doctor(as_json: bool) -> None:
    """What is installed, which extras, suites and programs are missing, and how to get them."""
    from anaphora.doctor import examine

    found = examine()
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
