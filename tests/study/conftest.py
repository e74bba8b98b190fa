"""What the tests of the study share: a suite of pairs, studies made of it, and a log of answers."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from anaphora.study.create import Design, make_study
from anaphora.study.model import Study
from anaphora.study.store import Answer
from anaphora.suites.suite import read_native
from tests import warm

HEADER = {"anaphora": 1, "name": "small", "source_language": "de", "target_language": "en"}
# the reference's pronoun and the other one, by turns
PAIRS = (("he", "it"), ("she", "he"), ("they", "it"))


def pair_rows(items: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [HEADER]
    for k in range(items):
        right, wrong = PAIRS[k % len(PAIRS)]
        context = ["", f"Sentence {k} comes before."]
        rows.append(
            {
                "id": f"p{k}",
                "source": ["", f"Satz {k} davor.", f"Das ist Satz {k}."],
                "candidates": [[*context, f"Then {right} saw {k}."], [*context, f"Then {wrong} saw {k}."]],
                "gold": 0,
                "tags": {"system": "online-B"},
            }
        )
    return rows


def gap_rows() -> list[dict[str, Any]]:
    """Two systems, three pronouns."""
    texts = {
        "a": ("Elle était là.", "Il pleut.", "Ils étaient là.", ("Elle", "Il", "Ils")),
        "b": ("Ça était là.", "Il pleut.", "Elles étaient là.", ("Ça", "Il", "Elles")),
    }
    rows: list[dict[str, Any]] = [{**HEADER, "name": "gaps", "source_language": "en", "target_language": "fr"}]
    for system, (*sentences, pronouns) in texts.items():
        for k, (sentence, pronoun) in enumerate(zip(sentences, pronouns, strict=True)):
            tags = {"system": system, "sentence": k, "position": 0, "pronoun": pronoun}
            rows.append(
                {
                    "id": f"{system}{k}",
                    "source": ["I had a key.", "It is here."],
                    "candidates": [["J'avais une clé.", sentence]],
                    "gold": 0,
                    "tags": tags,
                }
            )
    return rows


def verdict_rows() -> list[dict[str, Any]]:
    """A translation that is wrong, one that is correct, and one whose pronoun was not found."""
    rows: list[dict[str, Any]] = [{**HEADER, "name": "details", "source_language": "en", "target_language": "de"}]
    texts = (("old", "Sie ist alt.", "wrong"), ("new", "Er ist neu.", "correct"), ("red", "Rot.", "not found"))
    for k, (word, sentence, outcome) in enumerate(texts, start=1):
        tags: dict[str, Any] = {"system": "a", "sentence": str(k), "outcome": outcome, "how": "link"}
        tags |= {"source_pronoun": "It", "source_pronoun_start": 0}
        tags |= {"pronoun": sentence.split()[0], "pronoun_start": 0} if outcome != "not found" else {}
        rows.append(
            {
                "id": f"a/{k}",
                "source": ["Here is a bat.", f"It is {word}."],
                "candidates": [["Hier ist ein Schläger.", sentence]],
                "gold": None,
                "tags": tags,
            }
        )
    return rows


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Study]:
    """A study of some pairs, by three people unless told otherwise."""

    def study(items: int = 6, **design: Any) -> Study:
        design.setdefault("annotators", ("anna", "ben", "carla"))
        path = write_rows(tmp_path / "pairs.jsonl", pair_rows(items))
        return make_study(read_native(path), Design(**design))

    return study


@pytest.fixture
def make_gaps(tmp_path: Path) -> Callable[..., Study]:
    def study(**design: Any) -> Study:
        design.setdefault("annotators", ("anna", "ben"))
        path = write_rows(tmp_path / "gaps.jsonl", gap_rows())
        return make_study(read_native(path), Design(mode="gaps", **design))

    return study


@pytest.fixture
def make_verdicts(tmp_path: Path) -> Callable[..., Study]:
    def study(**design: Any) -> Study:
        design.setdefault("annotators", ("anna", "ben"))
        path = write_rows(tmp_path / "details.jsonl", verdict_rows())
        return make_study(read_native(path), Design(mode="verdicts", **design))

    return study


@pytest.fixture
def answer_of() -> Callable[..., Answer]:
    """An answer as it would come from the page: r, s, t, n, i for reference, system, tie, neither, invalid."""
    count = 0

    def answer(study: Study, annotator: str, item: str, *choice: str) -> Answer:
        nonlocal count
        count += 1
        order = study.orders[annotator, item]
        if choice in (("r",), ("s",)):
            wanted = study.by_id[item].gold if choice == ("r",) else 1 - study.by_id[item].gold
            choice = ("ab"[order.index(wanted)],)
        short = {"t": "equal", "n": "neither", "i": "invalid"}
        words = tuple(short.get(word, word) for word in choice)
        return Answer(annotator, item, words, order, f"request-{count:06d}", number=count)

    return answer


class Server:
    """`anaphora study serve` in a process of its own, which starts warm.

    files: how many it may open; set_limits: a statement that changes the limits of `study.middleware` first
    """

    def __init__(self, folder: Path, *arguments: str, files: int | None = None, set_limits: str = "") -> None:
        if files is not None:
            set_limits = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}))"
        program = f"from anaphora.study import middleware; {set_limits}\nfrom anaphora.cli import main; main()"
        start = ["python", "-c", program] if set_limits else ["anaphora"]
        command = [*start, "study", "serve", str(folder), "--port", "0", "--json", *arguments]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.process: subprocess.Popen[str] = warm.start(*command, **pipes)
        assert self.process.stdout is not None
        lines = []
        for line in self.process.stdout:  # the links are printed when the port is open
            lines.append(line)
            if line == "}\n":
                break
        else:
            assert self.process.stderr is not None
            raise AssertionError(self.process.stderr.read())
        links = json.loads("".join(lines))
        self.url, self.admin, self.links = links["url"], links["admin"], links["annotators"]

    def stop_quietly(self) -> str:
        """Stop it and return what it wrote to stderr."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.stderr is not None
        written = self.process.stderr.read()
        self.stop()
        return written

    def stop(self, how: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(timeout=20)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return code


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Start servers; those that still run at the end of the test are stopped."""
    pytest.importorskip("fastapi", reason="FastAPI is not installed: pip install 'anaphora[study]'")
    pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install 'anaphora[study]'")
    started: list[Server] = []

    def start(folder: Path, *arguments: str, **options: Any) -> Server:
        started.append(Server(folder, *arguments, **options))
        return started[-1]

    yield start
    for server in started:
        if server.process.returncode is None:
            server.stop(signal.SIGKILL)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A PostgreSQL server of the test's own, on a socket in a folder; PostgreSQL does not run as root."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'anaphora[study-postgres]'")
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    actual = shutil.which("initdb") or (str(programs[-1] / "initdb") if programs else None)
    if actual is None:
        pytest.skip("PostgreSQL is not here: apt-get install postgresql")
    bin_folder = Path(actual).parent
    with tempfile.TemporaryDirectory(prefix="pg", dir="/tmp") as name:  # a socket's path must be short
        folder = Path(name)
        become: list[str] = []
        if os.geteuid() == 0:
            if shutil.which("runuser") is None or subprocess.run(["id", "postgres"], capture_output=True).returncode:
                pytest.skip("PostgreSQL does not run as root, and there is no user postgres here")
            shutil.chown(folder, "postgres")
            become = ["runuser", "-u", "postgres", "--"]
        data = folder / "data"
        settings = f"-c listen_addresses='' -c unix_socket_directories={folder} -c max_connections=20"

        def do(program: str, *arguments: str) -> None:
            command = [*become, str(bin_folder / program), *arguments]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)

        do("initdb", "-D", str(data), "-A", "trust", "-U", "study", "--no-sync")
        do("pg_ctl", "-D", str(data), "-w", "-o", settings, "-l", str(folder / "log"), "start")
        try:
            yield f"postgresql://study@/postgres?host={folder}"
        finally:
            do("pg_ctl", "-D", str(data), "-m", "immediate", "stop")
