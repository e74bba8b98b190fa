"""A stage of mining on disk: a folder with a file per shard, and a fingerprint of all that the files depend on.

A file appears under its name when it is whole, so what a killed run has left is what was finished. A fingerprint that
is not the one of the last run empties the folder; it holds those of the stages before, so what depends on a changed
setting is made again, and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.core.errors import BadInput
from anaphora.core.files import byte_lines, make_folder, remove_leftovers, write_atomic
from anaphora.core.parsing import parse_json_line, read_json

Count = Callable[[int, int | None], None]  # how much is done, of how much (None: that is not known)

NOTE = "stage.json"
FORMAT = 1  # of the files of all stages; another one is another fingerprint


@dataclass(frozen=True, slots=True)
class Stage:
    """A folder, and the fingerprint of what is in it."""

    folder: Path
    fingerprint: str

    def path(self, shard: int) -> Path:
        return self.folder / f"{shard:06}.jsonl.gz"

    def read(self, shard: int) -> bytes:
        try:
            return self.path(shard).read_bytes()
        except OSError as error:
            remedy = "Run the command again: it goes on with what is there."
            raise BadInput(self.path(shard), (error.strerror or "cannot be read").lower(), remedy=remedy) from None

    def first_row(self, shard: int) -> Any:
        """The first line of a file alone, where stages keep what they have counted."""
        path = self.path(shard)
        return parse_json_line(next(byte_lines(path), b""), path, 1)

    def write(self, shard: int, data: bytes) -> None:
        write_atomic(self.path(shard), data)

    def finished(self, shards: int) -> set[int]:
        """The shards whose files are there."""
        return {shard for shard in range(shards) if self.path(shard).is_file()}


def open_stage(work: Path, name: str, settings: Mapping[str, Any], before: tuple[Stage, ...] = ()) -> Stage:
    """The stage of this name in a work folder; what is there with another fingerprint is removed."""
    about = {"format": FORMAT, "settings": dict(settings), "before": [stage.fingerprint for stage in before]}
    text = json.dumps(about, ensure_ascii=False, sort_keys=True)
    fingerprint = hashlib.sha256(text.encode()).hexdigest()[:16]
    folder = work / name
    note = folder / NOTE
    remove_leftovers(folder)  # a run may have been killed while it wrote the note
    if _fingerprint(note) != fingerprint:
        if folder.exists() and not note.is_file() and any(folder.iterdir()):
            raise BadInput(folder, "exists already, and is not of a run before", remedy="Name another folder: --work.")
        if folder.exists():
            _empty(folder)
        make_folder(folder)
        kept = {"fingerprint": fingerprint, **about}
        write_atomic(note, json.dumps(kept, ensure_ascii=False, indent=1).encode() + b"\n")
    return Stage(folder, fingerprint)


def remove_stages(work: Path) -> None:
    """Remove the stages of a run before, and nothing else."""
    for note in work.glob(f"*/{NOTE}"):
        _empty(note.parent)


def digest(path: Path) -> str:
    """What tells a file from another: its bytes; of a folder, the names, sizes and times of what is in it."""
    if not path.exists():
        raise BadInput(path, "no such file")
    if path.is_dir():
        found = sorted((str(p.relative_to(path)), p.stat().st_size, p.stat().st_mtime_ns) for p in path.rglob("*.xml*"))
        return hashlib.sha256(json.dumps(found).encode()).hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _fingerprint(note: Path) -> str | None:
    try:
        found = read_json(note)
    except BadInput:
        return None
    return found.get("fingerprint") if isinstance(found, dict) else None


def _empty(folder: Path) -> None:
    """Remove a stage's folder. Its note says first that the rest is not to be trusted, and goes last: a run that is
    killed here leaves a folder that is known to be of a stage.
    """
    write_atomic(folder / NOTE, b'{"fingerprint": null}\n')
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != NOTE:
            path.unlink()
    shutil.rmtree(folder)
