"""`anaphora meta equivalences`."""

from __future__ import annotations

from pathlib import Path

import click

from anaphora.cli.evaluate import Share
from anaphora.cli.output import PATH, format_options, note, show


@click.command(
    epilog="""\b
Examples:
  anaphora meta equivalences judged.tsv -l en-fr -o french.toml
  anaphora apt -s src -r ref -t hyp -l en-fr --lists french.toml
"""
)
@click.argument("samples", type=PATH, metavar="SAMPLES.tsv")
@click.option("-o", "--output", type=PATH, help="Write the list as a file for `anaphora apt --lists` (TOML).")
@click.option("-l", "--languages", metavar="PAIR", help="Count identical forms as one pronoun, by this pair's lists.")
@click.option("--lists", type=PATH, help="A TOML file with pronoun lists, over the built-in ones (with -l).")
@click.option("--least-share", type=Share(0, 1), default=0.05, show_default=True, help="Rarer pairs are left out.")
@click.option("--above", type=Share(0, 1), default=0.5, show_default=True, help="Keep pairs right more often than so.")
@format_options
def apt_equivalences(
    samples: Path,
    output: Path | None,
    languages: str | None,
    lists: Path | None,
    least_share: float,
    above: float,
    format: str,
    as_json: bool,
) -> None:
    """Learn which pronouns are equivalent, from translations that people have judged (APT §2.5).

    SAMPLES.tsv has a header and the columns candidate, reference and correct (1 or 0), one row per pronoun.
    """
    from anaphora.core.errors import AnaphoraError
    from anaphora.core.files import atomic_writer
    from anaphora.languages.pronoun_files import pronoun_lists, to_toml
    from anaphora.metrics.judgments import learn_equivalents, read_samples
    from anaphora.reports.metric_tables import equivalence_table

    if lists and not languages:
        raise AnaphoraError("--lists goes with -l: which language pair is it?")
    known = pronoun_lists(languages, lists) if languages else None
    learned = learn_equivalents(read_samples(samples), lists=known, least_share=least_share, above=above)
    if output:
        with atomic_writer(output) as out:
            source = f"learned from {learned.samples} samples in {samples.name}, as in APT §2.5"
            out.write(to_toml({"sources": [source], "equivalent": learned.equivalent}).encode())
        note(f"wrote {output}")
    show(equivalence_table(learned), learned.to_dict(), format, as_json)
