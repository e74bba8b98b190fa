"""The Python interface to human judgments: `anaphora study`, and `anaphora meta`, which evaluates metrics with them.

Parameters are called as the options of the commands.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from anaphora.api import load_suite
from anaphora.core.errors import AnaphoraError
from anaphora.core.parameters import named
from anaphora.stats.resampling import Resampling
from anaphora.suites.suite import Suite

if TYPE_CHECKING:
    from anaphora.metrics.discomt import DiscoMTResult
    from anaphora.metrics.judgments import CaseJudgments, Learned
    from anaphora.metrics.meta import MetaEvaluation, Sweep
    from anaphora.study.analysis import Key, StudyAgreement
    from anaphora.study.model import Study
    from anaphora.study.serving import Links
    from anaphora.study.store import Answer

File = str | Path
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
    mode: str = "pairs",
    sample: int | None = None,
    context: int = 2,
    show_source: bool = True,
    options: Sequence[str] = (),
    title: str = "",
    instructions: File | None = None,
    seed: int = 1,
    source: File | None = None,
    translations: Sequence[File] = (),
    names: Sequence[str] = (),
    languages: str | None = None,
) -> Study:
    """Create a study from a suite, write it to a folder, and return it.

    pairs: a suite with a reference and another candidate in each example; for gaps one with the tag `pronoun`, or the
        table of `anaphora apt --details`, whose texts are `source` and `translations` (with `names` and `languages`)
    format: how the file is laid out, as in `load_suite`
    annotators: their number, or their names; overlap: number of annotators per item, by default all
    mode: "pairs" to choose between two candidates, "gaps" to fill gaps
    sample, seed: ask a random sample of N items; the seed also decides the orders
    context, show_source: number of preceding sentences to show, and whether to show the source
    options: pronouns that annotators choose from, by default those of the language
    instructions: text with a paragraph per line, instead of the built-in instructions
    """
    from anaphora.core.files import text_lines
    from anaphora.study.create import Design, make_study, suite_of_details
    from anaphora.study.model import write_study

    if bool(source) != bool(translations) or (source and (mode != "gaps" or not languages)):
        raise AnaphoraError("The gaps of `apt --details` need --mode gaps, -s, -t and -l.")
    if isinstance(pairs, Suite):
        suite = pairs
    elif source is not None:
        texts = tuple(Path(path) for path in translations)
        suite = suite_of_details(Path(pairs), Path(source), texts, tuple(names), languages or "")
    else:
        suite = load_suite(pairs, format)
    own: dict[str, Any] = {}
    if instructions is not None:
        own["instructions"] = tuple(line.strip() for line in text_lines(Path(instructions)) if line.strip())
    if isinstance(annotators, int):
        annotators = [f"annotator {number + 1}" for number in range(annotators)]
    elif isinstance(annotators, str):
        raise AnaphoraError(f"annotators is a number or a list of names, not {annotators!r}")
    design = Design(
        annotators=tuple(annotators),
        overlap=overlap,
        seed=seed,
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
    """Serve the pages of a study until the process is stopped.

    port: 0 takes any free port; base_url: public address behind a proxy that adds https
    database: of the answers, "postgresql://…" or "sqlite:///FILE"; by default a file in the study
    announce: called with the links of the annotators and of the overview, once the pages are served
    """
    from anaphora.study.serving import serve

    reported = announce or (lambda links: None)
    serve(Path(study), host=host, port=port, database=database, base_url=base_url, announce=reported)


def _read(folder: Path, database: str | None) -> tuple[Study, list[Answer], dict[Key, Answer]]:
    """Return a study, the log of its answers, and the current answers."""
    from anaphora.study.analysis import current_answers
    from anaphora.study.model import read_study
    from anaphora.study.store import ANSWERS_FILE, read_answers

    study = read_study(folder)
    log = read_answers(study, folder, database)
    return study, log, current_answers(study, log, str(folder / ANSWERS_FILE) if database is None else "the database")


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

    loaded, _, current = _read(Path(study), database)
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
    """Return the answers of a study, and write them and tables made from them to those files that are named.

    output: the answers as JSON Lines, or as a table (FILE.tsv); history: include answers that were changed or withdrawn
    pairs: pronoun pairs with their agreement, at least `min_agreement`, as JSON or as a table (FILE.tsv)
    judgments, annotations: what `compare_cases` and `discomt` read (gap studies)
    human_scores: accuracy of each system for `correlate`, with the columns of the table `metrics` (gap studies)
    """
    from anaphora.study import export as out
    from anaphora.study.analysis import study_agreement as agreement

    loaded, log, current = _read(Path(study), database)
    answers = log if history else sorted(current.values(), key=lambda answer: answer.number)
    rows = list(out.answer_rows(loaded, answers))
    # everything is made before anything is written, so that an error leaves no half of the files behind
    texts: dict[Path, str] = {}
    if output is not None:
        texts[Path(output)] = out.as_tsv(rows) if Path(output).suffix == ".tsv" else out.as_jsonl(rows)
    if judgments is not None:
        texts[Path(judgments)] = out.judgements(loaded, current)
    if annotations is not None:
        texts[Path(annotations)] = out.gap_annotations(loaded, current)
    if human_scores is not None:
        table = None if metrics is None else Path(metrics)
        texts[Path(human_scores)] = out.scores_table(out.human_accuracy(loaded, current), table)
    if pairs is not None:
        texts[Path(pairs)] = out.pair_list_text(agreement(loaded, current), Path(pairs), min_agreement)
    for path, text in texts.items():
        out.write_text(path, text)
    return Exported(tuple(texts), rows, len(current))


@named
def correlate(
    scores: File,
    *,
    metrics: Sequence[str] = (),
    lower_is_better: Sequence[str] = (),
    human: str = "human",
    without: Sequence[str] = (),
    interval: str = "bootstrap",
    confidence: float = SAMPLING.confidence,
    samples: int = SAMPLING.samples,
    seed: int = SAMPLING.seed,
) -> MetaEvaluation:
    """Correlate metrics with human scores over systems (Pearson, Spearman, Kendall), with Williams' test.

    scores: a table with systems in the first column, a column of human scores, and a column per metric
    metrics: columns to evaluate, by default all; lower_is_better: those in which lower is better
    human: column of the human scores
    without: systems to leave out in a second assessment; "auto" for outliers by human score
    interval: "bootstrap" or "fisher"
    """
    from anaphora.metrics.meta import meta_evaluate, read_scores
    from anaphora.stats.correlation import Settings

    table = read_scores(Path(scores), human=human, metrics=metrics, minimize=lower_is_better)
    settings = Settings(samples, seed, confidence, interval=interval)
    return meta_evaluate(table, without=without, settings=settings)


@named
def sweep_weights(
    scores: File,
    cases: Sequence[tuple[str, File]],
    *,
    weights: Sequence[tuple[float, float]] | Literal["all"] = (),
    discard: Sequence[Collection[int]] = (),
    human: str = "human",
    without: Sequence[str] = (),
    interval: str = "bootstrap",
    confidence: float = SAMPLING.confidence,
    samples: int = SAMPLING.samples,
    seed: int = SAMPLING.seed,
) -> Sweep:
    """Correlate APT with human scores for several weights and alignments.

    scores, human, without, interval: as in `correlate`
    cases: pairs of an alignment's name and a file of case counts, as `anaphora apt --json` prints them
    weights: of cases 2 and 6, by default those of the paper's Table 4; "all" for 0, 0.5 and 1 in each
    discard: sets of cases to leave out, each tried in turn; by default none
    """
    from anaphora.metrics.meta import FULL, NOTHING, TABLE_4, read_cases, read_human, sweep
    from anaphora.stats.correlation import Settings

    return sweep(
        read_human(Path(scores), human),
        read_cases([(name, Path(path)) for name, path in cases]),
        weights=FULL if weights == "all" else [(w2, w6) for w2, w6 in weights or TABLE_4],
        discard=[frozenset(some) for some in discard] or [NOTHING],
        without=without,
        settings=Settings(samples, seed, confidence, interval=interval),
    )


@named
def compare_cases(
    details: File, judgments: File, *, options: Sequence[str] = (), languages: str | None = None
) -> CaseJudgments:
    """Compare APT's six cases with human judgments of the pronouns.

    details: the table of `anaphora apt --details`
    judgments: a table with the columns system, sentence, position, and either judgement or answers
    options: pronouns that annotators chose from; languages: language pair whose forms of a pronoun are one (c' and ce)
    """
    from anaphora.languages.pronouns import normalize_word
    from anaphora.metrics.judgments import judge_cases, same_forms

    form = normalize_word if languages is None else same_forms(languages)
    return judge_cases(Path(details), Path(judgments), options=tuple(options), form=form)


@named
def learn_equivalences(
    samples: File,
    *,
    output: File | None = None,
    languages: str | None = None,
    lists: File | None = None,
    least_share: float = 0.05,
    above: float = 0.5,
) -> Learned:
    """Learn which pronouns are equivalent from human judgments of translations (APT §2.5).

    samples: a table with the columns candidate, reference and correct (1 or 0), one row per pronoun
    output: a TOML file to write, for the parameter `lists` of `apt`
    languages, lists: language pair, and pronoun lists that extend the built-in ones
    least_share: minimum share of a pair among the samples of its reference pronoun
    above: keep pairs judged correct more often than this
    """
    from anaphora.core.files import atomic_writer
    from anaphora.languages.pronouns import pronoun_lists, to_toml
    from anaphora.metrics.judgments import learn_equivalents, read_samples

    if lists and not languages:
        raise AnaphoraError("--lists goes with -l: which language pair is it?")
    known = pronoun_lists(languages, None if lists is None else Path(lists)) if languages else None
    path = Path(samples)
    learned = learn_equivalents(read_samples(path), lists=known, least_share=least_share, above=above)
    if output is not None:
        with atomic_writer(Path(output)) as out:
            origin = f"learned from {learned.samples} samples in {path.name}, as in APT §2.5"
            out.write(to_toml({"sources": [origin], "equivalent": learned.equivalent}).encode())
    return learned


@named
def discomt(
    annotations: File,
    *,
    languages: str | None = None,
    test: str = SAMPLING.test,
    confidence: float = SAMPLING.confidence,
    samples: int = SAMPLING.samples,
    seed: int = SAMPLING.seed,
) -> DiscoMTResult:
    """Compute the measures of the DiscoMT shared tasks from gap-filling annotations.

    annotations: a table with the columns item, translation, accepted, and system where there are several
    languages: language pair, whose target language has the classes of the shared tasks
    test, confidence, samples, seed: see `Resampling`
    """
    from anaphora.metrics.discomt import discomt as measure
    from anaphora.metrics.discomt import read_annotations

    items = read_annotations(Path(annotations), (languages or "").rpartition("-")[2])
    return measure(items, Resampling(samples, seed, confidence, test))
