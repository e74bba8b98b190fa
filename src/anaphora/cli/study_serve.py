"""`anaphora study serve`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from anaphora.cli.output import PATH, echo_json, json_option, note

if TYPE_CHECKING:
    from anaphora.study.serving import Links


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
