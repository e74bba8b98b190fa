"""A system is found by a short spec; a spec that names none says how one is written."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.systems import KINDS, Kind, Traits, kind_traits, kinds, load_system, systems, traits_of
from anaphora.systems.scores import ScoreFile


def test_a_spec_is_a_kind_and_what_the_kind_takes() -> None:
    system = load_system("scores:some/my.scores")
    assert isinstance(system, ScoreFile)
    assert system.path == Path("some/my.scores")


def test_only_the_first_colon_divides() -> None:
    system = load_system("scores:C:/my.scores")
    assert isinstance(system, ScoreFile)
    assert system.path == Path("C:/my.scores")


@pytest.mark.parametrize("spec", ["", "scores", "scores:", ":x", "my.scores"])
def test_what_is_no_spec_says_how_to_write_one(spec: str) -> None:
    with pytest.raises(AnaphoraError) as error:
        load_system(spec)
    assert "scores" in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_kind_is_answered_with_the_nearest() -> None:
    with pytest.raises(AnaphoraError, match=r"unknown system 'score' \(did you mean scores\?\)\. Known: .*scores"):
        load_system("score:x")


def test_every_registered_system_has_its_declared_traits() -> None:
    for kind in systems():
        made = systems().load(kind)
        assert callable(made)
        assert kind_traits(f"{kind}:x") == traits_of(made)


def test_traits_of_systems_that_declare_none() -> None:
    class Old:
        has_focus = own_context = True

    assert traits_of(object()) == Traits()
    assert traits_of(Old()) == Traits(scope=True, own_context=True)  # as before 0.2


# The list of kinds


Bring = Callable[[str], Kind]


@pytest.fixture
def bring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bring:
    """Install a package that brings the system `more` from a target."""

    def install(target: str) -> Kind:
        about = tmp_path / "foreign_systems-2.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: foreign-systems\nVersion: 2.0\n")
        (about / "entry_points.txt").write_text(f"[anaphora.systems]\nmore = {target}\n")
        monkeypatch.syspath_prepend(tmp_path)
        [brought] = [kind for kind in kinds() if kind.kind == "more"]
        return brought

    return install


def test_own_kinds_come_first_in_their_order() -> None:
    assert [kind.kind for kind in kinds()][: len(KINDS)] == list(KINDS)
    assert not any(kind.missing for kind in kinds() if kind.kind in ("command", "scores"))


def test_settings_of_each_kind_are_listed() -> None:
    settings = {kind.kind: kind.settings for kind in kinds()}
    assert settings["hf"] == ("revision", "dtype", "device", "source", "target", "prefix")
    assert settings["scores"] == ("are",)
    assert settings["command"] == ()


def test_package_that_is_not_installed(bring: Bring) -> None:
    kind = bring("foreign.inner.deep:More")
    assert (kind.what, kind.missing, kind.install) == (
        "brought by foreign-systems 2.0",
        ("foreign",),
        "pip install foreign",
    )


def test_nothing_is_imported_for_the_list(bring: Bring, tmp_path: Path) -> None:
    (tmp_path / "foreign.py").write_text("1 / 0")
    assert bring("foreign:More").missing == ()
    assert "foreign" not in sys.modules
