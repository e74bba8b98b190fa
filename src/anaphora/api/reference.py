"""`anaphora apt`, `autoprf`, `metrics` and `align` in Python.

`align` and `metrics` are packages of this library, so their functions are `align_texts` and `compute_metrics`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from anaphora.align.tokenize import DEFAULT, pair_of
from anaphora.api.inputs import File, Progress, Test, as_path, as_paths, split_aligner
from anaphora.api.study import read_verdicts
from anaphora.core.errors import AnaphoraError, named
from anaphora.stats.resampling import Resampling

if TYPE_CHECKING:
    from anaphora.align.aligner import Aligned, Aligner
    from anaphora.metrics.apt.result import AptResult
    from anaphora.metrics.apt.task import Files
    from anaphora.metrics.autoprf import AutoPRFResult
    from anaphora.metrics.corpus import MetricsResult
    from anaphora.study.details import Answers

SAMPLING = Resampling()


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
    variant: Literal["paper", "idiap", "reference-side"] = "paper",
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
    answers: File | None = None,
    database: str | None = None,
    trials: int | None = None,
    test: Test = "randomization",
    confidence: float = SAMPLING.confidence,
    samples: int = SAMPLING.samples,
    seed: int = SAMPLING.seed,
    progress: Progress | None = None,
) -> AptResult:
    """Compute APT, the accuracy of pronoun translation against a reference.

    Triples of a source pronoun, its reference and its candidate translation fall into six cases: same, equivalent,
    different, no candidate, no reference, neither. Texts without alignment files are aligned automatically.

    source, reference, translations: texts, one sentence per line
    reference_alignments, translation_alignments: word alignments with the source in Pharaoh format; texts without one
        are aligned with `aligner` and `corpus`, and `progress` reports that alignment
    names: names of the systems in tables
    variant: Variant of APT (docs/apt.md).
    weights: Weights of the six cases.
    discard: Cases to exclude from the score, for example 5,6.
    source_tags: Part-of-speech tags of the source, one per word, to find its pronouns.
    reference_tags: Part-of-speech tags of the reference, one per word.
    translation_tags: Part-of-speech tags of a translation, one per word (one file per -t).
    pronoun_tags: Tags that mark pronouns.
    by_pronoun: Compare systems for each pronoun as well.
    answers, database: a study with verdicts on these translations, which replace the cases; see `create_study`
    trials: Number of trials of approximate randomization (default: as many as --samples).
    pronouns: those to evaluate: of the source, or of the reference in the reference-side variant
    rescue: search for pronouns that the alignment missed
    lists: a file with pronoun lists, for other language pairs and other equivalents
    test, confidence, samples, seed: see `Resampling`
    """
    from anaphora.align.backend import Settings
    from anaphora.metrics.apt.metric import apt_of_files
    from anaphora.metrics.apt.task import Files, Weighting

    files = Files(
        Path(source),
        Path(reference),
        as_paths(translations),
        as_path(reference_alignments),
        as_paths(translation_alignments),
        source_tags=as_path(source_tags),
        reference_tags=as_path(reference_tags),
        hypothesis_tags=as_paths(translation_tags),
        names=tuple(names),
    )
    annotators = None if answers is None else read_verdicts(answers, database, files.systems)
    return apt_of_files(
        files,
        languages,
        variant=variant,
        pronouns=pronouns,
        weighting=Weighting(tuple(weights), tuple(discard)),
        rescue=rescue,
        lists=as_path(lists),
        pronoun_tags=pronoun_tags,
        tokenize=tokenize,
        normalize=normalize,
        aligner=Settings(*split_aligner(aligner)),
        corpora=[(Path(one), Path(other)) for one, other in corpus],
        by_pronoun=by_pronoun,
        resampling=Resampling(samples, seed, confidence, test, trials),
        verdicts=None if annotators is None else _verdicts(annotators, files),
        answers=None if annotators is None else annotators.signature,
        progress=progress,
    )


def _verdicts(annotators: Answers, files: Files) -> dict[tuple[str, str, str], str]:
    """The annotators' verdicts by system, sentence and position; an error if they saw other sentences."""
    from anaphora.core.documents import read_parallel
    from anaphora.core.parsing import is_count
    from anaphora.study.create import text_digest

    source, *translations = read_parallel(files.source, *files.hypotheses)
    verdicts = {}
    for system, lines in zip(files.systems, translations, strict=True):
        for (sentence, position), verdict in annotators.verdicts.get(system, {}).items():
            number = int(sentence) if is_count(sentence) else len(lines)
            if number >= len(lines):
                raise annotators.foreign("item", f"{system}/{sentence}")
            annotators.check(system, (sentence, position), text_digest(source[number], lines[number]))
            verdicts[system, sentence, position] = verdict
    return verdicts


