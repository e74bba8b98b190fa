"""The Python interface to the commands that read texts: translate, align, generative, apt, autoprf and metrics.

Parameters are called as the options of the commands. `align` and `metrics` are packages of this library, so their
functions are `align_texts` and `compute_metrics`. Library code never prints and never exits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anaphora.align.tokenize import DEFAULT, pair_of
from anaphora.api import load_suite
from anaphora.core.errors import AnaphoraError
from anaphora.core.parameters import named
from anaphora.runs import Run, open_run
from anaphora.stats.resampling import Resampling
from anaphora.suites.suite import Suite

if TYPE_CHECKING:
    from anaphora.align.files import Aligned
    from anaphora.evaluation.generative import Generative
    from anaphora.metrics.apt.result import AptResult
    from anaphora.metrics.apt.task import Files
    from anaphora.metrics.autoprf import AutoPRFResult
    from anaphora.metrics.corpus import MetricsResult
    from anaphora.systems.translation import Translated

File = str | Path
Progress = Callable[[int, int], None]
SAMPLING = Resampling()


@named
def translate(
    system: str,
    input: File,
    output: File,
    *,
    languages: str = "",
    docids: bool = False,
    context: int | None = None,
    separator: str = " ",
    target_context: str = "none",
    target_context_from: File | None = None,
    n_best: int = 0,
    beams: int | None = None,
    max_tokens: int = 256,
    threads: int | None = None,
    batch_tokens: int = 2048,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Translated:
    """Translate the documents of a file with a system, each sentence with its preceding context.

    system: a spec such as "hf:NAME" (`anaphora systems` lists the kinds)
    input, output: files in the same layout: blank lines between documents, or with docids=True docid⇥sentence
    languages: language pair, for multilingual systems and prompts, for example "en-de"
    context, separator, target_context: as in `score`; a translation has no gold context
    target_context_from: translations of the input by another system, as target context (nmt: models that read it)
    n_best: also write the N best translations with their scores to OUTPUT.nbest (nmt: models)
    beams, max_tokens: beam size and maximum length of a translation
    """
    from anaphora.systems import kind_traits, load_system
    from anaphora.systems.context import Context, Options
    from anaphora.systems.translation import check_separator, translate_file

    chosen = Context(context or 0, separator, target_context)
    if not kind_traits(system).own_context:  # such a model knows where its sentences end
        check_separator(chosen)
    first, _, second = languages.partition("-")
    options = Options(chosen, (first, second), threads, batch_tokens, own_context=context is None)
    return translate_file(
        load_system(system, options),
        system,
        Path(input),
        Path(output),
        context=chosen,
        docids=docids,
        beams=beams,
        max_tokens=max_tokens,
        n_best=n_best,
        context_from=_path(target_context_from),
        resume=resume,
        overwrite=overwrite,
        progress=progress,
    )


@named
def align_texts(
    source: File,
    target: File,
    output: File,
    *,
    languages: str | None = None,
    aligner: str = "thot",
    aligner_model: File | None = None,
    symmetrize: str | None = None,
    corpus: Sequence[tuple[File, File]] = (),
    save: File | None = None,
    tokenize: str | None = None,
    normalize: bool | None = None,
    keep_case: bool = False,
    forward: File | None = None,
    backward: File | None = None,
    gold: File | None = None,
    tokens: tuple[File, File] | None = None,
    seed: int = SAMPLING.seed,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Aligned:
    """Align the words of two parallel files and write the alignment in Pharaoh format.

    aligner: "thot" or "builtin", and its model, for example "thot:hmm"
    aligner_model: a saved aligner to apply, instead of training one; save: folder to save the trained aligner to
    corpus: extra parallel text for training the aligner
    symmetrize: heuristic that merges both directions; forward, backward: alignments to read with the aligner "pharaoh"
    tokenize, normalize: see `anaphora.align.tokenize`; keep_case: distinguish words that differ only in case
    gold: gold alignments to compare with; tokens: two files for the tokenized text that the indices refer to
    """
    from anaphora.align.aligner import Aligner, check_output
    from anaphora.align.backend import Settings
    from anaphora.align.files import align_files

    backend, _, model = aligner.partition(":")
    if save is not None:
        check_output(Path(save))
    if aligner_model is not None:
        chosen = Aligner.load(Path(aligner_model), symmetrize=symmetrize, threads=threads)
    else:
        chosen = Aligner(
            Settings(
                backend,
                model or None,
                symmetrize,
                lowercase=not keep_case,
                seed=seed,
                threads=threads,
                forward=_path(forward),
                backward=_path(backward),
                tokenize=DEFAULT if tokenize is None else tokenize,
                normalize=True if normalize is None else normalize,
                languages=pair_of(languages, Path(source), Path(target)),
            )
        )
    aligned = align_files(
        chosen,
        Path(source),
        Path(target),
        Path(output),
        corpora=[(Path(one), Path(other)) for one, other in corpus],
        tokens=None if tokens is None else (Path(tokens[0]), Path(tokens[1])),
        gold=_path(gold),
        progress=progress,
    )
    if save is not None:
        chosen.save(Path(save))
    return aligned


@named
def generative(
    suite: Suite | File,
    translations: File | Sequence[File],
    *,
    names: Sequence[str] = (),
    runs: Sequence[Run | File] = (),
    by: str | Sequence[str] = (),
    aligner: str = "thot",
    aligner_model: File | None = None,
    corpus: Sequence[tuple[File, File]] = (),
    tokenize: str = DEFAULT,
    normalize: bool = True,
    progress: Progress | None = None,
) -> list[Generative]:
    """Judge the pronouns in the systems' own translations of a suite: correct, wrong or not found.

    translations: a line, or a document, per example (`anaphora suites convert --to sources` writes the sources)
    names: of the systems in tables; the files' names by default
    runs: contrastive runs of the same systems, to report the gap
    aligner, aligner_model, corpus, tokenize, normalize: as in `align_texts`
    """
    from anaphora.align import Aligner, Settings, align_systems
    from anaphora.core.documents import read_parallel
    from anaphora.evaluation import generative as judging

    files = _paths(translations)
    if runs and len(runs) != len(files):
        raise AnaphoraError(f"{len(runs)} runs for {len(files)} translations. Pass one --run per -t.")
    systems = list(names) or _short_names(files)
    loaded = suite if isinstance(suite, Suite) else load_suite(suite)
    texts = judging.read_texts(loaded, tokenize, normalize=normalize)
    own = {name: judging.read_translations(path, texts, loaded) for name, path in zip(systems, files, strict=True)}
    words = {name: text.sentences for name, text in own.items()}
    more = [pair for one, other in corpus for pair in texts.words.pairs(*read_parallel(Path(one), Path(other)))]
    saved = None if aligner_model is None else Aligner.load(Path(aligner_model))
    backend, _, model = aligner.partition(":")
    settings = saved.settings if saved else Settings(backend=backend, model=model or None)
    aligned = align_systems(
        texts.source, texts.gold, words, corpus=more, settings=settings, aligner=saved, progress=progress
    )
    references = judging.judge_texts(texts, texts.gold, aligned.reference, aligned.reference)
    label = judging.alignment_label(settings, more, _path(aligner_model))
    results = []
    for number, name in enumerate(systems):
        run = runs[number] if runs else None
        results.append(
            judging.evaluate_translations(
                texts,
                name,
                judging.judge_texts(texts, words[name], aligned.reference, aligned.systems[name]),
                label,
                treatment=own[name].treatment,
                references=references,
                by_tags=[by] if isinstance(by, str) else by,
                run=run if run is None or isinstance(run, Run) else open_run(Path(run)),
            )
        )
    return results


@named
def apt(
    source: File,
    reference: File,
    translations: File | Sequence[File],
    languages: str,
    *,
    reference_alignments: File | None = None,
    translation_alignments: File | Sequence[File] = (),
    names: Sequence[str] = (),
    variant: str = "paper",
    pronouns: Sequence[str] = (),
    weights: Sequence[float] = (1, 0.5, 0, 0, 0, 0),
    discard: Sequence[int] = (),
    rescue: bool = True,
    lists: File | None = None,
    corpus: Sequence[tuple[File, File]] = (),
    aligner: str = "thot",
    tokenize: str = DEFAULT,
    normalize: bool = True,
    source_tags: File | None = None,
    reference_tags: File | None = None,
    translation_tags: File | Sequence[File] = (),
    pronoun_tags: Sequence[str] = ("PRON",),
    by_pronoun: bool = False,
    confidence: float = SAMPLING.confidence,
    samples: int = SAMPLING.samples,
    trials: int | None = None,
    seed: int = SAMPLING.seed,
    test: str = SAMPLING.test,
    progress: Progress | None = None,
) -> AptResult:
    """Compute APT, the accuracy of pronoun translation against a reference, of one or more translations.

    source, reference, translations: texts, one sentence per line
    reference_alignments, translation_alignments: word alignments with the source in Pharaoh format; texts without one
        are aligned (progress is of that), as `aligner` and `corpus` say
    names: of the systems in tables
    *_tags: files with a part-of-speech tag for each word; then pronouns are the words with one of the `pronoun_tags`
    variant, pronouns, weights, discard, rescue, lists, by_pronoun: see `AptOptions`
    confidence, samples, trials, seed, test: see `Resampling`
    """
    from anaphora.metrics.apt.metric import AptOptions, measure

    backend, _, model = aligner.partition(":")
    options = AptOptions(
        variant=variant,
        pronouns=pronouns,
        weights=weights,
        discard=discard,
        rescue=rescue,
        lists=lists,
        pronoun_tags=pronoun_tags,
        tokenize=tokenize,
        normalize=normalize,
        corpora=corpus,
        align_backend=backend,
        align_model=model or None,
        by_pronoun=by_pronoun,
        confidence=confidence,
        samples=samples,
        trials=trials,
        seed=seed,
        test=test,
    )
    files = _files(source, reference, translations, reference_alignments, translation_alignments, names)
    tags = (_path(source_tags), _path(reference_tags), _paths(translation_tags))
    return measure(_tagged(files, *tags), languages, options, progress)


@named
def autoprf(
    source: File,
    reference: File,
    translations: File | Sequence[File],
    *,
    languages: str = "",
    reference_alignments: File | None = None,
    translation_alignments: File | Sequence[File] = (),
    names: Sequence[str] = (),
    pronouns: Sequence[str] = ("it", "they"),
    clip: str = "occurrence",
    ignore_case: bool = False,
    tokenize: str = DEFAULT,
    normalize: bool = True,
    confidence: float = SAMPLING.confidence,
    samples: int = SAMPLING.samples,
    seed: int = SAMPLING.seed,
    test: str = SAMPLING.test,
    progress: Progress | None = None,
) -> AutoPRFResult:
    """Compute AutoPRF: precision and recall of the translations of source pronouns against a reference.

    source, reference, translations, *_alignments, names, languages: as in `apt`
    pronouns: source pronouns to evaluate; ignore_case: compare words without regard to case
    clip: clip matches for each pronoun ("occurrence"), as the original does, or over the whole text ("corpus")
    """
    from anaphora.metrics.autoprf import autoprf_of_files

    return autoprf_of_files(
        _files(source, reference, translations, reference_alignments, translation_alignments, names),
        pronouns=pronouns,
        clip=clip,
        lowercase=ignore_case,
        tokenize=tokenize,
        normalize=normalize,
        languages=languages,
        resampling=Resampling(samples, seed, confidence, test),
        progress=progress,
    )


@named
def compute_metrics(
    reference: File | Sequence[File],
    translations: File | Sequence[File],
    *,
    source: File | None = None,
    languages: str = "",
    names: Sequence[str] = (),
    metrics: Sequence[str] = ("bleu", "chrf", "ter", "meteor"),
    tokenize: str = DEFAULT,
    normalize: bool | None = None,
    pronouns: Sequence[str] = (),
    frequency_corpus: File | None = None,
    wordnet: File | None = None,
    meteor: str = "universal",
    comet_model: str = "Unbabel/wmt22-comet-da",
    comet_gpus: int = 0,
    confidence: float = SAMPLING.confidence,
    samples: int = SAMPLING.samples,
    seed: int = SAMPLING.seed,
    test: str = "bootstrap",
) -> MetricsResult:
    """Compute BLEU, chrF, TER, METEOR and COMET of translations, with intervals and paired tests.

    reference: one or several reference translations; source: for COMET
    metrics: of bleu, chrf, chrf++, ter, meteor, meteor-pronouns and comet
    pronouns: of meteor-pronouns; those of the DiscoMT shared tasks by default
    frequency_corpus, wordnet, meteor: METEOR's function words, synonyms and parameters
    """
    from anaphora.metrics.corpus import measure, read_texts

    texts = read_texts(
        _paths(reference),
        _paths(translations),
        source=_path(source),
        names=tuple(names),
        languages=languages,
        tokenize=tokenize,
        normalize=normalize,
    )
    return measure(
        texts,
        metrics,
        resampling=Resampling(samples, seed, confidence, test),
        pronouns=tuple(pronouns),
        corpus=_path(frequency_corpus),
        wordnet=_path(wordnet),
        parameters=meteor,
        comet_model=comet_model,
        comet_gpus=comet_gpus,
    )


def _files(
    source: File,
    reference: File,
    translations: File | Sequence[File],
    reference_alignments: File | None,
    translation_alignments: File | Sequence[File],
    names: Sequence[str],
) -> Files:
    from anaphora.metrics.apt.task import Files

    return Files(
        Path(source),
        Path(reference),
        _paths(translations),
        _path(reference_alignments),
        _paths(translation_alignments),
        names=tuple(names),
    )


def _tagged(files: Files, source: Path | None, reference: Path | None, translations: tuple[Path, ...]) -> Files:
    from dataclasses import replace

    return replace(files, source_tags=source, reference_tags=reference, hypothesis_tags=translations)


def _path(file: File | None) -> Path | None:
    return None if file is None else Path(file)


def _paths(files: File | Sequence[File]) -> tuple[Path, ...]:
    return (Path(files),) if isinstance(files, str | Path) else tuple(map(Path, files))


def _short_names(paths: Sequence[Path]) -> list[str]:
    """The names of the files, or their paths where two files have the same name."""
    names = [path.name for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]
