"""The log of answers: append-only, in SQLite by default or in PostgreSQL. An answer is durable before `append` returns.

Nothing is ever changed or deleted: a later answer to an item takes the place of an earlier one, an empty choice takes
it back.
"""

from __future__ import annotations

import contextlib
import functools
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from anaphora.core.errors import AnaphoraError, BadInput

SCHEMA_VERSION = 2
FIELDS = "number, annotator, item, choice, shown, request, at, seconds, elapsed"
Row = Sequence[Any]


class Conflict(AnaphoraError):  # noqa: N818
    """A request that was answered before comes again and says something else."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody said about an item at some time.

    choice: what was chosen, as shown; empty: the answer before is taken back
    shown: the order of the candidates on the page
    request: made by the page, so that an answer that is sent twice is kept once
    seconds: how long the question was looked at, without breaks and hidden tabs (0.1.0 counted these, too)
    elapsed: seconds from the question to the answer, breaks and all; None in answers to 0.1.0
    number: its place in the log
    """

    annotator: str
    item: str
    choice: tuple[str, ...]
    shown: tuple[int, ...]
    request: str
    seconds: float | None = None
    at: str = ""
    number: int = 0
    elapsed: float | None = None


class Connection(Protocol):
    """What the log needs of a database."""

    name: str  # for messages, without a password
    schema: tuple[str, ...]
    upgrades: Mapping[int, tuple[str, ...]]  # version → what makes a database of the version before into one of it

    def transaction(self, *, write: bool = True) -> contextlib.AbstractContextManager[Any]:
        """Something with `execute(sql, parameters)`; at its end all is durable, on an error nothing is.

        write: whoever only reads need not wait for those who write
        """

    def has_tables(self) -> bool: ...

    def another(self) -> Connection:
        """A further connection to the same database, for reading."""

    def close(self) -> None: ...


