"""`anaphora context-usage`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from anaphora.cli.output import PATH, format_options, note, part_options, progress_bar, show


@click.command(
    "context-usage",
    epilog="""\b
Examples:
  anaphora context-usage contrapro --system hf:my-concat-model --context 3 --separator ' <SEP> ' -o usage/
""",
)
@click.argument("suite")
@click.option("--system", required=True, metavar="SPEC", help="The system, KIND:WHAT; see: anaphora systems.")
@click.option("-o", "--output", required=True, type=PATH, help="A folder for the runs and the curve (curve.svg).")
@click.option("--context", type=click.IntRange(1), default=1, show_default=True, help="The largest context.")
@click.option("--separator", default=" ", help="What stands between sentences, exactly as given.")
@click.option("--target-context", type=click.Choice(["gold", "produced", "none"]), default="gold", show_default=True)
@part_options
@click.option("--threads", type=click.IntRange(1))
@click.option("--batch-tokens", type=click.IntRange(1), default=2048, show_default=True)
@click.option("--truncate", is_flag=True, help="Cut texts that are longer than the model takes, and count them.")
@format_options
def context_usage(
    suite: str,
    system: str,
    output: Path,
    context: int,
    separator: str,
    target_context: str,
    limit: int | None,
    sample: int | None,
    seed: int,
    threads: int | None,
    batch_tokens: int,
    truncate: bool,
    format: str,
    as_json: bool,
) -> None:
    """Does a system use context? Accuracy and CXMI with none, with 1…N sentences, with random and shuffled ones."""
    from anaphora import api
    from anaphora.core.files import atomic_writer
    from anaphora.evaluation.context_usage import context_usage as measure
    from anaphora.evaluation.result import Settings
    from anaphora.reports.charts import usage_curve
    from anaphora.reports.tables import usage_table
    from anaphora.runs import Run
    from anaphora.suites.contexts import select
    from anaphora.suites.suite import Suite
    from anaphora.systems.context import Context, Options
    from anaphora.systems.scoring import SystemCache, score_suite

    asked = Context(context, separator, target_context)
    options = Options(asked, threads=threads, batch_tokens=batch_tokens, truncate=truncate)
    truncated = 0  # texts, in the run with most of them
    scorer = SystemCache()
    loaded = api.load_suite(suite)
    scored = select(loaded, limit=limit, sample=sample, seed=seed)

    def score(examples: Suite, chosen: Options, place: Path) -> Run:
        nonlocal truncated
        with progress_bar("examples") as progress:
            run = score_suite(
                examples,
                system,
                place,
                options=chosen,
                limit=limit,
                sample=sample,
                seed=seed,
                resume=True,
                progress=progress,
                scorer=scorer,
            )
        truncated = max(truncated, sum(item.extra.get("truncated", 0) for item in run))
        return run

    with closing(scorer):
        usage = measure(loaded, system, options, output, score, Settings(seed=seed), most=scored.context)
    with atomic_writer(output / "curve.svg") as out:
        out.write(usage_curve(usage).encode())
    show(usage_table(usage), {**usage.to_dict(), "truncated": truncated}, format, as_json)
    if not as_json:
        if truncated:
            note(f"up to {truncated:,} texts per run were longer than the model takes, and were cut: --truncate")
        note(f"the curve: {output / 'curve.svg'}")
