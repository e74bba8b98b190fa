"""A small corpus whose annotation is in a file, and a phenomenon that needs no more: quick and exact."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from anaphora.build.mine import jobs as work
from anaphora.build.mine import phenomenon

HERE = Path(__file__).parent
Corpus = tuple[Path, Path]

# English and German sentences word by word; a word is linked to the one below it
LINES = {
    "The cup fell .": "Die Tasse fiel .",
    "It broke .": "Sie brach .",
    "We bought it today .": "Wir kauften es heute .",
    "The dog and it slept .": "Der Hund und er schliefen .",
    "Nothing happened .": "Nichts geschah .",
}


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The phenomenon `toy`, installed as another package would bring it, in this process and those that it starts."""
    packages = tmp_path / "packages"
    about = packages / "toy_phenomenon-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-phenomenon\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[anaphora.phenomena]\ntoy = toy_phenomenon:Toy\n")
    shutil.copy(HERE / "toy_phenomenon.py", packages)
    monkeypatch.syspath_prepend(packages)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, [packages, *filter(None, sys.path)])))
    for cached in (phenomenon.phenomena, work.phenomenon_of, work.annotator_of):
        cached.cache_clear()
    yield packages
    phenomenon.phenomena.cache_clear()


@pytest.fixture
def documents() -> list[list[str]]:
    return forty_documents()


@pytest.fixture
def corpus(tmp_path: Path, documents: list[list[str]]) -> Corpus:
    """Two files of lines with blank lines between documents, and next to them x.en.conllu, x.de.conllu, x.align."""
    return write_corpus(tmp_path, documents)


@pytest.fixture
def write() -> Callable[[Path, list[list[str]]], Corpus]:
    return write_corpus


def forty_documents() -> list[list[str]]:
    """Documents of one to nine sentences."""
    sentences = list(LINES)
    return [[sentences[(7 * d + 3 * k) % 5] for k in range(d % 9 + 1)] for d in range(40)]


def write_corpus(folder: Path, documents: list[list[str]]) -> Corpus:
    texts = [documents, [[LINES[line] for line in document] for document in documents]]
    for code, text in zip(("en", "de"), texts, strict=True):
        path = folder / f"x.{code}"
        path.write_text("\n\n".join("\n".join(lines) for lines in text) + "\n", encoding="utf-8")
        annotated = "\n".join(conllu(line) for lines in text for line in lines)
        path.with_suffix(f".{code}.conllu").write_text(annotated, encoding="utf-8")
    points = "\n\n".join(
        "\n".join(" ".join(f"{k}-{k}" for k in range(len(line.split()))) for line in lines) for lines in documents
    )
    (folder / "x.align").write_text(points + "\n", encoding="utf-8")
    return folder / "x.en", folder / "x.de"


def conllu(line: str) -> str:
    """A sentence whose words all depend on the first; pronouns of the third person are marked."""
    rows = []
    for k, word in enumerate(line.split(), start=1):
        pronoun = word.lower() in ("it", "sie", "er", "es")
        kind = "PRON\t_\tPerson=3" if pronoun else "PUNCT\t_\t_" if word == "." else "NOUN\t_\t_"
        rows.append(f"{k}\t{word}\t{word.lower()}\t{kind}\t{min(1, k - 1)}\t{'root' if k == 1 else 'dep'}\t_\t_")
    return "\n".join(rows) + "\n"