class AnswerLog:
    """The answers of one study in a database. Safe to use from several threads."""

    def __init__(self, connection: Connection, study: str, *, alone: bool) -> None:
        """alone: the database may hold no other study (a file that belongs to the study)."""
        self.name = connection.name
        self._connection, self._study = connection, study
        self._lock, self._read_lock = threading.Lock(), threading.Lock()
        self._reading: Connection | None = None
        try:
            self._open(alone)
        except BaseException:
            connection.close()
            raise

    def _open(self, alone: bool) -> None:
        """Make the tables where there are none; refuse what another program, or another study, has written."""
        if not self._connection.has_tables():
            with self._connection.transaction() as do:
                for statement in self._connection.schema:
                    do.execute(statement)
                do.execute("INSERT INTO anaphora_study_schema (version) VALUES (?)", (SCHEMA_VERSION,))
                do.execute("INSERT INTO anaphora_studies (study) VALUES (?)", (self._study,))
            return
        with self._connection.transaction(write=False) as do:
            versions = [row[0] for row in do.execute("SELECT version FROM anaphora_study_schema", ()).fetchall()]
            studies = {str(row[0]) for row in do.execute("SELECT study FROM anaphora_studies", ()).fetchall()}
        if not all(isinstance(version, int) for version in versions):
            raise BadInput(self.name, "a database without a version", remedy="Restore the database.")
        if not versions or max(versions) > SCHEMA_VERSION:
            problem = f"a database of version {max(versions, default='?')}, this program knows up to {SCHEMA_VERSION}"
            raise BadInput(self.name, problem, remedy="Upgrade with: pip install -U anaphora")
        if alone and studies and self._study not in studies:
            raise BadInput(
                self.name,
                f"these are answers to another study ({', '.join(sorted(studies))}, not {self._study})",
                remedy="Put the file of this study in its place, or name another with --database.",
            )
        if max(versions) < SCHEMA_VERSION:
            self._upgrade()
        if self._study not in studies:
            with self._connection.transaction() as do:
                do.execute("INSERT INTO anaphora_studies (study) VALUES (?)", (self._study,))

    def _upgrade(self) -> None:
        """Make a database of an earlier version into one of this; answers stay as they are."""
        with self._connection.transaction() as do:
            # of two programs that open it at once one waits here, and then finds nothing left to do
            do.execute("UPDATE anaphora_study_schema SET version = version", ())
            version = do.execute("SELECT max(version) FROM anaphora_study_schema", ()).fetchone()[0]
            for number in range(version + 1, SCHEMA_VERSION + 1):
                for statement in self._connection.upgrades[number]:
                    do.execute(statement)
            do.execute("UPDATE anaphora_study_schema SET version = ?", (SCHEMA_VERSION,))

    def append(self, answer: Answer) -> Answer:
        """Keep an answer; one whose request is known is not kept again, but must say the same."""
        (kept,) = self.append_all([answer])
        if isinstance(kept, Conflict):
            raise kept
        return kept

    def append_all(self, answers: Sequence[Answer]) -> list[Answer | Conflict]:
        """Keep answers in one transaction, in their order; a conflict is not in the way of the others."""
        if not answers:
            return []
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        columns = "study, annotator, item, choice, shown, request, at, seconds, elapsed"
        values = [value for answer in answers for value in self._values(answer, now)]
        keys = [text for answer in answers for text in (answer.annotator, answer.request)]
        with self._lock, self._connection.transaction() as do:
            rows = ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?, ?)"] * len(answers))
            unless = "ON CONFLICT (study, annotator, request) DO NOTHING"
            do.execute(f"INSERT INTO anaphora_answers ({columns}) VALUES {rows} {unless}", values)
            where = f"study = ? AND (annotator, request) IN (VALUES {', '.join(['(?, ?)'] * len(answers))})"
            found = do.execute(f"SELECT {FIELDS} FROM anaphora_answers WHERE {where}", (self._study, *keys)).fetchall()
        known = {(kept.annotator, kept.request): kept for kept in map(self._answer, found)}
        return [_same(answer, known[answer.annotator, answer.request]) for answer in answers]

    def _values(self, answer: Answer, now: str) -> Row:
        choice, shown = json.dumps(answer.choice, ensure_ascii=False), json.dumps(answer.shown)
        place = self._study, answer.annotator, answer.item
        return (*place, choice, shown, answer.request, now, answer.seconds, answer.elapsed)

    def answers(self, annotator: str | None = None) -> list[Answer]:
        """The log, oldest first; of one person or of all. Nobody who writes waits for whoever reads."""
        where, values = ("", ()) if annotator is None else (" AND annotator = ?", (annotator,))
        query = f"SELECT {FIELDS} FROM anaphora_answers WHERE study = ?{where} ORDER BY number"
        with self._read_lock:
            if self._reading is None:
                self._reading = self._connection.another()
            with self._reading.transaction(write=False) as do:
                rows = do.execute(query, (self._study, *values)).fetchall()
        return [self._answer(row) for row in rows]

    def close(self) -> None:
        if self._reading is not None:
            self._reading.close()
        self._connection.close()

    def _answer(self, row: Row) -> Answer:
        number, annotator, item, choice, shown, request, at, seconds, elapsed = row
        try:
            return Answer(
                *(str(annotator), str(item), _texts(choice), _numbers(shown)),
                *(str(request), None if seconds is None else float(seconds), str(at), int(number)),
                elapsed=None if elapsed is None else float(elapsed),
            )
        except (ValueError, TypeError) as error:
            raise BadInput(self.name, f"answer {number} is broken: {error}", remedy="Restore the database.") from None


@functools.lru_cache(maxsize=1000)  # there are few choices and orders, and many answers
def _texts(column: str) -> tuple[str, ...]:
    return tuple(map(str, json.loads(column)))


@functools.lru_cache(maxsize=1000)
def _numbers(column: str) -> tuple[int, ...]:
    return tuple(map(int, json.loads(column)))


def _same(answer: Answer, kept: Answer) -> Answer | Conflict:
    """What is kept, unless it is something else than what was said."""
    if (kept.item, kept.choice) != (answer.item, answer.choice):
        return Conflict(f"the request {answer.request!r} is known with another answer")
    return kept
