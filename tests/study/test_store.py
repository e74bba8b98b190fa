"""The log of answers: append-only, an answer that comes twice is kept once, other studies and versions are refused.

The same tests run on SQLite and, where a server can be started, on PostgreSQL.
"""

from __future__ import annotations

import shutil
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.study import store
from anaphora.study.model import Study
from anaphora.study.store import Answer, AnswerLog, Conflict, open_log, read_answers

Make = Callable[..., Study]
AnswerOf = Callable[..., Answer]
Open = Callable[[Study], AnswerLog]


@pytest.fixture(params=["sqlite", "postgresql"])
def open_it(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    url = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    opened: list[AnswerLog] = []

    def log(study: Study) -> AnswerLog:
        opened.append(open_log(study, tmp_path, url))
        return opened[-1]

    yield log
    for one in opened:
        one.close()


def test_answers_are_kept_in_order(open_it: Open, make: Make, answer_of: AnswerOf) -> None:
    study = make()
    log = open_it(study)
    first = log.append(answer_of(study, "anna", "p0", "a"))
    second = log.append(answer_of(study, "ben", "p0", "equal"))
    third = log.append(answer_of(study, "anna", "p0"))  # taken back: the answer before stays in the log
    assert first.number < second.number < third.number
    assert first.at.endswith("+00:00")
    assert log.answers() == [first, second, third]
    assert log.answers("anna") == [first, third]
    assert open_it(study).answers() == [first, second, third]


def test_an_answer_that_comes_twice_is_kept_once(open_it: Open, make: Make, answer_of: AnswerOf) -> None:
    study = make()
    log = open_it(study)
    answer = answer_of(study, "anna", "p0", "a")
    assert log.append(answer) == log.append(answer)
    assert len(log.answers()) == 1
    with pytest.raises(Conflict):
        log.append(replace(answer, choice=("b",)))
    log.append(replace(answer, annotator="ben"))  # another person's identifiers are their own
    assert [one.choice for one in log.answers()] == [("a",), ("a",)]


def test_two_connections_at_once(open_it: Open, make: Make, answer_of: AnswerOf) -> None:
    study = make(30)
    logs = [open_it(study), open_it(study)]
    batches = [[answer_of(study, name, f"p{k}", "a") for k in range(30)] for name in ("anna", "ben")]
    threads = [
        threading.Thread(target=lambda log, batch: [log.append(answer) for answer in batch], args=pair)
        for pair in zip(logs, batches, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = logs[0].answers()
    assert len({one.number for one in kept}) == 60
    assert {one.request for one in kept} == {one.request for batch in batches for one in batch}


def test_a_postgresql_database_holds_several_studies(
    postgres: str, make: Make, answer_of: AnswerOf, tmp_path: Path
) -> None:
    studies = make(), make()
    for study in studies:
        log = open_log(study, tmp_path, postgres)
        log.append(answer_of(study, "anna", "p0", "a"))
        log.close()
    assert [len(read_answers(study, tmp_path, postgres)) for study in studies] == [1, 1]


def test_a_postgresql_server_that_was_away(postgres: str, make: Make, answer_of: AnswerOf, tmp_path: Path) -> None:
    import psycopg

    study = make()
    log = open_log(study, tmp_path, postgres)
    with psycopg.connect(postgres, autocommit=True) as other:
        ours = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'anaphora study'"
        other.execute(ours)
    with pytest.raises(BadInput, match="database error: "):
        log.append(answer_of(study, "anna", "p0", "a"))
    assert log.append(answer_of(study, "anna", "p0", "b")).choice == ("b",)
    log.close()


def test_a_newer_postgresql_database(postgres: str, make: Make, tmp_path: Path) -> None:
    import psycopg

    study = make()
    open_log(study, tmp_path, postgres).close()
    with psycopg.connect(postgres, autocommit=True) as other:
        other.execute("UPDATE anaphora_study_schema SET version = 3")
        try:
            with pytest.raises(BadInput, match="a database of version 3, this program knows up to 2"):
                open_log(study, tmp_path, postgres)
        finally:
            other.execute("UPDATE anaphora_study_schema SET version = 2")


def test_no_postgresql_server(make: Make, tmp_path: Path) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'anaphora[study-postgres]'")
    with pytest.raises(BadInput, match="no connection") as refusal:
        open_log(make(), tmp_path, f"postgresql://me:secret@/none?host={tmp_path}")
    assert "secret" not in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_unknown_databases(make: Make, tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match="unknown database 'mysql'"):
        open_log(make(), tmp_path, "mysql://x")
    with pytest.raises(AnaphoraError, match="not the URL of a database"):
        open_log(make(), tmp_path, "answers")
    with pytest.raises(BadInput, match=r"No such file or directory.*[^.]$"):
        open_log(make(), tmp_path, f"sqlite:////{tmp_path}/none/answers.sqlite")


# --------------------------------------------------------------------------------------------- what 0.1.0 has written

OLD_SCHEMA = (
    "CREATE TABLE anaphora_study_schema (version INTEGER NOT NULL)",
    "CREATE TABLE anaphora_studies (study TEXT PRIMARY KEY)",
    """CREATE TABLE anaphora_answers (
        number {number}, study TEXT NOT NULL, annotator TEXT NOT NULL, item TEXT NOT NULL, choice TEXT NOT NULL,
        shown TEXT NOT NULL, request TEXT NOT NULL, at TEXT NOT NULL, seconds {real},
        UNIQUE (study, annotator, request))""",
    "INSERT INTO anaphora_study_schema (version) VALUES (1)",
    "INSERT INTO anaphora_studies (study) VALUES ('{study}')",
    """INSERT INTO anaphora_answers (study, annotator, item, choice, shown, request, at, seconds)
        VALUES ('{study}', 'anna', 'p0', '["a"]', '{shown}', 'request-old', '2026-01-01T00:00:00.000+00:00', 4.5)""",
)


def old_statements(study: Study, number: str, real: str) -> list[str]:
    shown = list(study.orders["anna", "p0"])
    return [text.format(number=number, real=real, study=study.id, shown=shown) for text in OLD_SCHEMA]


@pytest.fixture(params=["sqlite", "postgresql"])
def old(request: pytest.FixtureRequest, make: Make, tmp_path: Path) -> Iterator[tuple[Study, str | None]]:
    """A study whose database was made by 0.1.0, with one answer; in PostgreSQL a schema of its own."""
    study = make()
    if request.param == "sqlite":
        with database(tmp_path) as db:
            for statement in old_statements(study, "INTEGER PRIMARY KEY AUTOINCREMENT", "REAL"):
                db.execute(statement)
        db.close()
        yield study, None
        return
    import psycopg

    url = request.getfixturevalue("postgres")
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("CREATE SCHEMA old; SET search_path TO old")
        for statement in old_statements(study, "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "DOUBLE PRECISION"):
            db.execute(statement)
    yield study, f"{url}&options=-csearch_path%3Dold"
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("DROP SCHEMA old CASCADE")


def test_an_old_database_is_read_and_continued(
    old: tuple[Study, str | None], answer_of: AnswerOf, tmp_path: Path
) -> None:
    study, url = old
    (first,) = read_answers(study, tmp_path, url)
    assert (first.seconds, first.elapsed, first.choice, first.request) == (4.5, None, ("a",), "request-old")
    log = open_log(study, tmp_path, url)
    log.append(replace(answer_of(study, "anna", "p1", "b"), seconds=2.0, elapsed=60.0))
    log.close()
    assert [(one.seconds, one.elapsed) for one in read_answers(study, tmp_path, url)] == [(4.5, None), (2.0, 60.0)]


def test_an_old_database_is_upgraded_once(old: tuple[Study, str | None], tmp_path: Path) -> None:
    """Two programs that open it at the same time."""
    study, url = old
    problems: list[BaseException] = []

    def read() -> None:
        try:
            assert len(read_answers(study, tmp_path, url)) == 1
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_answers_to_another_study_are_not_upgraded(make: Make, tmp_path: Path) -> None:
    with database(tmp_path) as db:
        for statement in old_statements(make(), "INTEGER PRIMARY KEY AUTOINCREMENT", "REAL"):
            db.execute(statement)
        with pytest.raises(BadInput, match="answers to another study"):
            open_log(make(), tmp_path)
        assert db.execute("SELECT version FROM anaphora_study_schema").fetchone() == (1,)
    db.close()


# ---------------------------------------------------------------------------------------------------------- the file


def database(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / "answers.sqlite", isolation_level=None)


def test_commits_wait_for_the_disk(make: Make, tmp_path: Path) -> None:
    from anaphora.study.store import SQLite

    open_log(make(), tmp_path).close()
    connection = SQLite(tmp_path / "answers.sqlite")
    with connection.transaction() as do:
        assert do.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert do.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    connection.close()
    assert stat.S_IMODE((tmp_path / "answers.sqlite").stat().st_mode) == 0o600


def test_reading_makes_no_file(make: Make, tmp_path: Path) -> None:
    assert read_answers(make(), tmp_path) == []
    assert read_answers(make(), tmp_path, f"sqlite:////{tmp_path}/other.sqlite") == []
    assert not list(tmp_path.glob("*.sqlite"))


def test_another_file_by_url(make: Make, answer_of: AnswerOf, tmp_path: Path) -> None:
    study, url = make(), f"sqlite:///{tmp_path}/elsewhere.sqlite"
    log = open_log(study, tmp_path, url)
    log.append(answer_of(study, "anna", "p0", "a"))
    log.close()
    assert len(read_answers(study, tmp_path, url)) == 1
    assert read_answers(study, tmp_path) == []


def test_a_newer_database(make: Make, answer_of: AnswerOf, tmp_path: Path) -> None:
    study = make()
    log = open_log(study, tmp_path)
    log.append(answer_of(study, "anna", "p0", "a"))
    log.close()
    with database(tmp_path) as db:
        db.execute("UPDATE anaphora_study_schema SET version = 3")
    with pytest.raises(BadInput, match=r"a database of version 3, this program knows up to 2\. Upgrade"):
        open_log(study, tmp_path)
    with database(tmp_path) as db:
        assert db.execute("SELECT count(*) FROM anaphora_answers").fetchone() == (1,)


def test_answers_to_another_study(make: Make, answer_of: AnswerOf, tmp_path: Path) -> None:
    study = make()
    log = open_log(study, tmp_path)
    log.append(answer_of(study, "anna", "p0", "a"))
    log.close()
    with pytest.raises(BadInput, match=f"answers to another study .{study.id}"):
        open_log(make(), tmp_path)
    assert len(read_answers(study, tmp_path)) == 1


def test_a_file_that_is_no_database(make: Make, tmp_path: Path) -> None:
    (tmp_path / "answers.sqlite").write_bytes(b"this is a text, long enough to be looked at\n" * 30)
    before = (tmp_path / "answers.sqlite").read_bytes()
    with pytest.raises(BadInput, match=r"not a database that can be used: .*\. Restore the file from a copy\."):
        open_log(make(), tmp_path)
    assert (tmp_path / "answers.sqlite").read_bytes() == before


def test_a_broken_row(make: Make, answer_of: AnswerOf, tmp_path: Path) -> None:
    study = make()
    log = open_log(study, tmp_path)
    log.append(answer_of(study, "anna", "p0", "a"))
    log.close()
    with database(tmp_path) as db:
        db.execute("UPDATE anaphora_answers SET choice = 'a'")
    with pytest.raises(BadInput, match="answer 1 is broken"):
        read_answers(study, tmp_path)


def test_a_failed_answer_leaves_nothing_behind(make: Make, answer_of: AnswerOf, tmp_path: Path) -> None:
    study = make()
    log = open_log(study, tmp_path)
    with database(tmp_path) as db:
        db.execute("CREATE TRIGGER full BEFORE INSERT ON anaphora_answers BEGIN SELECT RAISE(ABORT, 'disk full'); END")
        with pytest.raises(BadInput, match="disk full"):
            log.append(answer_of(study, "anna", "p0", "a"))
        db.execute("DROP TRIGGER full")
    log.append(answer_of(study, "anna", "p0", "b"))  # the next one is not in the way of the last
    assert [one.choice for one in log.answers()] == [("b",)]
    log.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_several_answers_in_one_transaction(
    kind: str, make: Make, answer_of: Callable[..., Answer], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """In their order; the same twice is kept once; a conflict is not in the way; the numbers are those of the log."""
    study = replace(make(), id=f"several-{kind}")
    log = open_log(study, tmp_path, request.getfixturevalue("postgres") if kind == "postgres" else None)
    first, second, third = (answer_of(study, name, "p0", "a") for name in ("anna", "ben", "carla"))
    timed = replace(second, seconds=1.5, elapsed=None)
    kept = log.append_all([first, timed, first, replace(first, choice=("b",)), third])
    assert [type(one) for one in kept] == [Answer, Answer, Answer, Conflict, Answer]
    assert kept[0] == kept[2]
    stored = log.answers()
    assert stored == [kept[0], kept[1], kept[4]]
    assert [(one.annotator, one.seconds) for one in stored] == [("anna", None), ("ben", 1.5), ("carla", None)]
    assert log.append_all([]) == []
    log.close()


def move(path: Path) -> None:
    path.rename(path.with_name("elsewhere.sqlite"))


def copy_over(path: Path) -> None:
    shutil.copy(path, path.with_name("copy.sqlite"))
    path.with_name("copy.sqlite").replace(path)


def overwrite(path: Path) -> None:
    path.write_bytes(b"")


def delete_log(path: Path) -> None:
    path.with_name("answers.sqlite-wal").unlink()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (Path.unlink, "answers.sqlite: is no longer there while it was in use"),
        (move, "answers.sqlite: is no longer there while it was in use"),
        (copy_over, "answers.sqlite: was replaced by another file while it was in use"),
        (overwrite, "answers.sqlite: has become shorter while it was in use"),
        (delete_log, "answers.sqlite-wal: is no longer there while it was in use"),
    ],
)
def test_a_file_that_is_taken_away(
    change: Callable[[Path], None], message: str, make: Make, answer_of: AnswerOf, tmp_path: Path
) -> None:
    """SQLite goes on to write into the file that nobody sees any more, and would acknowledge answers that are lost."""
    study = make()
    log = open_log(study, tmp_path)
    log.append(answer_of(study, "anna", "p0", "a"))
    change(tmp_path / "answers.sqlite")
    for _ in range(2):
        with pytest.raises(BadInput, match=message):
            log.append(answer_of(study, "anna", "p1", "a"))
    log.close()


def test_a_file_that_is_put_back(make: Make, answer_of: AnswerOf, tmp_path: Path) -> None:
    study = make()
    log = open_log(study, tmp_path)
    answer = answer_of(study, "anna", "p0", "a")
    (tmp_path / "answers.sqlite").rename(tmp_path / "away")
    with pytest.raises(BadInput, match="No answer is accepted until it is as it was"):
        log.append(answer)
    (tmp_path / "away").rename(tmp_path / "answers.sqlite")
    log.append(answer)
    log.close()
    assert len(read_answers(study, tmp_path)) == 1


def test_a_locked_table(
    postgres: str, make: Make, answer_of: AnswerOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL would wait for as long as somebody else holds the lock, and all annotators with it."""
    import psycopg

    monkeypatch.setattr(store, "PATIENCE", 1)
    study = make()
    log = open_log(study, tmp_path, postgres)
    with psycopg.connect(postgres) as other:
        other.execute("LOCK TABLE anaphora_answers IN EXCLUSIVE MODE")
        with pytest.raises(BadInput, match="canceling statement due to statement timeout"):
            log.append(answer_of(study, "anna", "p0", "a"))
    assert log.append(answer_of(study, "anna", "p0", "b")).choice == ("b",)
    log.close()


def test_reading_does_not_hold_up_writing(make: Make, answer_of: Callable[..., Answer], tmp_path: Path) -> None:
    study = make()
    log = open_log(study, tmp_path)
    log.append(answer_of(study, "anna", "p0", "a"))
    log.answers()
    assert log._reading is not None
    with log._reading.transaction(write=False) as do:
        assert len(do.execute("SELECT * FROM anaphora_answers").fetchall()) == 1
        log.append(answer_of(study, "anna", "p1", "a"))  # while the other reads
    assert len(log.answers()) == 2
    log.close()
    assert sorted(path.name for path in tmp_path.glob("answers*")) == ["answers.sqlite"]
