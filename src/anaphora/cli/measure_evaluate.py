"""`anaphora measure evaluate`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.cli.evaluate import setting_options
from anaphora.cli.output import PATH, format_options, note, progress_bar, show

if TYPE_CHECKING:
    from anaphora.evaluation.result import Result
    from anaphora.evaluation.result import Settings as ResultSettings
    from anaphora.measure.scoring import Human


@click.command(
    epilog="""\b
Examples:
  anaphora measure evaluate pairs.jsonl --model models/measure
  anaphora measure evaluate pairs.jsonl --system lm:my-model --context 2
  anaphora measure evaluate pairs.jsonl --run runs/judge --pair-list agreed.json
"""
)
@click.argument("pairs", metavar="PAIRS")
@click.option("--model", type=PATH, help="A measure trained by `measure train`.")
@click.option("--system", metavar="SPEC", help="Any other system, as a judge of the pairs.")
@click.option("--run", "run", type=PATH, help="A run of `anaphora score` on the pairs.")
@click.option("--encoder", metavar="SPEC", help="The encoder of the model, if its folder has no copy.")
@click.option("--context", type=click.IntRange(0), default=2, show_default=True, help="Context, with --system.")
@click.option("--pair-list", type=PATH, help="Annotators' judgments of pronoun pairs, to report agreement.")
@click.option("--cache", type=PATH, help="A folder in which the encoder's states are cached.")
@click.option("--limit", type=click.IntRange(1), help="Evaluate only the first N pairs.")
@click.option("--threads", type=click.IntRange(1), help="CPU threads.")
@setting_options
@format_options
def evaluate(
    pairs: str,
    model: Path | None,
    system: str | None,
    run: Path | None,
    pair_list: Path | None,
    by: tuple[str, ...],
    format: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Report how often a measure, or any other system, prefers the reference on PAIRS, a suite."""
    from anaphora.evaluation.result import Settings
    from anaphora.reports.tables import result_table

    if sum(what is not None for what in (model, system, run)) != 1:
        raise click.UsageError("name one judge: --model MODEL, --system SPEC or --run RUN")
    names = ("minimize", "normalize", "confidence", "resample", "samples", "seed")
    settings = Settings(
        **{name: options[name] for name in names}, interval="wilson" if options["resample"] is None else "bootstrap"
    )
    result, human = _judged(pairs, model, system, run, pair_list, by, settings, options)
    document = {**result.to_dict(), "human": human.to_dict() if human else None}
    show(result_table(result), document, format, as_json)
    if human is not None and human.ac1 is not None and not as_json:
        note(
            f"annotators: the same preference in {human.accuracy:.3f} of {human.pairs:,} pairs, AC1 {human.ac1:.3f} "
            f"({human.ties:,} ties left out)"
        )


def _judged(
    pairs: str,
    model: Path | None,
    system: str | None,
    run: Path | None,
    pair_list: Path | None,
    by: tuple[str, ...],
    settings: ResultSettings,
    options: dict[str, Any],
) -> tuple[Result, Human | None]:
    from anaphora import api
    from anaphora.measure import check_installed
    from anaphora.measure.scoring import with_human_counts
    from anaphora.runs import open_run

    suite = api.load_suite(pairs)
    if pair_list is not None:
        suite = with_human_counts(suite, pair_list)
    if model is not None:
        check_installed()
        if options["threads"]:
            import torch

            torch.set_num_threads(options["threads"])
        from anaphora.measure.scoring import evaluate_measure
        from anaphora.measure.training import load_measure

        measure = load_measure(model, cache=options["cache"], fallback=options["encoder"])
        with progress_bar("texts") as progress:
            return evaluate_measure(
                measure, suite, str(model), breakdowns=by, settings=settings, limit=options["limit"], progress=progress
            )
    from anaphora.measure.scoring import judge_run

    if run is not None:
        return judge_run(open_run(run), suite, by, settings)
    with tempfile.TemporaryDirectory() as folder, progress_bar("examples") as progress:
        made = api.score(
            suite,
            str(system),
            Path(folder) / "run",
            context=options["context"],
            limit=options["limit"],
            threads=options["threads"],
            progress=progress,
        )
        return judge_run(made, suite, by, settings)
