"""Kill the server of a study between the statements that it sends to its database; no acknowledged answer is lost."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.chaos import process
from tests.chaos.kills import Trial

ANNOTATORS = ("anna", "ben", "carla")
ITEMS = 12  # that each of them answers
EVERYTHING = len(ANNOTATORS) * ITEMS
MOMENTS = ("before the insert", "after the insert", "before the commit", "after the commit")
COLUMNS = 9  # of an answer
KILLED = "killed"  # a file that says that the server has killed itself


@dataclass
class Answers:
    """The answers of all annotators to a study: what is to be said, and what was acknowledged."""

    bodies: dict[str, list[dict[str, Any]]]
    acknowledged: set[tuple[str, str]] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, links: dict[str, str]) -> None:
        """Every annotator sends in turn what is not acknowledged yet, until all is, or the server is gone."""
        people = [threading.Thread(target=self._send, args=(name, links[name]), daemon=True) for name in ANNOTATORS]
        for person in people:
            person.start()
        for person in people:
            person.join(60)

    def _send(self, name: str, link: str) -> None:
        address = urlsplit(link)
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=20)
            for body in self.bodies[name]:
                while (name, body["request"]) not in self.acknowledged:
                    connection.request("POST", f"{address.path}/answers", json.dumps(body))
                    reply = connection.getresponse()
                    reply.read()
                    if reply.status == 200:
                        with self.lock:
                            self.acknowledged.add((name, body["request"]))
                    elif reply.status in (429, 503):
                        time.sleep(0.2)
                    else:
                        raise AssertionError(f"{reply.status} for {body}")


def killed_at(answer: int, moment: str) -> Callable[[], None]:
    """Kill a server at the transaction that stores this answer, counted from 1; 0: while it makes its tables."""

    def setup() -> None:
        import sqlite3

        lock = threading.Lock()
        rows = 0
        due = False

        def counted(statement: str, values: int, do: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
            nonlocal rows, due
            with lock:
                words = statement.split()
                inserts = words[:3] == ["INSERT", "INTO", "anaphora_answers"]
                stores = words[:1] == ["COMMIT"]
                rows += values // COLUMNS if inserts else 0
                due = due or (inserts and 0 < answer <= rows) or (answer == 0 and words[:1] == ["CREATE"])
            here = due and (inserts if "insert" in moment else stores)
            if here and moment.startswith("before"):
                end()
            result = do(*arguments, **options)
            if here:
                end()
            return result

        def end() -> None:
            Path(KILLED).touch()
            os.kill(os.getpid(), signal.SIGKILL)

        class Counting(sqlite3.Connection):
            def execute(self, statement: str, values: Any = ()) -> Any:
                return counted(statement, len(values), super().execute, statement, values)

        connect = sqlite3.connect
        sqlite3.connect = lambda *a, **o: connect(*a, **{**o, "factory": Counting})  # type: ignore[assignment]
        with contextlib.suppress(ImportError):
            import psycopg

            execute, leave = psycopg.Cursor.execute, psycopg.Transaction.__exit__

            def executed(self: Any, statement: Any, values: Any = None, **options: Any) -> Any:
                return counted(str(statement), len(values or ()), execute, self, statement, values, **options)

            psycopg.Cursor.execute = executed  # type: ignore[method-assign]
            psycopg.Transaction.__exit__ = lambda self, *a: counted("COMMIT", 0, leave, self, *a)  # type: ignore[method-assign]

    return setup


class Server:
    """`anaphora study serve` in a process of its own."""

    def __init__(self, folder: Path, database: list[str], setup: Callable[[], None] | None = None) -> None:
        self.folder = folder
        (folder / "printed").unlink(missing_ok=True)
        arguments = ["study", "serve", "study", "--port", "0", "--json", *database]
        self.child = process.start(arguments, folder, None, setup, root="study")
        self.links: dict[str, str] = {}
        self.ended = False

    def ready(self) -> bool:
        """Whether it serves; False if it was killed before."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with contextlib.suppress(OSError, ValueError):
                self.links = json.loads((self.folder / "printed").read_text())["annotators"]
                return True
            if os.waitpid(self.child, os.WNOHANG)[0]:
                self.ended = True
                return False
            time.sleep(0.02)
        raise RuntimeError("the study's server does not start")

    def stop(self, how: int = signal.SIGTERM) -> None:
        if not self.ended:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.child, how)
            process.wait(self.child, self.folder)
            self.ended = True


