"""A trained aligner on disk: a folder with a header in JSON and the files of its backend, each with a checksum."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.align.backend import Settings
from anaphora.core.errors import BadInput
from anaphora.core.files import atomic_folder
from anaphora.core.parsing import read_json

HEADER = "alignment-model.json"
FORMAT = 1
NOTED = (
    "backend",
    "model",
    "symmetrize",
    "lowercase",
    "seed",
    "tokenize",
)  # settings that the header holds as they are
TYPES: dict[str, type] = {
    **dict.fromkeys(("backend", "model", "library", "symmetrize", "tokenize"), str),
    **dict.fromkeys(("lowercase",), bool),
    **dict.fromkeys(("seed", "trained_on"), int),
    "languages": list,
    "files": dict,
}
AGAIN = "Train and save it again."


@dataclass(frozen=True, slots=True)
class SavedModel:
    """What the header says: how it was trained, by which library, and on how many sentence pairs."""

    settings: Settings
    library: str
    trained_on: int

    def header(self, files: dict[str, str]) -> dict[str, Any]:
        noted = {name: getattr(self.settings, name) for name in NOTED}
        return {
            "anaphora-alignment-model": FORMAT,
            **noted,
            "normalize": self.settings.normalize,
            "languages": list(self.settings.languages),
            "library": self.library,
            "trained_on": self.trained_on,
            "files": files,
        }

    def check_version(self, folder: Path, installed: str) -> None:
        """Files of a library are read by the same release of it: others may understand them otherwise, or crash."""
        if _release(installed) != _release(self.library):
            name, _, version = self.library.partition(" ")
            problem = f"the model was trained by {self.library}, but {installed} is installed"
            raise BadInput(folder, problem, remedy=f"Train it again, or install {name}=={version}.")


def check_place(folder: Path) -> None:
    """A model may be written where there is nothing, or an older one; good to know before a long training."""
    if folder.exists() and not (folder / HEADER).is_file():
        raise BadInput(folder, "exists already, and is no saved alignment model", remedy="Name another folder.")


def write_model(folder: Path, about: SavedModel, write_files: Callable[[Path], None]) -> None:
    """Write a model that appears under its name when it is complete; an older one there is replaced."""
    check_place(folder)
    with atomic_folder(folder, replace=True) as temporary:
        write_files(temporary)
        files = {path.name: _checksum(path) for path in sorted(temporary.iterdir())}
        text = json.dumps(about.header(files), ensure_ascii=False, indent=2) + "\n"
        (temporary / HEADER).write_text(text, encoding="utf-8")


def open_model(folder: Path, backend: str | None = None) -> SavedModel:
    """The header of a saved model, whose files were all looked at. With `backend`, it must be one of that backend."""
    path = folder / HEADER
    if not path.is_file():
        what = "no saved alignment model" if folder.is_dir() else "no such folder"
        raise BadInput(folder, what, remedy="Make one with: anaphora align … --save FOLDER.")
    header = read_json(path)
    found = header.get("anaphora-alignment-model") if isinstance(header, dict) else None
    if found != FORMAT:
        raise BadInput(path, f"version {found!r} of saved models, but this program reads {FORMAT}", remedy=AGAIN)
    for name, kind in TYPES.items():
        if not isinstance(header.get(name), kind):
            raise BadInput(path, f"{name!r} is missing or not as it should be", remedy=AGAIN)
    if backend is not None and header["backend"] != backend:
        problem = f"a model of backend {header['backend']!r}, not {backend!r}"
        raise BadInput(folder, problem, remedy=f"Apply it with --backend {header['backend']}.")
    for name, checksum in header["files"].items():
        _check_file(folder, name, checksum)
    noted = {name: header[name] for name in NOTED}
    noted["normalize"] = header.get("normalize") is True  # models of 0.1.0 were trained on text as it is
    first, second = map(str, (*header["languages"], "", "")[:2])
    settings = Settings(**noted, languages=(first, second))
    return SavedModel(settings, header["library"], header["trained_on"])


def model_code(folder: Path) -> str:
    """A short hash of a saved model: of its settings and its files, wherever it lies."""
    return _checksum(folder / HEADER)[:6]


def _check_file(folder: Path, name: str, checksum: str) -> None:
    path = folder / name
    if Path(name).name != name or not path.is_file():
        raise BadInput(folder, f"the file {name!r} of the model is missing", remedy=AGAIN)
    if _checksum(path) != checksum:
        raise BadInput(path, "the file is damaged: it is not the one that was saved", remedy=AGAIN)


def _checksum(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _release(library: str) -> tuple[str, ...]:
    """`sil-thot 3.5.3` → (sil-thot, 3, 5)."""
    name, _, version = library.partition(" ")
    return (name, *version.split(".")[:2])
