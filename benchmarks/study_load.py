"""A study under load: python benchmarks/study_load.py [--minutes 10] [--annotators 200] [--database sqlite|postgresql].

The real server runs on one core; the load comes from this process on another, over 127.0.0.1 only. Every annotator has
a connection, answers, thinks for a while and answers again; an admin's overview is open all the time. At the end what
the database holds is compared with what the server acknowledged. Prints latencies in ms and exits with 1 if the 99th
percentile of an answer is not below a second, or if any answer was lost, doubled or refused.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from anaphora.study.create import Design, make_study
from anaphora.study.model import Annotator, read_study, write_study
from anaphora.study.store import read_answers
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, suite_of

GOAL = 1.0  # seconds, 99th percentile of an answer
PAIRS = (("he", "it"), ("she", "he"), ("they", "it"))


@dataclass
class Tally:
    """What the clients saw. acknowledged: (annotator, request) → (item, choice)"""

    acknowledged: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=lambda: {"answer": [], "state": [], "overview": []})
    failures: Counter[str] = field(default_factory=Counter)


class Client:
    """As little HTTP as this needs, over one connection that is kept alive: the load must not be the bottleneck."""

    def __init__(self, url: str, tally: Tally) -> None:
        parts = urlsplit(url)
        self._host, self._port, self._path, self._tally = parts.hostname, parts.port, parts.path, tally
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def __call__(self, kind: str, path: str, body: Any = None) -> Any:
        """The reply's JSON, or None for a failure, which is counted; the time includes connecting."""
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{'GET' if body is None else 'POST'} {self._path}{path} HTTP/1.1\r\nHost: {self._host}\r\n"
        message = f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content
        began = time.perf_counter()
        try:
            async with asyncio.timeout(30):
                status, text = await self._exchange(message)
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            self._tally.failures[f"{kind}: {type(error).__name__}"] += 1
            await self.close()
            return None
        self._tally.seconds[kind].append(time.perf_counter() - began)
        if status != 200:
            self._tally.failures[f"{kind}: {status}"] += 1
            return None
        return json.loads(text)

    async def _exchange(self, message: bytes) -> tuple[int, bytes]:
        for again in (True, False):
            try:
                if self._streams is None:
                    self._streams = await asyncio.open_connection(self._host, self._port, limit=1 << 24)
                reader, writer = self._streams
                writer.write(message)
                head = await reader.readuntil(b"\r\n\r\n")
                break
            except (ConnectionError, asyncio.IncompleteReadError):  # an idle connection was closed meanwhile
                await self.close()
                if not again:
                    raise
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        return int(head[9:12]), await reader.readexactly(length)

    async def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            with contextlib.suppress(OSError):
                await self._streams[1].wait_closed()
        self._streams = None


async def annotator(name: str, url: str, think: float, until: float, tally: Tally) -> None:
    """Open the page, then answer and think until the time is over; after the last item begin to correct the first."""
    rng, client = random.Random(name), Client(url, tally)
    await asyncio.sleep(rng.random() * max(think, 0.1))
    state = None
    while state is None and time.monotonic() < until:
        state = await client("state", "/state")
    sent = 0
    while time.monotonic() < until:
        item = state["items"][sent % len(state["items"])]["id"]
        choice = rng.choice(["a", "b", "equal"])
        body = {"request": f"request-{sent:06d}", "item": item, "choice": [choice], "seconds": 1.0}
        reply = None
        while reply is None:  # as the page does: until it is stored
            reply = await client("answer", "/answers", body)
            if reply is None:
                await asyncio.sleep(1)
            if reply is None and time.monotonic() > until + 60:
                return
        if reply["stored"] != body["request"] or reply["item"] != item:
            tally.failures["answer: acknowledged something else"] += 1
        tally.acknowledged[name, body["request"]] = (item, choice)
        sent += 1
        await asyncio.sleep(rng.expovariate(1 / think) if think else 0)
    await client.close()


async def admin(url: str, until: float, tally: Tally) -> None:
    client = Client(url, tally)
    while time.monotonic() < until:
        await client("overview", "/overview")
        await asyncio.sleep(5)
    await client.close()


async def load(links: dict[str, Any], seconds: float, think: float) -> Tally:
    tally, until = Tally(), time.monotonic() + seconds
    people = [annotator(name, url, think, until, tally) for name, url in links["annotators"].items()]
    await asyncio.gather(admin(links["admin"], until, tally), *people)
    return tally


def write_load_study(folder: Path, annotators: int, items: int) -> None:
    """A study of made-up pairs that everybody is asked."""
    examples = []
    for k in range(items):
        right, wrong = PAIRS[k % len(PAIRS)]
        candidates = tuple((f"Sentence {k} comes before.", f"Then {word} saw number {k}.") for word in (right, wrong))
        examples.append(Example(f"p{k}", (f"Satz {k} davor.", f"Das ist Satz {k}."), candidates, 0))
    one = make_study(suite_of(Header("load", "de", "en"), lambda: examples), Design(annotators=("anybody",)))
    people = []
    for k in range(annotators):
        asked = list(one.annotators[0].assignments)
        random.Random(k).shuffle(asked)
        people.append(Annotator(f"annotator-{k:03d}", tuple(asked)))
    write_study(replace(one, annotators=tuple(people), overlap=annotators), folder)


