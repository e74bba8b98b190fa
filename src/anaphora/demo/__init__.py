"""The demo: two small models are trained, scored, attacked, diagnosed and compared (`anaphora demo`)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from anaphora.core.errors import named

if TYPE_CHECKING:
    from anaphora.demo.corpus import Demo
    from anaphora.demo.story import Story

Watch = Callable[[str], AbstractContextManager[Callable[[int, int], None] | None]]


@named
def run_demo(
    output: str | Path = "anaphora-demo",
    *,
    pretrained: bool = False,
    stand_ins: bool = False,
    say: Callable[[str], None] | None = None,
    watch: Watch | None = None,
) -> Story | Demo:
    """Train, score, attack, diagnose and compare two small models, and write a report (takes a few minutes).

    output: Folder for the demo's files.
    pretrained: Use the models that come with the package, which takes seconds.
    stand_ins: Use score files made by rules instead of models, to see the tables.
    say: called with a line about each step
    watch: called with a unit; returns a context manager that gives a progress function
    """
    if stand_ins:
        from anaphora.demo.corpus import run_demo as run_stand_ins

        return run_stand_ins(Path(output))
    from anaphora.demo.story import run_story

    silent = say or (lambda line: None)
    return run_story(Path(output), pretrained=pretrained, say=silent, watched=watch or (lambda unit: nullcontext()))


def kept(output: Path, pretrained: bool, stand_ins: bool) -> str:
    """Describe what an interrupted demo has kept; empty where there is nothing."""
    models = output / "models"
    trained = models.is_dir() and not (pretrained or stand_ins)
    return f"what is trained so far is kept in {models}" if trained else ""
