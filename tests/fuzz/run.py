"""Run the fuzzer: `python -m tests.fuzz.run --cases 1000 --seed 1 --workers 2`, and print what came of it.

Every target has a valid input, which must be accepted as it is. A case is that input with damage, drawn by the seed,
the target and the number of the case alone, so that each can be had again. It ends well if the target returns, or
refuses the input with an error of ours; anything else is a finding: it is minimized and kept under corpus/, which the
tests replay. Targets run in processes of their own: a crash, a hang or a lack of memory is a finding as well.

A line is printed for every process that ends. With --record FILE the same is written to a file, and a run that was cut
goes on from there when it is started again with the same arguments.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import importlib.metadata
import io
import json
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType

import click

from anaphora.core.errors import AnaphoraError
from tests.fuzz.mutate import mutate
from tests.fuzz.targets import TARGETS, Target
from tests.memory import peak

CORPUS = Path(__file__).with_name("corpus")
SOURCE = Path(__file__).resolve().parents[2] / "src" / "anaphora"
HANG = 20  # seconds of one case
START = 600  # seconds more for a process to import its libraries and to make its valid input
PEAK = 500  # MB of a process at most, torch included
MEMORY = 6 << 30  # bytes of address space: what asks for more is ended
CHUNK = 5000  # cases that a process runs before its numbers are reported
ACCEPTED, REFUSED, OTHER = "accepted", "refused", "other"
Files = dict[str, bytes]  # what is changed in a target's folder


class Hang(BaseException):
    """A case that takes too long. Not an Exception: nothing that is tried may catch it."""


@dataclass
class Outcome:
    """How a case ended; what: of a finding, the exception and its place."""

    kind: str
    what: str = ""
    trace: str = ""


@dataclass
class Tally:
    """What came of a target's cases."""

    kinds: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    peak: float = 0.0
    largest: int = -1  # the case that took the peak
    seconds: float = 0.0
    findings: dict[str, str] = field(default_factory=dict)  # what → the folder it is kept in

    @property
    def cases(self) -> int:
        return sum(self.kinds.values())

    def add(self, other: Tally) -> None:
        """Put the figures of other cases to these."""
        self.kinds += other.kinds
        self.slowest = max(self.slowest, other.slowest)
        self.peak, self.largest = max((self.peak, self.largest), (other.peak, other.largest))
        self.seconds += other.seconds
        self.findings = {**other.findings, **self.findings}


class Record:
    """A file with a line for each process that has ended, so that a run which is cut can go on.

    settings: what the cases depend on; a file of another run is an error
    """

    def __init__(self, path: Path | None, settings: Mapping[str, object]) -> None:
        self.path, self.ended = path, dict[tuple[str, int, int], Tally]()
        if path is None:
            return
        if not path.exists():
            path.write_text(json.dumps(settings) + "\n", encoding="utf-8")
            return
        head, *lines = path.read_text(encoding="utf-8").splitlines()
        if json.loads(head) != settings:
            raise SystemExit(f"{path} is of another run: {head}")
        for line in lines:
            (name, first, last), tally = json.loads(line)
            self.ended[name, first, last] = Tally(**{**tally, "kinds": Counter(tally["kinds"])})

    def add(self, job: tuple[str, int, int], tally: Tally) -> None:
        """Write what came of the cases of a process, and print it."""
        name, first, last = job
        kinds = tally.kinds
        counts = f"{kinds[ACCEPTED]:,} accepted, {kinds[REFUSED]:,} refused, {kinds[OTHER]:,} other"
        figures = (
            f"slowest {tally.slowest:.2f} s, {tally.seconds:,.0f} s, peak {tally.peak:.0f} MB (case {tally.largest})"
        )
        sys.stdout.write(f"{time.strftime('%H:%M:%S')} {name} {first}-{last - 1}: {counts}; {figures}\n")
        sys.stdout.flush()
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps([job, vars(tally)]) + "\n")


