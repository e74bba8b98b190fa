"""`make chaos`: kill, starve and unplug every command that writes, and see whether it can be resumed.

    python -m tests.chaos                      everything: half an hour or more on two processors
    python -m tests.chaos --only score         targets whose names contain a word
    python -m tests.chaos --parts kills,power  some parts only

Prints a table and writes the same as JSON (--json FILE). The exit code is 1 if anything was lost or differs.
"""

from __future__ import annotations

import argparse
import functools
import json
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.chaos import faults, kills, study, targets
from tests.chaos.disk import WRITING
from tests.chaos.faults import Fault
from tests.chaos.kills import POWER, Reference, Trial
from tests.chaos.targets import Target
from tests.chaos.workers import side_by_side

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("kills", "power", "faults", "study", "ray")
POINTS_OF_POWER = 6  # at which power is lost, for each way in which a disk may forget
FULL = 3  # operations from which on a disk is full
SERVERS = 13  # of a study that are killed


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description="Kill, starve and unplug every command.")
    parser.add_argument("--only", default="", metavar="WORD", help="targets whose names contain this")
    parser.add_argument("--parts", default=",".join(PARTS), metavar="A,B", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="trials side by side")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the operations that are drawn")
    parser.add_argument("--smoke", action="store_true", help="three small commands, a few kills and losses of power")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    parser.add_argument("--keep", action="store_true", help="do not delete the folder of the trials")
    chosen = parser.parse_args()
    unknown = set(chosen.parts.split(",")) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    folder.chmod(0o755)
    began = time.monotonic()
    try:
        chaos = Chaos(folder, chosen.only, chosen.jobs, chosen.seed, smoke=chosen.smoke)
        for part in chaos.run(["kills", "power"] if chosen.smoke else chosen.parts.split(",")):
            note(f"{part} done, {len(chaos.figures(0)['problems'])} problems so far")
            write(chosen.json, chaos.figures(time.monotonic() - began))  # a run that is cut keeps its parts
    finally:
        if not chosen.keep:
            shutil.rmtree(folder, ignore_errors=True)
    figures = chaos.figures(time.monotonic() - began)
    write(chosen.json, figures)
    print(chaos.table())
    print(f"{figures['seconds']:.0f} s; {figures['kills']} kills, {len(figures['problems'])} problems")
    sys.exit(1 if figures["problems"] else 0)


def write(file: Path | None, figures: Mapping[str, Any]) -> None:
    if file:
        file.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _undisturbed(target: Target, folder: Path) -> Reference | Trial:
    """What a command does undisturbed; a trial that failed where that is not the same every time."""
    try:
        return kills.undisturbed(target, folder)
    except RuntimeError as error:
        return Trial(target.name, "undisturbed", problem=str(error))


