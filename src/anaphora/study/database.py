"""Which database: the study's own file, another SQLite file, or PostgreSQL by a URL."""

from __future__ import annotations

from pathlib import Path

from anaphora.core.errors import AnaphoraError
from anaphora.study.model import Study
from anaphora.study.postgres import PostgreSQL
from anaphora.study.sqlite import SQLite
from anaphora.study.store import Answer, AnswerLog

ANSWERS_FILE = "answers.sqlite"


def open_log(study: Study, folder: Path, url: str | None = None) -> AnswerLog:
    """The log of a study's answers; it is made if it is not there."""
    if url is None:
        return AnswerLog(SQLite(folder / ANSWERS_FILE), study.id, alone=True)
    scheme, found, _ = url.partition("://")
    if scheme in ("postgresql", "postgres"):
        return AnswerLog(PostgreSQL(url), study.id, alone=False)
    if path := sqlite_path(url):
        return AnswerLog(SQLite(path), study.id, alone=True)
    what = f"unknown database {scheme!r}" if found else "not the URL of a database"
    raise AnaphoraError(f"{what}. Write postgresql://user:password@host/name or sqlite:///path/to/file")


def sqlite_path(url: str) -> Path | None:
    """sqlite:///relative/file or sqlite:////absolute/file; None if it is no such URL."""
    scheme, _, rest = url.partition("://")
    return Path(rest.removeprefix("/")) if scheme == "sqlite" and rest.removeprefix("/") else None


def read_answers(study: Study, folder: Path, url: str | None = None) -> list[Answer]:
    """The whole log; empty, and no file is made, where nobody has answered yet."""
    path = folder / ANSWERS_FILE if url is None else sqlite_path(url)
    if path is not None and not path.exists():
        return []
    log = open_log(study, folder, url)
    try:
        return log.answers()
    finally:
        log.close()
