"""`anaphora measure` in Python: pairs, training, adaptation, scores and evaluation of the learned measure.

`measure` is a package of this library, so the functions are `measure_pairs`, `measure_train` and so on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from anaphora.api.inputs import (
    File,
    Normalize,
    Progress,
    as_path,
    as_paths,
    as_suite,
    as_words,
    load_suite,
    set_threads,
)
from anaphora.api.scoring import score
from anaphora.core.errors import AnaphoraError, named
from anaphora.core.files import new_folder
from anaphora.core.lock import lock_output
from anaphora.evaluation.result import Settings
from anaphora.runs import Run, open_run
from anaphora.stats.resampling import Resampling
from anaphora.suites.suite import Suite

if TYPE_CHECKING:
    from anaphora.evaluation.result import Result
    from anaphora.measure.model import Measure, ScoredText
    from anaphora.measure.pairs import Written
    from anaphora.measure.scoring import Human, Ranking
    from anaphora.measure.texts import Line, Pair, Text

SAMPLING = Resampling()


@named
def measure_pairs(
    reference: File,
    languages: str,
    output: File,
    *,
    source: File | None = None,
    translations: File | Sequence[File] = (),
    names: Sequence[str] = (),
    kind: Literal["noisy", "system", "both"] = "both",
    context: int = 2,
    docids: bool = False,
    pair_list: File | None = None,
    agreement: float = 0.8,
    pronoun_list: File | None = None,
    matching: Literal["edit", "rescued", "statistical"] = "edit",
    common_context: bool = False,
    year: str | None = None,
    progress: Progress | None = None,
) -> Written:
    """Write pairs in which a system's pronoun differs from the reference's (Jwalapuram et al. 2019, §3).

    A noisy pair consists of the reference and the reference with one pronoun of a system; a system pair consists of the
    reference and the whole translation. The pairs are a suite, on which any system can be evaluated.

    source, reference, translations, names, languages, docids: the texts, as in `apt` and `translate`
    output: Suite file to write.
    kind: Kind of pairs to write: one pronoun changed (noisy), the whole translation (system), or both.
    context: Number of preceding sentences to include.
    pair_list: human judgments of pronoun pairs, as `export_study` writes them
    agreement: Minimum agreement of annotators on a pronoun pair, with --pair-list.
    pronoun_list: File with your own list of pronouns.
    matching: Method that matches pronouns of translation and reference.
    common_context: use the reference's context for the systems' sentences as well
    year: Year to store with every pair, or the name of a test set.
    """
    from anaphora.languages.pair_list import read_pair_list
    from anaphora.measure.pairs import Files, write_pairs
    from anaphora.measure.pairs import Settings as PairSettings

    systems, path = as_paths(translations), Path(output)
    if not systems:
        raise AnaphoraError("pass translations (-t) of one or more systems")
    files = Files(Path(reference), systems, as_path(source), tuple(names), as_path(pronoun_list), docids, context)
    inputs = [file for file in (files.reference, *systems, files.source) if file is not None]
    if os.path.realpath(path) in map(os.path.realpath, inputs):
        raise AnaphoraError(f"{output} is one of the input files. Choose another output")
    with lock_output(path):
        judged = read_pair_list(Path(pair_list)) if pair_list else None
        settings = PairSettings(kind, matching, judged, agreement, not common_context, year)
        return write_pairs(files, languages, path, settings, progress)


@dataclass(frozen=True, slots=True)
class TrainedMeasure:
    """A measure that `measure_train` wrote.

    pairs: number of pairs; best: the record of the best epoch; log: a record per epoch; results: what its folder says
    """

    model: Path
    pairs: int
    best: Mapping[str, Any]
    results: Mapping[str, Any]
    log: Sequence[Mapping[str, Any]]


@named
def measure_train(
    config: File,
    output: File,
    *,
    settings: Mapping[str, object] | None = None,
    cache: File | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    report: Callable[[Mapping[str, Any]], None] | None = None,
) -> TrainedMeasure:
    """Train a measure on pairs of `measure pairs`. Paths in the config are relative to the current folder.

    output: Folder for the model.
    settings: keys of the config to override, as {"training.epochs": 5}
    cache: folder that caches encoder states
    report: called with a record after each epoch
    """
    from anaphora.measure import check_installed
    from anaphora.measure.config import read_config

    chosen = read_config(Path(config), {key: str(value) for key, value in (settings or {}).items()})
    check_installed()
    from anaphora.measure.training import check_new, save_measure, train_measure

    path = new_folder(Path(output))
    check_new(path)
    with lock_output(path):
        set_threads(threads)
        for name in ("train", "dev"):
            if not getattr(chosen.data, name):
                raise AnaphoraError(
                    f"data.{name} names no pairs. Set it in the config, or pass --set data.{name}=PAIRS.jsonl"
                )
        trained = train_measure(
            chosen,
            [example for name in chosen.data.train for example in load_suite(name)],
            [example for name in chosen.data.dev for example in load_suite(name)],
            cache=as_path(cache),
            progress=progress,
            report=report or (lambda record: None),
        )
        save_measure(path, trained.measure, chosen, trained.results())
    return TrainedMeasure(path, trained.pairs, trained.best, trained.results(), trained.log)


@dataclass(frozen=True, slots=True)
class AdaptedModel:
    """A language model that `measure_adapt` wrote, available as lm:MODEL.

    pieces: number of subwords that it was trained on; dev_pairs: number of pairs of the development set
    before, after: its accuracy on them; log: a record per step
    """

    model: Path
    pieces: int
    dev_pairs: int
    before: float | None
    after: float | None
    log: Sequence[Mapping[str, Any]]


@named
def measure_adapt(
    lm: str,
    *texts: File,
    output: File,
    dev: Sequence[Suite | File] = (),
    plain: bool = False,
    adapter: bool = False,
    steps: int = 150,
    batch: int = 8,
    pieces: int = 160,
    rank: int = 16,
    rate: float = 0.001,
    context: int = 2,
    seed: int = SAMPLING.seed,
    threads: int | None = None,
    progress: Progress | None = None,
) -> AdaptedModel:
    """Adapt a language model to in-domain text with LoRA; the result is used as lm:FOLDER.

    Each text has one sentence per line; an empty line ends a document. Run the same command again to resume an
    interrupted run.

    output: Folder for the model.
    dev: Pairs on which accuracy is reported before and after (repeatable).
    plain: Lowercase the text and remove punctuation, as in the annotated pairs.
    adapter: Write only the LoRA weights, a few megabytes, and the name of the base model, which is loaded with them.
    steps: Number of training steps.
    batch: Passages per step.
    pieces: Maximum number of subwords per passage.
    rank: Rank of the LoRA matrices.
    rate: Peak learning rate.
    context: Number of preceding sentences in --dev.
    """
    from anaphora.measure import check_installed, unfinished_model

    check_installed("peft")
    from anaphora.measure.adapting import (
        Adapting,
        adapt,
        check_base,
        documents,
        finished_log,
        preference_accuracy,
        save_language_model,
    )
    from anaphora.measure.features import LanguageModelFeatures
    from anaphora.measure.training import check_new

    backend, _, spec = lm.partition(":")
    if backend != "lm" or not spec:
        raise AnaphoraError(f"not a language model: {lm!r}. Write lm:NAME_OR_PATH")
    check_base(spec, adapter=adapter)
    path = new_folder(Path(output))
    unfinished = unfinished_model(path)
    if not unfinished.is_file():  # otherwise the model may be complete, see below
        check_new(path)
    with lock_output(path):
        set_threads(threads)
        pairs = [pair for suite in dev for pair in _dev_pairs(as_suite(suite), context, plain)]
        in_domain = [document for text in texts for document in documents(Path(text), plain=plain)]
        features = LanguageModelFeatures(spec)
        before = preference_accuracy(features, pairs)
        report = None if progress is None else lambda line: progress(line["step"], line["steps"])
        settings = Adapting(steps=steps, batch=batch, pieces=pieces, rank=rank, rate=rate, seed=seed)
        log = finished_log(features, in_domain, settings, unfinished) if path.exists() else None
        if log is None:
            check_new(path)
            log = adapt(features, in_domain, settings, keep=unfinished, report=report)
            save_language_model(features, path, only_adapter=adapter)
        else:  # killed after the model was written
            features = LanguageModelFeatures(str(path))
        after = preference_accuracy(features, pairs)
        unfinished.unlink(missing_ok=True)
    trained_on = sum(line["pieces"] for line in log)
    if not pairs:
        return AdaptedModel(path, trained_on, 0, None, None, log)
    return AdaptedModel(path, trained_on, len(pairs), before, after, log)


def _dev_pairs(suite: Suite, context: int, plain: bool) -> list[Pair]:
    from anaphora.languages.pronouns import load_readings
    from anaphora.measure.config import Model
    from anaphora.measure.texts import pairs_of

    model = Model(plain=plain, sentences=context, language=suite.header.target_language)
    return list(pairs_of(suite, model, load_readings(model.language)))


@dataclass(frozen=True, slots=True)
class MeasureScores:
    """Scores of the lines of each system; sentences are those of one system called "sentences".

    texts: what was scored; scores: the score of each text, its pronouns and their shares
    lines: the lines of the files; ranking: of the systems (None for sentences)
    """

    texts: Mapping[str, Sequence[Text]]
    scores: Mapping[str, Sequence[ScoredText]]
    lines: Sequence[Line] = ()
    ranking: Ranking | None = None


@named
def measure_score(
    model: File,
    *sentences: str,
    before: Sequence[str] = (),
    translations: File | Sequence[File] = (),
    names: Sequence[str] = (),
    reference: File | None = None,
    docids: bool = False,
    common_context: bool = False,
    encoder: str | None = None,
    cache: File | None = None,
    threads: int | None = None,
    confidence: float = SAMPLING.confidence,
    samples: int = SAMPLING.samples,
    seed: int = SAMPLING.seed,
    progress: Progress | None = None,
) -> MeasureScores:
    """Score sentences with a learned measure, or rank systems on the same sentences.

    A score is a sum over pronouns. It is meaningful in comparison with another translation of the same sentence. A
    sentence without a pronoun has the score 0.

    before: Sentence before SENTENCE, in order (repeatable).
    translations, names, reference, docids: files of systems instead of sentences, as in `measure_pairs`
    common_context: use the reference's context for the systems' sentences as well
    encoder, cache: location of the encoder, if the model does not contain it; folder that caches its states
    """
    systems = as_paths(translations)
    if bool(sentences) == bool(systems):
        raise AnaphoraError("pass sentences, or translations of systems (-t)")
    measure = _load_measure(model, encoder, cache, threads)
    if not sentences:
        sampling = {"samples": samples, "seed": seed, "confidence": confidence}
        return _rank(measure, systems, names, as_path(reference), docids, common_context, sampling, progress)
    from anaphora.measure.texts import text_of

    count, plain = measure.config.context_sentences, measure.config.plain
    texts = [text_of((*before, sentence), measure.readings, sentences=count, plain=plain) for sentence in sentences]
    scored = measure.score(texts)
    return MeasureScores({"sentences": texts}, {"sentences": list(scored)})


def _rank(
    measure: Measure,
    systems: tuple[Path, ...],
    names: Sequence[str],
    reference: Path | None,
    docids: bool,
    common_context: bool,
    sampling: dict[str, Any],
    progress: Progress | None,
) -> MeasureScores:
    from anaphora.measure.pairs import Files
    from anaphora.measure.scoring import rank, texts_of
    from anaphora.measure.texts import read_lines

    if common_context and reference is None:
        raise AnaphoraError("--common-context needs the reference. Pass it with -r")
    system_names = Files(systems[0], systems, names=names).system_names()
    lines = list(read_lines(reference or systems[0], systems, context=measure.config.sentences, docids=docids))
    texts = {name: texts_of(lines, k, measure, own_context=not common_context) for k, name in enumerate(system_names)}
    if reference is not None:
        if "reference" in texts:
            raise AnaphoraError("a system cannot be called 'reference' where there is one: name it with --name")
        texts = {"reference": texts_of(lines, None, measure, own_context=True), **texts}
    ranking = rank(measure, texts, **sampling, progress=progress)
    return MeasureScores(texts, ranking.details, lines, ranking)


@named
def measure_evaluate(
    pairs: Suite | File,
    *,
    model: File | None = None,
    system: str | None = None,
    run: Run | File | None = None,
    encoder: str | None = None,
    context: int = 2,
    pair_list: File | None = None,
    cache: File | None = None,
    limit: int | None = None,
    threads: int | None = None,
    by: str | Sequence[str] = (),
    minimize: bool = False,
    normalize: Normalize = "sum",
    confidence: float = SAMPLING.confidence,
    resample: str | None = None,
    samples: int = SAMPLING.samples,
    seed: int = SAMPLING.seed,
    progress: Progress | None = None,
) -> tuple[Result, Human | None]:
    """Report how often a measure, or any other system, prefers the reference on a suite of pairs.

    Returns the accuracy, and the agreement with annotators if the pairs have their judgments.

    model: Measure trained by `measure train`.
    run: Run of `anaphora score` to evaluate instead.
    context: Number of preceding sentences to include, with --system.
    system, encoder, pair_list, cache, limit, threads: as in `score`, `measure_score` and `measure_pairs`
    by, minimize, normalize, confidence, resample, samples, seed: as in `evaluate`
    """
    from anaphora.measure.scoring import evaluate_measure, judge_run, with_human_counts

    if sum(what is not None for what in (model, system, run)) != 1:
        raise AnaphoraError("pass one judge: --model MODEL, --system SPEC or --run RUN")
    settings = Settings(
        samples,
        seed,
        confidence,
        minimize=minimize,
        normalize=normalize,
        resample=resample,
        interval="wilson" if resample is None else "bootstrap",
    )
    suite = as_suite(pairs)
    if pair_list is not None:
        suite = with_human_counts(suite, Path(pair_list))
    if model is not None:
        measure = _load_measure(model, encoder, cache, threads)
        return evaluate_measure(
            measure, suite, str(model), breakdowns=as_words(by), settings=settings, limit=limit, progress=progress
        )
    if run is None:
        run = score(suite, str(system), context=context, limit=limit, threads=threads, progress=progress)
    return judge_run(run if isinstance(run, Run) else open_run(Path(run)), suite, as_words(by), settings)


def _load_measure(model: File, encoder: str | None, cache: File | None, threads: int | None) -> Measure:
    from anaphora.measure import check_installed

    check_installed()
    from anaphora.measure.training import load_measure

    set_threads(threads)
    return load_measure(Path(model), cache=as_path(cache), fallback=encoder)
