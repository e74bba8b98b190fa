"""The Python interface to `anaphora build`: templates, mining and augmentation (attacks: `anaphora.api_attack`).

Parameters are called as the options of the commands. Each function writes its output, and returns what it has counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anaphora.core.errors import AnaphoraError
from anaphora.core.files import remove_leftovers
from anaphora.core.lock import lock_folder
from anaphora.core.parameters import named

if TYPE_CHECKING:
    from anaphora.build.augment import Block
    from anaphora.build.mine.pipeline import Watch
    from anaphora.build.mine.result import MiningResult

File = str | Path
Progress = Callable[[int, int | None], None]


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
    """Fill ContraCAT's templates with words, and write the suite.

    only: ids of templates, or groups of them ("prior", "overlap"); by default all
    vocabulary: folder of word classes that replace the built-in ones
    edition: "paper", "release" (the settings of ContraCAT's files) or "table-8" (its counts)
    languages: language pair, or a folder of your own named like one
    """
    from anaphora.build.templates.suite import template_suite

    made = template_suite(languages, tuple(only), _path(vocabulary), edition)
    counts, sha256 = made.write(Path(output), progress)
    return Built(made.suite.header.name, Path(output), sha256, sum(counts.values()), made.edition, counts)


@named
def mine(
    source: File,
    target: File | None,
    languages: str,
    output: File,
    *,
    input_format: str = "lines",
    links: File | None = None,
    clean: str = "none",
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
    seed: int = 1,
    to: str = "suite",
    suite_name: str | None = None,
    citation: str = "",
    licence: str = "",
    work: File | None = None,
    resume: bool = True,
    workers: int | None = None,
    cluster: str | None = None,
    watch: Watch | None = None,
) -> Mined:
    """Mine a contrastive test set from parallel documents (ContraPro, §3.1), and write it.

    source, target, input_format, links: the texts, their layout ("lines", "docids", "tags", "tsv", "moses", "opus"),
        and an OPUS alignment file; target is None where one file has both
    clean: clean-up of the lines, "none" or "subtitles"
    annotate_source, annotate_target: annotators, by default an installed spaCy pipeline
    alignments: word alignments to read; otherwise `aligner` is trained on at most `align_train` pairs
    link_source, link_target, link_confidence: resolvers of antecedents, and the least confidence of an antecedent
    option: settings of the phenomenon
    per_class: maximum number of examples per class, "all" or "even"; context: preceding sentences of an example
    to: "suite", "contrapro" (its JSON) or "both"
    suite_name, citation, licence: stored in the suite
    work, resume: folder for the files of the stages (OUTPUT.work), and whether to reuse them
    workers, cluster: number of processes, by default one per processor, or the address of a Ray cluster
    watch: called with a stage and the unit of its progress; returns a context manager that gives a progress function
    """
    from anaphora.annotate import default_annotator
    from anaphora.build.mine.corpus import OVERLAP, Corpus, Sizes
    from anaphora.build.mine.pipeline import ALIGN, Output, Settings, runner_for, unwatched
    from anaphora.build.mine.pipeline import mine as run
    from anaphora.build.mine.result import parse_size

    pair = languages.split("-")
    if len(pair) != 2 or not all(pair):
        raise AnaphoraError(f"-l {languages}: expected SOURCE-TARGET, for example en-de")
    if to not in ("suite", "contrapro", "both"):
        raise AnaphoraError(f"unknown output {to!r}. Known: suite, contrapro, both")
    parse_size(per_class, {})  # a wrong value is an error before the long work
    own = {"confidence": link_confidence, "link_source": link_source, "link_target": link_target}
    backend, _, model = aligner.partition(":")
    settings = Settings(
        Corpus(Path(source), _path(target), input_format, _path(links), _path(alignments)),
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
        align=replace(ALIGN, backend=backend, model=model or None, symmetrize=symmetrize or ALIGN.symmetrize),
        align_train=align_train,
        per_class=per_class,
        context=context,
        seed=seed,
        sizes=Sizes(overlap=max(OVERLAP, context)),
    )
    path = Path(output)
    beside = path.with_name(f"{path.name.removesuffix('.gz').removesuffix('.jsonl')}.contrapro.json")
    files = Output(
        suite=path if to != "contrapro" else None,
        contrapro={"suite": None, "contrapro": path, "both": beside}[to],
        work=_path(work) or path.with_name(f"{path.name}.work"),
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
    chains: str = "builtin",
    languages: str | None = None,
    annotate_source: str | None = None,
    annotate_target: str | None = None,
    link_confidence: float | None = None,
    oblique: bool = False,
    neuter: str = "both",
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Evaluate `mine` on documents with gold coreference on both sides, and return the figures as a JSON document.

    gold: ParCorFull's documents as JSON Lines
    chains: antecedents from the "builtin" resolver, or from the "gold" annotation (the upper bound)
    oblique: include pronouns that are mined only on request (ihn, ihm, ihr)
    neuter: whether es needs an antecedent on "both" sides, or on the "source" side only (ContraPro)
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
    input_format: str = "lines",
    languages: str = "en-de",
    annotate_source: str | None = None,
    annotate_target: str | None = None,
    link: str = "builtin",
    alignments: File | None = None,
    context: int = 1,
    separator: str = " <SEP> ",
    drop: Sequence[str] = (),
    link_confidence: float | None = None,
    progress: Progress | None = None,
) -> Mapping[str, Any]:
    """Augment training data with examples in which *it* may be er, sie or es (ContraCAT, §7).

    Writes the files into the folder `output`, and returns the statistics as a JSON document.

    input_format: layout of documents: "lines" (blank lines between them), "docids" or "tags"
    link: resolver of antecedents; link_confidence: the least confidence of an antecedent
    context: number of preceding sentences that must not contain the antecedent
    separator: text between the sentences of a passage
    drop: kinds of *it* to exclude: "pleonastic", "event"
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

        blocks = counted(read_blocks(Path(source), Path(target), format=input_format, alignments=_path(alignments)))
        settings = Settings(context, tuple(drop), link_confidence or 0.0)
        found = candidates(blocks, english, german, linker, settings, statistics)
        paths = write_augmented(found, folder, separator=separator)
    more: dict[str, Any] = {"files": [str(path) for path in paths]}
    more["annotation"] = {"source": dict(english.settings()), "target": dict(german.settings())}
    return statistics_document(statistics, **more, link=dict(linker.settings()))


def _path(path: File | None) -> Path | None:
    return None if path is None else Path(path)
