"""The log of answers: append-only, in SQLite by default or in PostgreSQL. An answer is durable before `append` returns.

Nothing is ever changed or deleted: a later answer to an item replaces an earlier one, and an empty choice takes it
back.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.study.model import Study

SCHEMA_VERSION = 2  # 2: the column elapsed
SCHEMA = (
    "CREATE TABLE anaphora_study_schema (version INTEGER NOT NULL)",
    "CREATE TABLE anaphora_studies (study TEXT PRIMARY KEY)",
    """CREATE TABLE anaphora_answers (
        number {number}, study TEXT NOT NULL REFERENCES anaphora_studies, annotator TEXT NOT NULL, item TEXT NOT NULL,
        choice TEXT NOT NULL, shown TEXT NOT NULL, request TEXT NOT NULL, at TEXT NOT NULL, seconds {real},
        elapsed {real}, UNIQUE (study, annotator, request))""",
)
URLS = "Write postgresql://user:password@host/name or sqlite:///path/to/file"
FIELDS = "number, annotator, item, choice, shown, request, at, seconds, elapsed"
PATIENCE = 20  # seconds to wait for a database that somebody else has locked
RESTORE = "Restore the file from a copy."
NO_ANSWERS = "No answer is accepted until it is as it was. Put it back, or stop the server and start it again."
Row = Sequence[Any]


class Conflict(AnaphoraError):  # noqa: N818
    """A request that was answered before comes again with another answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of an annotator to an item.

    choice: what was chosen, as shown; empty: the previous answer is taken back
    shown: the order of the candidates on the page
    request: created by the page, so that an answer that is sent twice is kept once
    seconds: how long the question was looked at, without breaks and hidden tabs (0.1.0 counted these, too)
    elapsed: seconds from the question to the answer, with breaks; None in answers to 0.1.0
    number: its position in the log
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
    """A connection to a database, as the log needs it."""

    name: str  # for messages, without a password
    number: str  # the type of a number that the database assigns
    real: str  # the type of a floating-point number

    def transaction(self, *, write: bool = True) -> contextlib.AbstractContextManager[Any]:
        """Something with `execute(sql, parameters)`; at its end all is durable, on an error nothing is.

        write: whoever only reads need not wait for those who write
        """

    def has_tables(self) -> bool: ...

    def another(self) -> Connection:
        """Return a further connection to the same database, for reading."""

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
        """Create the tables where there are none; refuse a database of another version or study."""
        if not self._connection.has_tables():
            with self._connection.transaction() as do:
                for statement in SCHEMA:
                    do.execute(statement.format(number=self._connection.number, real=self._connection.real))
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
            with self._connection.transaction() as do:
                # of two programs that open it at once one waits here, and then finds nothing left to do
                do.execute("UPDATE anaphora_study_schema SET version = version", ())
                if do.execute("SELECT max(version) FROM anaphora_study_schema", ()).fetchone()[0] < SCHEMA_VERSION:
                    do.execute(f"ALTER TABLE anaphora_answers ADD COLUMN elapsed {self._connection.real}")
                    do.execute("UPDATE anaphora_study_schema SET version = ?", (SCHEMA_VERSION,))
        if self._study not in studies:
            with self._connection.transaction() as do:
                do.execute("INSERT INTO anaphora_studies (study) VALUES (?)", (self._study,))

    def append(self, answer: Answer) -> Answer:
        """Keep an answer. One whose request is known is not kept again, and must be the same answer."""
        (kept,) = self.append_all([answer])
        if isinstance(kept, Conflict):
            raise kept
        return kept

    def append_all(self, answers: Sequence[Answer]) -> list[Answer | Conflict]:
        """Keep answers in one transaction, in their order; a conflict does not affect the others."""
        if not answers:
            return []
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        columns = "study, annotator, item, choice, shown, request, at, seconds, elapsed"
        values: list[Any] = []
        for answer in answers:
            choice, shown = json.dumps(answer.choice, ensure_ascii=False), json.dumps(answer.shown)
            values += [self._study, answer.annotator, answer.item, choice, shown]
            values += [answer.request, now, answer.seconds, answer.elapsed]
        keys = [text for answer in answers for text in (answer.annotator, answer.request)]
        with self._lock, self._connection.transaction() as do:
            rows = ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?, ?)"] * len(answers))
            unless = "ON CONFLICT (study, annotator, request) DO NOTHING"
            do.execute(f"INSERT INTO anaphora_answers ({columns}) VALUES {rows} {unless}", values)
            where = f"study = ? AND (annotator, request) IN (VALUES {', '.join(['(?, ?)'] * len(answers))})"
            stored = do.execute(f"SELECT {FIELDS} FROM anaphora_answers WHERE {where}", (self._study, *keys)).fetchall()
        known = {(kept.annotator, kept.request): kept for kept in map(self._answer, stored)}
        outcomes: list[Answer | Conflict] = []
        for answer in answers:
            kept = known[answer.annotator, answer.request]
            same = (kept.item, kept.choice) == (answer.item, answer.choice)
            outcomes.append(kept if same else Conflict(f"the request {answer.request!r} is known with another answer"))
        return outcomes

    def answers(self, annotator: str | None = None) -> list[Answer]:
        """Return the log, oldest first, of one annotator or of all. Writers do not wait for readers."""
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
                *(str(annotator), str(item), tuple(map(str, _loads(choice))), tuple(map(int, _loads(shown)))),
                *(str(request), None if seconds is None else float(seconds), str(at), int(number)),
                elapsed=None if elapsed is None else float(elapsed),
            )
        except (ValueError, TypeError) as error:
            raise BadInput(self.name, f"answer {number} is broken: {error}", remedy="Restore the database.") from None


