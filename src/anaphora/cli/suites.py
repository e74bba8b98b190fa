"""`anaphora suites`: list, show, get, convert and validate test suites, and compute their baselines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from anaphora import api
from anaphora.cli.app import LazyGroup
from anaphora.cli.options import WholeNumber, command, epilog, format_options, json_option, parameters
from anaphora.cli.output import download_progress, echo_json, note, show
from anaphora.cli.streams import echo
from anaphora.table import Row, Table


@click.group(
    cls=LazyGroup,
    epilog=epilog("""
anaphora suites list
anaphora suites get bawden-coreference
anaphora suites convert anaphora.json --from disceval -o bawden.jsonl
"""),
    lazy={
        "list": ("anaphora.cli.suites:list_suites", "List the suites of the catalog, and whether they are installed."),
        "show": ("anaphora.cli.suites:show_suite", "Show the citation, license, counts and breakdowns of a suite."),
        "get": ("anaphora.cli.suites:get", "Download, verify and convert a published suite."),
        "convert": ("anaphora.cli.suites:convert", "Convert a published format to a suite, or a suite to line files."),
        "validate": ("anaphora.cli.suites:validate", "Check a suite for duplicate ids, wrong gold and other defects."),
        "baselines": ("anaphora.cli.suites:baselines", "Compute baselines that do not resolve pronouns."),
    },
)
def suites() -> None:
    """List, download, convert and validate test suites, and compute their baselines."""


@command(
    """
anaphora suites list
anaphora suites list --format markdown
""",
    "list",
)
@format_options
def list_suites(format: str, as_json: bool) -> None:
    """List the suites of the catalog, and whether they are installed."""
    entries = api.list_suites()
    if as_json or format == "json":
        echo_json(entries)
        return
    rows = []
    for entry in entries:
        languages = f"{entry['source_language']}-{entry['target_language']}"
        here = "yes" if entry["here"] else ""
        rows.append(Row((entry["name"], languages, f"{entry['examples']:,}", here, entry["title"])))
    notes = ("Get one with: anaphora suites get NAME",)
    table = Table("Published suites", ("name", "languages", "examples", "here", "what"), tuple(rows), notes)
    show(table, {}, format, as_json)


@command(
    """
anaphora suites validate suite.jsonl
anaphora suites validate anaphora.json --from disceval
""",
    note="The exit code is 2 if there is a problem.",
)
@parameters(api.validate_suite, arguments=["suite"])
@json_option
def validate(suite: str, format: str, as_json: bool) -> None:
    problems = api.validate_suite(suite, format=format)
    if as_json:
        rows = [{"path": p.path, "line": p.line, "id": p.id, "problem": p.problem} for p in problems]
        echo_json({"valid": not problems, "problems": rows})
    else:
        for problem in problems:
            echo(str(problem))
        note(f"{suite}: {len(problems):,} problems" if problems else f"{suite}: valid")
    if problems:
        sys.exit(2)


@command("""
anaphora suites convert anaphora.json --from disceval -o bawden.jsonl
anaphora suites convert contrapro.json --from contrapro --context-from documents/ --context 3 -o contrapro3.jsonl
anaphora suites convert contrapro --to text -o lines/
anaphora suites convert contrapro --to text --separator ' <SEP> ' -o lines/
anaphora suites convert contrapro --to sources -o contrapro.en
anaphora suites convert contrapro --to sources --documents -o contrapro.en
""")
@parameters(api.convert_suite, arguments=["source=INPUT"])
@json_option
def convert(to: str, output: Path, documents: bool, as_json: bool, **options: Any) -> None:
    converted = api.convert_suite(output=output, to=to, documents=documents, **options)  # type: ignore[arg-type]
    files = [str(file) for file in converted.files]
    if to == "text":
        document: dict[str, Any] = {"files": files, "candidates": converted.lines}
        message = f"{converted.suite}: {converted.lines:,} lines, score each: {', '.join(files)}"
    elif to == "sources":
        document = {"suite": converted.suite, "path": files[0], "examples": converted.lines}
        unit = "documents" if documents else "lines"
        message = f"{converted.suite}: {converted.lines:,} {unit} to translate, one per example: {output}"
    else:
        document = {"suite": converted.suite, "path": files[0], "sha256": converted.sha256}
        message = f"{converted.suite}@{str(converted.sha256)[:6]}: {output}"
    if as_json:
        echo_json(document)
    else:
        note(message)


@command(
    """
anaphora suites show contrapro
anaphora suites show suite.jsonl --json
""",
    "show",
)
@parameters(api.show_suite, arguments=["suite=NAME|FILE"])
@json_option
def show_suite(suite: str, as_json: bool) -> None:
    """Show the citation, license, counts and breakdowns of a suite."""
    document = api.show_suite(suite)
    if as_json:
        echo_json(document)
        return
    citation, baselines = document.pop("citation", ""), document.pop("baselines", None)
    width = max(map(len, document))
    for key, value in document.items():
        if value not in (None, "", [], {}):
            text = ", ".join(map(str, value)) if isinstance(value, list) else value
            number = f"{text:,}" if isinstance(text, int) else text
            echo(f"{key.replace('_', ' '):<{width}}  {number}")
    if baselines is not None:
        from anaphora.reports.data_tables import baselines_table

        echo(f"\n{baselines_table(baselines).render('table')}")
    if citation:
        echo(f"\n{citation.strip()}")
    if baselines is None:
        note(f"baselines are not computed yet: anaphora suites baselines {suite} --keep")


@command("""
anaphora suites baselines contrapro
anaphora suites baselines contrapro --keep
anaphora suites baselines suite.jsonl --json > baselines.json
""")
@parameters(api.suite_baselines, arguments=["suite"], folds={"type": WholeNumber(2)})
@format_options
def baselines(format: str, as_json: bool, **settings: Any) -> None:
    from anaphora.reports.data_tables import baselines_table

    document = api.suite_baselines(**settings).to_dict()
    show(baselines_table(document), document, format, as_json)


@command("""
anaphora suites get bawden-coreference
anaphora suites get bawden-coreference --from-path copies/
""")
@parameters(api.get_suite, arguments=["name"])
@json_option
def get(name: str, from_path: Path | None, force: bool, as_json: bool) -> None:
    """Download, verify and convert a published suite, which is then available by its name."""
    from anaphora.suites.get import suite_path

    before = suite_path(name).stat().st_mtime_ns if suite_path(name).is_file() else None
    with download_progress() as progress:
        path = api.get_suite(name, from_path=from_path, force=force, progress=progress)
    unchanged = path.stat().st_mtime_ns == before
    if as_json:
        echo_json({"name": name, "path": str(path), "already_here": unchanged})
    else:
        same = " and is the same as the copy" if from_path is not None else ""
        note(f"{name}: {path}{f' (already exists{same}; --force replaces it)' if unchanged else ''}")
