"""Arrays that are expensive to compute, kept on disk by the text they belong to; an interrupted computation goes on.

A store is a folder: `rows.bin` has the rows of all arrays one after the other, `index.jsonl` says which are whose. Both
only grow; what was written without its line in the index is cut off when the store is opened.
"""

from __future__ import annotations

import hashlib
import json
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from anaphora.core.errors import BadInput
from anaphora.core.files import Appender, make_folder, write_atomic
from anaphora.core.lock import lock_folder
from anaphora.core.parsing import is_a, json_value, read_json

ROWS, INDEX, ABOUT = "rows.bin", "index.jsonl", "about.json"
Array = npt.NDArray[Any]


class Store:
    """Arrays of (any number, width) by key, in the numbers of `dtype`."""

    def __init__(self, folder: Path, width: int, about: Mapping[str, Any], dtype: str = "float16") -> None:
        """about: what the arrays depend on; a store that was made of something else is refused."""
        self.folder, self.width, self.dtype = folder, width, np.dtype(dtype)
        make_folder(folder)
        self._index: dict[str, tuple[int, int]] = {}
        self._check(dict(about) | {"width": width, "dtype": dtype})
        self._end = self._read()
        self._map: Array | None = None

    def __contains__(self, key: str) -> bool:
        return key in self._index

    def __len__(self) -> int:
        return len(self._index)

    def put(self, arrays: Mapping[str, Array]) -> None:
        """Keep arrays on the disk: their rows first, then the index, so that it never says more than there is."""
        lines = []
        with Appender(self.folder / ROWS) as rows:
            for key, array in arrays.items():
                if array.ndim != 2 or array.shape[1] != self.width:
                    raise ValueError(f"{array.shape} is not (n, {self.width})")
                rows.write(np.ascontiguousarray(array, self.dtype).tobytes())
                self._index[key] = (self._end, len(array))
                lines.append(json.dumps([key, self._end, len(array)]))
                self._end += len(array)
        with Appender(self.folder / INDEX) as index:
            index.write("".join(f"{line}\n" for line in lines).encode())
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
            write_atomic(path, json.dumps(about, indent=1).encode())
        elif read_json(path) != about:
            remedy = "Name another folder, or remove this one."
            raise BadInput(path, "the states in this folder were computed in another way", remedy=remedy)

    def _read(self) -> int:
        """The index; returns how many rows it knows of, and cuts off what comes behind them."""
        end = 0
        index, rows = self.folder / INDEX, self.folder / ROWS
        whole = 0
        for line in index.read_bytes().splitlines(keepends=True) if index.exists() else []:
            if not line.endswith(b"\n"):  # the last line of an interrupted computation
                break
            try:
                key, start, length = json_value(line.decode())
            except (ValueError, TypeError):  # the same, with zeros where the disk had not yet written
                break
            if type(key) is not str or not is_a(start, int) or not is_a(length, int) or start != end or length < 0:
                raise BadInput(index, "not an index of states", remedy="Remove the folder; it is computed again.")
            self._index[key] = (start, length)
            end, whole = start + length, whole + len(line)
        size = rows.stat().st_size if rows.exists() else 0
        if size < end * self.width * self.dtype.itemsize:
            raise BadInput(rows, "shorter than its index says", remedy="Remove the folder; it is computed again.")
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
        lock = lock_folder(folder, remedy="Wait until it ends, or choose another folder with --cache.")
        try:
            store = _OPEN[folder] = Store(folder, width, about, dtype)
        except BaseException:
            lock.release()
            raise
        weakref.finalize(store, lock.release)
    return store


def key_of(*parts: str) -> str:
    """A short key for texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
