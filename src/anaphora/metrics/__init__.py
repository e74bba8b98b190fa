"""Metrics with a reference, and invented example files to try them on, which say nothing about any real system."""

from __future__ import annotations

from pathlib import Path

from anaphora.core.files import atomic_writer

DATA = Path(__file__).with_name("data")
SYSTEMS = ("reference", "sentence-level", "document-level")
FILES = {
    # an English text, its French reference, two systems, their alignments, and pronouns judged right or wrong
    "apt": ("source.en", "judged.tsv", *(f"{name}.{end}" for name in SYSTEMS for end in ("fr", "align"))),
    # seven systems with human scores; the shares of judgments in each case are those of APT's Table 5
    "meta": ("scores.tsv", "basic.json", "rescued.json", "details.tsv", "judgments.tsv"),
    # two systems' translations of ten pronouns, and what annotators accept
    "discomt": ("annotations.tsv",),
}


def write_example(name: str, folder: Path) -> list[Path]:
    """Copy the example files of a command into a folder; returns their paths."""
    return [copy_example(f"{name}/{file}", folder / file) for file in FILES[name]]


def copy_example(name: str, path: Path) -> Path:
    """Copy one example file."""
    with atomic_writer(path) as out:
        out.write((DATA / name).read_bytes())
    return path
