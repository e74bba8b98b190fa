"""Mining from beginning to end: read → annotate → align → extract → balance, each stage with files of its own."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from anaphora import __version__
from anaphora.align import Aligner
from anaphora.align import Settings as AlignSettings
from anaphora.annotate import Annotator
from anaphora.build.mine.corpus import INDEX, Corpus, Index, Sizes, read_stage
from anaphora.build.mine.jobs import (
    MODEL,
    PAIRS,
    Align,
    Annotate,
    Clean,
    Extract,
    Inputs,
    Sample,
    StageJob,
    annotate_in_order,
    annotator_of,
    limit,
    phenomenon_of,
    train,
)
from anaphora.build.mine.result import MiningResult, StageReport, finish
from anaphora.build.mine.shards import Count, Stage, digest, open_stage, remove_stages
from anaphora.core.errors import AnaphoraError
from anaphora.core.files import remove_leftovers
from anaphora.core.lock import lock_folder, lock_output
from anaphora.core.workers import ProcessPool, WorkerFailed, WorkerPool, processor_count

# fast_align, as in the paper; eflomal is better, but its training takes several times as long as all other stages
ALIGN = AlignSettings("builtin", symmetrize="grow-diag-final-and")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that the result of mining depends on.

    annotate: specs of the annotators of both sides
    clean: `none` or `subtitles`
    align, align_train: the aligner, and the largest number of pairs that it is trained on
    options: options of the phenomenon
    per_class: a number, `all` or `even`; context: number of preceding sentences in an example
    """

    corpus: Corpus
    languages: tuple[str, str]
    annotate: tuple[str, str]
    phenomenon: str = "pronouns"
    options: tuple[tuple[str, Any], ...] = ()
    clean: str = "none"
    align: AlignSettings = ALIGN
    align_train: int = PAIRS
    per_class: str = "4000"
    context: int = 5
    seed: int = 12345
    sizes: Sizes = field(default_factory=Sizes)


@dataclass(frozen=True, slots=True)
class Output:
    """The files to write: a suite, ContraPro's JSON, or both, and the work folder."""

    suite: Path | None
    contrapro: Path | None
    work: Path
    name: str
    citation: str = ""
    licence: str = ""


SIDES = ("source", "target")
Watch = Callable[[str, str], AbstractContextManager[Count | None]]  # called with a stage and the unit of its progress


@contextlib.contextmanager
def unwatched(stage: str, unit: str) -> Iterator[None]:
    yield None


def mine(
    settings: Settings, output: Output, runner: Runner, watch: Watch = unwatched, *, resume: bool = True
) -> MiningResult:
    """Mine a corpus, reusing the stages that a previous run has finished with the same settings.

    resume: False removes the stages of a previous run
    """
    specs = zip(settings.annotate, settings.languages, strict=True)
    annotators = [annotator_of(spec, code) for spec, code in specs]  # errors are raised before the long work
    phenomenon = phenomenon_of(settings.phenomenon, settings.languages, settings.options)
    if settings.corpus.alignments is None:
        Aligner(settings.align)
    elif settings.clean != "none":
        raise AnaphoraError("--clean changes words, which --alignments index. Use one of them")
    with contextlib.ExitStack() as locks:
        locks.enter_context(lock_folder(output.work, remedy="Wait until it ends, or choose another folder: --work."))
        for path in filter(None, (output.suite, output.contrapro)):
            locks.enter_context(lock_output(path))
        remove_leftovers(output.work)
        if not resume:
            remove_stages(output.work)
        run = _Run(settings, output.work, runner, watch)
        text = run.read()
        sides = tuple(run.annotate(text, k, annotator) for k, annotator in enumerate(annotators))
        links = run.align(text, sides)
        finds = run.extract((text, *sides, links), phenomenon.settings())
        return finish(run.result, settings, output, phenomenon.breakdowns, text, links, finds)


