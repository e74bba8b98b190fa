"""Arrays that are expensive to compute, kept on disk by the text they belong to; an interrupted computation goes on.

A store is a folder: `rows.bin` has the rows of all arrays one after the other, `index.jsonl` says which are whose. Both
only grow; what was written without its line in the index is cut off when the store is opened.
"""

from __future__ import annotations

import hashlib
import json
import os
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from anaphora.core.errors import BadInput

ROWS, INDEX, ABOUT, LOCK = "rows.bin", "index.jsonl", "about.json", "lock"
Array = npt.NDArray[Any]


class Store:
    """Arrays of (any number, width) by key, in the numbers of `dtype`."""

    def __init__(self, folder: Path, width: int, about: Mapping[str, Any], dtype: str = "float16") -> None:
        """about: what the arrays depend on; a store that was made of something else is refused."""
        self.folder, self.width, self.dtype = folder, width, np.dtype(dtype)
        folder.mkdir(parents=True, exist_ok=True)
        self._index: dict[str, tuple[int, int]] = {}
        self._check(dict(about) | {"width": width, "dtype": dtype})
        self._end = self._read()
        self._map: Array | None = None

    def __contains__(self, key: str) -> bool:
        return key in self._index

    def __len__(self) -> int:
        return len(self._index)

    def put(self, arrays: Mapping[str, Array]) -> None:
        """Keep arrays: their rows first, then the index, so that the index never says more than there is."""
        lines = []
        with (self.folder / ROWS).open("ab") as rows:
            for key, array in arrays.items():
                if array.ndim != 2 or array.shape[1] != self.width:
                    raise ValueError(f"{array.shape} is not (n, {self.width})")
                rows.write(np.ascontiguousarray(array, self.dtype).tobytes())
                self._index[key] = (self._end, len(array))
                lines.append(json.dumps([key, self._end, len(array)]))
                self._end += len(array)
        with (self.folder / INDEX).open("a", encoding="utf-8") as index:
            index.write("".join(f"{line}\n" for line in lines))
        self._map = None

    def get(self, key: str) -> Array:
        """The array of a key."""
        start, length = self._index[key]
        if not length:
            return np.zeros((0, self.width), self.dtype)
        if self._map is None:
            shape = (self._end, self.width)
            self._map = np.memmap(self.folder / ROWS, self.dtype, "r", shape=shape)
        return np.asarray(self._map[start : start + length])

    def _check(self, about: dict[str, Any]) -> None:
        path = self.folder / ABOUT
        if not path.exists():
            path.write_text(json.dumps(about, indent=1), encoding="utf-8")
        elif json.loads(path.read_text(encoding="utf-8")) != about:
            remedy = "Name another folder, or remove this one."
            raise BadInput(path, "the states in this folder were computed in another way", remedy=remedy)

    def _read(self) -> int:
        """The index; returns how many rows it knows of, and cuts off what comes behind them."""
        end = 0
        index, rows = self.folder / INDEX, self.folder / ROWS
        whole = 0
        for line in index.read_bytes().splitlines(keepends=True) if index.exists() else []:
            try:
                key, start, length = json.loads(line)
            except ValueError:  # the last line of an interrupted computation
                break
            self._index[key] = (start, length)
            end, whole = start + length, whole + len(line)
        size = rows.stat().st_size if rows.exists() else 0
        if size < end * self.width * self.dtype.itemsize:
            raise BadInput(rows, "shorter than its index says", remedy="Remove the folder; it is computed anew.")
        for path, length in ((index, whole), (rows, end * self.width * self.dtype.itemsize)):
            if path.exists() and path.stat().st_size > length:
                with path.open("r+b") as stream:
                    stream.truncate(length)
        return end


# the stores that this process has open: two encoders of one kind share one
_OPEN: weakref.WeakValueDictionary[Path, Store] = weakref.WeakValueDictionary()


class Memory:
    """The same for as long as the process lives, where no folder was named."""

    def __init__(self) -> None:
        self._arrays: dict[str, Array] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._arrays

    def put(self, arrays: Mapping[str, Array]) -> None:
        self._arrays.update(arrays)

    def get(self, key: str) -> Array:
        return self._arrays[key]


def open_store(cache: Path | None, width: int, about: Mapping[str, Any], dtype: str = "float16") -> Store | Memory:
    """The store of what was computed in this way, in a folder of its own under the cache; or one in memory."""
    if cache is None:
        return Memory()
    folder = (cache / key_of(repr(sorted(about.items())))).resolve()
    store = _OPEN.get(folder)
    if store is None:
        folder.mkdir(parents=True, exist_ok=True)
        locked = _lock(folder / LOCK)
        store = _OPEN[folder] = Store(folder, width, about, dtype)
        weakref.finalize(store, os.close, locked)
    return store


def _lock(path: Path) -> int:
    """Only one process at a time writes to a store: two would write into each other's rows. Ends with the process."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ModuleNotFoundError:  # Windows has another way, which is left to its users
        pass
    except OSError:
        os.close(handle)
        remedy = "Wait until it is done, or name another folder with --cache."
        raise BadInput(path.parent, "another process is using the states in this folder", remedy=remedy) from None
    return handle


def key_of(*parts: str) -> str:
    """A short key for texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
