"""`anaphora context-usage`, `attribute`, `generative`, `robustness` and `diagnose` in Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from anaphora.align.tokenize import DEFAULT
from anaphora.api.inputs import (
    File,
    Normalize,
    PairedTest,
    Progress,
    as_path,
    as_paths,
    as_runs,
    as_suite,
    as_words,
    split_aligner,
)
from anaphora.api.study import read_verdicts
from anaphora.core.errors import AnaphoraError, named
from anaphora.evaluation.result import Settings
from anaphora.runs import Run
from anaphora.suites.contexts import SEED, select
from anaphora.suites.example import Passage
from anaphora.suites.suite import Suite
from anaphora.systems.context import Context, Options

if TYPE_CHECKING:
    from anaphora.align import Aligner
    from anaphora.align import Settings as AlignerSettings
    from anaphora.align.aligner import SystemAlignments
    from anaphora.align.alignment import Alignment
    from anaphora.align.backend import Pair
    from anaphora.align.tokenize import Text
    from anaphora.evaluation.attribution_result import Attributions
    from anaphora.evaluation.context_usage import ContextUsage
    from anaphora.evaluation.diagnosis import Diagnosis
    from anaphora.evaluation.generative import Generative, Texts
    from anaphora.evaluation.own_antecedent import OwnAgreement, Pronoun
    from anaphora.evaluation.robustness import Robustness
    from anaphora.study.details import Answers

DEFAULTS = Settings()


@named
def context_usage(
    suite: Suite | File,
    system: str,
    output: File,
    *,
    context: int = 1,
    separator: str = " ",
    target_context: Literal["gold", "produced", "none"] = "gold",
    limit: int | None = None,
    sample: int | None = None,
    seed: int = SEED,
    threads: int | None = None,
    batch_tokens: int = 2048,
    truncate: bool = False,
    progress: Progress | None = None,
) -> tuple[ContextUsage, int]:
    """Measure whether a system uses context: accuracy and CXMI with 0…N, random and shuffled sentences.

    Returns the usage, and the number of inputs that were truncated in the run with most of them.

    output: Folder for the runs and the chart (curve.svg).
    context: Largest number of preceding sentences to test.
    suite, system, separator, target_context, limit, sample, seed, threads, batch_tokens, truncate: as in `score`;
        unfinished runs in the output are resumed
    """
    from anaphora.core.files import atomic_writer
    from anaphora.evaluation.context_usage import context_usage as measure
    from anaphora.reports.charts import usage_curve
    from anaphora.systems.scoring import SystemCache, score_suite

    loaded = as_suite(suite)
    options = Options(
        Context(context, separator, target_context), threads=threads, batch_tokens=batch_tokens, truncate=truncate
    )
    truncated = 0
    scorer = SystemCache()

    def scored(examples: Suite, chosen: Options, folder: Path) -> Run:
        nonlocal truncated
        run = score_suite(
            examples,
            system,
            folder,
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
        most = select(loaded, limit=limit, sample=sample, seed=seed).context
        usage = measure(loaded, system, options, Path(output), scored, Settings(seed=seed), most=most)
    with atomic_writer(Path(output) / "curve.svg") as out:
        out.write(usage_curve(usage).encode())
    return usage, truncated


@named
def attribute(
    suite: Suite | File,
    system: str,
    output: File,
    *,
    method: Literal["gradient", "attention", "occlusion"] = "gradient",
    context: int | None = None,
    separator: str = " ",
    target_context: Literal["gold", "produced", "none"] = "gold",
    limit: int | None = None,
    sample: int | None = None,
    seed: int = SEED,
    by: str | Sequence[str] = (),
    confidence: float = DEFAULTS.confidence,
    samples: int = DEFAULTS.samples,
    threads: int | None = None,
    batch_tokens: int = 2048,
    truncate: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Attributions:
    """Measure whether a system looks at the antecedent when it chooses a pronoun.

    The choice between the right and the wrong pronoun is attributed to the words that the system has read.

    output: File for the attributions, one record per example (.jsonl or .jsonl.gz).
    method: Attribution to words by gradient × input or by attention, or to sentences by removing each one (occlusion).
    suite, system, context, separator, target_context, limit, sample, seed: as in `score`
    threads, batch_tokens, truncate, resume, overwrite: as in `score`
    by, confidence, samples: as in `evaluate`
    """
    from anaphora.evaluation.attribution import OCCLUSION, check_method, check_tags, start_attributing
    from anaphora.evaluation.attribution_result import attributions_of
    from anaphora.systems.scoring import score_suite

    check_method(system, method)
    loaded = as_suite(suite)
    selection = select(loaded, limit=limit, sample=sample, seed=seed)
    check_tags(loaded, selection.examples)
    options = Options(
        Context(context or 0, separator, target_context),
        threads=threads,
        batch_tokens=batch_tokens,
        plain=method != OCCLUSION,  # the prefix tree is not needed, and need not be tried out
        truncate=truncate,
        scope="pronoun",
        own_context=context is None,
    )
    run = score_suite(
        loaded,
        system,
        Path(output),
        options=options,
        resume=resume,
        overwrite=overwrite,
        progress=progress,
        scorer=start_attributing(method),
        selection=selection,
    )
    settings = Settings(samples, seed, confidence)
    return attributions_of(run, breakdowns=as_words(by), settings=settings)


@named
def generative(
    suite: Suite | File,
    translations: File | Sequence[File],
    *,
    names: Sequence[str] = (),
    runs: Sequence[Run | File] = (),
    corpus: Sequence[tuple[File, File]] = (),
    aligner_model: File | None = None,
    aligner: str = "thot",
    tokenize: str = DEFAULT,
    normalize: bool = True,
    by: str | Sequence[str] = (),
    antecedent: Literal["reference", "own"] = "reference",
    answers: File | None = None,
    database: str | None = None,
    details: File | None = None,
    progress: Progress | None = None,
) -> list[Generative]:
    """Judge the pronouns in a system's own translations of a suite: correct, wrong or not found.

    The translations have one line or one document per example, in the layout of `suites convert --to sources`. The
    answers of a study of verdicts (`create_study(…, only=…)`) can replace the verdicts of the program.

    names: names of the systems in tables; by default those of the files
    runs: Contrastive run of the same system, to report the gap (one per -t).
    aligner, aligner_model, corpus, tokenize, normalize: as in `align_texts`
    by: tags to break down by
    antecedent: Antecedent that a pronoun must agree with: that of the reference translation, or the system's own.
    answers, database: a study with verdicts on these translations, which replace the program's; see `create_study`
    details: Write one row per example to this TSV file or, with the texts, for `study create`, to FILE.jsonl.
    """
    from anaphora.evaluation import generative as judging
    from anaphora.evaluation.compare import check_examples
    from anaphora.evaluation.verdicts import has_texts, overruled, suite_of_outcomes, write_table

    files, by_own = as_paths(translations), antecedent == "own"
    if runs and len(runs) != len(files):
        raise AnaphoraError(f"{len(runs)} runs for {len(files)} translations. Pass one --run per -t.")
    systems = list(names) or _short_names(files)
    loaded = as_suite(suite)
    passages = {
        name: _passages(loaded, path, by_own)
        for name, path in zip(systems, files, strict=True)
        if by_own or answers is not None or details is not None
    }
    annotators = None if answers is None else read_verdicts(answers, database, systems)
    texts = judging.read_texts(loaded, tokenize, normalize=normalize, required=antecedent == "reference")
    opened: Sequence[Run | None] = as_runs(runs) or [None] * len(systems)
    for scored in filter(None, opened):
        check_examples(scored, texts.examples)  # before the work
    own = {name: judging.read_translations(path, texts, loaded) for name, path in zip(systems, files, strict=True)}
    words = {name: text.sentences for name, text in own.items()}
    text_aligner = _text_aligner(texts, aligner, as_path(aligner_model), corpus)
    aligned = text_aligner.systems(texts, words, progress)
    references = judging.judge_texts(texts, texts.gold, aligned.reference, aligned.reference)
    label = judging.alignment_label(text_aligner.settings, text_aligner.corpus, as_path(aligner_model))
    results = []
    for name, run in zip(systems, opened, strict=True):
        outcomes = judging.judge_texts(texts, words[name], aligned.reference, aligned.systems[name])
        agreement = judged = None
        verdicts = {} if annotators is None else _verdicts(annotators, name, loaded, passages[name], texts, by_own)
        if by_own:
            pronouns = judging.pronouns_of(texts, words[name], aligned.systems[name], outcomes)
            given = None if annotators is None else verdicts
            agreement = _own_agreement(
                loaded, passages[name], texts, own[name], pronouns, text_aligner, as_words(by), given
            )
        elif annotators is not None:
            outcomes, judged = overruled(outcomes, verdicts)
        results.append(
            judging.evaluate_translations(
                texts,
                name,
                outcomes,
                label,
                treatment=own[name].treatment,
                references=references,
                by_tags=as_words(by),
                run=run,
                own=agreement,
                judged=judged,
                answers=None if annotators is None else annotators.signature,
            )
        )
    if details is not None:
        if has_texts(Path(details)):
            suite_of_outcomes(loaded, texts, results, passages, words).write(details)
        else:
            write_table(Path(details), results)
    return results


@dataclass(frozen=True, slots=True)
class _TextAligner:
    """How texts are aligned: by a saved aligner, or by one that is trained on the texts and on the corpus."""

    settings: AlignerSettings
    saved: Aligner | None
    corpus: Sequence[Pair]

    def align(self, source: Sequence[list[str]], target: Sequence[list[str]], known: Iterable[Pair]) -> list[Alignment]:
        """Align two texts. known: further sentences to train on"""
        from anaphora.align import align

        if self.saved is not None:
            return self.saved.align(source, target)
        return align(source, target, corpus=[*self.corpus, *known], settings=self.settings)

    def systems(
        self, texts: Texts, words: Mapping[str, Sequence[list[str]]], progress: Progress | None
    ) -> SystemAlignments:
        """Align the sources with the references and with the words of every system."""
        from anaphora.align import align_systems
        from anaphora.align.aligner import SystemAlignments

        if not texts.examples:
            return SystemAlignments([], {name: [] for name in words})
        return align_systems(
            texts.source,
            texts.gold,
            words,
            corpus=self.corpus,
            settings=self.settings,
            aligner=self.saved,
            progress=progress,
        )


def _text_aligner(texts: Texts, aligner: str, saved: Path | None, corpus: Sequence[tuple[File, File]]) -> _TextAligner:
    from anaphora.align import Aligner
    from anaphora.align import Settings as AlignerSettings
    from anaphora.core.documents import read_parallel

    pairs = [pair for one, other in corpus for pair in texts.words.pairs(*read_parallel(Path(one), Path(other)))]
    if saved is not None:
        loaded = Aligner.load(saved)
        return _TextAligner(loaded.settings, loaded, pairs)
    backend, model = split_aligner(aligner)
    return _TextAligner(AlignerSettings(backend=backend, model=model), None, pairs)


def _passages(suite: Suite, path: Path, own: bool) -> list[Passage]:
    """A system's translations with their context. own: an error if the antecedents of the suite cannot be in them"""
    from anaphora.evaluation.own_antecedent import check_context, with_antecedents
    from anaphora.suites.export import translated_passages

    examples = with_antecedents(suite) if own else {}
    passages = translated_passages(path, suite)
    if own:
        check_context(path, suite.path or suite.header.name, examples, passages)
    return passages


