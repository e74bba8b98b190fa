"""The list of systems: what each needs is read from its source, however that is written, and nothing brings it down."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from anaphora.systems import KINDS, listing
from anaphora.systems.listing import Kind, kinds, missing_packages

Bring = Callable[..., None]


@pytest.fixture
def bring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bring:
    """Install a package `foreign` of these files, which brings the system `more`. Of ours there is one then."""

    def install(target: str = "foreign:More", **files: str) -> None:
        about = tmp_path / "foreign_systems-2.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: foreign-systems\nVersion: 2.0\n")
        (about / "entry_points.txt").write_text(f"[anaphora.systems]\nmore = {target}\n")
        for name, code in files.items():
            path = tmp_path.joinpath(*name.split("__")).with_suffix(".py")
            path = path.with_name("__init__.py") if path.stem == "init" else path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(code)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setattr(listing, "KINDS", {"scores": KINDS["scores"]})

    yield install  # type: ignore[misc]
    for name in [name for name in sys.modules if name.partition(".")[0] == "foreign"]:
        del sys.modules[name]


def brought() -> Kind:
    [found] = [kind for kind in kinds() if kind.kind == "more"]
    return found


def test_ours_come_first_in_their_order_and_here_all_is_installed() -> None:
    found = kinds()
    assert [kind.kind for kind in found][: len(KINDS)] == list(KINDS)
    for kind in ("command", "scores"):
        assert missing_packages(KINDS[kind][0].partition(":")[0]) == ()


@pytest.mark.parametrize(
    "code",
    [
        "import gone_a, gone_b.inner as b",
        "from gone_b import x\nfrom gone_a.inner.deep import y",
        "import json, os.path\nimport gone_a\nimport gone_b\nimport gone_a.more",
        "from __future__ import annotations\nimport gone_a as json\nfrom gone_b import *",
    ],
)
def test_every_way_to_import_a_package(bring: Bring, code: str) -> None:
    bring(foreign=code)
    assert brought() == Kind(
        "more", "brought by foreign-systems 2.0", ("gone_a", "gone_b"), "pip install gone_a gone_b"
    )


@pytest.mark.parametrize(
    "code",
    [
        "import foreign.inner",
        "from foreign.inner import thing",
        "from foreign import inner",
        "from .inner import thing",
        "from . import inner",
        "from foreign import nothing, inner as i",
    ],
)
def test_every_way_to_import_a_module_of_one_s_own(bring: Bring, code: str) -> None:
    bring("foreign.first:More", foreign__init="", foreign__first=code, foreign__inner="import gone_a")
    assert brought().missing == ("gone_a",)
    assert "foreign.inner" not in sys.modules


def test_modules_that_import_each_other_come_to_an_end(bring: Bring) -> None:
    bring(
        "foreign.one:More",
        foreign__init="",
        foreign__one="from foreign import two\nimport gone_a",
        foreign__two="import foreign.one\nimport gone_b",
    )
    assert brought().missing == ("gone_a", "gone_b")


def test_what_is_imported_only_when_it_is_used_is_no_need(bring: Bring) -> None:
    code = "def use():\n    import gone_a\ntry:\n    import gone_b\nexcept ImportError:\n    pass\n"
    bring(foreign=code)
    assert brought() == Kind("more", "brought by foreign-systems 2.0")


def test_a_package_that_is_gone(bring: Bring) -> None:
    bring("foreign.inner.deep:More")
    assert (brought().missing, brought().install) == (("foreign",), "pip install foreign")


@pytest.mark.parametrize("files", [{"foreign": ""}, {"foreign__init": ""}, {"foreign__init": "", "foreign__inner": ""}])
def test_a_module_that_is_gone_from_its_package(bring: Bring, files: dict[str, str]) -> None:
    bring("foreign.inner.deep:More", **files)
    assert "foreign.inner.deep" in brought().missing
    assert brought().install is None  # nothing can be installed for it


def test_what_the_package_around_a_module_needs_is_needed(bring: Bring) -> None:
    bring("foreign.inner.deep:More", foreign__init="import gone_a", foreign__inner__init="", foreign__inner__deep="")
    assert (brought().missing, brought().install) == (("gone_a",), "pip install gone_a")


def test_nothing_of_a_package_is_run(bring: Bring) -> None:
    bring("foreign.inner:More", foreign__init="1 / 0", foreign__inner="import gone_a\n1 / 0")
    assert brought().missing == ("gone_a",)
    assert "foreign" not in sys.modules


@pytest.mark.parametrize("code", ["import gone_a\ndef (:", "from ...... import x", "x = '\0'"])
def test_a_module_that_cannot_be_read_does_not_hide_the_others(bring: Bring, code: str) -> None:
    bring("foreign.inner:More", foreign__init="", foreign__inner=code)
    assert [kind.kind for kind in kinds()] == ["scores", "more"]
