"""A file system in memory that forgets what was not synced: what a disk may hold after a loss of power."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Operation:
    """Something that a process did to a file or folder.

    kind: create, write, native (the whole content, written by a library), truncate, fsync, rename, link, unlink,
    mkdir, rmdir
    other: the new name; at: where a write begins, or the size after truncating
    """

    kind: str
    path: str
    other: str = ""
    data: bytes = b""
    at: int = 0


@dataclass(eq=False)
class File:
    """A file's content now, and as of its last sync; `pending`: every content in between, oldest first."""

    content: bytes = b""
    synced: bytes = b""
    pending: list[bytes] = field(default_factory=list)

    def put(self, content: bytes) -> None:
        self.content = content
        self.pending.append(content)

    def sync(self) -> None:
        self.synced = self.content
        self.pending.clear()


@dataclass(eq=False)
class Folder:
    """What is in a folder now, and as of its last sync; `pending`: every state in between, oldest first."""

    entries: dict[str, File | Folder] = field(default_factory=dict)
    synced: dict[str, File | Folder] = field(default_factory=dict)
    pending: list[dict[str, File | Folder]] = field(default_factory=list)

    def changed(self) -> None:
        self.pending.append(dict(self.entries))

    def sync(self) -> None:
        self.synced = dict(self.entries)
        self.pending.clear()


class Shadow:
    """Everything below a folder, which exists and is empty at first."""

    def __init__(self, root: str) -> None:
        self.root, self.top = root, Folder()

    def apply(self, operation: Operation) -> None:
        kind, path = operation.kind, operation.path
        if kind == "fsync":
            self._find(path).sync()
            return
        if path == self.root:
            return
        if kind == "native":
            self._complete(path)
        folder, name = self._parent(path)
        if kind in ("write", "native", "truncate"):
            file = folder.entries.get(name)
            if not isinstance(file, File):  # made by a library
                file = folder.entries[name] = File()
                folder.changed()
            if kind == "native":
                file.put(operation.data)
            elif kind == "truncate":
                file.put(file.content[: operation.at].ljust(operation.at, b"\0"))
            else:
                end = operation.at + len(operation.data)
                before = file.content[: operation.at].ljust(operation.at, b"\0")
                file.put(before + operation.data + file.content[end:])
            return
        if kind == "create":
            there = folder.entries.get(name)
            if isinstance(there, File):
                there.put(b"")
                return
            folder.entries[name] = File()
        elif kind == "mkdir":
            folder.entries[name] = Folder()
        elif kind in ("unlink", "rmdir"):
            folder.entries.pop(name, None)
        elif kind in ("rename", "link"):
            target, new = self._parent(operation.other)
            target.entries[new] = folder.entries[name] if kind == "link" else folder.entries.pop(name)
            if target is not folder:
                target.changed()
        folder.changed()

    def read(self, path: str) -> bytes | None:
        """What a file holds, as far as operations tell."""
        try:
            actual = self._find(path)
        except KeyError:
            return None
        return actual.content if isinstance(actual, File) else None

    def after_power_loss(self, how: str, rng: random.Random) -> Iterator[tuple[str, bytes | None]]:
        """What is on the disk: paths with their contents, None for folders.

        how: "strict": nothing that was not synced, neither content nor names; "names": all names, but only synced
        content (a renamed file may be empty); "zeros": the same, with zeros where content was not synced; "mixed": of
        each file and folder any state since its last sync
        """
        yield from self._disk(self.top, "", how, rng)

    def as_written(self) -> Iterator[tuple[str, bytes | None]]:
        """Everything as the process sees it."""
        yield from self._disk(self.top, "", "written", random.Random(0))

    def _disk(self, folder: Folder, path: str, how: str, rng: random.Random) -> Iterator[tuple[str, bytes | None]]:
        entries = folder.synced if how == "strict" else folder.entries
        if how == "mixed":
            entries = rng.choice([folder.synced, *folder.pending])
        for name, entry in sorted(entries.items()):
            where = os.path.join(path, name)
            if isinstance(entry, Folder):
                yield where, None
                yield from self._disk(entry, where, how, rng)
            elif how == "mixed":
                yield where, rng.choice([entry.synced, *entry.pending])
            elif how == "zeros":
                yield where, entry.synced[: len(entry.content)].ljust(len(entry.content), b"\0")
            else:
                yield where, entry.content if how == "written" else entry.synced

    def _complete(self, path: str) -> None:
        """Make the folders above a file that a library has made."""
        folder = self.top
        for part in Path(path).relative_to(self.root).parts[:-1]:
            if part not in folder.entries:
                folder.entries[part] = Folder()
                folder.changed()
            actual = folder.entries[part]
            assert isinstance(actual, Folder)
            folder = actual

    def _parent(self, path: str) -> tuple[Folder, str]:
        actual = self._find(os.path.dirname(path))
        assert isinstance(actual, Folder)
        return actual, os.path.basename(path)

    def _find(self, path: str) -> File | Folder:
        actual: File | Folder = self.top
        for part in Path(path).relative_to(self.root).parts:
            assert isinstance(actual, Folder)
            actual = actual.entries[part]
        return actual


def lay_out(entries: Iterator[tuple[str, bytes | None]], folder: Path) -> None:
    """Put files and folders on the real disk."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in entries:
        if content is None:
            (folder / name).mkdir()
        else:
            (folder / name).write_bytes(content)
