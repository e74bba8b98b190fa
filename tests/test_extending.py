"""docs/extending.md: the backend it shows is a backend."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "extending.md"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The page's code as an installed package."""
    text = PAGE.read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (entry,) = re.findall(r'\[project\.entry-points\."(.*?)"\]\n(\w+ = )"(.*?)"', text)
    folder = tmp_path / "packages"
    about = folder / "my_package-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "my_package.py").write_text(code, encoding="utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{entry[0]}]\n{entry[1]}{entry[2]}\n")
    return folder


def test_the_backend_of_the_page_scores(package: Path, tmp_path: Path) -> None:
    search = [str(package), *(str(Path(part).absolute()) for part in sys.path if part)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(search)}

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "anaphora", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("demo", "--stand-ins", "-o", "demo")
    run("score", "demo/suite.jsonl", "--system", "short:0.5", "--context", "1", "-o", "run")
    header, first, *_ = (json.loads(line) for line in (tmp_path / "run" / "run.jsonl").read_text().splitlines())
    assert (header["settings"]["weight"], header["context"]) == (0.5, "1+1")
    with (tmp_path / "demo" / "suite.jsonl").open(encoding="utf-8") as suite:
        example = [json.loads(line) for line in suite][1]
    assert first["scores"] == [-0.5 * len(" ".join(candidate[-2:])) for candidate in example["candidates"]]
    assert "short" in run("systems")