@contextlib.contextmanager
def serving(folder: Path, database: str | None, core: int) -> Iterator[dict[str, Any]]:
    """`anaphora study serve` on one core, and its links."""
    options = [] if database is None else ["--database", database]
    command = [sys.executable, "-m", "anaphora", "study", "serve", str(folder), "--port", "0", "--json", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        os.sched_setaffinity(process.pid, {core})
        assert process.stdout is not None
        lines: list[str] = []
        while lines[-1:] != ["}\n"]:
            lines.append(process.stdout.readline())
            if not lines[-1]:
                raise SystemExit("the server did not start")
        links = json.loads("".join(lines))
        before = _cpu_seconds(process.pid)
        yield links
        links["server_cpu_seconds"] = _cpu_seconds(process.pid) - before
    finally:
        process.terminate()
        process.wait(timeout=60)


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def postgresql(core: int) -> Iterator[str]:
    """A cluster of our own on 127.0.0.1, on the server's core, with fsync on; as root it runs as the user postgres."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    found = shutil.which("initdb") or (str(programs[-1] / "initdb") if programs else None)
    if found is None:
        raise SystemExit("PostgreSQL is not installed: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    become: list[str] = []
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
        become = ["runuser", "-u", "postgres", "--"]

    def program(name: str, *arguments: str) -> list[str]:
        return [*become, "taskset", "-c", str(core), str(Path(found).parent / name), *arguments]

    data = str(folder / "data")
    subprocess.run(program("initdb", "-D", data, "-A", "trust", "-U", "study"), check=True, stdout=subprocess.DEVNULL)
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
    quiet = {"stdout": subprocess.DEVNULL, "check": True}
    subprocess.run(program("pg_ctl", "-D", data, "-w", "-o", options, "-l", f"{folder}/log", "start"), **quiet)
    try:
        yield f"postgresql://study@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run(program("pg_ctl", "-D", data, "-m", "fast", "-w", "stop"), **quiet)
        shutil.rmtree(folder, ignore_errors=True)


def compare(folder: Path, database: str | None, tally: Tally) -> dict[str, int]:
    """How many answers were acknowledged and stored, and how many of them are missing, doubled or other than said."""
    study = read_study(folder)
    stored = read_answers(study, folder, database)
    times = Counter((one.annotator, one.request) for one in stored)
    chosen = {(one.annotator, one.request): "|".join(one.choice) for one in stored}
    return {
        "acknowledged": len(tally.acknowledged),
        "stored": len(stored),
        "lost": sum(key not in times for key in tally.acknowledged),
        "doubled": sum(count > 1 for count in times.values()),
        "changed": sum(chosen.get(key, said[1]) != said[1] for key, said in tally.acknowledged.items()),
        "not_acknowledged": sum(key not in tally.acknowledged for key in times),
    }


def quantile(values: list[float], q: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))] if ordered else float("nan")


def measure(kind: str, arguments: argparse.Namespace) -> dict[str, Any]:
    cores = sorted(os.sched_getaffinity(0))
    server_core, load_core = cores[0], cores[-1]
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=arguments.folder))) / "study"
        write_load_study(folder, arguments.annotators, arguments.items)
        database = stack.enter_context(postgresql(server_core)) if kind == "postgresql" else None
        busy = Path("/proc/loadavg").read_text().split()[0]
        with serving(folder, database, server_core) as links:
            os.sched_setaffinity(0, {load_core})
            try:
                tally = asyncio.run(load(links, arguments.minutes * 60, arguments.think))
            finally:
                os.sched_setaffinity(0, set(cores))
        found = compare(folder, database, tally)
    latency = {
        what: {
            "requests": len(values),
            **{name: round(1000 * quantile(values, q), 1) for name, q in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))},
        }
        for what, values in tally.seconds.items()
    }
    return {
        "database": kind,
        "annotators": arguments.annotators,
        "minutes": arguments.minutes,
        "think_seconds": arguments.think,
        "cores": {"server": server_core, "load": load_core},
        "load_average_before": float(busy),
        "server_cpu_seconds": round(links["server_cpu_seconds"], 1),
        "answers_per_second": round(len(tally.acknowledged) / (arguments.minutes * 60), 1),
        "milliseconds": latency,
        **found,
        "failures": dict(tally.failures),
    }


def met(result: dict[str, Any]) -> bool:
    """Whether the goal is met: fast enough, nothing lost, doubled, changed or refused."""
    wrong = result["lost"] + result["doubled"] + result["changed"] + sum(result["failures"].values())
    return bool(result["milliseconds"]["answer"]["p99"] < 1000 * GOAL and result["acknowledged"] and not wrong)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10, help="for each database")
    parser.add_argument("--annotators", type=int, default=200)
    parser.add_argument("--items", type=int, default=600, help="items that everybody is asked")
    parser.add_argument("--think", type=float, default=1.0, help="mean seconds between an answer and the next")
    parser.add_argument("--database", choices=("sqlite", "postgresql", "both"), default="both")
    parser.add_argument("--folder", type=Path, default=None, help="where the study lies: a real disk, not tmpfs")
    arguments = parser.parse_args()
    kinds = ("sqlite", "postgresql") if arguments.database == "both" else (arguments.database,)
    results = []
    for kind in kinds:
        print(f"{kind} …", file=sys.stderr, flush=True)
        results.append(measure(kind, arguments))
        print(json.dumps({**results[-1], "met": met(results[-1])}, indent=1), flush=True)
    return 0 if all(map(met, results)) else 1


if __name__ == "__main__":
    sys.exit(main())
