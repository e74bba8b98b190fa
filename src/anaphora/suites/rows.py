"""A suite from rows: those of a Hugging Face dataset, of a data frame, or dicts of one's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from anaphora.core.errors import AnaphoraError
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, shape_problem, suite_of

FIELDS = ("id", "source", "candidates", "gold", "tags")


def suite_of_rows(
    rows: Iterable[Mapping[str, Any]],
    name: str = "rows",
    languages: str = "",
    breakdowns: tuple[str, ...] = (),
) -> Suite:
    """Rows with `source`, `candidates`, `gold`, and what else they have as tags.

    A source is a sentence, or sentences with the current one last; candidates likewise, padded where there are fewer
    sentences than in the source. Without `id` rows are numbered from 0. The rows must be iterable more than once.
    """
    rows = _records(rows)
    if iter(rows) is rows:
        raise AnaphoraError("the rows are read more than once: give a list or a dataset, not an iterator")
    source, _, target = languages.partition("-")

    def examples() -> Iterator[Example]:
        for number, row in enumerate(rows):
            yield _example(number, row)

    return suite_of(Header(name, source, target, breakdowns), examples)


def _records(rows: Any) -> Iterable[Mapping[str, Any]]:
    """The rows of a data frame (pandas, polars), which by itself gives its columns; anything else as it is."""
    if hasattr(rows, "columns") and hasattr(rows, "to_dicts"):
        return rows.to_dicts()  # type: ignore[no-any-return]
    if hasattr(rows, "columns") and hasattr(rows, "to_dict"):
        return [
            {str(key): value for key, value in row.items() if not _missing(value)} for row in rows.to_dict("records")
        ]
    return rows  # type: ignore[no-any-return]


def _missing(value: Any) -> bool:
    """NaN, which is how a data frame says that there is nothing."""
    return isinstance(value, float) and value != value


def _example(number: int, row: Mapping[str, Any]) -> Example:
    missing = [field for field in ("source", "candidates") if field not in row]
    if missing:
        raise AnaphoraError(f"row {number}: no {missing[0]!r}. A row has source, candidates and gold")
    source = _passage(row["source"])
    candidates = [_passage(candidate) for candidate in row["candidates"]]
    longest = max([len(source), *map(len, candidates)])
    gold = row.get("gold")
    fields: dict[str, Any] = {
        "id": str(row.get("id", number)),
        "source": _padded(source, longest),
        "candidates": [_padded(candidate, longest) for candidate in candidates],
        "gold": None if gold is None or gold == -1 else int(gold),
    }
    if problem := shape_problem(fields):
        raise AnaphoraError(f"row {number}: {problem}")
    others = {key: value for key, value in row.items() if key not in FIELDS}
    tags = {key: value for key, value in {**others, **(row.get("tags") or {})}.items() if value is not None}
    passages = tuple(tuple(candidate) for candidate in fields["candidates"])
    return Example(fields["id"], tuple(fields["source"]), passages, fields["gold"], tags)


def _passage(text: str | Iterable[str]) -> list[str]:
    return [text] if isinstance(text, str) else list(text)


def _padded(passage: list[str], length: int) -> list[str]:
    return [""] * (length - len(passage)) + passage
