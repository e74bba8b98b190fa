"""The report as one HTML file without external resources, or as files of its tables and charts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from anaphora import __version__
from anaphora.core.files import atomic_writer
from anaphora.reports.chapters import Chapter, Part
from anaphora.reports.charts import write_chart
from anaphora.reports.examples import packed
from anaphora.reports.page import Report
from anaphora.svg import height_of
from anaphora.table import RENDERERS, as_html, region

ASSETS = Path(__file__).parent
# no address but the page's own; nothing can be sent anywhere, whatever a suite's texts hold
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def page(report: Report, made: datetime | None = None) -> str:
    """Return the whole page."""
    when = (made or datetime.now(UTC)).strftime("%Y-%m-%d")
    links = [("summary", "Summary"), *((chapter.name, chapter.title) for chapter in report.chapters)]
    links += [("examples", "Examples")] if report.examples or report.suites_without_text else []
    links += [("runs", "Runs")] if report.provenance else []
    nav = "".join(f'<a href="#{escape(name)}">{escape(title)}</a>' for name, title in links)
    body = "\n".join([_summary(report), *map(_chapter, report.chapters), *_examples(report), *_runs(report)])
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="generator" content="anaphora {__version__}">
<title>{escape(report.title)}</title>
<style>
{(ASSETS / "report.css").read_text("utf-8")}</style>
</head>
<body>
<header>
<h1>{escape(report.title)}</h1>
<p class="made">anaphora {__version__} · {when}</p>
<button type="button" id="theme" aria-label="Switch between dark and light" hidden>◐</button>
<nav aria-label="Chapters">{nav}</nav>
</header>
<main>
{body}
</main>
<script>
{(ASSETS / "report.js").read_text("utf-8")}</script>
</body>
</html>
"""


def _summary(report: Report) -> str:
    sentences = [sentence for chapter in report.chapters for sentence in chapter.summary]
    chart = _part(report.overview) if report.overview else ""
    listed = _list(sentences) if sentences else ""
    return f'<section id="summary"><h2>Summary</h2><div class="parts">{listed}{chart}</div></section>'


def _chapter(chapter: Chapter) -> str:
    statements = "".join(
        f"<div class='said'><h3>{escape(heading)}</h3>{_list(sentences, signed=True)}</div>"
        for heading, sentences in chapter.statements.items()
    )
    drawn = [part for part in chapter.parts if part.svg is not None]
    lowest = min((height_of(part.svg or "") for part in drawn), default=1.0)
    charts = "\n".join(_part(part, lowest) for part in drawn)
    tables = "\n".join(_part(part) for part in chapter.parts if part.svg is None)
    remarks = "".join(f'<p class="mark">{escape(remark)}</p>' for remark in chapter.remarks)
    name = escape(chapter.name)
    return (
        f'<section id="{name}"><h2>{escape(chapter.title)}</h2>\n{remarks}'
        f'<div class="parts">\n{statements}{charts}\n</div>\n<div class="tables">\n{tables}\n</div></section>'
    )


def _list(sentences: Iterable[str], *, signed: bool = False) -> str:
    """Return a list; signed: each sentence begins with a sign (✗, ✓), which is set before its lines."""
    items = []
    for sentence in sentences:
        sign, _, rest = sentence.partition(" ") if signed else ("", "", sentence)
        lead = f'<span class="sign">{escape(sign)}</span> ' if sign else ""
        # no line ends within the name of an option
        words = re.sub(r"(?<!\S)--[a-z][a-z-]*", r'<span class="option">\g<0></span>', escape(rest))
        items.append(f"<li>{lead}{words}</li>")
    return f'<ul class="words">{"".join(items)}</ul>'


