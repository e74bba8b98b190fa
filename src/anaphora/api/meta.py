"""`anaphora meta` in Python: metrics against human judgments."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from anaphora.api.inputs import File, Test, as_path
from anaphora.core.errors import AnaphoraError, named
from anaphora.stats.resampling import Resampling

if TYPE_CHECKING:
    from anaphora.metrics.discomt import DiscoMTResult
    from anaphora.metrics.judgments import CaseJudgments, Learned
    from anaphora.metrics.meta import MetaEvaluation, Sweep

SAMPLING = Resampling()


@named
def correlate(
    scores: File,
    *,
    metrics: Sequence[str] = (),
    lower_is_better: Sequence[str] = (),
    human: str = "human",
    without: Sequence[str] = (),
    interval: Literal["bootstrap", "fisher"] = "bootstrap",
    confidence: float = SAMPLING.confidence,
    samples: int = SAMPLING.samples,
    seed: int = SAMPLING.seed,
) -> MetaEvaluation:
    """Correlate metrics with human scores over systems (Pearson, Spearman, Kendall), with Williams' test.

    scores: a table with a header line, systems in the first column, a column of human scores, and a column per metric
    metrics: Metric column to evaluate (repeatable, default: all).
    lower_is_better: Column in which lower is better (repeatable).
    human: column of the human scores
    without: systems to exclude from a second evaluation; "auto" for outliers by human score
    interval, confidence, samples, seed: kind of interval, "bootstrap" or "fisher", and how it is computed
    """
    from anaphora.metrics.meta import meta_evaluate, read_scores
    from anaphora.stats.correlation import CorrelationSettings

    table = read_scores(Path(scores), human=human, metrics=metrics, minimize=lower_is_better)
    settings = CorrelationSettings(samples, seed, confidence, interval=interval)
    return meta_evaluate(table, without=without, settings=settings)


@named
def sweep_weights(
    scores: File,
    cases: Sequence[tuple[str, File]],
    *,
    weights: Sequence[tuple[float, float] | Literal["all"]] | Literal["all"] = (),
    discard: Sequence[Collection[int]] = (),
    human: str = "human",
    without: Sequence[str] = (),
    interval: Literal["bootstrap", "fisher"] = "bootstrap",
    confidence: float = SAMPLING.confidence,
    samples: int = SAMPLING.samples,
    seed: int = SAMPLING.seed,
) -> Sweep:
    """Correlate APT with human scores for several weights and alignments.

    scores, human, without, interval, confidence, samples, seed: as in `correlate`
    cases: pairs of an alignment's name and a file of case counts, as `anaphora apt --json` prints them
    weights: weights of cases 2 and 6, by default those of the paper's Table 4; "all" for 0, 0.5 and 1 in each
    discard: sets of cases to exclude, each tried in turn; by default none
    """
    from anaphora.metrics.meta import FULL, NOTHING, TABLE_4, read_cases, read_human, sweep
    from anaphora.stats.correlation import CorrelationSettings

    pairs: Sequence[tuple[float, float] | str] = [weights] if isinstance(weights, str) else weights
    chosen = [pair for some in pairs for pair in (FULL if isinstance(some, str) else [some])]
    return sweep(
        read_human(Path(scores), human),
        read_cases([(name, Path(path)) for name, path in cases]),
        weights=chosen or TABLE_4,
        discard=[frozenset(some) for some in discard] or [NOTHING],
        without=without,
        settings=CorrelationSettings(samples, seed, confidence, interval=interval),
    )


@named
def compare_cases(
    details: File, judgments: File, *, options: Sequence[str] = (), languages: str | None = None
) -> CaseJudgments:
    """Compare APT's six cases with human judgments of the pronouns.

    details: the table of `anaphora apt --details`
    judgments: a table with the columns system, sentence, position, and either judgment or answers
    options: pronouns that annotators chose from
    languages: language pair, whose forms of a pronoun are treated as equal (c' and ce)
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
    output: Write the list as a TOML file for `anaphora apt --lists`.
    languages, lists: language pair, and pronoun lists that extend the built-in ones
    least_share: Minimum share of a pair among all samples.
    above: Keep pairs judged correct more often than this.
    """
    from anaphora.core.files import atomic_writer
    from anaphora.languages.pronouns import pronoun_lists, to_toml
    from anaphora.metrics.judgments import learn_equivalents, read_samples

    if lists and not languages:
        raise AnaphoraError("--lists needs a language pair. Pass it with -l")
    known = pronoun_lists(languages, as_path(lists)) if languages else None
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
    test: Test = "randomization",
    confidence: float = SAMPLING.confidence,
    samples: int = SAMPLING.samples,
    seed: int = SAMPLING.seed,
) -> DiscoMTResult:
    """Compute the measures of the DiscoMT shared tasks from gap-filling annotations.

    annotations: a table with the columns item, translation, accepted (the options that annotators chose, separated by
        commas, or bad), and system where there are several
    languages: language pair, whose target language has the classes of the shared tasks
    test, confidence, samples, seed: see `Resampling`
    """
    from anaphora.metrics.discomt import discomt as measure
    from anaphora.metrics.discomt import read_annotations

    items = read_annotations(Path(annotations), (languages or "").rpartition("-")[2])
    return measure(items, Resampling(samples, seed, confidence, test))