@named
def run_apt_config(
    config: File,
    *,
    trials: int | None = None,
    test: Test = "randomization",
    confidence: float = SAMPLING.confidence,
    samples: int = SAMPLING.samples,
    seed: int = SAMPLING.seed,
) -> tuple[AptResult, tuple[Path, Path]]:
    """Run a config of the original program of APT (`anaphora apt --variant idiap --config FILE`).

    Returns the result and the two files that the original program writes. Paths in the config are relative to the
    current folder.

    trials, test, confidence, samples, seed: see `Resampling`
    """
    from anaphora.metrics.apt.idiap_output import run_config

    result, files = run_config(Path(config), Resampling(samples, seed, confidence, test, trials))
    return result, (files[0], files[1])


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
    clip: Literal["occurrence", "corpus"] = "occurrence",
    ignore_case: bool = False,
    tokenize: str = DEFAULT,
    normalize: bool = True,
    test: Test = "randomization",
    confidence: float = SAMPLING.confidence,
    samples: int = SAMPLING.samples,
    seed: int = SAMPLING.seed,
    progress: Progress | None = None,
) -> AutoPRFResult:
    """Compute AutoPRF: precision and recall of the translations of source pronouns against a reference.

    Texts without alignment files are aligned automatically.

    source, reference, translations, languages, reference_alignments, translation_alignments, names: as in `apt`
    pronouns: Source pronouns to evaluate, in any case.
    clip: Clip matches for each pronoun, as the original does, or over the whole corpus.
    ignore_case: Ignore case when comparing words.
    """
    from anaphora.metrics.apt.task import Files
    from anaphora.metrics.autoprf import autoprf_of_files

    files = Files(
        Path(source),
        Path(reference),
        as_paths(translations),
        as_path(reference_alignments),
        as_paths(translation_alignments),
        names=tuple(names),
    )
    return autoprf_of_files(
        files,
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
    meteor: Literal["universal", "ranking"] = "universal",
    comet_model: str = "Unbabel/wmt22-comet-da",
    comet_gpus: int = 0,
    test: Test = "bootstrap",
    confidence: float = SAMPLING.confidence,
    samples: int = SAMPLING.samples,
    seed: int = SAMPLING.seed,
) -> MetricsResult:
    """Compute BLEU, chrF, TER, METEOR and COMET of translations, with intervals and paired tests.

    reference: one or several reference translations; source: for COMET
    metrics: any of bleu, chrf, chrf++, ter, meteor, meteor-pronouns and comet
    normalize: Unify apostrophes, spaces and full-width characters for all metrics, or for none (default: for METEOR
        only).
    pronouns: Pronouns of meteor-pronouns (default: those of the DiscoMT shared tasks).
    frequency_corpus: Text that determines METEOR's function words (default: the reference).
    meteor: METEOR's parameters: for any language, or tuned for the target language.
    comet_model: COMET model: a name, or a .ckpt file.
    comet_gpus: Number of GPUs for COMET.
    """
    from anaphora.metrics.corpus import measure, read_texts

    texts = read_texts(
        as_paths(reference),
        as_paths(translations),
        source=as_path(source),
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
        corpus=as_path(frequency_corpus),
        wordnet=as_path(wordnet),
        parameters=meteor,
        comet_model=comet_model,
        comet_gpus=comet_gpus,
    )