_loads = functools.lru_cache(maxsize=1000)(json.loads)  # there are few choices and orders, and many answers


# SQLite: write-ahead log, and every commit waits for the disk.


class SQLite:
    """One connection. The caller serializes the transactions of threads, the file those of processes."""

    number, real = "INTEGER PRIMARY KEY AUTOINCREMENT", "REAL"

    def __init__(self, path: Path) -> None:
        self.name, self._path = str(path), path
        try:
            if not path.exists():  # only the owner may read the answers
                os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=PATIENCE)
            try:
                self._connection.execute("PRAGMA synchronous = FULL")
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # opens the write-ahead log
                self._opened, self._size = self._files(), self._path.stat().st_size
            except BaseException:
                self._connection.close()  # or its locks would make the next one wait
                raise
        except (sqlite3.Error, OSError, UnicodeError) as error:  # damage: the text of a schema
            raise BadInput(path, f"not a database that can be used: {error}", remedy=self._remedy(error)) from None

    @contextlib.contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[sqlite3.Connection]:
        try:
            self._connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            yield self._connection
            if write:
                self._check_files()
            self._connection.execute("COMMIT")
        except (sqlite3.Error, UnicodeError) as error:  # damage: text that is not UTF-8
            raise BadInput(self.name, f"database error: {error}", remedy=self._remedy(error)) from None
        finally:
            if self._connection.in_transaction:  # something failed; a full disk may fail at the commit
                self._connection.execute("ROLLBACK")

    def _files(self) -> list[tuple[int, int] | None]:
        """Return what identifies the file and its write-ahead log; None where there is none."""
        identities: list[tuple[int, int] | None] = []
        for path in (self._path, Path(f"{self._path}-wal")):
            status = path.stat() if path.exists() else None
            identities.append((status.st_dev, status.st_ino) if status else None)
        return identities

    def _check_files(self) -> None:
        """Raise an error if the file was moved, deleted, replaced or cut: what SQLite writes then would be lost."""
        for suffix, opened, now in zip(("", "-wal"), self._opened, self._files(), strict=True):
            if opened != now:
                what = "is no longer there" if now is None else "was replaced by another file"
                raise BadInput(f"{self.name}{suffix}", f"{what} while it was in use", remedy=NO_ANSWERS)
        size = self._path.stat().st_size
        if size < self._size:  # answers are only added
            raise BadInput(self.name, "has become shorter while it was in use", remedy=NO_ANSWERS)
        self._size = size

    @staticmethod
    def _remedy(error: Exception) -> str:
        """Return what helps if the file is damaged, and not busy or on a full disk."""
        code = getattr(error, "sqlite_errorcode", None)
        if isinstance(error, OSError):
            return ""
        if code == sqlite3.SQLITE_CANTOPEN:
            return "Its folder must be writable, as SQLite keeps a log next to it: copy the study to one that is."
        return RESTORE if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, None) else ""

    def has_tables(self) -> bool:
        with self.transaction(write=False) as do:
            query = "SELECT count(*) FROM sqlite_master WHERE name = 'anaphora_study_schema'"
            return bool(do.execute(query).fetchone()[0])

    def another(self) -> SQLite:
        return SQLite(self._path)

    def close(self) -> None:
        self._connection.close()