def _part(part: Part, lowest: float | None = None) -> str:
    """Return a chart with its table folded below it, or a folded table.

    lowest: the height of the lowest chart of the chapter; higher ones take several rows of the grid
    """
    marks = "".join(f'<p class="mark">{escape(mark)}</p>' for mark in part.marks)
    table = ""
    if part.table is not None:
        title = "As a table" if part.svg else part.title
        inside = f"{as_html(part.table)}{marks if part.svg is None else ''}"
        kind = ' class="printed"' if part.printed else ""
        table = f"<details{kind}><summary>{escape(title)}</summary>{inside}</details>"
    name = f"part-{escape(part.name)}"
    if part.html:
        return f'<div class="passages" id="{name}"><h3>{escape(part.title)}</h3>{marks}{part.html}{table}</div>'
    if part.svg is None:
        return f'<div class="table" id="{name}">{table}</div>'
    chart = f'<div class="scroll" {region(part.title)}>{part.svg}</div>' if part.wide else part.svg
    rows = min(4, max(1, round(height_of(part.svg) / lowest))) if lowest and not part.wide else 1
    kind = "wide" if part.wide else "card" if rows == 1 else f"card rows{rows}"
    return f'<figure class="{kind}" id="{name}">{chart}{marks}{table}</figure>'


def _examples(report: Report) -> Iterator[str]:
    if not report.examples and not report.suites_without_text:
        return
    missing = "".join(
        f"<p class='missing'>The texts of {escape(suite.suite)} are not in this report, and so its examples are not "
        f"listed. To list them, {escape(suite.remedy)}, and make the report again.</p>"
        for suite in report.suites_without_text
    )
    browser = EXAMPLES.format(data=packed(report.examples)) if report.examples else ""
    yield f'<section id="examples"><h2>Examples</h2>{missing}{browser}</section>'


EXAMPLES = """
<noscript><p>The examples need JavaScript.</p></noscript>
<form id="filters" hidden><div id="choices"></div>
<p><span id="count" role="status" aria-live="polite"></span>
<button type="button" id="reset" hidden>Reset filters</button></p>
</form>
<p class="mark">Highlighted: <mark>words that differ</mark> between the candidates, and the source pronoun where
the suite names it; <mark class="second">the antecedent</mark> where the suite names it;
<mark class="maybe">dotted</mark> where the words occur more than once, and the suite does not say which is meant.
A system stands under the candidate that it prefers.</p>
<ol id="list"></ol><div id="pages" hidden><button type="button" id="previous">← previous</button>
<span id="place"></span><button type="button" id="next">next →</button></div>
<script type="text/plain" id="data">{data}</script>
"""


def _runs(report: Report) -> Iterable[str]:
    if not report.provenance:
        return
    rows = []
    for run in report.provenance:
        settings = f'<p class="mark">{escape(run.settings)}</p>' if run.settings else ""
        notes = "".join(f'<p class="mark">{escape(note)}</p>' for note in run.notes)
        rows.append(
            f"<li><strong>{escape(run.name)}</strong> <span class='mark'>{escape(run.suite)}</span>"
            f"<pre><code>{escape(run.command)}</code></pre>{notes}<code>{escape(run.signature)}</code>{settings}</li>"
        )
    yield f'<section id="runs"><h2>Runs</h2><ul class="runs">{"".join(rows)}</ul></section>'


# The parts of a report as files, for papers and wikis: a table or a chart each.

TABLES = {"md": ("markdown", ".md"), "latex": ("latex", ".tex"), "csv": ("csv", ".csv")}
CHARTS = {"png": ".png", "svg": ".svg"}
FORMATS = ("html", *TABLES, *CHARTS)


def export(report: Report, format: str, folder: Path) -> list[Path]:
    """Write each part that has the format; return the files in the order of the report."""
    written = []
    parts = [part for chapter in report.chapters for part in chapter.parts]
    for part in [report.overview, *parts] if report.overview else parts:
        if format in TABLES and part.table is not None:
            renderer, ending = TABLES[format]
            path = folder / f"{part.name}{ending}"
            with atomic_writer(path) as out:
                out.write(RENDERERS[renderer](part.table).encode("utf-8", "backslashreplace") + b"\n")
        elif format in CHARTS and part.svg is not None:
            path = folder / f"{part.name}{CHARTS[format]}"
            write_chart(path, part.svg)
        else:
            continue
        written.append(path)
    return written
