"""What is released: a wheel and an sdist with everything in them. `make release` tries out both for real."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from anaphora import __version__

pytest.importorskip("hatchling", reason="hatchling is not installed: pip install 'anaphora[dev]'")
ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "anaphora"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both, built without a network."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel installed into a folder; what it needs comes from here."""
    folder = tmp_path_factory.mktemp("installed")
    (wheel,) = built.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore"}
    subprocess.run([*pip, "--target", str(folder), str(wheel)], check=True, env=environment)
    return folder


def test_links_of_the_readme_are_absolute_in_the_release(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        page = archive.read(metadata).decode()
    links = re.findall(r"\]\((.+?)\)", page)
    assert len(links) > 20
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    local = re.findall(r"\]\((.+?)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert [link for link in local if link.startswith("https://github.com/anaphora-mt")] == []


def files_of(folder: Path) -> set[str]:
    """Every file of the package but what Python and tests leave."""
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_both_have_the_version_and_every_file(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    (sdist,) = built.glob("*.tar.gz")
    assert wheel.name == f"anaphora-{__version__}-py3-none-any.whl"
    assert sdist.name == f"anaphora-{__version__}.tar.gz"
    expected = files_of(PACKAGE)
    assert any(name.endswith(".safetensors") for name in expected), "the weights of the demo"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.removeprefix("anaphora/") for name in names if name.startswith("anaphora/")} == expected
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/anaphora/{name}" for name in expected} <= inside
    others = ("README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "Makefile", "docs/report.md", "tests/conftest.py")
    assert set(others) <= inside


def test_it_runs_from_where_it_is_installed(installed: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(installed), "ANAPHORA_HOME": str(tmp_path / "home")}

    def run(*arguments: str) -> str:
        command = [sys.executable, str(installed / "bin" / "anaphora"), *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("--version") == f"anaphora {__version__}\n"
    where = [sys.executable, "-c", "import anaphora; print(anaphora.__file__)"]
    actual = subprocess.run(where, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout
    assert actual.startswith(str(installed)), "it is not what was installed that runs here"
    run("doctor")
    run("demo", "--stand-ins", "-o", "demo")
    run("build", "templates", "--only", "gender", "-o", "gender.jsonl")
    report = ("report", "demo/runs/sentence-level", "demo/runs/context-aware", "--suite", "demo/suite.jsonl")
    run(*report, "-o", "report.html")
    assert "</html>" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_core_needs_little(installed: Path) -> None:
    (about,) = installed.glob("anaphora-*.dist-info")
    lines = (about / "METADATA").read_text(encoding="utf-8").splitlines()
    needed = [line.split()[1] for line in lines if line.startswith("Requires-Dist: ") and "extra ==" not in line]
    core = {re.match(r"[\w.-]+", need)[0] for need in needed}  # type: ignore[index]
    assert core == {"click", "numpy", "rich"}
    assert "License-Expression: Apache-2.0" in lines
