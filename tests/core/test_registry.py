"""Things are found by a short name, and imported only when they are used: an unused backend costs nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.core.registry import Registry


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Put a module of this text where Python finds it."""
    monkeypatch.syspath_prepend(tmp_path)
    made = []

    def make(name: str, text: str) -> str:
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        made.append(name)
        return name

    yield make
    for name in made:
        sys.modules.pop(name, None)


def test_a_target_is_imported_only_when_it_is_loaded(module) -> None:
    name = module("some_backend", "class Backend: pass")
    registry = Registry("system", {"some": f"{name}:Backend"})
    assert "some" in registry
    assert list(registry) == ["some"]
    assert name not in sys.modules
    assert registry.load("some") is sys.modules[name].Backend


def test_names_keep_their_order() -> None:
    assert list(Registry("format", {"b": "m:x", "a": "m:y"})) == ["b", "a"]


def test_an_unknown_name_error_suggests_a_near_one() -> None:
    registry = Registry("format", {"contrapro": "m:x", "lopes": "m:y"})
    assert "contrapo" not in registry
    with pytest.raises(AnaphoraError) as caught:
        registry.load("contrapo")
    assert str(caught.value) == "unknown format 'contrapo' (did you mean contrapro?). Known: contrapro, lopes"


def test_a_backend_that_is_not_installed_says_what_to_install(module) -> None:
    name = module("needs_much", "import no_such_heavy_library")
    registry = Registry("system", {"hf": f"{name}:System"}, extras={"hf": "hf"})
    with pytest.raises(AnaphoraError) as caught:
        registry.load("hf")
    assert str(caught.value) == (
        "system 'hf' needs no_such_heavy_library, which is not installed. Install it with: pip install \"anaphora[hf]\""
    )


def test_our_own_import_errors_are_not_blamed_on_installation(module) -> None:
    name = module("has_a_fault", "import anaphora.no_such_module")
    registry = Registry("system", {"hf": f"{name}:System"}, extras={"hf": "hf"})
    with pytest.raises(ModuleNotFoundError, match=r"anaphora\.no_such_module"):
        registry.load("hf")


def test_a_missing_library_that_no_extra_brings_is_not_hidden(module) -> None:
    name = module("needs_more", "import no_such_library")
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        Registry("format", {"x": f"{name}:read"}).load("x")
