"""A report: runs and results, each read once, become chapters, examples and provenance; one HTML file, or files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from anaphora import __version__
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import atomic_writer
from anaphora.evaluation.compare import Comparison, compare_runs, original_of
from anaphora.evaluation.contrastive import evaluate_run, guessing
from anaphora.evaluation.decision import keyed, parse_all, repeated
from anaphora.evaluation.diagnosis import diagnosis_of
from anaphora.evaluation.diagnosis_evidence import Evidence, gather, load_rules
from anaphora.evaluation.result import Result, Settings
from anaphora.reports.chapters import (
    Chapter,
    Part,
    Styles,
    attack_chapter,
    diagnosis_chapter,
    overview,
    suite_chapter,
)
from anaphora.reports.charts import assign_styles, write_chart
from anaphora.reports.examples import Missing, Texts, TextSources, columns, packed
from anaphora.reports.provenance import Provenance, names_of, provenance, run_called, split_names
from anaphora.reports.results import lines_by_suite, other_chapters, read_results
from anaphora.runs import LoadedRun, Run, load
from anaphora.stats.signature import with_hash
from anaphora.svg import height_of
from anaphora.table import RENDERERS, as_html, region


@dataclass(frozen=True, slots=True)
class Report:
    """The contents of a report.

    overview: accuracy on every suite; examples: the packed columns of each suite
    """

    title: str
    overview: Part | None
    chapters: tuple[Chapter, ...]
    provenance: tuple[Provenance, ...]
    examples: tuple[dict[str, Any], ...]
    suites_without_text: tuple[Missing, ...]


def make_report(
    runs: Sequence[Run],
    *,
    results: Sequence[Path] = (),
    suites: Sequence[str | Path] = (),
    names: Sequence[str] = (),
    title: str = "",
    by: Sequence[str] = (),
    settings: Settings | None = None,
) -> Report:
    """Return a report on runs, and on results that other commands wrote as JSON.

    suites: the files that were scored, or names of the catalog, for the texts of the examples; suites of the
        catalog that are on this machine need not be named
    names: one for each run; and OLD=NEW for a system in a result
    by: breakdowns in addition to those of the suites' papers
    """
    if not runs and not results:
        raise AnaphoraError("name one or more runs")
    settings = settings or Settings()
    others = read_results(results)
    in_results = list(dict.fromkeys(name for other in others for name in other.names))
    given, renamed = split_names(names, in_results)
    called = names_of(runs, given)
    joined = {name: renamed.get(name) or run_called(name, runs, called) for name in in_results}
    specs = {run.path: run.header.system for run in runs}
    loaded = [
        replace(load(run), header=replace(run.header, system=name)) for run, name in zip(runs, called, strict=True)
    ]
    styles = assign_styles(list(dict.fromkeys([*called, *joined.values()])))
    sources = TextSources(suites)
    by_suite = _by_suite([run for run in loaded if not (run.records and original_of(run.records[0]) is not None)])
    evaluated = [_evaluated(members, sources, by, settings) for members in by_suite.values()]
    chapters = [suite_chapter(one.results, one.comparison, styles, one.repeated) for one in evaluated]
    evidence = gather(loaded, settings) if loaded else []
    chapters += _evidence_chapters(evidence, settings, styles, {one.digest: one.chance for one in evaluated})
    chapters += other_chapters(others, joined, styles)
    by_digest = {one.digest: one for one in evaluated}
    return Report(
        title=title or "Does it understand what “it” refers to?",
        overview=overview(
            [one.results for one in evaluated], styles, [one.chance for one in evaluated], lines_by_suite(others)
        ),
        chapters=tuple(chapters),
        provenance=tuple(
            _provenance(run, specs[run.path], by_digest.get(run.header.sha256), sources) for run in loaded
        ),
        examples=tuple(one.examples for one in evaluated if one.examples is not None),
        suites_without_text=tuple(one.texts for one in evaluated if isinstance(one.texts, Missing)),
    )


@dataclass(frozen=True, slots=True)
class _EvaluatedSuite:
    """The runs of one suite, evaluated.

    chance: the accuracy of guessing, or of one answer for all; repeated: breakdowns that are not shown
    """

    digest: str
    results: dict[str, Result]
    comparison: Comparison | None
    repeated: Mapping[str, str]
    chance: float | None
    texts: Texts | Missing
    examples: dict[str, Any] | None


def _evaluated(
    runs: Sequence[LoadedRun], sources: TextSources, by: Sequence[str], settings: Settings
) -> _EvaluatedSuite:
    first = runs[0]
    wanted = tuple(dict.fromkeys((*first.header.breakdowns, *by))) if by else ()
    results = {run.header.system: evaluate_run(run, breakdowns=wanted, settings=settings) for run in runs}
    breakdowns = list(results[first.header.system].breakdowns)
    comparison = None
    if len(runs) > 1 and results[first.header.system].figure.total:
        comparison = compare_runs(runs, breakdowns=breakdowns, settings=settings)
    texts, (copies, chance) = sources.texts_of(first), _copies_and_chance(first, wanted)
    examples = None
    if isinstance(texts, Texts):
        shown = [parsed for name, parsed in parse_all([*first.header.breakdowns, *by]).items() if name not in copies]
        tags = tuple(dict.fromkeys(tag for breakdown in shown for tag in breakdown.tags))
        examples = columns({run.header.system: run for run in runs}, texts, tags, settings)
    return _EvaluatedSuite(first.header.sha256, results, comparison, copies, chance, texts, examples)


def _copies_and_chance(run: LoadedRun, wanted: Sequence[str]) -> tuple[dict[str, str], float | None]:
    """Return the breakdowns that repeat another one, and the accuracy of guessing or of always the same pronoun."""
    breakdowns = parse_all(wanted or run.header.breakdowns)
    groups: set[tuple[str | None, ...]] = set()
    questions = []
    for item in run:
        if item.gold is not None:
            groups.add(tuple(b.group(keyed(b, item.tags)) for b in breakdowns.values()))
            questions.append((len(item.scores), item.tags))
    return repeated(list(breakdowns), groups), guessing(questions)


def _by_suite(runs: Sequence[LoadedRun]) -> dict[str, list[LoadedRun]]:
    suites: dict[str, list[LoadedRun]] = {}
    for run in runs:
        members = suites.setdefault(run.header.sha256, [])
        for other in members:
            if other.header.system == run.header.system:
                problem = f"a second run of {run.header.suite} by {run.header.system}, besides {other.path}"
                raise BadInput(run.path, problem, remedy="Name one of them, or tell them apart with --name.")
        members.append(run)
    return suites


def _evidence_chapters(
    evidence: Sequence[Evidence], settings: Settings, styles: Styles, chances: Mapping[str, float | None]
) -> list[Chapter]:
    chapters = []
    attacked = [attack for one in evidence for attack in one.attacks]
    if attacked:
        chapters.append(attack_chapter(attacked, styles, chances))
    diagnosable = [one for one in evidence if one.templates or one.attacks]
    if diagnosable:
        rules = load_rules()
        chapters.append(diagnosis_chapter([diagnosis_of(one, settings, rules) for one in diagnosable], styles))
    return chapters


def _provenance(run: Run, spec: str, suite: _EvaluatedSuite | None, sources: TextSources) -> Provenance:
    header = run.header
    if suite is None:  # an attack
        signature = with_hash(header.suite, header.sha256)
        return provenance(run, spec=spec, name=header.system, signature=signature, file=sources.file_of(run))
    result, file = suite.results[header.system], getattr(suite.texts, "file", None)
    unanswered = f"{result.unanswered:,} of {result.figure.total:,}" if result.unanswered else ""
    return provenance(run, spec=spec, name=header.system, signature=result.signature, file=file, unanswered=unanswered)


# The report as one HTML file without external resources

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


# spaces at which no line ends: 76.0 %, 40.7 points, p < 0.001, n = 300 (in HTML)
TOGETHER = re.compile(r"(?<=\d) (?=%|points)|(?<=\b[np]) (?=(?:=|&lt;) )|(?<=\b[np] =) |(?<=\b[np] &lt;) ")


def _list(sentences: Iterable[str], *, signed: bool = False) -> str:
    """Return a list; signed: each sentence begins with a sign (✗, ✓), which is set before its lines."""
    items = []
    for sentence in sentences:
        sign, _, rest = sentence.partition(" ") if signed else ("", "", sentence)
        lead = f'<span class="sign">{escape(sign)}</span> ' if sign else ""
        # no line ends within the name of an option
        words = re.sub(r"(?<!\S)--[a-z][a-z-]*", r'<span class="option">\g<0></span>', escape(rest))
        words = TOGETHER.sub("\u00a0", words)
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