class Ground:
    """The folder of a target with its valid input, in which cases are laid out one after the other."""

    def __init__(self, target: Target, folder: Path) -> None:
        self.target, self.folder = target, folder
        folder.mkdir(parents=True, exist_ok=True)
        with silent():
            target.seed(folder)
        names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
        self.names = [name for name in names if target.damaged(name)]
        assert self.names, f"{target.name}: nothing to damage"
        self.valid: Files = {name: (folder / name).read_bytes() for name in names}

    def case(self, number: int, seed: int) -> Files:
        """The files of a case that differ from the valid input."""
        rng = random.Random(f"{seed}/{self.target.name}/{number}")
        chosen = rng.sample(self.names, k=min(len(self.names), rng.choice((1, 1, 1, 2))))
        return {name: mutate(self.valid[name], name, rng) for name in chosen}

    def run(self, files: Files) -> Outcome:
        """Try an input; the folder is as it was afterwards."""
        for name, data in files.items():
            (self.folder / name).write_bytes(data)
        try:
            return attempt(self.target.run, self.folder)
        finally:
            self._restore(files)

    def _restore(self, files: Files) -> None:
        for name in files:
            (self.folder / name).write_bytes(self.valid[name])
        if not self.target.writes:
            return
        for path in sorted(self.folder.rglob("*"), reverse=True):
            name = str(path.relative_to(self.folder))
            if path.is_dir() and not path.is_symlink():
                if not any(path.iterdir()) and not any(known.startswith(f"{name}/") for known in self.valid):
                    path.rmdir()
            elif name not in self.valid:
                path.unlink()
        for name, data in self.valid.items():
            path = self.folder / name
            if not path.is_file() or path.stat().st_size != len(data) or path.read_bytes() != data:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)


def attempt(run: Callable[[Path], object], folder: Path) -> Outcome:
    """Run a target once: an error of ours is a refusal, any other is a finding."""
    try:
        with silent():
            run(folder)
    except (AnaphoraError, click.ClickException):
        return Outcome(REFUSED)
    except SystemExit as end:
        if end.code in (None, 0, 1):
            return Outcome(ACCEPTED)
        return Outcome(REFUSED) if end.code == 2 else Outcome(OTHER, f"exit code {end.code}")
    except (Exception, Hang, RecursionError) as error:
        return Outcome(
            OTHER, f"{type(error).__name__} at {place_of(error)}", "".join(traceback.format_exception(error))
        )
    return Outcome(ACCEPTED)


def place_of(error: BaseException) -> str:
    """The last line of ours that an exception passed."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(SOURCE)]
    return f"{Path(frames[-1].filename).relative_to(SOURCE)}:{frames[-1].lineno}" if frames else "no line of ours"


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Whatever is printed goes nowhere."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


# A process: cases of one target


def work(target: Target, first: int, last: int, seed: int, pipe: Connection, keep: Path | None) -> None:
    """Run cases and report after each chunk; the number of the case in work is sent before it begins."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ["HF_HUB_OFFLINE"] = "1"  # a damaged name of a model is not looked for on the network
    signal.signal(signal.SIGALRM, _hang)
    importlib.metadata.entry_points = functools.cache(importlib.metadata.entry_points)  # looks at every package
    base = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=base) as name:
        try:
            ground = Ground(target, Path(name) / "case")
        except Exception as error:  # nothing to begin with
            pipe.send(("invalid", f"{error!r}\n{traceback.format_exc()}"))
            return
        valid = ground.run({})
        if valid.kind != ACCEPTED:
            with silent():
                detail = _why(target, ground.folder)
            pipe.send(("invalid", f"{valid.kind}: {valid.what or detail}\n{valid.trace}"))
            return
        tally = Tally(peak=peak())
        pipe.send(("ready",))
        for number in range(first, last):
            files = ground.case(number, seed)
            pipe.send(("begin", number))
            start = time.perf_counter()
            signal.alarm(HANG)
            try:
                outcome = ground.run(files)
            except Hang as error:
                outcome = Outcome(OTHER, "Hang", "".join(traceback.format_exception(error)))
            signal.alarm(0)
            took = time.perf_counter() - start
            tally.slowest, tally.seconds = max(tally.slowest, took), tally.seconds + took
            tally.kinds[outcome.kind] += 1
            if (most := peak()) > tally.peak:
                tally.peak, tally.largest = most, number
            if outcome.kind == OTHER and outcome.what not in tally.findings:
                kept = keep_case(ground, files, outcome, number, keep) if keep else f"case {number}"
                tally.findings[outcome.what] = kept
                pipe.send(("finding", outcome.what, kept, outcome.trace))
        pipe.send(("done", tally))


