"""The Python interface to `anaphora suites`, `systems`, `doctor` and `demo`.

Parameters are called as the options of the commands. Packages or modules of this library have the names of the
commands, so the functions are verbs: `list_suites`, `list_systems`, `check_installation`, `run_demo`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anaphora.api import load_suite
from anaphora.core.errors import AnaphoraError
from anaphora.core.parameters import named
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite, suite_of

if TYPE_CHECKING:
    from anaphora.demo.stand_ins import Demo
    from anaphora.demo.story import Story
    from anaphora.doctor import Finding
    from anaphora.suites.validate import Problem
    from anaphora.systems import Kind

File = str | Path
DownloadProgress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class Converted:
    """The files that `convert_suite` wrote.

    suite: name of the suite; lines: candidates of line files, or examples to translate; sha256: of a suite file
    """

    suite: str
    files: tuple[Path, ...]
    lines: int | None = None
    sha256: str | None = None


def list_suites() -> list[dict[str, Any]]:
    """Return the suites of the catalogue as `anaphora suites list --json` does; `here`: whether it is installed."""
    from anaphora.suites.catalogue import catalogue
    from anaphora.suites.get import suite_path

    return [
        {
            "name": entry.name,
            "title": entry.title,
            "source_language": entry.source_language,
            "target_language": entry.target_language,
            "examples": entry.examples,
            "phenomena": list(entry.phenomena),
            "licence": entry.licence,
            "here": suite_path(entry.name).is_file(),
        }
        for entry in catalogue().values()
    ]


def show_suite(suite: File) -> dict[str, Any]:
    """Return the citation, license, counts and breakdowns of a suite, by its file or its name in the catalogue."""
    from anaphora.suites.get import about

    return about(str(suite))


@named
def get_suite(
    name: str, *, from_path: File | None = None, force: bool = False, progress: DownloadProgress | None = None
) -> Path:
    """Download, verify and convert a published suite, and return its file; then it is available by its name.

    from_path: local copies to import instead of downloading
    force: import or download again what already exists
    progress: called with a file's name, its bytes so far, and its bytes in all or None
    """
    from anaphora.suites.get import get

    return get(name, from_path=None if from_path is None else Path(from_path), force=force, progress=progress)


@named
def validate_suite(suite: Suite | File, *, format: str = "native") -> list[Problem]:
    """Return the problems of a suite: duplicate ids, empty or equal candidates, wrong gold, uneven passages, bad UTF-8.

    format: how the file is laid out, as in `load_suite`
    """
    from anaphora.suites import validate
    from anaphora.suites.get import resolve

    if not isinstance(suite, Suite) and format == "native":
        return list(validate.validate_file(resolve(suite)))
    return list(validate.validate_suite(suite if isinstance(suite, Suite) else load_suite(suite, format)))


@named
def convert_suite(
    source: Suite | File,
    output: File,
    *,
    format: str = "native",
    to: str = "native",
    name: str | None = None,
    context_from: File | None = None,
    context: int | None = None,
    split: str | None = None,
    contrast_from: File | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
    separator: str | None = None,
    documents: bool = False,
    limit: int | None = None,
) -> Converted:
    """Convert a published format to a suite file, or a suite to lines that any toolkit scores or translates.

    format: how the source is laid out; its settings (context_from … target_language) are those of `load_suite`
    to: "native", a suite file; "text", a folder of line files with a line per candidate; "sources", lines to translate
    name: of the suite; by default that of the format or file
    context: number of preceding sentences; with to="sources" also of a suite file
    separator: text between the sentences of a passage, which becomes one line (to="text" and to="sources")
    documents: write a document per example, one sentence per line (to="sources")
    limit: use only the first N examples
    """
    from anaphora.suites.export import write_sources, write_text

    if to not in ("native", "text", "sources"):
        raise AnaphoraError(f"unknown output {to!r}. Known: native, text, sources")
    if documents and to != "sources":
        raise AnaphoraError("--documents goes with --to sources")
    if separator is not None and to == "native":
        raise AnaphoraError("--separator goes with --to text or --to sources")
    kept = context if to == "sources" and format == "native" else None
    if not isinstance(source, Suite):
        source = load_suite(
            source,
            format,
            context_from=context_from,
            context=None if to == "sources" and format == "native" else context,
            split=split,
            contrast_from=contrast_from,
            source_language=source_language,
            target_language=target_language,
        )
    suite, output = source, Path(output)
    if name is not None:
        suite = replace(suite, header=replace(suite.header, name=name))
    if limit is not None:
        suite = _first_examples(suite, limit)
    if to == "text":
        files, candidates = write_text(suite, output, separator=separator)
        return Converted(suite.header.name, tuple(files), lines=candidates)
    if to == "sources":
        examples = write_sources(suite, output, separator=separator, documents=documents, context=kept)
        return Converted(suite.header.name, (output,), lines=examples)
    return Converted(suite.header.name, (output,), sha256=suite.write(output))


def _first_examples(suite: Suite, limit: int) -> Suite:
    def examples() -> Iterator[Example]:
        return itertools.islice(suite, limit)

    return suite_of(suite.header, examples, suite.path)


def list_systems() -> list[Kind]:
    """Return the kinds of systems that `score` and `translate` accept, with the packages that they lack."""
    from anaphora.systems import kinds

    return kinds()


def check_installation() -> list[Finding]:
    """Return which optional dependencies are installed, and how to install the missing ones (`anaphora doctor`)."""
    from anaphora.doctor import examine

    return examine()


@named
def run_demo(
    output: File = "anaphora-demo",
    *,
    pretrained: bool = False,
    stand_ins: bool = False,
    say: Callable[[str], None] | None = None,
) -> Story | Demo:
    """Train, score, attack, diagnose and compare two small models, and write a report (takes a few minutes).

    output: folder for the demo's files
    pretrained: use the models that come with the package, which takes seconds
    stand_ins: use score files made by rules instead of models
    say: called with a line about each step
    """
    if stand_ins:
        from anaphora.demo import stand_ins as rules

        return rules.run_demo(Path(output))
    from anaphora.demo.story import run_story

    return run_story(Path(output), pretrained=pretrained, say=say or (lambda line: None))
