"""`anaphora suites` and `anaphora systems` in Python.

Packages of this library have the names of the commands, so the functions are verbs: `list_suites`, `list_systems`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from anaphora.api.inputs import File, as_path, load_suite
from anaphora.core.errors import AnaphoraError, named
from anaphora.stats.resampling import Resampling
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite, suite_of

if TYPE_CHECKING:
    from anaphora.suites.baselines import Baselines
    from anaphora.suites.validate import Problem
    from anaphora.systems import Kind

DEFAULTS = Resampling()
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
    """List the suites of the catalog, and whether they are installed (`here`)."""
    from anaphora.suites.catalog import catalog
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
        for entry in catalog().values()
    ]


def show_suite(suite: File) -> dict[str, Any]:
    """Show the citation, license, counts and breakdowns of a suite, by its file or its name in the catalog.

    The baselines are shown as well if `suite_baselines` has saved them for this suite.
    """
    from anaphora.suites.get import about

    facts = about(str(suite))
    if "path" in facts and (path := Path(facts["path"])).with_name(f"{path.name}.baselines.json").is_file():
        from anaphora.suites.baselines import saved

        if (baselines := saved(path, facts["sha256"])) is not None:
            facts["baselines"] = baselines
    return facts


@named
def suite_baselines(
    suite: Suite | File,
    *,
    folds: int = 10,
    seed: int = DEFAULTS.seed,
    confidence: float = DEFAULTS.confidence,
    keep: bool = False,
) -> Baselines:
    """Compute baselines of a suite that do not resolve pronouns: majority, length, bag of words and others.

    folds: Number of cross-validation folds; examples of one document are in the same fold.
    keep: Save the figures next to the suite file, so that `suites show` prints them.
    """
    from anaphora.suites import baselines

    suite = suite if isinstance(suite, Suite) else load_suite(suite)
    if keep and suite.path is None:
        raise AnaphoraError(f"{suite.header.name} is not a file, so its baselines cannot be saved next to it")
    computed = baselines.suite_baselines(suite, folds=folds, seed=seed, confidence=confidence)
    if keep and suite.path is not None:
        baselines.save(computed, suite.path)
    return computed


@named
def get_suite(
    name: str, *, from_path: File | None = None, force: bool = False, progress: DownloadProgress | None = None
) -> Path:
    """Download, verify and convert a published suite, which is then available by its name, and return its file.

    from_path: Import local copies instead of downloading.
    force: Import or download the suite again if it already exists.
    progress: called with a file's name, its bytes so far, and its total bytes or None
    """
    from anaphora.suites.get import get

    return get(name, from_path=as_path(from_path), force=force, progress=progress)


@named
def validate_suite(suite: Suite | File, *, format: str = "native") -> list[Problem]:
    """Check a suite for duplicate ids, empty or equal candidates, wrong gold, uneven passages and bad UTF-8.

    format: layout of the file, as in `load_suite`
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
    to: Literal["native", "text", "sources"] = "native",
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
    """Convert a published format to a suite file, or a suite to line files for other toolkits.

    output: Suite file (.jsonl, .jsonl.gz); a folder with --to text, a text file with --to sources.
    format: layout of the source, as in `load_suite`
    to: Output: a suite file (native), line files with one candidate per line (text), or source lines to translate
        (sources).
    context_from: Folder of documents to read context from (contrapro).
    context: Number of preceding sentences to include (contrapro, lopes, ctxpro, diabla, --to sources).
    split: Split to read: train, valid or test (scat); dev or test (mt-geneval).
    contrast_from: Folder of Lopes' set, for grammatical incorrect translations (scat).
    source_language: Source language (text).
    target_language: Target language (text, disceval, mt-geneval, winomt, diabla).
    separator: Text between the sentences of a passage, one line per passage (--to text, --to sources).
    documents: Write a document per example, one sentence per line, with blank lines between documents (--to sources).
    """
    from anaphora.suites.export import write_sources, write_text

    if to not in ("native", "text", "sources"):
        raise AnaphoraError(f"unknown output {to!r}. Known: native, text, sources")
    if documents and to != "sources":
        raise AnaphoraError("--documents can only be used with --to sources")
    if separator is not None and to == "native":
        raise AnaphoraError("--separator can only be used with --to text or --to sources")
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
    """List the kinds of systems that --system accepts, and whether their dependencies are installed."""
    from anaphora.systems import kinds

    return kinds()