class Chaos:
    """All trials, and what came of them."""

    def __init__(self, folder: Path, only: str, jobs: int, seed: int, *, smoke: bool = False) -> None:
        self.folder, self.only, self.jobs, self.seed, self.smoke = folder, only, jobs, seed, smoke
        self.trials: list[Trial] = []
        self.faults: list[Fault] = []

    def run(self, parts: Sequence[str]) -> Iterator[str]:
        """Do parts one after the other; yields each when it is done."""
        targets.imports(models=not self.smoke)
        inputs = targets.Inputs(self.folder / "inputs")
        inputs.folder.mkdir()
        self._apart(functools.partial(inputs.make, models=not self.smoke))
        with openai() as address:
            if {"kills", "power", "faults"} & set(parts):
                chosen = [target for target in targets.targets(inputs, address) if self._wants(target)]
                note(f"{len(chosen)} commands, undisturbed")
                whole = [
                    functools.partial(_undisturbed, target, self._place(target.name, "whole")) for target in chosen
                ]
                actual = self._do(whole)
                references = [one for one in actual if isinstance(one, Reference)]
                self.trials += [one for one in actual if isinstance(one, Trial)]
            for part in parts:
                note(part)
                if part in ("kills", "power", "faults"):
                    getattr(self, f"_{part}")(references)
                elif part == "study" and self.only in "study serve":
                    self._study(inputs.pairs)
                elif part == "ray" and self.only in "ray":
                    self.faults += faults.nodes_lost(ROOT)
                yield part

    def _wants(self, target: Target) -> bool:
        return self.only in target.name and (not self.smoke or target.name in targets.SMALL)

    def _kills(self, references: Sequence[Reference]) -> None:
        tasks = []
        for reference in references:
            rng = self._random(reference)
            total = sum(operation.kind != "native" for operation in reference.operations)
            for number, point in enumerate(kills.points(total, 3 if self.smoke else reference.target.trials, rng)):
                folder = self._place(reference.target.name, f"kill-{number}")
                times = 1 + number % kills.MOST_KILLS
                tasks.append(functools.partial(kills.kill, reference, folder, point, times, random.Random(number)))
        self.trials += self._do(tasks)

    def _power(self, references: Sequence[Reference]) -> None:
        tasks = []
        for reference in references:
            scores = reference.target.name.startswith(("score", "attribute"))
            if scores and "hf" not in reference.target.name and not self.smoke:
                continue  # all systems write in the same way
            total, times = len(reference.operations), 1 if self.smoke else POINTS_OF_POWER
            for number, point in enumerate([*kills.points(total, times, self._random(reference)), total]):
                for how in POWER:
                    folder = self._place(reference.target.name, f"power-{number}-{how}")
                    rng = random.Random(number)
                    tasks.append(functools.partial(kills.lose_power, reference, folder, point, how, rng))
        self.trials += self._do(tasks)

    def _faults(self, references: Sequence[Reference]) -> None:
        tasks: list[Callable[[], Fault]] = []
        for reference in references:
            name, rng = reference.target.name, self._random(reference)
            if name.startswith(("score", "attribute")) and name not in ("score hf:", "score openai:", "attribute hf:"):
                continue
            writing = sum(one.kind in WRITING for one in reference.operations)
            for point in kills.points(writing, FULL, rng):
                tasks.append(functools.partial(faults.full_at, reference, self._place(name, f"full-{point}"), point))
            for fault in (faults.small_disk, faults.read_only, faults.not_allowed):
                tasks.append(functools.partial(fault, reference, self._place(name, fault.__name__)))
            tasks.append(functools.partial(faults.clock_jumps, reference, self._place(name, "clock"), rng))
            if name in ("score hf:", "attribute hf:", "translate nmt:", "train recurrent"):
                for megabytes in (1, 4, 16, 64):
                    folder = self._place(name, f"memory-{megabytes}")
                    tasks.append(functools.partial(faults.little_memory, reference, folder, megabytes))
            if name in ("score hf:", "attribute hf:"):
                tasks.append(functools.partial(faults.batches_too_large, reference, self._place(name, "batches")))
        self.faults += self._do(tasks)

    def _study(self, suite: Path) -> None:
        import psycopg  # noqa: F401
        import uvicorn  # noqa: F401

        import anaphora.study.server
        import anaphora.study.serving  # noqa: F401

        self.faults += self._do([functools.partial(faults.clock_of_study, self.folder / "study-clock", suite)])
        self._servers("study serve SQLite", suite, None)
        with study.postgres() as server:
            if server is None:
                self.faults.append(Fault("database goes away", "study serve PostgreSQL", "", "PostgreSQL is not here"))
                return
            url, control = server
            self._servers("study serve PostgreSQL", suite, url)
            away = functools.partial(faults.database_away, self.folder / "study-away", suite, url, control)
            self.faults += self._do([away])

    def _servers(self, name: str, suite: Path, url: str | None) -> None:
        tasks = []
        drawn = kills.points(study.EVERYTHING, SERVERS - 1, random.Random(self.seed))
        for number, answer in enumerate([0, *drawn]):
            moment = study.MOMENTS[(number + 2) % len(study.MOMENTS)]
            folder = self._place(name, f"kill-{number}")
            tasks.append(functools.partial(study.kill_server, name, folder, suite, url, answer, moment))
        self.trials += self._do(tasks)

    def _do(self, tasks: Sequence[Callable[[], Any]]) -> list[Any]:
        return side_by_side(tasks, self.jobs, self.folder / "results")

    def _apart(self, task: Callable[[], None]) -> None:
        """In a process of its own: libraries that have computed something do not like to be forked."""
        side_by_side([task], 1, self.folder / "results")

    def _place(self, name: str, trial: str) -> Path:
        return self.folder / "trials" / name.replace(" ", "-").replace(":", "") / trial

    def _random(self, reference: Reference) -> random.Random:
        return random.Random(f"{self.seed} {reference.target.name}")

    def figures(self, seconds: float) -> dict[str, Any]:
        """Everything as JSON."""
        problems = [f"{one.target}: {one.kind}: {one.problem}" for one in self.trials if one.problem]
        left = [one for one in self.trials if one.leftovers and one.kind == "kill"]
        problems += [f"{one.target}: left behind: {', '.join(one.leftovers)}" for one in left]
        problems += [f"{one.target}: {one.name}: {one.problem}" for one in self.faults if one.problem]
        return {
            "seconds": round(seconds, 1),
            "seed": self.seed,
            "kills": sum(len(one.kept) for one in self.trials if one.kind == "kill"),
            "targets": self.rows(),
            "faults": [vars(one) for one in self.faults],
            "problems": problems,
        }

    def rows(self) -> list[dict[str, Any]]:
        """A row for each target and for kill or loss of power."""
        actual: dict[tuple[str, str], list[Trial]] = {}
        for trial in self.trials:
            actual.setdefault((trial.target, trial.kind.partition(",")[0]), []).append(trial)
        rows = []
        for (target, kind), trials in actual.items():
            kept = [share for trial in trials for share in trial.kept]
            resumed = [trial for trial in trials if not trial.problem.startswith(("resuming", "not killed"))]
            rows.append(
                {
                    "target": target,
                    "kind": kind,
                    "events": len(kept),
                    "trials": len(trials),
                    "resumed": len(resumed),
                    "identical": sum(not trial.problem for trial in trials),
                    "left_behind": sum(bool(trial.leftovers) for trial in trials),
                    "kept": [round(f(kept), 3) for f in (min, statistics.median, max)] if kept else None,
                }
            )
        return rows

    def table(self) -> str:
        """The same for people."""
        head = f"{'target':24}{'':12}{'events':>7}{'trials':>8}{'resumed':>9}{'identical':>11}"
        lines = ["", f"{head}   work kept: least, median, most"]
        for row in self.rows():
            kept = "  ".join(f"{share:6.1%}" for share in row["kept"] or ())
            counts = f"{row['events']:7}{row['trials']:8}{row['resumed']:9}{row['identical']:11}"
            lines.append(f"{row['target']:24}{row['kind']:12}{counts}   {kept}")
        counted: dict[str, list[Fault]] = {}
        for fault in self.faults:
            counted.setdefault(fault.name, []).append(fault)
        lines += ["", f"{'fault':24}{'trials':>7}{'passed':>8}{'skipped':>9}"]
        for name, actual in counted.items():
            skipped = sum(bool(one.skipped) for one in actual)
            passed = sum(not one.problem and not one.skipped for one in actual)
            lines.append(f"{name:24}{len(actual):7}{passed:8}{skipped:9}")
        lines += ["", *(f"PROBLEM {problem}" for problem in self.figures(0)["problems"]), ""]
        return "\n".join(lines)


class openai:  # noqa: N801
    """A server that speaks like OpenAI's, on this machine; it ends by itself in any case."""

    def __enter__(self) -> str:
        program = ROOT / "tests" / "systems" / "openai" / "fake_openai.py"
        command = [sys.executable, str(program), json.dumps({"life": 7200})]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        return f"http://127.0.0.1:{int(self.process.stdout.readline())}/v1"

    def __exit__(self, *error: object) -> None:
        self.process.terminate()
        self.process.wait(10)


def note(text: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
