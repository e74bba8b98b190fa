"""What experiments share: the command line, called as a user would."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def anaphora(*arguments: str | Path) -> Any:
    """What a command prints; with --json, the document."""
    command = [sys.executable, "-m", "anaphora", *map(str, arguments)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(output) if "--json" in arguments else output


def score(suite: Path, model: Path, run: Path) -> Path:
    """A run of a model trained here, computed or continued."""
    anaphora("score", suite, "--system", f"nmt:{model}", "-o", run, *(["--resume"] if run.exists() else []))
    return run