# PostgreSQL, for studies that are served from several machines or are backed up there.


class _Cursor:
    """Translate the log's placeholder `?` to psycopg's `%s`; the statements contain no other `?` or `%`."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        return self._cursor.execute(statement.replace("?", "%s"), values)


class PostgreSQL:
    """One connection, reopened after the server was away."""

    number, real = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "DOUBLE PRECISION"

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url)
        except ValueError as error:  # for example a bracket that is not closed; the URL may hold a password
            raise AnaphoraError(f"not the URL of a PostgreSQL database: {str(error).lower()}. {URLS}") from None
        self.name = f"{parts.scheme}://{parts.hostname or ''}{parts.path}"  # without the password
        self._url = url
        self._connection = self._connect()

    def _connect(self) -> Any:
        try:
            import psycopg
        except ModuleNotFoundError:
            extra = 'pip install "anaphora[study-postgres]"'
            raise AnaphoraError(f"PostgreSQL needs psycopg, which is not installed. Install it with: {extra}") from None
        self._error: type[Exception] = psycopg.Error
        try:
            limits: dict[str, Any] = {
                "connect_timeout": 10,
                "tcp_user_timeout": 1000 * PATIENCE,
            }  # the latter if its machine is gone
            connection = psycopg.connect(self._url, application_name="anaphora study", **limits)
            connection.execute("SET synchronous_commit = on")  # an answer is on the disk before it is acknowledged
            connection.execute(f"SET statement_timeout = '{PATIENCE}s'")  # somebody else may have locked the table
            connection.commit()
        except (psycopg.Error, UnicodeError) as error:
            raise BadInput(self.name, f"no connection: {' '.join(str(error).split())}") from None
        return connection

    @contextlib.contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[_Cursor]:
        if self._connection.closed or self._connection.broken:
            self._connection = self._connect()
        try:
            with self._connection.transaction(), self._connection.cursor() as cursor:
                yield _Cursor(cursor)
        except self._error as error:
            raise BadInput(self.name, f"database error: {' '.join(str(error).split())}") from None

    def has_tables(self) -> bool:
        with self.transaction(write=False) as do:
            exists = do.execute("SELECT to_regclass('anaphora_study_schema') IS NOT NULL").fetchone()
            return bool(exists[0])

    def another(self) -> PostgreSQL:
        return PostgreSQL(self._url)

    def close(self) -> None:
        self._connection.close()


# Which database: the study's own file, another SQLite file, or PostgreSQL by a URL.

ANSWERS_FILE = "answers.sqlite"


def open_log(study: Study, folder: Path, url: str | None = None) -> AnswerLog:
    """Open the log of a study's answers; it is created if it does not exist."""
    if url is None:
        return AnswerLog(SQLite(folder / ANSWERS_FILE), study.id, alone=True)
    scheme, separator, _ = url.partition("://")
    if scheme in ("postgresql", "postgres"):
        return AnswerLog(PostgreSQL(url), study.id, alone=False)
    if path := sqlite_path(url):
        return AnswerLog(SQLite(path), study.id, alone=True)
    what = f"unknown database {scheme!r}" if separator else "not the URL of a database"
    raise AnaphoraError(f"{what}. {URLS}")


def sqlite_path(url: str) -> Path | None:
    """Return the file of sqlite:///relative/file or sqlite:////absolute/file; None for any other URL."""
    scheme, _, rest = url.partition("://")
    return Path(rest.removeprefix("/")) if scheme == "sqlite" and rest.removeprefix("/") else None


def read_answers(study: Study, folder: Path, url: str | None = None) -> list[Answer]:
    """Return the whole log; empty, without creating a file, where there are no answers yet."""
    path = folder / ANSWERS_FILE if url is None else sqlite_path(url)
    if path is not None and not path.exists():
        return []
    with contextlib.closing(open_log(study, folder, url)) as log:
        return log.answers()


def kept(folder: Path, url: str | None = None) -> str:
    """Describe where the answers of a study that is no longer served are kept."""
    return f"every answer is kept in {folder if url is None else 'its database'}"  # the URL may hold a password
