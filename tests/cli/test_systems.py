"""`anaphora systems`: the kinds there are, what they need, and how to get it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib import util
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import pytest

from anaphora import systems
from anaphora.cli import main
from anaphora.systems import KINDS


@pytest.fixture
def listed(capsys: pytest.CaptureFixture[str]) -> Callable[[], dict[str, dict[str, Any]]]:
    def call() -> dict[str, dict[str, Any]]:
        with pytest.raises(SystemExit) as stop:
            main(["systems", "--json"])
        assert stop.value.code == 0
        return {row["kind"]: row for row in json.loads(capsys.readouterr().out)}

    return call


def without(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    """As if packages were not installed."""
    real = util.find_spec

    def find_spec(name: str) -> ModuleSpec | None:
        return None if name.partition(".")[0] in packages else real(name)

    monkeypatch.setattr(systems, "find_spec", find_spec)


def test_every_kind_is_listed_and_says_how_it_is_written(listed: Callable[[], dict[str, dict[str, Any]]]) -> None:
    found = listed()
    assert list(found)[: len(KINDS)] == list(KINDS)
    for kind in KINDS:
        assert f"{kind}:" in found[kind]["what"]
    for kind in ("command", "scores"):  # these need nothing
        assert found[kind]["installed"] is True


def test_what_is_missing_and_how_to_get_it(
    listed: Callable[[], dict[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without(monkeypatch, "torch", "transformers", "ctranslate2")
    found = listed()
    for kind in ("hf", "lm"):
        assert found[kind]["installed"] is False
        assert {"torch", "transformers"} == set(found[kind]["missing"])
        assert found[kind]["install"] == 'pip install "anaphora[hf]"'
    assert "ctranslate2" in found["ct2"]["missing"]
    assert found["ct2"]["install"] == 'pip install "anaphora[ct2]"'
    assert found["scores"] == {
        "kind": "scores",
        "what": KINDS["scores"].what,
        "settings": ["are"],
        "missing": [],
        "install": None,
        "installed": True,
    }
    with pytest.raises(SystemExit):
        main(["systems"])
    assert 'hf needs torch, transformers: pip install "anaphora[hf]"' in capsys.readouterr().out.splitlines()


def test_kinds_that_other_packages_bring(
    listed: Callable[[], dict[str, dict[str, Any]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "more_systems-2.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: more-systems\nVersion: 2.0\n")
    (about / "entry_points.txt").write_text(
        "[anaphora.systems]\nmore = more_systems:More\ngone = gone_systems.inner:Gone\nscores = more_systems:Scores\n"
    )
    (tmp_path / "more_systems.py").write_text("import json\nfrom surely_not_here import thing\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = listed()
    assert found["more"]["what"] == "brought by more-systems 2.0"
    assert found["more"]["missing"] == []
    assert found["gone"]["missing"] == ["gone_systems"]
    assert found["scores"]["what"] == "brought by more-systems 2.0"  # it takes the place of ours
    assert "more_systems" not in sys.modules


def test_nothing_heavy_is_imported_to_find_out() -> None:
    program = (
        "import sys\nfrom anaphora.systems import kinds\nassert kinds()\n"
        "assert not {'torch', 'transformers', 'ray', 'ctranslate2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
