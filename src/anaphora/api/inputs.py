"""What the functions of the API take: files, suites and runs, by name or as objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from anaphora.core.errors import AnaphoraError, BadInput, named
from anaphora.core.openmp import check_threads
from anaphora.runs import Run, open_run
from anaphora.suites.catalog import catalog
from anaphora.suites.formats import read_suite, suite_of_rows
from anaphora.suites.get import resolve
from anaphora.suites.suite import Suite

File = str | Path
Progress = Callable[[int, int | None], None]  # called with the numbers of items that are done, and of all, if known
Normalize = Literal["sum", "mean"]
PairedTest = Literal["mcnemar", "randomization", "bootstrap"]  # of right and wrong answers
Test = Literal["bootstrap", "randomization"]


@named
def load_suite(
    what: File | Iterable[Mapping[str, Any]],
    format: str = "native",
    *,
    name: str | None = None,
    languages: str | None = None,
    breakdowns: Sequence[str] | None = None,
    context_from: File | None = None,
    context: int | None = None,
    split: str | None = None,
    contrast_from: File | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
) -> Suite:
    """Load a suite by its file, by its name in the catalog, from any published format, or from rows.

    Rows can be a list of dicts, a Hugging Face dataset or a data frame.

    format: layout of the file, as for `anaphora suites convert --from`
    name, languages, breakdowns: properties of a suite that is created from rows
    context_from, context, split, contrast_from, source_language, target_language: settings of a published format, as
        the options of `anaphora suites convert`
    """
    rows = {"name": name, "languages": languages, "breakdowns": None if breakdowns is None else tuple(breakdowns)}
    options: dict[str, Any] = {"context_from": as_path(context_from), "contrast_from": as_path(contrast_from)}
    options |= {"context": context, "split": split, **rows}
    options |= {"source_language": source_language, "target_language": target_language}
    options = {key: value for key, value in options.items() if value is not None}
    if not isinstance(what, str | Path):
        if other := [key for key in options if key not in rows]:
            raise AnaphoraError(f"rows take name, languages and breakdowns, not {', '.join(other)}")
        return suite_of_rows(what, **options)
    path = resolve(str(what)) if format == "native" else Path(what)
    return read_suite(path, format, **options)


def load_run(path: File) -> Run:
    """Open a run that `score` wrote: a header, and a record per example."""
    advice = f"{path} is a suite. Evaluate a system's scores on it: anaphora evaluate {path} --scores FILE"
    if not Path(path).exists() and str(path) in catalog():
        raise AnaphoraError(advice)
    try:
        return open_run(Path(path))
    except BadInput:
        try:
            read_suite(Path(path))
        except AnaphoraError:
            is_suite = False
        else:
            is_suite = True
        if is_suite:
            raise AnaphoraError(advice) from None
        raise


def as_suite(suite: Suite | File) -> Suite:
    return suite if isinstance(suite, Suite) else load_suite(suite)


def as_runs(runs: Sequence[Run | File]) -> list[Run]:
    return [run if isinstance(run, Run) else open_run(Path(run)) for run in runs]


def as_path(file: File | None) -> Path | None:
    return None if file is None else Path(file)


def as_paths(files: File | Sequence[File]) -> tuple[Path, ...]:
    return (Path(files),) if isinstance(files, str | Path) else tuple(map(Path, files))


def split_aligner(aligner: str) -> tuple[str, str | None]:
    """The name of an aligner and that of its model, as in "thot:hmm"; None: the aligner's default model."""
    name, _, model = aligner.partition(":")
    return name, model or None


def set_threads(threads: int | None) -> None:
    """Compute with this many CPU threads; None: the library's default."""
    check_threads(threads)
    if threads is not None:
        import torch

        torch.set_num_threads(threads)


def as_words(words: str | Sequence[str]) -> Sequence[str]:
    """A sequence of words, where one word stands for itself."""
    return [words] if isinstance(words, str) else words
