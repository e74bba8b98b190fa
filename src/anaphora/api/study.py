"""`anaphora study` in Python: create, serve, agreement and export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from anaphora.api.inputs import File, as_path, load_suite
from anaphora.core.errors import AnaphoraError, named
from anaphora.stats.resampling import Resampling
from anaphora.suites.suite import Suite

if TYPE_CHECKING:
    from anaphora.study.analysis import Key, StudyAgreement
    from anaphora.study.details import Answers
    from anaphora.study.model import Study
    from anaphora.study.serving import Links
    from anaphora.study.store import Answer

SAMPLING = Resampling()


@dataclass(frozen=True, slots=True)
class Exported:
    """What `export_study` wrote. answers: a row per answer; current: number of answers that were not changed later."""

    files: tuple[Path, ...]
    answers: list[dict[str, Any]] = field(repr=False)
    current: int


@named
def create_study(
    pairs: Suite | File,
    output: File,
    *,
    format: str = "native",
    annotators: int | Sequence[str] = 3,
    overlap: int | None = None,
    mode: Literal["pairs", "gaps", "verdicts"] = "pairs",
    only: Sequence[str] = (),
    sample: int | None = None,
    context: int = 2,
    show_source: bool = True,
    options: Sequence[str] = (),
    title: str = "",
    instructions: File | None = None,
    seed: int | None = None,
    source: File | None = None,
    translations: Sequence[File] = (),
    names: Sequence[str] = (),
    languages: str | None = None,
) -> Study:
    """Create a study from a suite, and write it to a folder.

    If an example has more than two candidates, the reference (gold) and a random other one are shown. Gaps need a tag
    `pronoun` with the word of the translation to hide, or the output of `apt --details` as pairs, together with its
    source and translations. Verdicts ask whether the pronoun of one translation is right. Their pairs are the output of
    `generative --details FILE.jsonl` or `apt --details`, and `only` selects the outcomes that the program is unsure of.

    pairs: a suite with a reference and another candidate in each example, or the details of `apt` or `generative`
    output: Folder to create.
    format: layout of the file, as in `load_suite`
    annotators: Number of annotators, or their names.
    overlap: Number of annotators per item (default: all).
    mode: Kind of question: choose between pairs, fill gaps, or give verdicts on translations.
    only: Ask for verdicts on these outcomes of generative (wrong, not-found, unclear, …) or cases of APT (3-6).
    sample, seed: use a random sample of N items; the seed also determines who gets which items, and the orders, which
        are secret without it
    context: Number of preceding sentences to show.
    show_source: Show the source (the default), or hide it.
    options: pronouns that annotators choose from, by default those of the language
    instructions: Text with a paragraph per line, instead of the built-in instructions.
    source, translations, names, languages: the texts of `apt --details`, and the names of its systems
    """
    from anaphora.core.files import text_lines
    from anaphora.study.create import MOST_ANNOTATORS, Design, make_study
    from anaphora.study.details import selected, suite_of_details
    from anaphora.study.model import write_study

    if only and mode == "gaps":
        raise AnaphoraError("--only selects outcomes for verdicts: leave out --mode gaps.")
    mode = "verdicts" if only else mode
    if bool(source) != bool(translations) or (source and (mode == "pairs" or not languages)):
        raise AnaphoraError("The details of `apt` need --mode gaps or --only CASES, and -s, -t and -l.")
    if source is not None and not isinstance(pairs, Suite):
        texts = tuple(Path(path) for path in translations)
        suite = suite_of_details(Path(pairs), Path(source), texts, tuple(names), languages or "", gaps=mode == "gaps")
    else:
        suite = _suite_to_ask(pairs, format, mode)
    if only:
        suite = selected(suite, only)
    own: dict[str, Any] = {}
    if instructions is not None:
        own["instructions"] = tuple(line.strip() for line in text_lines(Path(instructions)) if line.strip())
    if isinstance(annotators, int):
        if annotators > MOST_ANNOTATORS:
            raise AnaphoraError(f"{annotators:,} annotators: at most {MOST_ANNOTATORS:,} are possible")
        annotators = [f"annotator {number + 1}" for number in range(annotators)]
    elif isinstance(annotators, str):
        raise AnaphoraError(f"annotators is a number or a list of names, not {annotators!r}")
    design = Design(
        annotators=tuple(annotators),
        overlap=overlap,
        seed=SAMPLING.seed if seed is None else seed,
        secret_orders=seed is None,
        mode=mode,
        context=context,
        show_source=show_source,
        sample=sample,
        options=tuple(options),
        title=title,
        **own,
    )
    study = make_study(suite, design)
    write_study(study, Path(output))
    return study


def _suite_to_ask(pairs: Suite | File, format: str, mode: str) -> Suite:
    """Load a suite; the details of `apt` or `generative` as a table are none."""
    if not isinstance(pairs, Suite) and mode == "verdicts" and Path(pairs).suffix == ".tsv":
        raise AnaphoraError(
            f"{pairs}: a table has no texts. Add those that `apt` read (-s, -t, -l), or write the details of "
            "`generative` as JSON Lines (--details FILE.jsonl)"
        )
    return pairs if isinstance(pairs, Suite) else load_suite(pairs, format)


@named
def serve_study(
    study: File,
    *,
    port: int = 8000,
    host: str = "127.0.0.1",
    base_url: str | None = None,
    database: str | None = None,
    announce: Callable[[Links], None] | None = None,
) -> None:
    """Serve the pages of a study until Ctrl-C or SIGTERM. Each annotator has a secret link.

    port: Port to listen on (0: any free port).
    host: Address to listen on (0.0.0.0: reachable from other machines).
    base_url: Public address of the study, behind a proxy that adds https.
    database: database of the answers, "postgresql://…" or "sqlite:///FILE"; by default a file in the study
    announce: called with the links of the annotators and of the overview, once the pages are served
    """
    from anaphora.study.serving import serve

    reported = announce or (lambda links: None)
    serve(Path(study), host=host, port=port, database=database, base_url=base_url, announce=reported)


def read_study_answers(folder: Path, database: str | None) -> tuple[Study, list[Answer], dict[Key, Answer]]:
    """Return a study, the log of its answers, and the current answers."""
    from anaphora.study.analysis import current_answers
    from anaphora.study.model import read_study
    from anaphora.study.store import ANSWERS_FILE, read_answers

    study = read_study(folder)
    log = read_answers(study, folder, database)
    return study, log, current_answers(study, log, str(folder / ANSWERS_FILE) if database is None else "the database")


def read_verdicts(folder: File, database: str | None, systems: Sequence[str]) -> Answers:
    """Return the verdicts of a study's annotators on these systems, for `apt` and `generative`."""
    from anaphora.study.details import answers_of

    study, _, current = read_study_answers(Path(folder), database)
    return answers_of(study, current, Path(folder), systems)


