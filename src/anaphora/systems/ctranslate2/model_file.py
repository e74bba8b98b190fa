"""What the files of a converted CTranslate2 model say of it, and the library itself does not tell."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import text_lines
from anaphora.core.parsing import expecting, read_json, read_json_object

POSITIONS = "position_encodings/encodings"  # a table of vectors, one per position: where it ends, reading ends


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model as it lies on disk.

    generator: a decoder alone, which is a language model; else it is an encoder–decoder
    positions: how many tokens it takes, None where positions are not a table
    relative: only distances between positions count, so that there is no end to them
    """

    folder: Path
    generator: bool
    positions: int | None
    relative: bool
    config: dict[str, Any]

    def checksum(self) -> str:
        """Of all weights: another model at the same path does not pass for this one."""
        with (self.folder / "model.bin").open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()[:16]

    def vocabulary(self, side: str) -> frozenset[str]:
        """The tokens of a side, "source" or "target" (a generator has but one); empty where they are not told."""
        for name in ("shared_vocabulary", f"{side}_vocabulary", "vocabulary"):
            path = self.folder / f"{name}.json"
            if path.is_file():
                with expecting(path, "a vocabulary"):
                    return frozenset(read_json(path))
            if path.with_suffix(".txt").is_file():  # as models were converted until 2023
                return frozenset(text_lines(path.with_suffix(".txt")))
        return frozenset()


def read_model_file(folder: Path) -> ModelFile:
    """The kind of a model, the shapes of its weights, and the configuration beside them."""
    path = folder / "model.bin"
    if not path.is_file():
        raise AnaphoraError(
            f"{folder}: no CTranslate2 model is here (no model.bin). "
            "Convert one with: ct2-transformers-converter --model NAME --output_dir FOLDER"
        )
    try:
        with path.open("rb") as stream:
            kind, shapes = _contents(stream)
    except (struct.error, UnicodeDecodeError, ValueError, OverflowError, OSError):
        raise BadInput(path, "not the weights of a CTranslate2 model, or cut short") from None
    config = folder / "config.json"
    return ModelFile(
        folder=folder,
        generator=kind.startswith("TransformerDecoder"),
        positions=min((shape[0] for name, shape in shapes.items() if name.endswith(POSITIONS) and shape), default=None),
        relative=any("relative_" in name for name in shapes),
        config=read_json_object(config) if config.is_file() else {},
    )


def _contents(stream: BinaryIO) -> tuple[str, dict[str, tuple[int, ...]]]:
    """The kind of model and the names and shapes of its weights, as `ModelSpec.save` of the converters writes them."""

    def number(code: str) -> int:
        (value,) = struct.unpack(f"<{code}", stream.read(struct.calcsize(f"<{code}")))
        return int(value)

    def text() -> str:
        return stream.read(number("H")).rstrip(b"\0").decode()

    version = number("I")
    kind = text()
    number("I")  # revision of this kind
    shapes = {}
    for _ in range(number("I")):
        name = text()
        shape = tuple(number("I") for _ in range(number("B")))
        width = number("B")  # of an item; since version 4 the type of the items, and their size in bytes follows
        size = number("I") * (1 if version >= 4 else width)
        shapes[name] = shape
        stream.seek(size, 1)
    return kind, shapes
