"""`anaphora completion`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from anaphora.cli.output import echo_json, json_option
from anaphora.core.errors import AnaphoraError

SHELLS = ("bash", "zsh", "fish")


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
    """Print what a shell needs to complete commands, options and files by the Tab key; of $SHELL unless told."""
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