@named
def study_agreement(
    study: File,
    *,
    database: str | None = None,
    samples: int = SAMPLING.samples,
    confidence: float = SAMPLING.confidence,
    seed: int = SAMPLING.seed,
) -> StudyAgreement:
    """Compute the agreement of a study's annotators, overall and per pronoun pair, with and without ties.

    database: as in `serve_study`
    samples, confidence, seed: see `Resampling`
    """
    from anaphora.study.analysis import study_agreement as agreement

    loaded, _, current = read_study_answers(Path(study), database)
    return agreement(loaded, current, Resampling(samples, seed, confidence))


@named
def export_study(
    study: File,
    *,
    output: File | None = None,
    history: bool = False,
    pairs: File | None = None,
    min_agreement: float | None = None,
    judgments: File | None = None,
    annotations: File | None = None,
    human_scores: File | None = None,
    metrics: File | None = None,
    database: str | None = None,
) -> Exported:
    """Export the answers of a study and tables made from them.

    output: Write the answers as JSON Lines, or as a table (FILE.tsv).
    history: Include answers that were changed or withdrawn.
    pairs: Write pronoun pairs with their agreement as JSON, or as a table (FILE.tsv).
    min_agreement: Keep only pairs with at least this agreement (0.8 in the paper).
    judgments: Write the answers for `meta cases` (gap studies).
    annotations: Write accepted options for `meta discomt` (gap studies).
    human_scores: Write the accuracy of each system for `meta correlate` (gap studies).
    metrics: Table of metrics to add to --human-scores.
    database: as in `serve_study`
    """
    from anaphora.study import export as out
    from anaphora.study.analysis import study_agreement as agreement

    loaded, log, current = read_study_answers(Path(study), database)
    answers = log if history else sorted(current.values(), key=lambda answer: answer.number)
    rows = list(out.answer_rows(loaded, answers))
    # everything is made before anything is written, so that an error leaves no half of the files behind
    texts: dict[Path, str] = {}
    if output is not None:
        texts[Path(output)] = out.as_tsv(rows) if Path(output).suffix == ".tsv" else out.as_jsonl(rows)
    if judgments is not None:
        texts[Path(judgments)] = out.judgments(loaded, current)
    if annotations is not None:
        texts[Path(annotations)] = out.gap_annotations(loaded, current)
    if human_scores is not None:
        texts[Path(human_scores)] = out.scores_table(out.human_accuracy(loaded, current), as_path(metrics))
    if pairs is not None:
        texts[Path(pairs)] = out.pair_list_text(agreement(loaded, current), Path(pairs), min_agreement)
    for path, text in texts.items():
        out.write_text(path, text)
    return Exported(tuple(texts), rows, len(current))
