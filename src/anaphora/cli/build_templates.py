"""`anaphora build templates`."""

from __future__ import annotations

from pathlib import Path

import click

from anaphora.cli.output import PATH, echo_json, json_option, note, progress_bar
from anaphora.core.errors import AnaphoraError


@click.command(
    epilog="""\b
Examples:
  anaphora build templates -o contracat.jsonl
  anaphora build templates --only overlap --only gender -l en-fr -o overlap.jsonl
  anaphora build templates --vocabulary ContraCAT/data/templates/vocabulary -o released.jsonl
  anaphora build templates -l my/en-it -o en-it.jsonl
""",
)
@click.option("--only", multiple=True, metavar="ID…", help="These templates, or groups of them (prior, overlap).")
@click.argument("more", nargs=-1, metavar="", required=False)
@click.option("--vocabulary", type=PATH, metavar="DIR", help="Word classes that replace the built-in ones.")
@click.option(
    "--edition", help="paper; release: the settings of ContraCAT's files; table-8: its counts.  [default: paper]"
)
@click.option(
    "-l",
    "--languages",
    default="en-de",
    show_default=True,
    metavar="PAIR|DIR",
    help="A language pair, or a folder of one's own named like one.",
)
@click.option("-o", "--output", required=True, type=PATH, help="The suite file (.jsonl, .jsonl.gz).")
@json_option
def templates(
    only: tuple[str, ...],
    more: tuple[str, ...],
    vocabulary: Path | None,
    edition: str | None,
    languages: str,
    output: Path,
    as_json: bool,
) -> None:
    """Fill ContraCAT's templates with words, in any language pair that has data files (docs/templates.md).

    A folder in ContraCAT's own format given as --vocabulary also chooses the settings of the released files.
    """
    from anaphora.build.templates.suite import template_suite

    if more and not only:  # --only takes several ids, as in --only prior/role markable
        raise AnaphoraError(f"{more[0]!r} is not expected here. Templates are chosen by: --only {more[0]}")
    made = template_suite(languages, (*only, *more), vocabulary, edition)
    with progress_bar("examples") as progress:
        counts, sha256 = made.write(output, progress)
    if as_json:
        echo_json(
            {
                "suite": made.suite.header.name,
                "path": str(output),
                "sha256": sha256,
                "edition": made.edition,
                "examples": sum(counts.values()),
                "templates": counts,
            }
        )
        return
    for name, count in counts.items():
        too_few = "" if count else "  the vocabulary has too few words for it"
        note(f"{name:<20} {count:>6,}{too_few}")
    note(f"{made.suite.header.name}@{sha256[:6]}: {sum(counts.values()):,} examples: {output}")
