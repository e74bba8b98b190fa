"""docs/extending.md: the backend and the linker it shows work."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from anaphora.annotate.document import Document, Mention, Sentence
from anaphora.coref import Link, load_linker

PAGE = Path(__file__).resolve().parents[1] / "docs" / "extending.md"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The page's code as an installed package."""
    text = PAGE.read_text(encoding="utf-8")
    code = "\n\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    entries = re.findall(r'\[project\.entry-points\."(.*?)"\]\n(\w+ = )"(.*?)"', text)
    folder = tmp_path / "packages"
    about = folder / "my_package-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "my_package.py").write_text(code, encoding="utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("".join(f"[{group}]\n{name}{target}\n" for group, name, target in entries))
    return folder


def test_the_linker_of_the_page_links(
    package: Path, monkeypatch: pytest.MonkeyPatch, parsed: Callable[[str], Sentence]
) -> None:
    class FCoref:  # the interface of fastcoref 2.1.6, which pins its own transformers
        def __init__(self, name: str, **settings: Any) -> None:
            assert (name, settings) == ("mine", {"device": "cpu", "nlp": None, "enable_progress_bar": False})

        def predict(self, *, texts: list[list[str]], is_split_into_words: bool) -> list[Any]:
            assert texts == [["The", "dog", "barked", "It", "slept"]]
            assert is_split_into_words
            return [SimpleNamespace(get_clusters=lambda as_strings: [[(0, 2), (3, 4)]])]

    monkeypatch.setitem(sys.modules, "fastcoref", SimpleNamespace(FCoref=FCoref))
    monkeypatch.syspath_prepend(package)
    barked = parsed("The/DET/2/det dog/NOUN/3/nsubj barked/VERB/0/root")
    document = Document((barked, parsed("It/PRON/2/nsubj slept/VERB/0/root")))
    linker = load_linker("fastcoref:mine", "en")
    assert linker.links(document) == [Link(Mention(1, 0, 1, 0), Mention(0, 0, 2, 1))]
    assert linker.settings() == {"linker": "fastcoref", "model": "mine"}
    monkeypatch.delitem(sys.modules, "my_package")


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