class _Run:
    """The stages, one after the other."""

    def __init__(self, settings: Settings, work: Path, runner: Runner, watch: Watch) -> None:
        self.settings, self.work, self.runner, self.watch = settings, work, runner, watch
        self.result = MiningResult(Index(), made={"by": f"anaphora {__version__}"})

    @property
    def sizes(self) -> list[int]:
        return self.result.index.shards

    def read(self) -> Stage:
        """Read the corpus into shards."""
        corpus, sizes = self.settings.corpus, self.settings.sizes
        files = {path.name: digest(path) for path in corpus.files()}
        about = {"files": files, "format": corpus.format, "sizes": asdict(sizes)}
        stage = self._open("read", {**about, "normalized": "signs"})
        there = (stage.folder / INDEX).is_file()
        with self._watched("read") as count:
            self.result.index = read_stage(stage, corpus, sizes, count)
        self._report("read", set(range(len(self.sizes))) if there else set())
        return stage if self.settings.clean == "none" else self._clean(stage)

    def _clean(self, text: Stage) -> Stage:
        """Clean the shards."""
        stage = self._open("clean", {"clean": self.settings.clean, "version": __version__}, (text,))
        self._shards("clean", stage, Clean(self.settings.clean), (text,))
        for number in range(len(self.sizes)):
            for side, counts in stage.first_row(number)["cleaned"].items():
                self.result.cleaned.setdefault(side, Counter()).update(counts)
        return stage

    def annotate(self, text: Stage, k: int, annotator: Annotator) -> Stage:
        """Annotate one side. Precomputed annotation is one file: its shards are written in order by this process."""
        side, spec, language = SIDES[k], self.settings.annotate[k], self.settings.languages[k]
        name = f"annotate-{side}"
        about = dict(annotator.settings()) | {"language": language}
        if not annotator.needs_all:
            stage = self._open(name, about, (text,))
            self._shards(name, stage, Annotate(spec, language, side), (text,))
            return stage
        stage = self._open(name, about | {"digest": digest(Path(spec.partition(":")[2]))}, (text,))
        there = stage.finished(len(self.sizes))
        with self._watched(name) as count:
            annotate_in_order(stage, text, annotator, side, self.sizes, count)
        self._report(name, there if len(there) == len(self.sizes) else set())
        return stage

    def align(self, text: Stage, sides: tuple[Stage, ...]) -> Stage:
        """Align the tokens, with an aligner that is trained on the corpus or from given word alignments."""
        inputs = (text, *sides)
        if self.settings.corpus.alignments is not None:
            stage = self._open("align", {"backend": "given"}, inputs)
            self._shards("align", stage, Align(None, stage.fingerprint), inputs)
            return stage
        trained = self._train(inputs)
        stage = self._open("align", {}, (trained,))
        self._shards("align", stage, Align(str(trained.folder / MODEL), stage.fingerprint), inputs)
        return stage

    def _train(self, inputs: tuple[Stage, ...]) -> Stage:
        settings, aligner = self.settings.align, Aligner(self.settings.align)
        about = {
            "backend": settings.backend,
            "library": aligner.backend.version(),
            "model": aligner.backend.model,
            "symmetrize": aligner.symmetrize,
            "seed": settings.seed,
        }
        pairs, most = self.result.index.pairs, self.settings.align_train
        sample = self._open("align-sample", {"seed": settings.seed, "most_pairs": most}, inputs)
        stage = self._open("align-model", about, (sample,))
        there = (stage.folder / MODEL).is_dir()
        if not there:
            self._shards("align-sample", sample, Sample(settings.seed, limit(settings.seed, pairs, most)), inputs)
        with self._watched("align-model", "steps") as progress:
            train(stage.folder, settings, map(sample.read, range(len(self.sizes))), progress)
        self._report("align-model", set(range(len(self.sizes))) if there else set())
        return stage

    def extract(self, inputs: tuple[Stage, ...], about: Mapping[str, Any]) -> Stage:
        """Find the examples of the phenomenon."""
        settings = self.settings
        by = {"phenomenon": settings.phenomenon, "version": __version__}  # rules and weights change with versions
        stage = self._open("extract", by | dict(about), inputs)
        work = Extract(settings.phenomenon, settings.languages, settings.options)
        self._shards("extract", stage, work, inputs)
        return stage

    def _open(self, name: str, about: dict[str, Any], before: tuple[Stage, ...] = ()) -> Stage:
        self.result.made[name] = about
        return open_stage(self.work, name, about, before)

    def _shards(self, name: str, stage: Stage, work: StageJob, inputs: tuple[Stage, ...]) -> None:
        there = stage.finished(len(self.sizes))
        with self._watched(name) as count:
            run_stage(stage, work, self.runner, self.sizes, inputs, count)
        self._report(name, there)

    @contextlib.contextmanager
    def _watched(self, name: str, unit: str = "pairs") -> Iterator[Count | None]:
        self.began = time.monotonic()
        with self.watch(name, unit) as count:
            yield count

    def _report(self, name: str, there: set[int]) -> None:
        pairs = sum(size for number, size in enumerate(self.sizes) if number not in there)
        seconds = time.monotonic() - self.began
        self.result.stages.append(StageReport(name, len(self.sizes), len(there), pairs, seconds))


