"""The log of a training, log.jsonl: one JSON object per line, the same in every run.

The accuracy on suites is drawn as curve.svg next to it, and TensorBoard's files are written if the config says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import Appender, atomic_writer, byte_lines, write_atomic
from anaphora.core.finite import json_text
from anaphora.core.parsing import expecting, json_record
from anaphora.svg import (
    BLUE,
    DARK,
    GREEN,
    ORANGE,
    PURPLE,
    Scale,
    document,
    line,
    shortened,
    text,
    ticks,
    upright,
)

TENSORBOARD = "tensorboard"  # the folder next to the log


class Log:
    """Writes log.jsonl in a model's folder. Lines that follow the last checkpoint are removed when training is resumed.

    So is a last report that was written only because training ended there (`final`).
    """

    def __init__(self, path: Path, update: int, tensorboard: bool = False) -> None:
        self.path = path
        self._board = _board(path.parent / TENSORBOARD, update) if tensorboard else None
        if path.exists():
            with expecting(path, "the log of a training", remedy="Delete it: training does not need it."):
                kept = [record for record in read_log(path) if record["update"] <= update and not record.get("final")]
                lines = [_record(record).encode() for record in kept]
            with atomic_writer(path) as out:
                out.writelines(lines)

    def write(self, kind: str, update: int, **values: Any) -> None:
        with Appender(self.path) as out:
            out.write(_record({"kind": kind, "update": update, **values}).encode())
        if values.get("accuracy"):
            self._draw()
        if self._board is not None:
            for name, value in _scalars(kind, values):
                self._board.add_scalar(name, value, update)
            self._board.flush()

    def _draw(self) -> None:
        series = series_of(read_log(self.path))
        if series:
            write_atomic(
                self.path.parent / "curve.svg", training_curve(self.path.absolute().parent.name, series).encode()
            )


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a log without an incomplete last one."""
    records = []
    for number, record in enumerate(byte_lines(path), start=1):
        try:
            records.append(json_record(record, path, number))
        except BadInput:
            break
    return records


def _board(folder: Path, update: int) -> Any:
    """Return a writer of TensorBoard's files that hides what was written after the last checkpoint."""
    try:
        module = import_module("torch.utils.tensorboard")
    except ModuleNotFoundError:
        raise AnaphoraError(
            'TensorBoard is not installed. Install it with: pip install "anaphora[tensorboard]", '
            "or leave out --tensorboard (log.tensorboard); log.jsonl holds the same figures"
        ) from None
    return module.SummaryWriter(str(folder), purge_step=update + 1)


def _scalars(kind: str, values: dict[str, Any]) -> list[tuple[str, float]]:
    """Return figures by their names in TensorBoard: training/loss, validation/perplexity, accuracy/SUITE."""
    scalars = []
    for key, value in values.items():
        if isinstance(value, dict):
            scalars += [(f"{key}/{name}", figure) for name, figure in value.items() if figure is not None]
        elif value is not None:
            scalars.append((f"{kind}/{key}", value))
    return scalars


def _record(values: dict[str, Any]) -> str:
    return json_text(values, f"the {values['kind']} figures of update {values['update']:,}") + "\n"


# Accuracy during training as a chart: Figure 5 of Bawden et al. 2018.

WIDTH, HEIGHT = 680, 340
LEFT, RIGHT, TOP, BOTTOM = 60, 190, 44, 50  # the names of the lines are at the right
STYLES = [(color, dashes) for dashes in ("", "6 4", "2 3") for color in (BLUE, ORANGE, GREEN, PURPLE, DARK)]
LINE = 15  # of text


class Series(NamedTuple):
    """A line of the chart: its name, and (update, accuracy) in order."""

    name: str
    points: tuple[tuple[int, float], ...]


