"""Machines that fail: full disks, folders that cannot be written, too little memory, clocks and databases that jump."""

from __future__ import annotations

import contextlib
import ctypes
import datetime
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.chaos import process, study
from tests.chaos.disk import Plan
from tests.chaos.kills import Reference, differences, tree
from tests.chaos.workers import end_with_parent

BAD_INPUT = 2  # the exit code for what the user can put right
NOBODY = 65534
BY_LIBRARY = (127, -signal.SIGABRT, -signal.SIGSEGV)  # ends of a process by the C library, which has no memory either


@dataclass
class Fault:
    """What was done to a command, and why it did not take it as it should; empty if it did."""

    name: str
    target: str
    problem: str = ""
    skipped: str = ""


def refused(ended: process.Ended) -> str:
    """Why a command did not end with one line that says what is wrong; empty if it did."""
    lines = [line for line in ended.said.splitlines() if line.startswith("error:")]
    if ended.code == BAD_INPUT and len(lines) == 1 and "Traceback" not in ended.said:
        return ""
    return f"exit code {ended.code}: {ended.said[-500:]}"


def compared(reference: Reference, folder: Path, what: str) -> str:
    """Run a command to its end where nothing fails any more; why its output is not as it should be."""
    target = reference.target
    ended = process.run([*target.arguments, *target.resume], folder, None, target.setup)
    if ended.code:
        return f"{what}, then resuming fails ({ended.code}): {ended.said[-500:]}"
    wrong = differences(tree(folder / process.OUTPUT), reference.files)
    return f"{what}, then resumed: {wrong}" if wrong else ""


def full_at(reference: Reference, folder: Path, point: int) -> Fault:
    """The disk is full from an operation on; afterwards there is room, and the command is resumed."""
    target = reference.target
    fault = Fault("full disk", target.name)
    ended = process.run(target.arguments, folder, Plan(full=point), target.setup)
    fault.problem = refused(ended) or compared(reference, folder, f"full at operation {point}")
    return fault


def isolated(do: Callable[[], str]) -> str:
    """Do something in a process with mounts of its own, which are gone when it ends; returns what it returns."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            end_with_parent()
            if ctypes.CDLL(None, use_errno=True).unshare(0x00020000):  # CLONE_NEWNS
                raise OSError(ctypes.get_errno(), "no mounts of our own")
            _mount("--make-rprivate", "/")
            os.write(writing, do().encode())
        except BaseException as error:
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        message = stream.read().decode()
    os.waitpid(child, 0)
    return message


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True, capture_output=True)


def small_disk(reference: Reference, folder: Path) -> Fault:
    """A real file system without enough room; made larger, the command is resumed."""
    fault = Fault("full tmpfs", reference.target.name)
    if os.geteuid():
        fault.skipped = "only root can mount"
        return fault
    target = reference.target
    size = sum(path.stat().st_size for path in (reference.root.parent / "plain" / process.OUTPUT).rglob("*"))
    output = folder / process.OUTPUT
    output.mkdir(parents=True)

    def do() -> str:
        _mount("-t", "tmpfs", "-o", f"size={max(4096, size // 2) // 4096 * 4096}", "tmpfs", str(output))
        ended = process.run(target.arguments, folder, None, target.setup)
        if problem := refused(ended):
            return problem
        _mount("-o", "remount,size=64m", str(output))
        return compared(reference, folder, "full tmpfs")

    fault.problem = isolated(do)
    return fault


def read_only(reference: Reference, folder: Path) -> Fault:
    """A folder that is mounted read-only; then it is not, and the command is run."""
    fault = Fault("read-only folder", reference.target.name)
    if os.geteuid():
        fault.skipped = "only root can mount"
        return fault
    target = reference.target
    output = folder / process.OUTPUT
    output.mkdir(parents=True)

    def do() -> str:
        _mount("--bind", str(output), str(output))
        _mount("-o", "remount,bind,ro", str(output))
        ended = process.run(target.arguments, folder, None, target.setup)
        if problem := refused(ended):
            return problem
        _mount("-o", "remount,bind,rw", str(output))
        return compared(reference, folder, "read-only")

    fault.problem = isolated(do)
    return fault


def not_allowed(reference: Reference, folder: Path) -> Fault:
    """A folder of somebody else's."""
    fault = Fault("no permission", reference.target.name)
    target = reference.target
    (folder / process.OUTPUT).mkdir(parents=True)
    (folder / process.OUTPUT).chmod(0o555)
    folder.chmod(0o755)
    user = NOBODY if os.geteuid() == 0 else 0
    fault.problem = refused(process.run(target.arguments, folder, None, target.setup, user=user))
    (folder / process.OUTPUT).chmod(0o755)
    fault.problem = fault.problem or compared(reference, folder, "no permission")
    return fault


