"""What commands that resample share: the same options, each with the defaults of its command."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from anaphora.cli.options import format_options, sampling_options
from anaphora.cli.output import show_all
from anaphora.table import Row, Table


@click.command()
@sampling_options(test="bootstrap")
@format_options
def command(format: str, as_json: bool, **sampling: object) -> None:
    tables = [Table(f"{name}={value}", ("", "x"), (Row(("a", "1")),)) for name, value in sorted(sampling.items())]
    show_all(tables, {"sampling": {key: str(value) for key, value in sampling.items()}}, format, as_json)


def test_defaults_and_tables_one_below_the_other() -> None:
    text = CliRunner().invoke(command, []).output
    assert [part.splitlines()[0] for part in text.split("\n\n")] == [
        "confidence=0.95",
        "samples=10000",
        "seed=12345",
        "test=bootstrap",
    ]


def test_json_is_one_document() -> None:
    for options in (["--json"], ["--format", "json"]):
        text = CliRunner().invoke(command, [*options, "--seed", "7"]).output
        assert text.startswith("{")
        assert '"seed": "7"' in text


@pytest.mark.parametrize(
    "wrong", [["--samples", "9"], ["--seed", "-1"], ["--confidence", "1"], ["--confidence", "nan"], ["--test", "t"]]
)
def test_what_is_refused(wrong: list[str]) -> None:
    assert CliRunner().invoke(command, wrong).exit_code == 2