def series_of(log: Iterable[Mapping[str, Any]]) -> list[Series]:
    """Return the accuracy on each suite from the lines of a log."""
    points_of: dict[str, list[tuple[int, float]]] = {}
    for entry in log:
        for name, value in entry.get("accuracy", {}).items():
            if value is not None:  # a suite without right answers has no accuracy
                points_of.setdefault(name, []).append((entry["update"], value))
    return [Series(name, tuple(points)) for name, points in points_of.items()]


def training_curve(title: str, series: Sequence[Series]) -> str:
    """Return an SVG chart with a line for each series, labeled at its end."""
    last = max(update for one in series for update, _ in one.points)
    x = Scale(0, last, LEFT, WIDTH - RIGHT)
    y = Scale(0, 1, HEIGHT - BOTTOM, TOP)
    parts = [
        text(LEFT, 22, title, size=14),
        text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "updates", anchor="middle"),
        upright(18, (TOP + HEIGHT - BOTTOM) / 2, "contrastive accuracy"),
    ]
    for value, label in ticks(0, 1, 5):
        parts += [line(LEFT, y(value), WIDTH - RIGHT, y(value)), text(LEFT - 6, y(value) + 4, label, anchor="end")]
    for value, label in ticks(0, last):
        parts.append(text(x(value), HEIGHT - BOTTOM + 18, f"{int(label):,}", anchor="middle"))
    heights = apart([y(one.points[-1][1]) for one in series])
    for number, (one, height) in enumerate(zip(series, heights, strict=True)):
        color, dashes = STYLES[number % len(STYLES)]
        points = [(x(update), y(value)) for update, value in one.points]
        parts.append(_path(points, color, dashes))
        end = points[-1]
        parts.append(line(end[0] + 4, end[1], WIDTH - RIGHT + 16, height, color))
        parts.append(text(WIDTH - RIGHT + 20, height + 4, _label(one), fill=DARK))
    summary = ", ".join(f"{one.name}: {one.points[-1][1]:.3f} after {one.points[-1][0]:,} updates" for one in series)
    return document(WIDTH, HEIGHT, f"{title}. {summary}", parts)


def apart(heights: Sequence[float]) -> list[float]:
    """Return heights of labels, moved so that none overlaps another and all are within the chart."""
    order = sorted(range(len(heights)), key=lambda k: heights[k])
    moved = list(heights)
    lowest: float = TOP
    for k in order:
        moved[k] = max(moved[k], lowest)
        lowest = moved[k] + LINE
    highest: float = HEIGHT - BOTTOM + LINE
    for k in reversed(order):
        moved[k] = min(moved[k], highest)
        highest = moved[k] - LINE
    return moved


def _label(one: Series) -> str:
    name = one.name.replace("\\", "/").rpartition("/")[2].removesuffix(".jsonl")  # of a suite's file
    return f"{shortened(name, RIGHT - 62)} {one.points[-1][1]:.2f}"


def _path(corners: Sequence[tuple[float, float]], color: str, dashes: str) -> str:
    style = f'fill="none" stroke="{color}" stroke-width="2"' + (f' stroke-dasharray="{dashes}"' if dashes else "")
    if len(corners) == 1:
        return f'<circle cx="{corners[0][0]:.1f}" cy="{corners[0][1]:.1f}" r="3" fill="{escape(color)}"/>'
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    return f'<polyline points="{points}" {style}/>'


def kept(output: Path) -> str:
    """Describe what an interrupted training has kept for --resume; with --sweep, of the last model."""
    if not output.is_dir():
        return ""
    checkpoints = sorted(output.glob("checkpoints/update-*/state.json"))
    if not checkpoints:
        unsorted = output.glob("*/checkpoints/update-*/state.json")
        checkpoints = sorted(unsorted, key=lambda path: path.stat().st_mtime)
    if checkpoints:
        folder = checkpoints[-1].parent
        return f"update {int(folder.name.removeprefix('update-')):,} is kept in {folder}"
    folders = [output, *(folder for folder in output.iterdir() if folder.is_dir())]
    begun = any((folder / "config.toml").is_file() for folder in folders)
    return f"there is no checkpoint yet, only the vocabulary and config in {output}" if begun else ""