def little_memory(reference: Reference, folder: Path, megabytes: int) -> Fault:
    """Some more memory than the process has at its start: it says that it is not enough, or makes do with it."""
    target = reference.target
    fault = Fault("out of memory", target.name)
    ended = process.run(target.arguments, folder, None, target.setup, memory=megabytes << 20)
    if ended.code in BY_LIBRARY:
        fault.problem = compared(reference, folder, f"{megabytes} MB")
    elif ended.code:
        fault.problem = refused(ended) or compared(reference, folder, f"{megabytes} MB")
    else:
        fault.problem = differences(tree(folder / process.OUTPUT), reference.files)
    return fault


def batches_too_large(reference: Reference, folder: Path) -> Fault:
    """Batches of more than a few tokens do not fit into memory, as on a small graphics card: they are halved."""
    target = reference.target
    fault = Fault("batches out of memory", target.name)
    failed = folder / "failed"

    def setup() -> None:
        import torch

        if target.setup is not None:
            target.setup()
        embed = torch.nn.functional.embedding

        def embedding(ids: Any, *arguments: Any, **options: Any) -> Any:
            if ids.numel() > 60:
                failed.touch()
                raise torch.OutOfMemoryError(f"CUDA out of memory. Tried to allocate {ids.numel()} bytes")
            return embed(ids, *arguments, **options)

        torch.nn.functional.embedding = embedding

    folder.mkdir(parents=True)
    ended = process.run(target.arguments, folder, None, setup)
    if ended.code:
        fault.problem = f"exit code {ended.code}: {ended.said[-500:]}"
    elif not failed.exists():
        fault.problem = "no batch was too large"
    else:
        whole = reference.root.parent / "plain" / process.OUTPUT / "run.jsonl"
        fault.problem = _scores_differ(folder / process.OUTPUT / "run.jsonl", whole)
    return fault


def _scores_differ(one: Path, other: Path) -> str:
    """Where two runs differ by more than the last digits, which depend on what is computed together."""
    pairs = zip(one.read_text().splitlines()[1:], other.read_text().splitlines()[1:], strict=True)
    for line, expected in pairs:
        actual, wanted = json.loads(line), json.loads(expected)
        if actual["id"] != wanted["id"] or any(
            abs(a - b) > 1e-4 for a, b in zip(actual["scores"], wanted["scores"], strict=True)
        ):
            return f"{actual} instead of {wanted}"
    return ""


def clock_back(setup: Callable[[], None] | None = None) -> Callable[[], None]:
    """Let every look at the wall clock find it a minute earlier than the one before."""

    def change() -> None:
        if setup is not None:
            setup()
        start, looks = time.time(), iter(range(1, 1 << 60))

        def now() -> float:
            return start - 60 * next(looks)

        class Backwards(datetime.datetime):
            @classmethod
            def now(cls, tz: Any = None) -> Any:
                return datetime.datetime.fromtimestamp(now(), tz)

        time.time = now
        time.time_ns = lambda: int(now() * 1e9)
        for name, module in list(sys.modules.items()):
            if name.startswith("anaphora") and getattr(module, "datetime", None) is datetime.datetime:
                module.datetime = Backwards  # type: ignore[attr-defined]

    return change


