"""A work folder belongs to one run at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from anaphora.core.errors import AnaphoraError, BadInput


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Within this block no other run uses the folder; a run that was killed has let it go."""
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows locks files in another way
        raise AnaphoraError("mining runs on Linux and macOS. On Windows, run it in WSL: wsl --install") from None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("w")
    except OSError as error:
        raise BadInput(folder, f"cannot be written: {(error.strerror or str(error)).lower()}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            remedy = "Wait for it, or name another folder: --work."
            raise BadInput(folder, "another run is using this folder", remedy=remedy) from None
        yield
