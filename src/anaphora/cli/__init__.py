"""The command line: options in, one call, a result out. Light: each command is imported when it is used."""

from anaphora.cli.app import main

__all__ = ["main"]
