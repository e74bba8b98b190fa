"""`anaphora meta`: the commands under their names, and under those of 0.1.0."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from anaphora.cli.app import app

NAMES = {
    "augment": ("build", "augment"),
    "apt-equivalences": ("meta", "equivalences"),
    "apt-judgements": ("meta", "cases"),
    "correlate": ("meta", "correlate"),
    "correlate-sweep": ("meta", "sweep"),
    "discomt": ("meta", "discomt"),
}


@pytest.mark.parametrize("old", NAMES)
def test_earlier_names_call_the_same_command(old: str) -> None:
    run = CliRunner()
    earlier, now = run.invoke(app, [old, "--help"]), run.invoke(app, [*NAMES[old], "--help"])
    assert earlier.exit_code == now.exit_code == 0
    assert earlier.output.partition("\n")[2] == now.output.partition("\n")[2]  # but for the usage line


def test_earlier_names_are_not_listed() -> None:
    listed = CliRunner().invoke(app, ["--help"]).output
    assert not [old for old in NAMES if f"\n  {old} " in listed]


def test_every_command_is_in_one_section() -> None:
    names = [name for section in app.sections.values() for name in section]  # type: ignore[attr-defined]
    assert sorted(names) == sorted(app.lazy)  # type: ignore[attr-defined]
