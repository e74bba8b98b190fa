"""The log of answers in an SQLite file: write-ahead log, and every commit waits for the disk."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path

from anaphora.core.errors import BadInput

SCHEMA = (
    "CREATE TABLE anaphora_study_schema (version INTEGER NOT NULL)",
    "CREATE TABLE anaphora_studies (study TEXT PRIMARY KEY)",
    """CREATE TABLE anaphora_answers (
        number INTEGER PRIMARY KEY AUTOINCREMENT, study TEXT NOT NULL, annotator TEXT NOT NULL, item TEXT NOT NULL,
        choice TEXT NOT NULL, shown TEXT NOT NULL, request TEXT NOT NULL, at TEXT NOT NULL, seconds REAL,
        elapsed REAL, UNIQUE (study, annotator, request))""",
)
UPGRADES = {2: ("ALTER TABLE anaphora_answers ADD COLUMN elapsed REAL",)}


class SQLite:
    """One connection; transactions of several threads are put in order by the caller, of processes by the file."""

    schema: tuple[str, ...] = SCHEMA
    upgrades: Mapping[int, tuple[str, ...]] = UPGRADES

    def __init__(self, path: Path) -> None:
        self.name, self._path = str(path), path
        try:
            if not path.exists():  # answers are their people's: nobody else may read them
                os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=20)
            try:
                self._connection.execute("PRAGMA synchronous = FULL")
                self._connection.execute("PRAGMA journal_mode = WAL")
            except BaseException:
                self._connection.close()  # or its locks would make the next one wait
                raise
        except (sqlite3.Error, OSError, UnicodeError) as error:  # damage: the text of a schema
            raise BadInput(path, f"not a database that can be used: {error}") from None

    @contextlib.contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[sqlite3.Connection]:
        try:
            self._connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            yield self._connection
            self._connection.execute("COMMIT")
        except (sqlite3.Error, UnicodeError) as error:  # damage: text that is not UTF-8
            raise BadInput(self.name, f"the database refuses: {error}") from None
        finally:
            if self._connection.in_transaction:  # something failed; a full disk may fail at the commit
                self._connection.execute("ROLLBACK")

    def has_tables(self) -> bool:
        with self.transaction(write=False) as do:
            query = "SELECT count(*) FROM sqlite_master WHERE name = 'anaphora_study_schema'"
            return bool(do.execute(query).fetchone()[0])

    def another(self) -> SQLite:
        return SQLite(self._path)

    def close(self) -> None:
        self._connection.close()
