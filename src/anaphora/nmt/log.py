"""The log of a training: one JSON object per line, and nothing in it that differs from run to run.

Beside it are pictures of the same: curve.svg where suites are looked at, and what TensorBoard reads where it is asked.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import Appender, atomic_writer, byte_lines
from anaphora.core.finite import json_text
from anaphora.core.parsing import json_record
from anaphora.nmt.curve import series_of, training_curve

TENSORBOARD = "tensorboard"  # the folder beside the log


class Log:
    """log.jsonl in a model's folder. What an interrupted process wrote after its last checkpoint is taken back.

    So is what was reported only because training ended there (final): resumed, it does not end there.
    """

    def __init__(self, path: Path, update: int, tensorboard: bool = False) -> None:
        self.path = path
        self._board = _board(path.parent / TENSORBOARD, update) if tensorboard else None
        if path.exists():
            lines = [line for line in read_log(path) if line["update"] <= update and not line.get("final")]
            with atomic_writer(path) as out:
                out.writelines(_line(line).encode() for line in lines)

    def write(self, kind: str, update: int, **values: Any) -> None:
        line = _line({"kind": kind, "update": update, **values})
        with Appender(self.path) as out:
            out.write(line.encode())
        if values.get("accuracy"):
            self._draw()
        if self._board is not None:
            for name, value in _scalars(kind, values):
                self._board.add_scalar(name, value, update)
            self._board.flush()

    def _draw(self) -> None:
        series = series_of(read_log(self.path))
        if series:
            with atomic_writer(self.path.parent / "curve.svg") as out:
                out.write(training_curve(self.path.absolute().parent.name, series).encode())


def read_log(path: Path) -> list[dict[str, Any]]:
    """The lines of a log; a last one that is incomplete is left out."""
    found = []
    for number, line in enumerate(byte_lines(path), start=1):
        try:
            found.append(json_record(line, path, number))
        except BadInput:
            break
    return found


def _board(folder: Path, update: int) -> Any:
    """A writer of TensorBoard's files; what was written after the last checkpoint is hidden."""
    try:
        module = import_module("torch.utils.tensorboard")
    except ModuleNotFoundError:
        raise AnaphoraError(
            'TensorBoard is not installed. Install it with: pip install "anaphora[tensorboard]", '
            "or leave out --tensorboard (log.tensorboard); log.jsonl holds the same figures"
        ) from None
    return module.SummaryWriter(str(folder), purge_step=update + 1)


def _scalars(kind: str, values: dict[str, Any]) -> list[tuple[str, float]]:
    """Figures by TensorBoard's names: training/loss, validation/perplexity, accuracy/SUITE."""
    found = []
    for key, value in values.items():
        if isinstance(value, dict):
            found += [(f"{key}/{name}", figure) for name, figure in value.items() if figure is not None]
        elif value is not None:
            found.append((f"{kind}/{key}", value))
    return found


def _line(values: dict[str, Any]) -> str:
    return json_text(values, f"the {values['kind']} figures of update {values['update']:,}") + "\n"
