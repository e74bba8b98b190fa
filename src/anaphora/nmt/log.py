"""The log of a training: one JSON object per line, and nothing in it that differs from run to run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class Log:
    """log.jsonl in a model's folder. What an interrupted process wrote after its last checkpoint is taken back."""

    def __init__(self, path: Path, update: int) -> None:
        self.path = path
        if path.exists():
            lines = [line for line in read_log(path) if line["update"] <= update]
            path.write_text("".join(_line(line) for line in lines), encoding="utf-8")

    def write(self, kind: str, update: int, **values: Any) -> None:
        with self.path.open("a", encoding="utf-8") as out:
            out.write(_line({"kind": kind, "update": update, **values}))


def read_log(path: Path) -> list[dict[str, Any]]:
    """The lines of a log; a last one that is incomplete is left out."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return found


def _line(values: dict[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False) + "\n"
