"""Servers for the tests of systems that ask one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from anaphora.systems.openai import http

KEY = "sk-very-secret-0123456789"


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key, no proxy, and short waits between attempts."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("http_proxy", raising=False)
    monkeypatch.setattr(http, "FIRST_WAIT", 0.02)


class Process:
    """A running server."""

    def __init__(self, **options: Any) -> None:
        program = Path(__file__).with_name("fake_openai.py")
        command = [sys.executable, str(program), json.dumps(options)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def spec(self, kind: str = "openai", **settings: object) -> str:
        chosen = {"model": "tiny", "retries": 2, **settings}
        return f"{kind}:http://127.0.0.1:{self.port}/v1?" + "&".join(f"{k}={v}" for k, v in chosen.items())

    @property
    def seen(self) -> dict[str, Any]:
        with urlopen(f"http://127.0.0.1:{self.port}/seen", timeout=10) as answer:
            actual: dict[str, Any] = json.load(answer)
        return actual

    def stop(self) -> None:
        if self._process.returncode is None:
            self._process.terminate()
            self._process.communicate()


Serve = Callable[..., Process]


@pytest.fixture
def serve() -> Iterator[Serve]:
    running: list[Process] = []

    def start(**options: Any) -> Process:
        running.append(Process(**options))
        return running[-1]

    yield start
    for process in running:
        process.stop()