def new_study(folder: Path, inputs: Path) -> Answers:
    """A study in a folder, and what its annotators will answer."""
    from anaphora.study.create import Design, make_study
    from anaphora.study.model import read_links, read_study, write_study
    from anaphora.study.pages import opaque_ids
    from anaphora.suites.suite import read_native

    folder.mkdir(parents=True)
    study = make_study(read_native(inputs), Design(annotators=ANNOTATORS))
    write_study(study, folder / "study")
    study = read_study(folder / "study")
    ids = opaque_ids(study, read_links(folder / "study", study)[0])
    bodies = {}
    for name in ANNOTATORS:
        items = list(ids[name].values())[:ITEMS]
        rng = random.Random(name)
        choices = [rng.choice("ab") for _ in items]
        bodies[name] = [
            {"request": f"request-{k}", "item": item, "choice": [choice]}
            for k, (item, choice) in enumerate(zip(items, choices, strict=True))
        ]
    return Answers(bodies)


def stored(folder: Path, database: list[str]) -> Counter[tuple[str, str]]:
    """Who has sent which requests that are in the database."""
    from anaphora.study.model import read_study
    from anaphora.study.store import read_answers

    url = database[1] if database else None
    log = read_answers(read_study(folder / "study"), folder / "study", url)
    return Counter((answer.annotator, answer.request) for answer in log)


def option(url: str | None, folder: Path) -> list[str]:
    """The option for a new database on a PostgreSQL server; nothing where there is none: the study's own file."""
    if url is None:
        return []
    import psycopg

    name = f"{folder.parent.name}_{folder.name}".lower().replace("-", "_")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return ["--database", url.replace("/postgres?", f"/{name}?")]


def kill_server(name: str, folder: Path, inputs: Path, url: str | None, answer: int, moment: str) -> Trial:
    """Kill a server when it stores an answer; what it has acknowledged must be there, and be there once in the end."""
    trial = Trial(name, "kill")
    database = option(url, folder)
    answers = new_study(folder, inputs)
    server = Server(folder, database, killed_at(answer, moment))
    if server.ready():
        answers.send(server.links)
        server.stop(signal.SIGKILL)
    if (folder / KILLED).exists():
        return _restarted(folder, database, answers, trial, answer / EVERYTHING)
    trial.problem = f"not killed {moment} of answer {answer}"
    return trial


def _restarted(folder: Path, database: list[str], answers: Answers, trial: Trial, at: float) -> Trial:
    """Look at what a killed server has stored, start another, and let everybody send what was not acknowledged."""
    kept = stored(folder, database) if (folder / "study" / "answers.sqlite").exists() or database else Counter()
    trial.at.append(at)
    trial.kept.append(len(kept) / EVERYTHING)
    lost = answers.acknowledged - set(kept)
    again = Server(folder, database)
    assert again.ready()
    answers.send(again.links)
    again.stop()
    final = stored(folder, database)
    if lost:
        trial.problem = f"{len(lost)} acknowledged answers are lost"
    elif len(answers.acknowledged) != EVERYTHING or len(final) != EVERYTHING or final.total() != EVERYTHING:
        trial.problem = f"{EVERYTHING} answers, {len(answers.acknowledged)} acknowledged, {final.total()} stored"
    else:
        shutil.rmtree(folder)
    return trial


@contextlib.contextmanager
def postgres() -> Iterator[tuple[str, Callable[[str], None]] | None]:
    """A PostgreSQL server of our own on a socket in a folder: its URL, and what starts and stops it. None: not here."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    actual = shutil.which("initdb") or (str(programs[-1] / "initdb") if programs else None)
    known = subprocess.run(["id", "postgres"], capture_output=True).returncode == 0
    if actual is None or (os.geteuid() == 0 and not (known and shutil.which("runuser"))):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="pg", dir="/tmp") as name:  # a socket's path must be short
        folder = Path(name)
        become: list[str] = []
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
            become = ["runuser", "-u", "postgres", "--"]
        data = str(folder / "data")
        settings = f"-c listen_addresses='' -c unix_socket_directories={folder} -c max_connections=30"

        def do(program: str, *arguments: str) -> None:
            command = [*become, str(Path(actual).with_name(program)), *arguments]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)

        def control(what: str) -> None:
            if what == "start":
                do("pg_ctl", "-D", data, "-w", "-o", settings, "-l", str(folder / "log"), "start")
            else:
                do("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")

        do("initdb", "-D", data, "-A", "trust", "-U", "study", "--no-sync")
        control("start")
        try:
            yield f"postgresql://study@/postgres?host={folder}", control
        finally:
            with contextlib.suppress(subprocess.CalledProcessError):
                control("stop")
