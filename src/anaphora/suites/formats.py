"""Sources of suites: the formats of published test sets, and rows of datasets and data frames.

A new format is one file in `readers/` and one line here.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError
from anaphora.core.registry import Registry
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, shape_problem, suite_of

FORMATS = Registry(
    "format",
    {
        "native": "anaphora.suites.suite:read_native",
        "contrapro": "anaphora.suites.readers.contrapro:read",
        "contrapro-rebuilt": "anaphora.suites.readers.contrapro:read_rebuilt",
        "contracat": "anaphora.suites.readers.contracat:read",
        "contracat-attack": "anaphora.suites.readers.contracat_attack:read",
        "disceval": "anaphora.suites.readers.disceval:read",
        "lopes": "anaphora.suites.readers.lopes:read",
        "voita": "anaphora.suites.readers.voita:read",
        "scat": "anaphora.suites.readers.scat:read",
        "eval-anaphora": "anaphora.suites.readers.eval_anaphora:read",
        "ctxpro": "anaphora.suites.readers.ctxpro:read",
        "mt-geneval": "anaphora.suites.readers.mt_geneval:read",
        "winomt": "anaphora.suites.readers.winomt:read",
        "diabla": "anaphora.suites.readers.diabla:read",
        "text": "anaphora.suites.readers.text:read",
    },
)


def read_suite(path: Path, format: str = "native", **options: Any) -> Suite:
    """Open a suite in any of the formats. An option that the format does not have is an error."""
    reader = FORMATS.load(format)
    known = [name for name in inspect.signature(reader).parameters if name != "path"]
    for name in options:
        if name not in known:
            takes = ", ".join(f"--{k.replace('_', '-')}" for k in known) or "no options"
            raise AnaphoraError(
                f"--{name.replace('_', '-')} is not an option of the format {format!r}, which takes {takes}"
            )
    suite: Suite = reader(path, **options)
    return suite


# Rows: those of a Hugging Face dataset, of a data frame, or dicts.

FIELDS = ("id", "source", "candidates", "gold", "tags")


def suite_of_rows(
    rows: Iterable[Mapping[str, Any]],
    name: str = "rows",
    languages: str = "",
    breakdowns: tuple[str, ...] = (),
) -> Suite:
    """Return a suite of rows with `source`, `candidates` and `gold`; all other fields become tags.

    A source is a sentence, or a list of sentences with the current one last; candidates likewise, padded where they
    have fewer sentences than the source. Rows without `id` are numbered from 0. The rows must be iterable more than
    once.
    """
    rows = _records(rows)
    if iter(rows) is rows:
        raise AnaphoraError("the rows are read more than once: give a list or a dataset, not an iterator")
    source, _, target = languages.partition("-")

    header = Header(name, source, target, breakdowns)
    return suite_of(header, lambda: (_example(number, row) for number, row in enumerate(rows)))


def _records(rows: Any) -> Iterable[Mapping[str, Any]]:
    """Return the rows of a data frame (pandas, polars), which iterates over its columns; anything else as it is."""
    if hasattr(rows, "columns") and hasattr(rows, "to_dicts"):
        return rows.to_dicts()  # type: ignore[no-any-return]
    if hasattr(rows, "columns") and hasattr(rows, "to_dict"):
        return [  # NaN, which does not equal itself, is where a data frame has no value
            {str(key): value for key, value in row.items() if not (isinstance(value, float) and value != value)}
            for row in rows.to_dict("records")
        ]
    return rows  # type: ignore[no-any-return]


def _example(number: int, row: Mapping[str, Any]) -> Example:
    missing = [field for field in ("source", "candidates") if field not in row]
    if missing:
        raise AnaphoraError(f"row {number}: no {missing[0]!r}. A row has source, candidates and gold")
    texts = (row["source"], *row["candidates"])
    passages = [[text] if isinstance(text, str) else list(text) for text in texts]
    longest = max(map(len, passages))
    source, *candidates = ([""] * (longest - len(passage)) + passage for passage in passages)
    gold = row.get("gold")
    fields: dict[str, Any] = {
        "id": str(row.get("id", number)),
        "source": source,
        "candidates": candidates,
        "gold": None if gold is None or gold == -1 else int(gold),
    }
    if problem := shape_problem(fields):
        raise AnaphoraError(f"row {number}: {problem}")
    others = {key: value for key, value in row.items() if key not in FIELDS}
    tags = {key: value for key, value in {**others, **(row.get("tags") or {})}.items() if value is not None}
    return Example(fields["id"], tuple(source), tuple(map(tuple, candidates)), fields["gold"], tags)
