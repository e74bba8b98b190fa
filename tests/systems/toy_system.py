"""A system without a model, for tests of who computes what: it can be slow, and it can fail in many ways.

`toy:NAME?pause=0.01&at=ID&do=kill&flag=FILE`: at the batch with that example it does something, as long as the file is
there; `once` takes the file away first. Every process that loads it writes its number to `log`; with `company=3` nobody
scores more than a batch before three have done so.
"""

from __future__ import annotations

import os
import signal
import time
import zlib
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from anaphora.core.errors import BadInput
from anaphora.runs import CandidateScores
from anaphora.suites.example import Example
from anaphora.systems.context import Options, split_settings

BATCH = 16
KNOWN = ("pause", "at", "do", "flag", "once", "log", "company", "load", "close", "differ")
PATIENCE = 180  # seconds


class Toy:
    def __init__(self, what: str, options: Options) -> None:
        self.name, self.given = split_settings(what, KNOWN)
        self.options = options
        if "log" in self.given:
            with Path(self.given["log"]).open("a") as log:
                log.write(f"{os.getpid()}\n")
        if "load" in self.given:
            self._fail(self.given["load"])

    def settings(self) -> Mapping[str, Any]:
        pid = {"process": os.getpid()} if "differ" in self.given else {}
        return {"name": self.name, "threads": self.options.threads, **pid}

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        order = sorted(range(len(examples)), key=lambda n: (len(examples[n].source[-1]), n))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            if all(number in done for number in batch):
                continue
            time.sleep(float(self.given.get("pause", 0)))
            if start and "company" in self.given:
                wait_for_company(Path(self.given["log"]), int(self.given["company"]))
            for position, number in enumerate(batch):
                if examples[number].id == self.given.get("at"):
                    self._fail(self.given["do"])
                yield number, self._answer(examples[number], start, position)

    def close(self) -> None:
        if "close" in self.given:
            self._fail(self.given["close"])

    def _answer(self, example: Example, batch: int, position: int) -> CandidateScores:
        """Depends on the batch, as the last digits of a real model's scores do."""
        targets = self.options.context.scoring_input(example).targets
        scores = [-(zlib.crc32(text.encode()) % 1000) / 7 - batch * 1e-3 - position * 1e-5 for text in targets]
        extra = {"translation": targets[0]} if position == 7 else {}
        return CandidateScores(
            scores, [len(text.split()) for text in targets], [(0, 1)] if position == 3 else [], position == 5, extra
        )

    def _fail(self, how: str) -> None:
        flag = self.given.get("flag")
        if flag is not None:
            try:
                if "once" in self.given:
                    Path(flag).unlink()  # one process only gets it
                elif not Path(flag).exists():
                    return
            except FileNotFoundError:
                return
        if how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif how == "exit":
            os._exit(3)
        elif how == "interrupt":
            raise KeyboardInterrupt
        elif how == "refuse":
            raise BadInput("toy.txt", "not to my taste", line=7, remedy="Give me another.")
        raise ZeroDivisionError("the toy is broken")


def wait_for_company(log: Path, number: int) -> None:
    end = time.monotonic() + PATIENCE
    while len(set(log.read_text().split())) < number:
        if time.monotonic() > end:
            raise TimeoutError(f"no {number} processes in {log} after {PATIENCE} s")
        time.sleep(0.05)
