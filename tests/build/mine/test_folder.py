"""A work folder belongs to one run at a time, on systems that can lock it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from anaphora.build.mine.folder import alone
from anaphora.core.errors import AnaphoraError, BadInput


def test_a_folder_in_use_is_refused_and_free_afterwards(tmp_path: Path) -> None:
    with (
        alone(tmp_path / "work"),
        pytest.raises(BadInput, match="another run is using this folder"),
        alone(tmp_path / "work"),
    ):
        pass
    with alone(tmp_path / "work"):
        assert (tmp_path / "work" / "lock").is_file()


def test_windows_is_told_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python refuses to import a module whose place in sys.modules is None, as if it were not there."""
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with (
        pytest.raises(AnaphoraError, match=r"^mining runs on Linux and macOS\. On Windows, run it in WSL"),
        alone(tmp_path),
    ):
        pass
