"""Kill a command at chosen operations, resume it, and compare what it leaves with what it leaves undisturbed."""

from __future__ import annotations

import hashlib
import itertools
import pickle
import random
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anaphora.core.lock import is_lock
from tests.chaos import process
from tests.chaos.disk import Plan
from tests.chaos.shadow import Operation, Shadow, lay_out
from tests.chaos.targets import Target

POWER = ("strict", "names", "zeros", "mixed")
MOST_KILLS = 3  # of one trial: the resumed process may be killed as well


@dataclass
class Trial:
    """One command that was killed, or whose machine lost power, and then resumed.

    at: the shares of its operations at which it was ended; kept: the shares of its work that were on disk then
    problem: why the resumed output is not that of an undisturbed run; empty if it is
    leftovers: files that only the disturbed run left
    """

    target: str
    kind: str
    at: list[float] = field(default_factory=list)
    kept: list[float] = field(default_factory=list)
    problem: str = ""
    leftovers: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Reference:
    """What an undisturbed run leaves, what it did below which folder, and how much work that is."""

    target: Target
    files: Mapping[str, str]
    operations: Sequence[Operation]
    root: Path
    work: float

    def kept(self, folder: Path) -> float:
        """The share of all work that is on disk."""
        return self.target.kept(folder) / self.work


def tree(folder: Path) -> dict[str, str]:
    """The checksums of all files below a folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def undisturbed(target: Target, folder: Path) -> Reference:
    """Run a command to its end twice, once recorded; both must leave the same, and the record must tell all of it."""
    trees = []
    for name in ("plain", "recorded"):
        path = folder / name
        record = path / "record.pickle" if name == "recorded" else None
        ended = process.run(target.arguments, path, Plan(record=record), target.setup)
        if ended.code:
            raise RuntimeError(f"{target.name} fails undisturbed ({ended.code}): {ended.said[-2000:]}")
        trees.append(tree(path / process.OUTPUT))
    if trees[0] != trees[1]:
        raise RuntimeError(f"{target.name}: two undisturbed runs differ: {differences(*trees)}")
    with (folder / "recorded" / "record.pickle").open("rb") as stream:
        operations = pickle.load(stream)
    shadow = replayed(operations, len(operations), folder / "recorded")
    lay_out(shadow.as_written(), folder / "replayed")
    if tree(folder / "replayed") != trees[0]:
        raise RuntimeError(
            f"{target.name}: the record is not complete: {differences(tree(folder / 'replayed'), trees[0])}"
        )
    natives = [operation.path for operation in operations if operation.kind == "native"]
    if any(name.endswith((".part", ".jsonl")) for name in natives):
        raise RuntimeError(f"{target.name}: our own writes are not counted: {natives}")
    total = target.kept(folder / "plain" / process.OUTPUT)
    if not total:
        raise RuntimeError(f"{target.name}: a finished command counts as one that has done nothing")
    return Reference(target, trees[0], operations, folder / "recorded", total)


def replayed(operations: Sequence[Operation], end: int, folder: Path) -> Shadow:
    """The disk after N operations."""
    shadow = Shadow(str(folder / process.OUTPUT))
    for operation in operations[:end]:
        shadow.apply(operation)
    return shadow


def points(total: int, number: int, rng: random.Random) -> list[int]:
    """Operations drawn evenly over all: one from each of N equal parts."""
    edges = [1 + round(k * total / number) for k in range(number + 1)]
    return [rng.randrange(start, max(start + 1, end)) for start, end in itertools.pairwise(edges)]


def kill(reference: Reference, folder: Path, point: int, kills: int, rng: random.Random) -> Trial:
    """Kill a command at an operation, its resumption at others, and let the last one come to its end."""
    target = reference.target
    total = sum(operation.kind != "native" for operation in reference.operations)
    trial = Trial(target.name, "kill")
    output = folder / process.OUTPUT
    arguments: Sequence[str] = target.arguments
    for number in range(kills):
        at = point if number == 0 else rng.randrange(1, total)
        plan = Plan(kill=at, torn=rng.choice([0.0, 0.3, 0.999, 1.0]))
        ended = process.run(arguments, folder, plan, target.setup)
        if not ended.killed:
            if number == 0 or ended.code:
                trial.problem = f"not killed at operation {at}, but exit code {ended.code}: {ended.said[-600:]}"
                return trial
            break  # what was left to do took fewer operations
        trial.at.append(at / total if number == 0 else float("nan"))
        trial.kept.append(reference.kept(output))
        arguments = [*target.arguments, *target.resume]
    return resumed(reference, folder, trial)


def lose_power(reference: Reference, folder: Path, point: int, how: str, rng: random.Random) -> Trial:
    """Resume a command from what a disk may hold after a loss of power at an operation."""
    target = reference.target
    trial = Trial(target.name, f"power loss, {how}", [point / len(reference.operations)])
    shadow = replayed(reference.operations, point, reference.root)
    lay_out(shadow.after_power_loss(how, rng), folder / process.OUTPUT)
    trial.kept.append(reference.kept(folder / process.OUTPUT))
    if point == len(reference.operations):  # the command has said that it is done: everything must be there
        wrong = differences(tree(folder / process.OUTPUT), reference.files, extra=False)
        trial.problem = f"finished, but lost: {wrong}" if wrong else ""
        return trial
    return resumed(reference, folder, trial)


def resumed(reference: Reference, folder: Path, trial: Trial) -> Trial:
    """Run the command to its end and compare what it leaves."""
    target = reference.target
    output = folder / process.OUTPUT
    before = tree(output)
    ended = process.run([*target.arguments, *target.resume], folder, None, target.setup)
    actual = tree(output)
    done = differences(before, reference.files, extra=False) == ""
    if ended.code and not done:
        trial.problem = f"resuming fails ({ended.code}): {ended.said[-600:]}"
        return trial
    trial.problem = differences(actual, reference.files, extra=False)
    trial.leftovers = sorted(set(actual) - set(reference.files))
    if done:  # nothing was left to do: the lock of the killed process is free, and its file may stay
        trial.leftovers = [name for name in trial.leftovers if not is_lock(Path(name)) and not name.endswith("/.lock")]
    if not trial.problem and not trial.leftovers:
        shutil.rmtree(folder)
    return trial


def differences(actual: Mapping[str, str], expected: Mapping[str, str], *, extra: bool = True) -> str:
    """What is missing, different, and, if asked for, there too much; empty if both are the same."""
    missing = sorted(set(expected) - set(actual))
    changed = sorted(name for name in set(actual) & set(expected) if actual[name] != expected[name])
    more = sorted(set(actual) - set(expected)) if extra else []
    parts = [
        f"{what}: {', '.join(names)}"
        for what, names in (("missing", missing), ("different", changed), ("too much", more))
        if names
    ]
    return "; ".join(parts)
