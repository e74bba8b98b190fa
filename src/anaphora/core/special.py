"""Paths that are no files: pipes, which can be read once, and devices, streams and folders, which no file replaces."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from anaphora.core.errors import BadInput

MAX_LINKS = 40  # symbolic links one after the other, as Linux follows them
_opened: set[tuple[int, int]] = set()  # pipes, by device and inode


def check_pipe(path: Path) -> None:
    """Raise an error for a pipe that was opened before.

    The second time, the rest of it would be taken for the whole, or nobody would ever write to it.
    """
    about = path.stat()
    if not stat.S_ISFIFO(about.st_mode):
        return
    pipe = about.st_dev, about.st_ino
    if pipe in _opened:
        remedy = "This command reads the file several times: write it to the disk, and name that file."
        raise BadInput(path, "a pipe, which can be read only once", remedy=remedy)
    _opened.add(pipe)


def is_special(path: Path) -> bool:
    """Return whether a path is a device, a pipe or an open file (/dev/stdout), which a rename would remove."""
    if path.exists() and not path.is_file():
        return True
    for _ in range(MAX_LINKS):
        folder = os.path.realpath(path.parent)
        if folder.startswith("/proc/"):
            return True
        if not path.is_symlink():
            break
        path = Path(folder, path.readlink())
    return False


def beside(path: Path, name: str) -> Path:
    """Return the path of a file next to an output. The current folder and the root have no name, which is an error.

    name: with {} for the name of the output
    """
    if not path.name:
        raise BadInput(path, "cannot be written: a folder")
    return path.with_name(name.replace("{}", path.name))
