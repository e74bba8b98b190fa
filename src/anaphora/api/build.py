"""`anaphora build` and `train` in Python: templates, mining, augmentation, models (attacks: `anaphora.api.attack`).

Each function writes its output, and returns what it has counted.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from anaphora.api.inputs import File, Progress, as_path, load_suite, set_threads, split_aligner
from anaphora.core.errors import AnaphoraError, named
from anaphora.core.files import remove_leftovers
from anaphora.core.lock import lock_folder
from anaphora.core.special import beside
from anaphora.suites.contexts import SEED

if TYPE_CHECKING:
    from anaphora.build.augment import Block
    from anaphora.build.mine.pipeline import Watch
    from anaphora.build.mine.result import MiningResult


@dataclass(frozen=True, slots=True)
class Built:
    """A suite that was written: its name, its file and its number of examples.

    edition: of the templates; templates: number of examples of each
    """

    suite: str
    path: Path
    sha256: str
    examples: int
    edition: str
    templates: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Mined:
    """The files that `mine` wrote, its work folder, and what was found."""

    files: tuple[Path, ...]
    work: Path
    result: MiningResult


@named
def build_templates(
    output: File,
    *,
    only: Sequence[str] = (),
    vocabulary: File | None = None,
    edition: str | None = None,
    languages: str = "en-de",
    progress: Progress | None = None,
) -> Built:
    """Generate ContraCAT's templates for any language pair that has data files (docs/templates.md).

    If the vocabulary is a folder in ContraCAT's own format, the settings of the released files are used.

    output: Suite file to write (.jsonl, .jsonl.gz).
    only: Template ids, or groups of them (prior, overlap) (repeatable).
    vocabulary: Folder of word classes that replace the built-in ones.
    edition: Edition: paper (the default), release (the settings of ContraCAT's files) or table-8 (its counts).
    languages: Language pair, or your own folder with the name of one.
    """
    from anaphora.build.templates.suite import template_suite

    made = template_suite(languages, tuple(only), as_path(vocabulary), edition)
    counts, sha256 = made.write(Path(output), progress)
    return Built(made.suite.header.name, Path(output), sha256, sum(counts.values()), made.edition, counts)


@named
def mine(
    source: File,
    target: File | None,
    languages: str,
    output: File,
    *,
    input_format: Literal["lines", "docids", "tags", "tsv", "moses", "opus"] = "lines",
    links: File | None = None,
    clean: Literal["none", "subtitles"] = "none",
    annotate_source: str | None = None,
    annotate_target: str | None = None,
    alignments: File | None = None,
    aligner: str = "builtin",
    symmetrize: str | None = None,
    align_train: int = 200_000,
    phenomenon: str = "pronouns",
    link_source: str | None = None,
    link_target: str | None = None,
    link_confidence: float | None = None,
    option: Mapping[str, str] | None = None,
    per_class: str = "4000",
    context: int = 5,
    seed: int = SEED,
    to: Literal["suite", "contrapro", "both"] = "suite",
    suite_name: str | None = None,
    citation: str = "",
    licence: str = "",
    work: File | None = None,
    resume: bool = True,
    workers: int | None = None,
    cluster: str | None = None,
    watch: Watch | None = None,
) -> Mined:
    """Mine a contrastive test set from parallel documents (ContraPro, §3.1).

    The stages read, annotate, align, extract and balance. Each stage keeps its files in the work folder, so an
    interrupted run is resumed, and changed settings repeat only the stages that depend on them. The default annotator
    is an installed spaCy pipeline.

    target: Target text, one sentence per line.
    output: Suite file to write.
    input_format: Layout: blank lines between documents, docid⇥sentence, <d> lines, docid⇥source⇥target, OPUS lines, or
        OPUS XML (folders or zip files).
    links: OPUS alignment file: .xml.gz (opus) or .ids (moses).
    clean: Clean-up of the lines.
    alignments, aligner: word alignments to read, or the aligner to train on the text
    symmetrize: Heuristic that merges both directions (default: grow-diag-final-and).
    align_train: Maximum number of sentence pairs to train the aligner on.
    phenomenon: Phenomenon to mine.
    link_source: Resolver of antecedents in the source (docs/annotation.md).
    link_target: Resolver of antecedents in the target.
    option: Setting of the phenomenon (repeatable).
    per_class: Maximum number of examples per class.
    context: Number of preceding sentences to include.
    to: Output: a suite, ContraPro's JSON, or both (OUTPUT and OUTPUT.contrapro.json).
    citation: Citation to store in the suite.
    licence: License of the corpus to store in the suite.
    work: Folder for the files of the stages (default: OUTPUT.work).
    resume: Reuse the finished stages of an earlier run (the default), or start from scratch.
    source, languages, annotate_source, annotate_target, link_confidence, suite_name, seed, workers, cluster: as the
        options of `anaphora build mine`
    watch: called with a stage and the unit of its progress; returns a context manager that gives a progress function
    """
    from anaphora.annotate import default_annotator
    from anaphora.build.mine.corpus import OVERLAP, Corpus, Sizes
    from anaphora.build.mine.pipeline import ALIGN, Output, Settings, runner_for, unwatched, work_folder
    from anaphora.build.mine.pipeline import mine as run
    from anaphora.build.mine.result import parse_size

    pair = languages.split("-")
    if len(pair) != 2 or not all(pair):
        raise AnaphoraError(f"-l {languages}: expected SOURCE-TARGET, for example en-de")
    if to not in ("suite", "contrapro", "both"):
        raise AnaphoraError(f"unknown output {to!r}. Known: suite, contrapro, both")
    parse_size(per_class, {})  # a wrong value is an error before the long work
    own = {"confidence": link_confidence, "link_source": link_source, "link_target": link_target}
    backend, model = split_aligner(aligner)
    settings = Settings(
        Corpus(Path(source), as_path(target), input_format, as_path(links), as_path(alignments)),
        (pair[0], pair[1]),
        (
            annotate_source or default_annotator(pair[0], "--annotate-source"),
            annotate_target or default_annotator(pair[1], "--annotate-target"),
        ),
        phenomenon=phenomenon,
        options=tuple(
            sorted(({key: value for key, value in own.items() if value is not None} | dict(option or {})).items())
        ),
        clean=clean,
        align=replace(ALIGN, backend=backend, model=model, symmetrize=symmetrize or ALIGN.symmetrize),
        align_train=align_train,
        per_class=per_class,
        context=context,
        seed=seed,
        sizes=Sizes(overlap=max(OVERLAP, context)),
    )
    path = Path(output)
    records = beside(path, f"{path.name.removesuffix('.gz').removesuffix('.jsonl')}.contrapro.json")
    files = Output(
        suite=path if to != "contrapro" else None,
        contrapro={"suite": None, "contrapro": path, "both": records}[to],
        work=work_folder(path, as_path(work)),
        name=suite_name or path.name.removesuffix(".gz").removesuffix(".jsonl").removesuffix(".json"),
        citation=citation,
        licence=licence,
    )
    runner = runner_for(workers, cluster)
    try:
        result = run(settings, files, runner, watch=watch or unwatched, resume=resume)
    finally:
        runner.close()
    return Mined(tuple(path for path in (files.suite, files.contrapro) if path is not None), files.work, result)


@named
def evaluate_mining(
    gold: File,
    *,
    chains: Literal["builtin", "gold"] = "builtin",
    languages: str | None = None,
    annotate_source: str | None = None,
    annotate_target: str | None = None,
    link_confidence: float | None = None,
    oblique: bool = False,
    neuter: Literal["both", "source"] = "both",
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Evaluate `build mine` on documents with gold coreference on both sides.

    The text is annotated as for mining; the word alignment is that of the records. Returns the figures as a
    JSON document.

    gold: ParCorFull's documents as JSON Lines (docs/mining-quality.md)
    chains: Antecedents from the built-in resolver, or from the gold annotation (the upper bound).
    oblique: Include pronouns that are mined only on request (ihn, ihm, ihr).
    neuter: Whether es needs an antecedent on both sides, or on the source side only (ContraPro).
    languages, annotate_source, annotate_target, link_confidence: as in `mine`
    """
    from anaphora.build.mine.quality import evaluate_mining as evaluate

    return evaluate(
        Path(gold),
        chains=chains,
        languages=languages,
        annotate=(annotate_source, annotate_target),
        progress=progress,
        confidence=link_confidence,
        oblique=oblique,
        neuter=neuter,
    )


@named
def augment(
    source: File,
    target: File,
    output: File,
    *,
    input_format: Literal["lines", "docids", "tags"] = "lines",
    languages: str = "en-de",
    annotate_source: str | None = None,
    annotate_target: str | None = None,
    link: str = "builtin",
    alignments: File | None = None,
    context: int = 1,
    separator: str = " <SEP> ",
    drop: Sequence[Literal["pleonastic", "event"]] = (),
    link_confidence: float | None = None,
    progress: Progress | None = None,
) -> Mapping[str, Any]:
    """Augment training data with examples in which *it* may be er, sie or es (antecedent-free augmentation).

    Finds English *it* whose antecedent is in neither the sentence nor its context, and gives its German pronoun the
    other two genders (ContraCAT, §7). Returns the statistics as a JSON document.

    target: Target text, one sentence per line.
    output: Folder for the files that are written.
    input_format: Layout of documents: blank lines between them, docid⇥sentence, or a line <d> before each.
    link: Resolver of antecedents (docs/annotation.md).
    context: Number of preceding sentences that must not contain the antecedent.
    drop: Exclude this kind of *it* (repeatable).
    source, languages, annotate_source, annotate_target, alignments, link_confidence: as in `mine`
    """
    from anaphora.annotate import default_annotator, load_annotator
    from anaphora.build.augment import Settings, Statistics, read_blocks, statistics_document, write_augmented
    from anaphora.build.augment import augment as candidates
    from anaphora.coref import load_linker

    if languages != "en-de":
        raise AnaphoraError(f"antecedent-free augmentation supports en-de only, not {languages}")
    folder = Path(output)
    with lock_folder(folder):
        remove_leftovers(folder)
        english = load_annotator(annotate_source or default_annotator("en", "--annotate-source"), "en")
        german = load_annotator(annotate_target or default_annotator("de", "--annotate-target"), "de")
        linker = load_linker(link, "en")
        statistics = Statistics()

        def counted(blocks: Iterable[Block]) -> Iterator[Block]:
            for block in blocks:
                yield block
                if progress is not None:
                    progress(statistics.sentences, None)  # how many come is not known

        blocks = counted(read_blocks(Path(source), Path(target), format=input_format, alignments=as_path(alignments)))
        settings = Settings(context, tuple(drop), link_confidence or 0.0)
        augmented = candidates(blocks, english, german, linker, settings, statistics)
        paths = write_augmented(augmented, folder, separator=separator)
    more: dict[str, Any] = {"files": [str(path) for path in paths]}
    more["annotation"] = {"source": dict(english.settings()), "target": dict(german.settings())}
    return statistics_document(statistics, **more, link=dict(linker.settings()))


# `anaphora train`: context-aware translation models


if TYPE_CHECKING:
    from anaphora.nmt.config import Config

Report = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A model that `train` wrote, available as the system nmt:MODEL.

    examples: number of training examples; updates: number of updates; perplexity: on the validation text, if any
    """

    model: Path
    examples: int
    updates: int
    stopped_early: bool
    perplexity: float | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"model": str(self.model)}


@named
def train(
    config: File | Mapping[str, Any],
    output: File,
    *,
    resume: bool = False,
    settings: Mapping[str, object] | None = None,
    sweep: str | None = None,
    average: int | None = None,
    tensorboard: bool = False,
    threads: int | None = None,
    report: Report | None = None,
) -> tuple[TrainedModel, ...]:
    """Train a context-aware translation model, which is then available as the system nmt:MODEL.

    Returns one model, or with a sweep one for each value.

    config: a TOML file, the name of a preset (see `list_presets`), or the content of a config
    output: Folder for the model.
    resume: resume the training of an interrupted model
    settings: keys of the config to override, as {"training.updates": 600}
    sweep: Train a model for each value, each in its own folder.
    average: Average the last N checkpoints when training ends (or the best N: training.average_of).
    tensorboard: Also write TensorBoard logs to MODEL/tensorboard.
    report: called with each record of the training log, with one about the data first (its kind is "data"), and with
        one about the model last ("end")
    """
    overrides = {key: str(value) for key, value in (settings or {}).items()}
    if tensorboard:
        overrides["log.tensorboard"] = "true"
    if average is not None:
        overrides["training.average"] = str(average)
    set_threads(threads)
    reported = report or (lambda record: None)
    return tuple(
        _train(_config(config, overrides | more), folder, resume, reported) for folder, more in _sweep(output, sweep)
    )


def list_presets() -> dict[str, str]:
    """List the presets of `train` with their descriptions."""
    from anaphora.nmt.config import presets

    return {name: config.description for name, config in presets().items()}


def _train(config: Config, folder: Path, resume: bool, report: Report) -> TrainedModel:
    from anaphora.nmt.checkpoint import open_folder
    from anaphora.nmt.data import prepare
    from anaphora.nmt.training import Ranks, Trainer

    ranks = Ranks()
    suites = [(name, tuple(load_suite(name))) for name in config.validation.suites]
    with lock_folder(folder) if ranks.first else contextlib.nullcontext():  # the others write nothing
        if ranks.first:  # the others find the vocabulary that it learns
            open_folder(folder, config, resume)
            data = prepare(config, folder, suites)
            about = {"examples": len(data.training), "pieces": data.text.size, "left_out": data.training.dropped}
            report({"kind": "data", "model": folder, "updates": config.training.updates, **about})
        ranks.wait()
        if not ranks.first:
            data = prepare(config, folder, suites)
        trained = Trainer(config, data, folder, report, ranks).run()
        if ranks.first:
            ended = {"update": trained.updates, "stopped_early": trained.stopped_early}
            report({"kind": "end", "model": folder, **ended})
    return TrainedModel(folder, len(data.training), trained.updates, trained.stopped_early, trained.perplexity)


def _config(config: File | Mapping[str, Any], overrides: dict[str, str]) -> Config:
    """Read a config file, a preset by its name, or the content of a config."""
    from anaphora.nmt.config import parse_config, read_config

    if isinstance(config, Mapping):
        return parse_config(dict(config), Path("config"), overrides)
    path = Path(config)
    if path.suffix == ".toml" or path.exists():
        return read_config(path, overrides)
    return parse_config({"base": str(config)}, path, overrides)


def _sweep(output: File, sweep: str | None) -> list[tuple[Path, dict[str, str]]]:
    """Return the folders to train in, and the settings of each."""
    if sweep is None:
        return [(Path(output), {})]
    key, equals, values = sweep.partition("=")
    if not equals:
        raise AnaphoraError(
            f"--sweep {sweep}: write section.key=value,value, for example training.learning_rate=1e-4,1e-5"
        )
    last = key.strip().rpartition(".")[2]
    return [(Path(output) / f"{last}-{value.strip()}", {key.strip(): value.strip()}) for value in values.split(",")]
