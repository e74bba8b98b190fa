"""The log of answers in PostgreSQL, for studies that are served from several machines or are backed up there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from anaphora.core.errors import AnaphoraError, BadInput

SCHEMA = (
    "CREATE TABLE anaphora_study_schema (version INTEGER NOT NULL)",
    "CREATE TABLE anaphora_studies (study TEXT PRIMARY KEY)",
    """CREATE TABLE anaphora_answers (
        number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, study TEXT NOT NULL REFERENCES anaphora_studies,
        annotator TEXT NOT NULL, item TEXT NOT NULL, choice TEXT NOT NULL, shown TEXT NOT NULL, request TEXT NOT NULL,
        at TEXT NOT NULL, seconds DOUBLE PRECISION, elapsed DOUBLE PRECISION,
        UNIQUE (study, annotator, request))""",
)
UPGRADES = {2: ("ALTER TABLE anaphora_answers ADD COLUMN elapsed DOUBLE PRECISION",)}


class _Cursor:
    """The log writes `?` for a value, psycopg `%s`; there is no other sign of either in its statements."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        return self._cursor.execute(statement.replace("?", "%s"), values)


class PostgreSQL:
    """One connection, made anew when the server was away."""

    schema: tuple[str, ...] = SCHEMA
    upgrades: Mapping[int, tuple[str, ...]] = UPGRADES

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.name = f"{parts.scheme}://{parts.hostname or ''}{parts.path}"  # the password is nobody's business
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
            connection = psycopg.connect(self._url, connect_timeout=10, application_name="anaphora study")
            connection.execute("SET synchronous_commit = on")  # an answer is on the disk before it is acknowledged
            connection.commit()
        except psycopg.Error as error:
            raise BadInput(self.name, f"no connection: {_one_line(error)}") from None
        return connection

    @contextlib.contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[_Cursor]:
        if self._connection.closed or self._connection.broken:
            self._connection = self._connect()
        try:
            with self._connection.transaction(), self._connection.cursor() as cursor:
                yield _Cursor(cursor)
        except self._error as error:
            raise BadInput(self.name, f"the database refuses: {_one_line(error)}") from None

    def has_tables(self) -> bool:
        with self.transaction(write=False) as do:
            found = do.execute("SELECT to_regclass('anaphora_study_schema') IS NOT NULL").fetchone()
            return bool(found[0])

    def another(self) -> PostgreSQL:
        return PostgreSQL(self._url)

    def close(self) -> None:
        self._connection.close()


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
