"""Which answers of several runs belong together: those to one example, or to an example and to its attacked forms."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from anaphora.core.errors import AnaphoraError
from anaphora.suites.example import ORIGINAL
from anaphora.systems.run import Run
from anaphora.systems.scored import Scored


def together(runs: Sequence[Run]) -> Iterator[tuple[Scored, ...]]:
    """The answers of all runs to one example after the other, in the order of the first run.

    Runs of one suite go in step and are streamed. Runs of a suite and of attacks on it are paired by the tag
    `attacked`, on the examples that all of them have.
    """
    if len({run.header.sha256 for run in runs}) == 1:
        return _in_step(runs)
    return _by_original(runs)


def original_of(item: Scored) -> str | None:
    """The id of the example that this one was made from; None if it is no attacked example."""
    original = item.tags.get(ORIGINAL)
    return original if isinstance(original, str) else None


def _in_step(runs: Sequence[Run]) -> Iterator[tuple[Scored, ...]]:
    for row in itertools.zip_longest(*runs):
        if None in row or len({item.id for item in row}) > 1:
            seen = ", ".join(f"{r.path}: {item.id if item else 'ended'}" for r, item in zip(runs, row, strict=True))
            raise AnaphoraError(f"the runs do not have the same examples in the same order ({seen})")
        yield row


def _by_original(runs: Sequence[Run]) -> Iterator[tuple[Scored, ...]]:
    answers = [list(run) for run in runs]
    ids = [{item.id for item in items} for items in answers]
    originals = [{original_of(item) for item in items} - {None} for items in answers]
    tables = []
    for k, (run, items) in enumerate(zip(runs, answers, strict=True)):
        others = [j for j, other in enumerate(runs) if other.header.sha256 != run.header.sha256]
        if any(originals[j] & ids[k] for j in others):
            keys = [item.id for item in items]  # others are attacks on this very suite
        elif any(originals[k] & (ids[j] | originals[j]) for j in others):
            keys = [original_of(item) or item.id for item in items]
        else:
            raise _unrelated(run if k else runs[others[0]], runs[0])
        if len(set(keys)) < len(keys):
            raise AnaphoraError(
                f"{run.path}: several attacks on one example are in it. Compare each with: anaphora robustness"
            )
        tables.append(dict(zip(keys, items, strict=True)))
    common = [key for key in tables[0] if all(key in table for table in tables)]
    if not common:
        raise AnaphoraError(f"the runs have no example in common ({', '.join(str(run.path) for run in runs)})")
    return (tuple(table[key] for table in tables) for key in common)


def _part(run: Run) -> str:
    """Which examples of its suite a run has, in words."""
    header = run.header
    number = "the examples" if header.examples is None else f"{header.examples:,} examples"
    if sample := header.settings.get("sample"):
        size, _, seed = str(sample).partition("@")
        return f"a random sample of {size} examples (seed {seed})"
    limit = header.settings.get("limit")
    if limit is not None and header.examples in (None, limit):
        return f"the first {number.removeprefix('the ')}"
    return f"all {number.removeprefix('the ')}"


def _unrelated(run: Run, other: Run) -> AnaphoraError:
    one, two = (_part(r) for r in (run, other))
    if run.header.suite == other.header.suite and one != two:
        return AnaphoraError(
            f"{run.path} has {one} of {run.header.suite}, but {other.path} has {two}. "
            "Score both with the same --limit or --sample"
        )
    this, that = (f"{r.header.suite}@{r.header.sha256[:6]}" for r in (run, other))
    return AnaphoraError(
        f"{run.path}: a run of {this}, but {other.path} is one of {that}. "
        "Score both systems on the same suite, or on a suite and an attack on it"
    )
