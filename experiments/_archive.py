"""Archives of the data folder."""

from __future__ import annotations

import html
import io
import tarfile
import tempfile
from pathlib import Path

import zstandard

from anaphora.suites import download


def archive(path: Path) -> dict[str, list[str]]:
    """The files of a .tar.zst in lines, by their names without folders."""
    found = {}
    with _tar(path) as tar:
        for member in tar.getmembers():
            file = tar.extractfile(member)
            if file is not None:
                text = file.read().decode("utf-8").removesuffix("\n")
                lines = (html.unescape(line).strip() for line in text.split("\n"))  # Google's are HTML
                found[Path(member.name).name] = list(lines)
    return found


def extract(path: Path, folder: Path) -> Path:
    """Unpack a .tar.zst into a folder, as it is."""
    with tempfile.TemporaryDirectory() as temporary, path.open("rb") as stream:
        plain = Path(temporary, "archive.tar")
        with plain.open("wb") as out:
            zstandard.ZstdDecompressor(max_window_size=1 << 27).copy_stream(stream, out)
        download.extract(plain, folder)
    return folder


def _tar(path: Path) -> tarfile.TarFile:
    reader = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    with path.open("rb") as stream:
        return tarfile.open(fileobj=io.BytesIO(reader.stream_reader(stream).read()))
