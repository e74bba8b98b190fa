"""`anaphora doctor`."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

import anaphora as package


def test_it_says_what_is_there_and_imports_nothing_heavy(
    anaphora: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    done = anaphora("doctor", PYTHONPROFILEIMPORTTIME="1")
    assert f"✓ anaphora {package.__version__}" in " ".join(done.stdout.split())
    assert not [line for line in done.stderr.splitlines() if line.rpartition("|")[2].strip() in ("torch", "spacy")]


def test_json(as_json: Callable[..., Any]) -> None:
    findings = as_json("doctor")["findings"]
    assert {finding["area"] for finding in findings} == {"machine", "extras", "systems", "suites", "programs"}
    assert all(finding["remedy"] for finding in findings if finding["fine"] is False)
