"""A picture goes to a file: SVG as it is, PNG where the extra is installed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import atomic_writer

SCALE = 2.0  # pixels for a unit of the SVG: sharp on screens and in print


def write_picture(path: Path, svg: str) -> None:
    """Write an SVG or, by the name's ending, a PNG."""
    kind = path.suffix.lower()
    if kind not in (".svg", ".png"):
        raise BadInput(path, "a picture's name ends in .svg or .png")
    content = svg.encode("utf-8", "backslashreplace") if kind == ".svg" else png(svg)
    with atomic_writer(path) as out:
        out.write(content)


def png(svg: str) -> bytes:
    """The picture in pixels, drawn by CairoSVG."""
    try:
        cairosvg = import_module("cairosvg")
    except ModuleNotFoundError as error:
        raise AnaphoraError(
            f"PNG needs {error.name}, which is not installed. "
            'Install it with: pip install "anaphora[png]", or write .svg'
        ) from None
    except OSError:  # the Python package is there, the C library that it loads is not
        raise AnaphoraError(
            "PNG needs the library cairo, which is not on this machine. "
            "Install it (Debian: apt install libcairo2, macOS: brew install cairo), or write .svg"
        ) from None
    pixels: bytes = cairosvg.svg2png(bytestring=svg.encode("utf-8", "backslashreplace"), scale=SCALE)
    return pixels