@named
def align_texts(
    source: File,
    target: File,
    output: File,
    *,
    aligner: str | None = None,
    symmetrize: str | None = None,
    corpus: Sequence[tuple[File, File]] = (),
    save: File | None = None,
    aligner_model: File | None = None,
    tokenize: str | None = None,
    normalize: bool | None = None,
    languages: str | None = None,
    tokens: tuple[File, File] | None = None,
    keep_case: bool = False,
    forward: File | None = None,
    backward: File | None = None,
    gold: File | None = None,
    seed: int = SAMPLING.seed,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Aligned:
    """Align the words of two parallel files.

    With a corpus, the aligner is trained on that text as well. More text gives better links.

    output: Alignments in Pharaoh format: source-target word indices from 0, one line per pair.
    aligner: "thot" (the default) or "builtin", and its model, for example "thot:hmm"
    symmetrize: Heuristic that merges both directions (default: grow-diag-final).
    corpus: extra parallel text for training the aligner
    save: Save the trained aligner to this folder.
    aligner_model: a saved aligner to apply, instead of training one
    tokenize, normalize: see `anaphora.align.tokenize`; by default "auto" and True
    tokens: Write the tokenized text that the indices refer to.
    keep_case: Distinguish words that differ only in case.
    forward: Alignments to read, with --aligner pharaoh.
    backward: Alignments of the other direction, also written as source-target, with --aligner pharaoh.
    gold: Gold alignments, to compute precision, recall and F.
    """
    from anaphora.align.aligner import Aligner, align_files, check_output
    from anaphora.align.backend import Settings

    backend, model = split_aligner(aligner or "thot")
    if save is not None:
        check_output(Path(save))
    if aligner_model is not None:
        fixed = {"--corpus": corpus, "--save": save, "--aligner NAME:MODEL": model, "--keep-case": keep_case}
        fixed |= {"--tokenize": tokenize, "--languages": languages, "--forward": forward, "--backward": backward}
        fixed["--no-normalize-text"] = normalize is not None
        named_backend = None if aligner is None else backend
        chosen = _saved_aligner(Path(aligner_model), fixed, named_backend, symmetrize, threads)
    else:
        if backend == "pharaoh" and save is not None:
            raise AnaphoraError("--save: the aligner 'pharaoh' reads alignments and has nothing to save")
        if backend != "pharaoh" and (forward or backward):
            raise AnaphoraError("--forward and --backward name alignments to read and need --aligner pharaoh")
        settings = Settings(
            backend,
            model,
            symmetrize,
            lowercase=not keep_case,
            seed=seed,
            threads=threads,
            forward=as_path(forward),
            backward=as_path(backward),
            tokenize=DEFAULT if tokenize is None else tokenize,
            normalize=True if normalize is None else normalize,
            languages=pair_of(languages, Path(source), Path(target)),
        )
        chosen = Aligner(settings)
    aligned = align_files(
        chosen,
        Path(source),
        Path(target),
        Path(output),
        corpora=[(Path(one), Path(other)) for one, other in corpus],
        tokens=None if tokens is None else (Path(tokens[0]), Path(tokens[1])),
        gold=as_path(gold),
        progress=progress,
    )
    if save is not None:
        chosen.save(Path(save))
    return aligned


def _saved_aligner(
    folder: Path, fixed: Mapping[str, object], backend: str | None, symmetrize: str | None, threads: int | None
) -> Aligner:
    """Load a saved aligner. fixed: options that cannot be given, as they were set when it was trained"""
    from anaphora.align.aligner import Aligner

    if refused := next((option for option, value in fixed.items() if value), None):
        raise AnaphoraError(f"{refused} cannot be combined with --aligner-model: it was set when that was trained")
    return Aligner.load(folder, backend=backend, symmetrize=symmetrize, threads=threads)
