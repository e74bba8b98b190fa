"""The parts of a report as files, for papers and wikis: a table or a picture each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from anaphora.core.files import atomic_writer
from anaphora.reports.page.contents import Report
from anaphora.reports.page.part import Part
from anaphora.reports.picture import write_picture
from anaphora.table import RENDERERS

TABLES = {"md": ("markdown", ".md"), "latex": ("latex", ".tex"), "csv": ("csv", ".csv")}
PICTURES = {"png": ".png", "svg": ".svg"}
FORMATS = ("html", *TABLES, *PICTURES)


def export(report: Report, format: str, folder: Path) -> list[Path]:
    """Write each part that has such a form; the files, in the order of the report."""
    written = []
    for part in parts_of(report):
        if format in TABLES and part.table is not None:
            renderer, ending = TABLES[format]
            path = folder / f"{part.name}{ending}"
            with atomic_writer(path) as out:
                out.write(RENDERERS[renderer](part.table).encode("utf-8", "backslashreplace") + b"\n")
        elif format in PICTURES and part.svg is not None:
            path = folder / f"{part.name}{PICTURES[format]}"
            write_picture(path, part.svg)
        else:
            continue
        written.append(path)
    return written


def parts_of(report: Report) -> Iterator[Part]:
    if report.overview is not None:
        yield report.overview
    for chapter in report.chapters:
        yield from chapter.parts
