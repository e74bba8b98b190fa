"""The report as one HTML file that asks nothing of any network: style, script, pictures and examples are inside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from anaphora import __version__
from anaphora.reports.page.contents import Report
from anaphora.reports.page.examples import packed
from anaphora.reports.page.part import Chapter, Part
from anaphora.table import as_html

ASSETS = Path(__file__).parent
# no address but the page's own; nothing can be sent anywhere, whatever a suite's texts hold
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def page(report: Report, made: datetime | None = None) -> str:
    """The whole page."""
    when = (made or datetime.now(UTC)).strftime("%Y-%m-%d")
    links = [("summary", "Summary"), *((chapter.name, chapter.title) for chapter in report.chapters)]
    links += [("examples", "Examples"), ("runs", "Runs")] if report.provenance else []
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
{_asset("report.css")}</style>
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
{_asset("report.js")}</script>
</body>
</html>
"""


def _asset(name: str) -> str:
    return (ASSETS / name).read_text("utf-8")


def _summary(report: Report) -> str:
    said = [word for chapter in report.chapters for word in chapter.words]
    picture = _part(report.overview) if report.overview else ""
    listed = _list(said) if said else ""
    return f'<section id="summary"><h2>Summary</h2><div class="parts">{listed}{picture}</div></section>'


def _chapter(chapter: Chapter) -> str:
    said = "".join(
        f"<div class='wide'><h3>{escape(heading)}</h3>{_list(sentences)}</div>"
        for heading, sentences in chapter.said.items()
    )
    parts = "\n".join(map(_part, chapter.parts))
    name = escape(chapter.name)
    return (
        f'<section id="{name}"><h2>{escape(chapter.title)}</h2>\n<div class="parts">\n{said}{parts}\n</div></section>'
    )


def _list(sentences: Iterable[str]) -> str:
    return f'<ul class="words">{"".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)}</ul>'


def _part(part: Part) -> str:
    """A picture with its title inside and its table one click away; a table alone is a click away, too."""
    marks = "".join(f'<p class="mark">{escape(mark)}</p>' for mark in part.marks)
    table = ""
    if part.table is not None:
        said = "As a table" if part.svg else part.title
        table = f"<details><summary>{escape(said)}</summary>{as_html(part.table)}</details>"
    kind = "wide" if part.wide else "card"
    return f'<figure class="{kind}" id="part-{escape(part.name)}">{part.svg or ""}{marks}{table}</figure>'


def _examples(report: Report) -> Iterator[str]:
    if not report.examples:
        return
    silent = "".join(
        f"<p class='mark'>The texts of {escape(name)} are not at hand: add them with --suite FILE.</p>"
        for name in report.silent
    )
    yield (
        '<section id="examples"><h2>Examples</h2>'
        f"{silent}<noscript><p>The examples need JavaScript.</p></noscript>"
        '<form id="filters" hidden><div id="choices"></div><p id="count" role="status" aria-live="polite"></p></form>'
        '<ol id="list"></ol><div id="pages" hidden><button type="button" id="previous">← previous</button>'
        '<span id="place"></span><button type="button" id="next">next →</button></div>'
        f'<script type="text/plain" id="data">{packed(report.examples)}</script></section>'
    )


def _runs(report: Report) -> Iterable[str]:
    if not report.provenance:
        return
    rows = []
    for run in report.provenance:
        settings = ", ".join(f"{key}: {value}" for key, value in run.settings.items() if value not in (None, "", {}))
        told = f'<p class="mark">{escape(settings)}</p>' if settings else ""
        rows.append(
            f"<li><strong>{escape(run.name)}</strong> <span class='mark'>{escape(run.path)}</span>"
            f"<pre><code>{escape(run.command)}</code></pre><code>{escape(run.signature)}</code>{told}</li>"
        )
    yield f'<section id="runs"><h2>Runs</h2><ul class="runs">{"".join(rows)}</ul></section>'
