"""Metrics with a reference: what their systems are called, and invented example files to try them on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anaphora.core.errors import AnaphoraError
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


def system_names(translations: Sequence[Path], names: Sequence[str]) -> tuple[str, ...]:
    """Return what systems are called: the names that were given, one for each, or the paths of their translations."""
    check_one_each("name (--name)", names, translations)
    systems = tuple(names) or tuple(map(str, translations))
    if len(set(systems)) != len(systems):
        raise AnaphoraError("two translations have the same name: tell them apart with --name, once for each")
    return systems


def check_one_each(what: str, given: Sequence[object], translations: Sequence[Path]) -> None:
    """Raise an error unless none or one of these is given for each translation."""
    if given and len(given) != len(translations):
        counts = f"{len(translations)} translations, but {len(given)}"
        raise AnaphoraError(f"one {what} is needed for each translation, in their order: {counts} given")


def write_example(name: str, folder: Path) -> list[Path]:
    """Copy the example files of a command into a folder; returns their paths."""
    return [copy_example(f"{name}/{file}", folder / file) for file in FILES[name]]


def copy_example(name: str, path: Path) -> Path:
    """Copy one example file; a file of other content is not replaced."""
    if path.is_file() and path.read_bytes() != (DATA / name).read_bytes():
        raise AnaphoraError(f"{path} already exists. Choose another place for the example")
    with atomic_writer(path) as out:
        out.write((DATA / name).read_bytes())
    return path