def _verdicts(
    annotators: Answers, system: str, suite: Suite, passages: Sequence[Passage], texts: Texts, own: bool
) -> dict[str, str]:
    """The annotators' verdicts on a system's translations by the ids of examples, all of which must be judged here."""
    from anaphora.evaluation.own_antecedent import with_antecedents
    from anaphora.study.create import passage_digest

    judged = with_antecedents(suite) if own else dict(zip(texts.numbers, texts.examples, strict=True))
    digests = {example.id: passage_digest(example.source, passages[number]) for number, example in judged.items()}
    verdicts = {}
    for key, verdict in annotators.verdicts.get(system, {}).items():
        sentence, position = key
        if sentence not in digests or position:
            raise annotators.foreign("item", f"{system}/{sentence}")
        annotators.check(system, key, digests[sentence])
        verdicts[sentence] = verdict
    return verdicts


def _own_agreement(
    suite: Suite,
    passages: Sequence[Passage],
    texts: Texts,
    translation: Text,
    pronouns: Mapping[int, Pronoun],
    text_aligner: _TextAligner,
    by: Sequence[str],
    answers: Mapping[str, str] | None,
) -> OwnAgreement:
    """The agreement of one system's pronouns with its own antecedents.

    passages: its translations with context; answers: of annotators, by the ids of examples
    """
    from anaphora.evaluation import own_antecedent as judging
    from anaphora.evaluation.verdicts import overruled_agreement

    examples = judging.with_antecedents(suite)
    known = list(zip(texts.source, translation.sentences, strict=True))

    def aligned(source: list[list[str]], target: list[list[str]]) -> list[Alignment]:
        return text_aligner.align(source, target, known)

    treatments = (texts.treatments["source"], translation.treatment)
    words = [replace(texts.words, tokenize=treatment.tokenize) for treatment in treatments]
    verdicts = list(judging.judge_suite(suite.header, examples, passages, pronouns, aligned, (words[0], words[1])))
    judged = None
    if answers is not None:
        verdicts, judged = overruled_agreement(verdicts, answers)
    outcomes = {examples[n].id: pronoun.outcome for n, pronoun in pronouns.items() if n in examples and pronoun.outcome}
    breakdowns = by or suite.header.breakdowns
    untagged = len(passages) - len(examples)
    return judging.count(examples.values(), verdicts, breakdowns, outcomes=outcomes, untagged=untagged, judged=judged)