def _hang(number: int, frame: FrameType | None) -> None:
    raise Hang


def _why(target: Target, folder: Path) -> str:
    try:
        target.run(folder)
    except BaseException as error:
        return str(error)
    return "?"


def keep_case(ground: Ground, files: Files, outcome: Outcome, number: int, corpus: Path) -> str:
    """Write a finding, as small as it can quickly be made, under the corpus."""
    files = minimized(ground, files, outcome.what)
    digest = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:10]
    folder = corpus / ground.target.name / digest
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return str(folder)


def minimized(ground: Ground, files: Files, what: str, tries: int = 150) -> Files:
    """The same finding with fewer changed files and without the parts that it does not need."""

    def same(candidate: Files) -> bool:
        nonlocal tries
        tries -= 1
        signal.alarm(HANG)
        try:
            return tries >= 0 and ground.run(candidate).what == what
        except Hang:
            return what == "Hang"
        finally:
            signal.alarm(0)

    if what == "Hang":
        return files
    for name in list(files):
        rest = {other: data for other, data in files.items() if other != name}
        if rest and same(rest):
            files = rest
    for name in files:
        size = max(len(files[name]) // 2, 1)
        while size >= 1 and tries > 0:
            position = 0
            while position < len(files[name]) and tries > 0:
                shorter = files[name][:position] + files[name][position + size :]
                if same({**files, name: shorter}):
                    files = {**files, name: shorter}
                else:
                    position += size
            size //= 2
    return files


# All targets


def shares(actual: Mapping[str, Tally], cases: int) -> dict[str, int]:
    """N more cases, divided among the faster half of the targets by their speed."""
    speeds = {name: one.cases / max(one.seconds, 1e-6) for name, one in actual.items() if one.cases}
    fast = sorted(speeds, key=lambda name: -speeds[name])[: max(1, len(speeds) // 2)]
    total = sum(speeds[name] for name in fast)
    return {name: -(-int(cases * speeds[name]) // int(total)) + 1 for name in fast}


def fuzz(
    cases: Mapping[str, int],
    seed: int,
    workers: int,
    seconds: float | None = None,
    keep: Path | None = CORPUS,
    first: int = 0,
    record: Record | None = None,
) -> dict[str, Tally]:
    """Run N cases of each target in processes, from this one on; returns what came of each.

    record: of an earlier part of the same run, to which what comes of each process is added
    """
    record = record or Record(None, {})
    context = multiprocessing.get_context("fork")
    tallies = {name: Tally() for name in cases}
    jobs = [
        (name, start, min(first + number, start + CHUNK))
        for name, number in cases.items()
        for start in range(first, first + number, CHUNK)
    ]
    for job in jobs:
        tallies[job[0]].add(record.ended.get(job, Tally()))
    jobs = [job for job in jobs if job not in record.ended]
    running: dict[Connection, tuple[multiprocessing.process.BaseProcess, str, int, int, float]] = {}
    ends: dict[Connection, tuple[str, int, int]] = {}  # the jobs as they were begun
    began = time.monotonic()
    while jobs or running:
        while jobs and len(running) < workers and (seconds is None or time.monotonic() - began < seconds):
            name, first, last = jobs.pop(0)
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=work, args=(TARGETS[name], first, last, seed, theirs, keep))
            process.start()
            theirs.close()
            running[ours] = (process, name, first, last, time.monotonic() + START)
            ends[ours] = (name, first, last)
        if not running:
            break
        for pipe in wait(list(running), timeout=1):
            process, name, first, last, _ = running[pipe]  # type: ignore[index]
            tally = tallies[name]
            try:
                kind, *values = pipe.recv()  # type: ignore[union-attr]
            except EOFError:  # it has ended, or died
                process.join()
                del running[pipe]  # type: ignore[arg-type]
                if process.exitcode != 0:
                    _died(tally, name, first, f"died with code {process.exitcode}", jobs, last)
                continue
            if kind == "begin":
                running[pipe] = (process, name, values[0], last, time.monotonic())  # type: ignore[index]
            elif kind == "ready":
                running[pipe] = (process, name, first, last, time.monotonic())  # type: ignore[index]
            elif kind == "finding":
                what, kept, trace = values
                if what not in tally.findings:
                    tell(f"{name}: {what}: {kept}\n{trace}")
                tally.findings.setdefault(what, kept)
            elif kind == "invalid":
                tell(f"{name}: the valid input is not accepted: {values[0]}")
                tally.kinds[OTHER] += 1
                tally.findings["the valid input is not accepted"] = values[0]
                jobs = [job for job in jobs if job[0] != name]
            else:
                tally.add(values[0])
                record.add(ends[pipe], values[0])  # type: ignore[index]
        for pipe, (process, name, first, last, since) in list(running.items()):
            if time.monotonic() - since > 3 * HANG + 60:  # what the alarm in the process does not end
                process.kill()
                process.join()
                del running[pipe]
                _died(tallies[name], name, first, "hangs", jobs, last)
    return tallies


def _died(tally: Tally, name: str, case: int, what: str, jobs: list[tuple[str, int, int]], last: int) -> None:
    tell(f"{name}: case {case} {what}")
    tally.kinds[OTHER] += 1
    tally.findings[f"{what} in case {case}"] = f"case {case}"
    if case + 1 < last:
        jobs.append((name, case + 1, last))


def tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def table(tallies: dict[str, Tally]) -> str:
    """What came of the targets, and of all together."""
    width = max(map(len, tallies)) + 2
    head = f"{'target':{width}}{'cases':>9}{'accepted':>10}{'refused':>10}{'other':>7}"
    head += f"{'slowest s':>11}{'ms/case':>9}{'peak MB':>9}"
    lines = [head]
    for name, one in sorted(tallies.items()):
        counts = f"{one.cases:>9,}{one.kinds[ACCEPTED]:>10,}{one.kinds[REFUSED]:>10,}{one.kinds[OTHER]:>7,}"
        each = 1000 * one.seconds / max(one.cases, 1)
        lines.append(f"{name:{width}}{counts}{one.slowest:>11.2f}{each:>9.2f}{one.peak:>9.0f}")
    every = list(tallies.values())
    total = Counter[str]()
    for one in every:
        total += one.kinds
    counts = f"{sum(total.values()):>9,}{total[ACCEPTED]:>10,}{total[REFUSED]:>10,}{total[OTHER]:>7,}"
    slowest, peak = max(one.slowest for one in every), max(one.peak for one in every)
    each = 1000 * sum(one.seconds for one in every) / max(sum(total.values()), 1)
    lines.append(f"{f'all {len(every)} targets':{width}}{counts}{slowest:>11.2f}{each:>9.2f}{peak:>9.0f}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 1 if there is a finding, a hang, or too much memory."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run", description=__doc__)
    parser.add_argument("targets", nargs="*", help="Names of targets, or the beginnings of names. All by default.")
    parser.add_argument("--cases", type=int, default=1000, help="Cases of each target.")
    parser.add_argument("--total", type=int, default=0, help="Cases in all: the fast targets get more, by their speed.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--time", type=float, help="Start no process after N seconds.")
    parser.add_argument("--no-keep", action="store_true", help="Do not write findings to tests/fuzz/corpus.")
    parser.add_argument("--record", type=Path, metavar="FILE", help="Keep what came of each process; go on from there.")
    options = parser.parse_args(arguments)
    names = [name for name in TARGETS if not options.targets or name.startswith(tuple(options.targets))]
    start = time.monotonic()
    keep = None if options.no_keep else CORPUS
    record = Record(options.record, {"seed": options.seed, "cases": options.cases, "targets": names})
    actual = fuzz(dict.fromkeys(names, options.cases), options.seed, options.workers, options.time, keep, record=record)
    left = options.total - sum(one.cases for one in actual.values())
    if left > 0:
        more = shares(actual, left)
        rest = fuzz(more, options.seed, options.workers, options.time, keep, first=options.cases, record=record)
        for name, one in rest.items():
            actual[name].add(one)
    sys.stdout.write(f"{table(actual)}\n")
    sys.stdout.write(f"seed {options.seed}, {options.workers} processes, {time.monotonic() - start:,.0f} s\n")
    large = [name for name, one in actual.items() if one.peak > PEAK]
    for name in large:
        sys.stdout.write(f"{name}: more than {PEAK} MB in case {actual[name].largest}\n")
    return 1 if large or any(one.findings for one in actual.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