# Runners, which do the jobs of a stage: in this process, in several processes, or on a Ray cluster.


Shard = tuple[int, Inputs]  # its number, and the files that the work on it needs
Done = tuple[int, bytes]  # its number, and the file that it gives

# read when libraries are imported: one thread per process, since there is a process per processor
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
RETRIES = {"processes": 2, "cluster": 5}  # how often a shard may be lost with its worker
ADVICE = "Finished shards are kept: run the command again"


class Runner(Protocol):
    """Runs a job on shards, in any order. Shards are taken from the iterable only as they are needed."""

    def run(self, work: StageJob, shards: Iterable[Shard]) -> Iterator[Done]: ...

    def close(self) -> None:
        """Release the workers."""
        ...


class InProcess:
    """One shard after the other, in this process."""

    def run(self, work: StageJob, shards: Iterable[Shard]) -> Iterator[Done]:
        for number, inputs in shards:
            yield number, work(inputs)

    def close(self) -> None:
        pass


class InWorkers:
    """Shards in parallel. What a worker has loaded stays loaded from stage to stage.

    remote: workers may be on other machines, so that the work is sent with the files that it needs
    """

    def __init__(self, pool: WorkerPool, *, remote: bool = False) -> None:
        self.pool, self.remote = pool, remote

    def run(self, work: StageJob, shards: Iterable[Shard]) -> Iterator[Done]:
        tasks = (ShardTask(*shard) for shard in shards)
        try:
            for task, data in self.pool.run(tasks, work.for_transport() if self.remote else work):
                yield task.key, data
        except WorkerFailed as error:
            if not error.trace:
                raise
            raise RuntimeError(error.trace) from None

    def close(self) -> None:
        self.pool.terminate()


class ShardTask(NamedTuple):
    """The work on one shard."""

    key: int
    inputs: Inputs

    def remaining(self, results: list[bytes]) -> ShardTask | None:
        return None if results else self


class StageHandler:
    """Does the work of a stage, the shared object of its tasks, inside a worker."""

    def load(self) -> None:
        pass

    def handle(self, task: ShardTask, work: StageJob) -> Iterator[bytes]:
        yield work(task.inputs)

    def close(self) -> None:
        pass


def processes(workers: int) -> InWorkers:
    """N processes on this machine, each with one thread."""
    pool = ProcessPool(StageHandler(), workers, retries=RETRIES["processes"], advice=ADVICE, environment=ONE_THREAD)
    return InWorkers(pool)


def ray_cluster(address: str | None, workers: int | None = None) -> InWorkers:
    """Actors of a Ray cluster, one per processor, but at most `workers`. Nodes need no folder in common."""
    from anaphora.core.ray_workers import RayPool

    pool = RayPool(StageHandler(), address, workers=workers, retries=RETRIES["cluster"], advice=ADVICE)
    return InWorkers(pool, remote=True)


def runner_for(workers: int | None, cluster: str | None) -> Runner:
    """The runner that the options of the command line name.

    workers: None is one for each processor; cluster: the address of a Ray cluster, "" for the default one
    """
    if cluster is not None:
        return ray_cluster(cluster or None, workers)
    count = workers or processor_count()
    return processes(count) if count > 1 else InProcess()


def run_stage(
    stage: Stage,
    work: StageJob,
    runner: Runner,
    sizes: list[int],
    inputs: tuple[Stage, ...],
    count: Count | None = None,
) -> None:
    """Run a job on the unfinished shards of a stage, and write each shard when it is done.

    sizes: the number of sentences of each shard; count: called with the number of sentences done, and of all
    """
    finished = stage.finished(len(sizes))
    todo = [number for number in range(len(sizes)) if number not in finished]
    shards = ((number, tuple(before.read(number) for before in inputs)) for number in todo)
    done, total = 0, sum(sizes[number] for number in todo)
    for number, data in runner.run(work, shards):
        stage.write(number, data)
        done += sizes[number]
        if count is not None:
            count(done, total)


def work_folder(output: Path, work: Path | None = None) -> Path:
    """Return the folder for the files of the stages: the one that was chosen, or one next to the output."""
    return work or output.with_name(f"{output.name}.work")


def kept(output: Path, work: Path | None = None) -> str:
    """Describe what an interrupted mining run has kept in its work folder; empty where there is nothing."""
    work = work_folder(output, work)
    shards = sum(1 for _ in work.glob("*/*.jsonl.gz"))
    return f"{shards:,} finished shards are kept in {work}" if work.is_dir() else ""
