"""`anaphora suites`: list, show, get, convert and validate test suites."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from anaphora.cli.options import PATH, format_options, json_option, option, options
from anaphora.cli.output import download_progress, echo_json, note, show


@click.group(
    epilog="""\b
Examples:
  anaphora suites list
  anaphora suites get bawden-coreference
  anaphora suites convert anaphora.json --from disceval -o bawden.jsonl
"""
)
def suites() -> None:
    """List, get, convert and validate test suites."""


@suites.command(
    "list",
    epilog="""\b
Examples:
  anaphora suites list
  anaphora suites list --format markdown
""",
)
@format_options
def list_suites(format: str, as_json: bool) -> None:
    """List the suites of the catalogue, and which are installed."""
    from anaphora import api_suites
    from anaphora.table import Row, Table

    document = api_suites.list_suites()
    rows = tuple(
        Row(
            (
                entry["name"],
                f"{entry['source_language']}-{entry['target_language']}",
                f"{entry['examples']:,}",
                "yes" if entry["here"] else "",
                entry["title"],
            )
        )
        for entry in document
    )
    notes = ("Get one with: anaphora suites get NAME",)
    table = Table("Published suites", ("name", "languages", "examples", "here", "what"), rows, notes)
    if as_json or format == "json":
        echo_json(document)
    else:
        show(table, {}, format, as_json)


@suites.command(
    "validate",
    epilog="""Exits with 2 if anything is wrong.

\b
Examples:
  anaphora suites validate suite.jsonl
  anaphora suites validate anaphora.json --from disceval
""",
)
@click.argument("suite")
@options("from")
@json_option
def validate(suite: str, format: str, as_json: bool) -> None:
    """Check a suite for duplicate ids, empty or equal candidates, wrong gold, uneven passages and bad UTF-8."""
    from anaphora import api_suites

    problems = api_suites.validate_suite(suite, format=format)
    if not as_json:
        for problem in problems:
            click.echo(str(problem))
    if as_json:
        rows = [{"path": p.path, "line": p.line, "id": p.id, "problem": p.problem} for p in problems]
        echo_json({"valid": not problems, "problems": rows})
    else:
        note(f"{suite}: {len(problems):,} problems" if problems else f"{suite}: valid")
    if problems:
        sys.exit(2)


@suites.command(
    "convert",
    epilog="""\b
Examples:
  anaphora suites convert anaphora.json --from disceval -o bawden.jsonl
  anaphora suites convert contrapro.json --from contrapro --context-from documents/ --context 3 -o contrapro3.jsonl
  anaphora suites convert contrapro --to text -o lines/
  anaphora suites convert contrapro --to text --separator ' <SEP> ' -o lines/
  anaphora suites convert contrapro --to sources -o contrapro.en
  anaphora suites convert contrapro --to sources --documents -o contrapro.en
""",
)
@click.argument("source", metavar="INPUT")
@options("from")
@option(
    "--to",
    type=click.Choice(["native", "text", "sources"]),
    default="native",
    help="Output: a suite file (native), line files with a line per candidate (text), or lines to translate (sources).",
)
@option(
    "-o",
    "--output",
    required=True,
    type=PATH,
    help="Suite file (.jsonl, .jsonl.gz); a folder with --to text, a text file with --to sources.",
)
@option("--suite-name", "name", aliases=("--name",), help="Name of the suite (default: that of the format or file).")
@option("--context-from", type=PATH, help="Folder of documents to read context from (contrapro).")
@option(
    "--context",
    type=click.IntRange(0),
    metavar="N",
    help="Number of preceding sentences to include (contrapro, lopes, ctxpro, diabla, --to sources).",
)
@option("--split", help="Split to read: train, valid or test (scat); dev or test (mt-geneval).")
@option("--contrast-from", type=PATH, help="Folder of Lopes' set, for wrong translations that agree (scat).")
@option("--source-language", help="Source language (text).")
@option("--target-language", help="Target language (text, disceval, mt-geneval, winomt, diabla).")
@option("--separator", help="Text between the sentences of a passage, one line per passage (--to text, --to sources).")
@option(
    "--documents",
    is_flag=True,
    help="Write a document per example, one sentence per line, with blank lines between documents (--to sources).",
)
@options("limit")
@json_option
def convert(source: str, format: str, to: str, output: Path, documents: bool, as_json: bool, **options: Any) -> None:
    """Convert a published format to a suite file, or a suite to lines that any toolkit scores or translates."""
    from anaphora import api_suites

    made = api_suites.convert_suite(source, output, format=format, to=to, documents=documents, **options)
    files = [str(file) for file in made.files]
    if to == "text":
        document: dict[str, Any] = {"files": files, "candidates": made.lines}
        message = f"{made.suite}: {made.lines:,} lines, score each: {', '.join(files)}"
    elif to == "sources":
        document = {"suite": made.suite, "path": files[0], "examples": made.lines}
        unit = "documents" if documents else "lines"
        message = f"{made.suite}: {made.lines:,} {unit} to translate, one per example: {output}"
    else:
        document = {"suite": made.suite, "path": files[0], "sha256": made.sha256}
        message = f"{made.suite}@{str(made.sha256)[:6]}: {output}"
    if as_json:
        echo_json(document)
    else:
        note(message)


@suites.command(
    "show",
    epilog="""\b
Examples:
  anaphora suites show contrapro
  anaphora suites show suite.jsonl --json
""",
)
@click.argument("suite", metavar="NAME|FILE")
@json_option
def show_suite(suite: str, as_json: bool) -> None:
    """Show the citation, license, counts and breakdowns of a suite."""
    from anaphora import api_suites

    document = api_suites.show_suite(suite)
    if as_json:
        echo_json(document)
        return
    citation = document.pop("citation", "")
    width = max(map(len, document))
    for key, value in document.items():
        if value not in (None, "", [], {}):
            text = ", ".join(map(str, value)) if isinstance(value, list) else value
            click.echo(
                f"{key.replace('_', ' '):<{width}}  {text:,}"
                if isinstance(text, int)
                else f"{key.replace('_', ' '):<{width}}  {text}"
            )
    if citation:
        click.echo(f"\n{citation.strip()}")


@suites.command(
    "get",
    epilog="""\b
Examples:
  anaphora suites get bawden-coreference
  anaphora suites get bawden-coreference --from-path copies/
""",
)
@click.argument("name")
@option("--from-path", type=PATH, help="Import local copies instead of downloading.")
@option("--force", is_flag=True, help="Import or download again what already exists.")
@json_option
def get(name: str, from_path: Path | None, force: bool, as_json: bool) -> None:
    """Download, verify and convert a published suite, which is then available by its name."""
    from anaphora import api_suites
    from anaphora.suites.get import suite_path

    before = suite_path(name).stat().st_mtime_ns if suite_path(name).is_file() else None
    with download_progress() as progress:
        path = api_suites.get_suite(name, from_path=from_path, force=force, progress=progress)
    unchanged = path.stat().st_mtime_ns == before
    if as_json:
        echo_json({"name": name, "path": str(path), "already_here": unchanged})
    else:
        same = ", and the same as the copy" if from_path is not None else ""
        note(f"{name}: {path}{f' (already here{same}; --force makes it again)' if unchanged else ''}")
