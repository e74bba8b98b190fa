"""Pictures in files: SVG as it is, PNG where CairoSVG is installed, a line that helps where it is not."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.reports import picture
from anaphora.reports.picture import write_picture
from anaphora.svg import document, text

DRAWING = document(60, 40, "a word", [text(5, 20, "ρ")])


def test_svg_is_written_as_it_is(tmp_path: Path) -> None:
    write_picture(tmp_path / "new" / "x.SVG", DRAWING)
    assert (tmp_path / "new" / "x.SVG").read_text(encoding="utf-8") == DRAWING


def test_png_has_two_pixels_for_each_unit(tmp_path: Path) -> None:
    try:
        import cairosvg  # noqa: F401
    except (ImportError, OSError):
        pytest.skip('CairoSVG is not installed: pip install "anaphora[png]"')
    write_picture(tmp_path / "x.png", DRAWING)
    content = (tmp_path / "x.png").read_bytes()
    assert content.startswith(b"\x89PNG\r\n")
    assert struct.unpack(">II", content[16:24]) == (120, 80)


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"x\.pdf: a picture's name ends in \.svg or \.png"):
        write_picture(tmp_path / "x.pdf", DRAWING)
    assert not list(tmp_path.iterdir())


def test_without_the_package_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(AnaphoraError, match=r'PNG needs cairosvg.*pip install "anaphora\[png\]", or write \.svg'):
        write_picture(tmp_path / "x.png", DRAWING)
    assert not list(tmp_path.iterdir())


def test_without_the_library_the_way_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise OSError("no library called cairo was found")

    monkeypatch.setattr(picture, "import_module", missing)
    with pytest.raises(AnaphoraError, match=r"PNG needs the library cairo.*libcairo2.*or write \.svg"):
        write_picture(tmp_path / "x.png", DRAWING)