def clock_jumps(reference: Reference, folder: Path, rng: random.Random) -> Fault:
    """A command is killed in the middle and resumed while the clock goes backwards."""
    target = reference.target
    fault = Fault("clock jumps back", target.name)
    plan = Plan(kill=rng.randrange(1, len(reference.operations)))
    setup = clock_back(target.setup)
    process.run(target.arguments, folder, plan, setup)
    ended = process.run([*target.arguments, *target.resume], folder, None, setup)
    wrong = differences(tree(folder / process.OUTPUT), reference.files)
    if ended.code and wrong:
        fault.problem = f"exit code {ended.code}: {ended.said[-500:]}"
    else:
        fault.problem = wrong
    return fault


def clock_of_study(folder: Path, inputs: Path) -> Fault:
    """Answers are given while the clock goes backwards; the last one to an item counts."""
    fault = Fault("clock jumps back", "study serve")
    answers = study.new_study(folder, inputs)
    server = study.Server(folder, [], clock_back())
    assert server.ready()
    answers.send(server.links)
    last = {}
    for name, bodies in answers.bodies.items():  # everybody thinks better of everything
        for body in bodies:
            body |= {"request": f"later-{body['request']}", "choice": ["b" if body["choice"] == ["a"] else "a"]}
            last[name, body["request"]] = tuple(body["choice"])
    answers.send(server.links)
    server.stop()
    from anaphora.study.analysis import current_answers
    from anaphora.study.model import read_study
    from anaphora.study.store import read_answers

    made = read_study(folder / "study")
    log = read_answers(made, folder / "study")
    current = current_answers(made, log, "answers")
    actual = {(answer.annotator, answer.request): answer.choice for answer in current.values()}
    if actual != last:
        fault.problem = f"{len(actual.items() ^ last.items())} answers are not the last ones"
    elif not any(one.at > other.at for one, other in itertools.pairwise(log)):
        fault.problem = "the clock did not jump"
    return fault


def database_away(folder: Path, inputs: Path, url: str, control: Callable[[str], None]) -> Fault:
    """PostgreSQL is stopped in the middle and started again; the server stays, and nothing acknowledged is lost."""
    fault = Fault("database goes away", "study serve PostgreSQL")
    answers = study.new_study(folder, inputs)
    database = ["--database", url]
    server = study.Server(folder, database)
    assert server.ready()
    sending = threading.Thread(target=answers.send, args=(server.links,))
    sending.start()
    while len(answers.acknowledged) < 6 and sending.is_alive():
        time.sleep(0.002)
    control("stop")
    during = len(answers.acknowledged)
    time.sleep(1)
    control("start")
    sending.join(60)
    server.stop()
    kept = study.stored(folder, database)
    everything = study.EVERYTHING
    if during == everything:
        fault.problem = "it was stopped too late"
    elif set(kept) != answers.acknowledged or len(kept) != everything or kept.total() != everything:
        fault.problem = f"{everything} answers, {len(answers.acknowledged)} acknowledged, {kept.total()} stored"
    return fault


def nodes_lost(root: Path) -> Iterator[Fault]:
    """Nodes and workers of a Ray cluster are lost while it scores and mines; these tests are part of the others."""
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/seams/test_cluster.py", "-k"]
    for target, names in (
        ("score --cluster", "come_and_go or worker_lost"),
        ("build mine --cluster", "node_is_lost or with_a_killed_driver"),
    ):
        command = [*pytest, names]
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300)
            last = (done.stdout.strip().splitlines() or ["nothing"])[-1]
            skipped = last if done.returncode == 0 and "passed" not in last else ""
            yield Fault("lost Ray node", target, "" if done.returncode == 0 else done.stdout[-1500:], skipped)
            continue
        yield Fault("lost Ray node", target, "takes longer than 300 s")
