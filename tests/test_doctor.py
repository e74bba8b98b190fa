"""What the doctor finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora import doctor
from anaphora.demo.corpus import demo_suite

DECLARED = [
    "click>=8",
    'torch>=2.6; extra == "hf"',
    "no-such-package; extra == 'hf'",
    "anaphora[hf]; extra == 'all'",
    "old; (python_version < '3.0') and extra == 'past'",
    "pytest; python_version < '9.0' and extra == 'new'",
    "ruff; extra == 'dev'",
]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANAPHORA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def findings_in(area: str) -> dict[str, doctor.Finding]:
    return {finding.name: finding for finding in doctor.check_installation() if finding.area == area}


def test_extras_are_those_that_the_project_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "requires", lambda name: DECLARED)
    assert doctor.extras() == {"hf": ("torch", "no-such-package"), "new": ("pytest",)}
    extras = findings_in("extras")
    assert (extras["hf"].fine, extras["hf"].remedy) == (False, 'pip install "anaphora[hf]"')
    assert "no-such-package" in extras["hf"].found
    assert (extras["new"].fine, extras["new"].remedy) == (True, "")
    assert extras["new"].found == f"pytest {pytest.__version__}"


def test_the_real_declaration_is_understood() -> None:
    assert {"hf", "ct2", "mine", "cluster"} <= set(doctor.extras())
    assert "torch" in doctor.extras()["hf"]


def test_every_kind_of_system_is_there() -> None:
    assert {"hf:", "lm:", "nmt:", "scores:"} <= set(findings_in("systems"))
    assert findings_in("systems")["scores:"].fine


def test_suites_on_this_machine_are_named(home: Path) -> None:
    assert list(findings_in("suites")) == ["others"]
    demo_suite().write(home / "suites" / "contrapro.jsonl")
    assert list(findings_in("suites")) == ["contrapro", "others"]


def test_a_home_that_cannot_be_written_to(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert findings_in("machine")["home"].fine
    monkeypatch.setattr(doctor.os, "access", lambda path, mode: False)
    assert "ANAPHORA_HOME" in findings_in("machine")["home"].remedy
