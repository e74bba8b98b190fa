"""`anaphora systems`."""

from __future__ import annotations

import click

from anaphora.cli.output import echo_json, format_options, show


@click.command(
    epilog="""\b
Examples:
  anaphora systems
  anaphora systems --json
"""
)
@format_options
def systems(format: str, as_json: bool) -> None:
    """The kinds of systems that --system takes, and whether what they need is installed."""
    from anaphora.systems import kinds
    from anaphora.table import Row, Table

    found = kinds()
    if as_json or format == "json":
        keys = ("kind", "what", "settings", "missing", "install")
        echo_json([{**{key: getattr(kind, key) for key in keys}, "installed": not kind.missing} for kind in found])
        return
    rows = tuple(Row((kind.kind, "no" if kind.missing else "yes", kind.what)) for kind in found)
    settings = (f"{kind.kind}:…? takes {', '.join(kind.settings)}" for kind in found if kind.settings)
    notes = tuple(
        f"{kind.kind} needs {', '.join(kind.missing)}" + (f": {kind.install}" if kind.install else "")
        for kind in found
        if kind.missing
    )
    show(Table("Kinds of systems", ("kind", "installed", "what"), rows, (*settings, *notes)), {}, format, as_json)
