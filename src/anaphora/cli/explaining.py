"""`anaphora context-usage`, `generative`, `robustness` and `diagnose`: why a score is what it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anaphora import api
from anaphora.cli.options import (
    NORMALIZE_TEXT,
    PAIRED_TEST,
    PATH,
    SIZE,
    WholeNumber,
    aligner_spec,
    command,
    format_options,
    option,
    parameters,
    plot_option,
)
from anaphora.cli.output import echo_json, note, note_texts, progress_bar, show, write_plot
from anaphora.cli.streams import echo


@command(
    """
anaphora context-usage contrapro --system hf:my-concat-model --context 3 --separator ' <SEP> ' -o usage/
""",
    "context-usage",
)
@parameters(api.context_usage, arguments=["suite"], context={"type": WholeNumber(1)}, output={"metavar": "FOLDER"})
@format_options
def context_usage(output: Path, format: str, as_json: bool, **settings: Any) -> None:
    """Measure whether a system uses context: accuracy and CXMI with 0…N, random and shuffled sentences."""
    from anaphora.reports.tables import usage_table

    with progress_bar("examples") as progress:
        usage, truncated = api.context_usage(output=output, progress=progress, **settings)
    show(usage_table(usage), {**usage.to_dict(), "truncated": truncated}, format, as_json)
    if not as_json:
        if truncated:
            note(f"up to {truncated:,} inputs per run exceeded the model's maximum length and were truncated")
        note(f"chart: {output / 'curve.svg'}")


@command("""
anaphora attribute contrapro --system hf:my-concat-model --context 1 -o attribution.jsonl
anaphora attribute suite.jsonl --system nmt:model --method occlusion --by distance -o occlusion.jsonl
""")
@parameters(api.attribute, arguments=["suite"])
@format_options
def attribute(output: Path, format: str, as_json: bool, **settings: Any) -> None:
    """Measure whether a system looks at the antecedent when it chooses a pronoun.

    The choice between the right and the wrong pronoun is attributed to the words that the system has read. SUITE must
    mark the antecedents, or words that translators highlighted (SCAT).
    """
    from anaphora.reports.attribution import attribution_table

    with progress_bar("examples") as progress:
        result = api.attribute(output=output, progress=progress, **settings)
    show(attribution_table(result), result.to_dict(), format, as_json)
    if not as_json:
        note(f"one record per example: {output}")


@command("""
anaphora generative contrapro -t my-model.de
anaphora generative contrapro -t my-model.de --run runs/my-model --by distance
anaphora generative suite.jsonl -t one.de -t two.de --corpus train.en train.de --details outcomes.tsv
anaphora generative contrapro -t documents.de --antecedent own
anaphora generative contrapro -t my-model.de --details generative.jsonl
anaphora generative contrapro -t my-model.de --answers study
""")
@parameters(
    api.generative,
    arguments=["suite"],
    runs={"flags": ("--run",), "metavar": "RUN"},
    aligner_model={"aliases": ("--align",)},
    normalize=NORMALIZE_TEXT,
)
@option("--model", metavar="NAME", hidden=True, help="Model of the aligner (use --aligner NAME:MODEL).")
@format_options
def generative(
    aligner: str, model: str | None, details: Path | None, format: str, as_json: bool, **settings: Any
) -> None:
    """Judge the pronouns in a system's own translations of SUITE: correct, wrong or not found.

    The translations have one line or one document per example, in the layout of `suites convert --to sources`. With
    --antecedent own, a pronoun must agree with the noun that the system itself chose for the antecedent; this requires
    documents, and a suite that marks the antecedents. To ask annotators about uncertain examples, write them with
    --details FILE.jsonl, run `study create --from FILE.jsonl --only …`, and pass the answers with --answers STUDY.
    """
    from anaphora.reports.tables import generative_table, own_table

    with progress_bar("steps") as progress:
        results = api.generative(aligner=aligner_spec(aligner, model), details=details, progress=progress, **settings)
    note_texts({name: treatment for result in results for name, treatment in result.texts.items()}, normalized=False)
    if details is not None:
        note(f"one row per example: {details}")
    document = results[0].to_dict() if len(results) == 1 else {}
    document = document | {"systems": {result.system: result.to_dict() for result in results}}
    own = settings["antecedent"] == "own"
    show(own_table(results) if own else generative_table(results), document, format, as_json)


@command("""
anaphora robustness runs/contrapro runs/true_colon runs/maria
anaphora robustness runs/contrapro runs/attacks --by reference_pronoun --format markdown
anaphora robustness runs/contrapro runs/attacks --plot drop.svg
""")
@parameters(api.robustness, arguments=["run=RUN", "attacked=ATTACKED_RUN…"], test=PAIRED_TEST)
@plot_option(aliases=("--figure",))
@format_options
def robustness(
    run: Path, attacked: tuple[Path, ...], plot: Path | None, format: str, as_json: bool, **settings: Any
) -> None:
    """Compare the accuracy of a system before and after attacks, on the same items, with paired tests.

    RUN is the run on a suite, and each ATTACKED_RUN a run on an attack of that suite (from `anaphora build attack`).
    """
    from anaphora.reports.charts import robustness_chart
    from anaphora.reports.tables import robustness_table

    result = api.robustness(run, *attacked, **settings)
    if plot is not None:
        write_plot(plot, robustness_chart([result]), quiet=as_json)
    show(robustness_table(result), result.to_dict(), format, as_json)


@command("""
anaphora diagnose runs/templates runs/contrapro runs/true_colon
anaphora diagnose runs/opus-* runs/mine-* --format markdown
anaphora diagnose runs/* --name mine --items evidence/
""")
@parameters(
    api.diagnose,
    arguments=["runs=RUN…"],
    name={"flags": ("--name",), "aliases": ("--system",), "metavar": "NAME"},
)
@option(
    "--items",
    type=PATH,
    metavar="FOLDER",
    help="Write the items behind each statement to this folder, one file per rule.",
)
@option("--max-items", type=SIZE, default=20, metavar="N", help="Maximum number of item ids per statement in JSON.")
@format_options
def diagnose(
    runs: tuple[Path, ...], items: Path | None, max_items: int, format: str, as_json: bool, **settings: Any
) -> None:
    """Explain which step of pronoun translation fails, what the priors are, and how robust the score is.

    Each RUN is a run on templates, a test set or an attack, in any order, of one or more systems. The output is a list
    of statements (except with --format latex and tsv), followed by a table.
    """
    from anaphora.reports.tables import STATEMENT_FORMATS, diagnosis_table, diagnosis_text, write_items

    diagnoses = api.diagnose(*runs, **settings)
    written = write_items(diagnoses, items) if items is not None else []
    if as_json or format == "json":
        echo_json({"systems": [diagnosis.to_dict(max_items) for diagnosis in diagnoses]})
        return
    if format in STATEMENT_FORMATS:
        echo(f"{diagnosis_text(diagnoses, format)}\n")
    echo(diagnosis_table(diagnoses).render(format))
    if items is not None:
        note(f"the items behind {len(written)} statements: {items}")