def _short_names(paths: Sequence[Path]) -> list[str]:
    """The names of the files, or their paths where two files have the same name."""
    names = [path.name for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]


@named
def robustness(
    run: Run | File,
    *attacked: Run | File,
    test: PairedTest | None = None,
    by: str | Sequence[str] = (),
    minimize: bool = False,
    normalize: Normalize = "sum",
    confidence: float = DEFAULTS.confidence,
    resample: str | None = None,
    samples: int = DEFAULTS.samples,
    seed: int = DEFAULTS.seed,
) -> Robustness:
    """Compare the accuracy of a system before and after attacks, on the same items, with paired tests.

    run: a run on a suite; attacked: runs of the same system on attacks of that suite
    test, by, minimize, normalize, confidence, resample, samples, seed: as in `compare`
    """
    from anaphora.evaluation.robustness import robustness as measure

    settings = Settings(samples, seed, confidence, minimize=minimize, normalize=normalize, resample=resample)
    before, *after = as_runs([run, *attacked])
    return measure(before, after, breakdowns=as_words(by), settings=settings, test=test)


@named
def diagnose(
    *runs: Run | File,
    name: str | None = None,
    minimize: bool = False,
    normalize: Normalize = "sum",
    confidence: float = DEFAULTS.confidence,
) -> tuple[Diagnosis, ...]:
    """Explain which step of pronoun translation fails, what the priors are, and how robust the score is.

    runs: runs on templates, test sets and attacks on them, in any order; a diagnosis is returned for each system
    name: Name of the system that produced all runs (score files do not record it).
    minimize, normalize, confidence: as in `evaluate`
    """
    from anaphora.evaluation.diagnosis import diagnose as examine

    settings = Settings(minimize=minimize, normalize=normalize, confidence=confidence)
    return examine(as_runs(runs), system=name, settings=settings)
