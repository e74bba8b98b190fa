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
    phenomenon_of,
    sample_limit,
    train,
)
from anaphora.build.mine.result import MiningResult, StageReport, finish
from anaphora.build.mine.shards import Count, Stage, digest, open_stage, remove_stages
from anaphora.core.errors import AnaphoraError
from anaphora.core.files import remove_leftovers
from anaphora.core.lock import lock_folder, lock_output
from anaphora.core.special import beside
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
        raise AnaphoraError("--clean changes the words that --alignments refer to. Use only one of them")
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

    def read(self) -> Stage:
        corpus, sizes = self.settings.corpus, self.settings.sizes
        files = {path.name: digest(path) for path in corpus.files()}
        about = {"files": files, "format": corpus.format, "sizes": asdict(sizes), "normalized": "signs"}
        stage = self._open("read", about)
        with self._watched("read", (stage.folder / INDEX).is_file()) as count:
            self.result.index = read_stage(stage, corpus, sizes, count)
        if self.settings.clean == "none":
            return stage
        clean = self._open("clean", {"clean": self.settings.clean, "version": __version__}, (stage,))
        self._run("clean", clean, Clean(self.settings.clean), (stage,))
        for number in range(len(self.result.index.shards)):
            for side, counts in clean.first_row(number)["cleaned"].items():
                self.result.cleaned.setdefault(side, Counter()).update(counts)
        return clean

    def annotate(self, text: Stage, k: int, annotator: Annotator) -> Stage:
        """Annotate one side. Precomputed annotation is one file: its shards are written in order by this process."""
        side, spec, language = SIDES[k], self.settings.annotate[k], self.settings.languages[k]
        name = f"annotate-{side}"
        about = dict(annotator.settings()) | {"language": language}
        if not annotator.needs_all:
            stage = self._open(name, about, (text,))
            self._run(name, stage, Annotate(spec, language, side), (text,))
            return stage
        stage = self._open(name, about | {"digest": digest(Path(spec.partition(":")[2]))}, (text,))
        shards = self.result.index.shards
        complete = len(stage.finished(len(shards))) == len(shards)
        with self._watched(name, complete) as count:
            annotate_in_order(stage, text, annotator, side, shards, count)
        return stage

    def align(self, text: Stage, sides: tuple[Stage, ...]) -> Stage:
        """Align the tokens, with an aligner that is trained on the corpus or from given word alignments."""
        inputs = (text, *sides)
        if self.settings.corpus.alignments is not None:
            stage, model = self._open("align", {"backend": "given"}, inputs), None
        else:
            trained = self._train(inputs)
            stage, model = self._open("align", {}, (trained,)), str(trained.folder / MODEL)
        self._run("align", stage, Align(model, stage.fingerprint), inputs)
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
        index, most = self.result.index, self.settings.align_train
        sample = self._open("align-sample", {"seed": settings.seed, "most_pairs": most}, inputs)
        stage = self._open("align-model", about, (sample,))
        trained = (stage.folder / MODEL).is_dir()
        if not trained:
            job = Sample(settings.seed, sample_limit(settings.seed, index.pairs, most))
            self._run("align-sample", sample, job, inputs)
        with self._watched("align-model", trained, "steps") as progress:
            train(stage.folder, settings, map(sample.read, range(len(index.shards))), progress)
        return stage

    def extract(self, inputs: tuple[Stage, ...], about: Mapping[str, Any]) -> Stage:
        """Find the examples of the phenomenon."""
        settings = self.settings
        by = {"phenomenon": settings.phenomenon, "version": __version__}  # rules and weights change with versions
        stage = self._open("extract", by | dict(about), inputs)
        self._run("extract", stage, Extract(settings.phenomenon, settings.languages, settings.options), inputs)
        return stage

    def _open(self, name: str, about: dict[str, Any], before: tuple[Stage, ...] = ()) -> Stage:
        self.result.made[name] = about
        return open_stage(self.work, name, about, before)

    def _run(self, name: str, stage: Stage, job: StageJob, inputs: tuple[Stage, ...]) -> None:
        """Run a job on the unfinished shards of a stage, and write each shard when it is done."""
        sizes = self.result.index.shards
        finished = stage.finished(len(sizes))
        todo = [number for number in range(len(sizes)) if number not in finished]
        shards = ((number, tuple(before.read(number) for before in inputs)) for number in todo)
        done, total = 0, sum(sizes[number] for number in todo)
        with self._watched(name, finished) as count:
            for number, data in self.runner.run(job, shards):
                stage.write(number, data)
                done += sizes[number]
                if count is not None:
                    count(done, total)

    @contextlib.contextmanager
    def _watched(self, name: str, reused: bool | set[int], unit: str = "pairs") -> Iterator[Count | None]:
        """Show the progress of a stage, and add its report. reused: the shards that were finished; or all, or none"""
        began = time.monotonic()
        with self.watch(name, unit) as count:
            yield count
        sizes = self.result.index.shards
        finished = set(range(len(sizes)) if reused else ()) if isinstance(reused, bool) else reused
        pairs = sum(size for number, size in enumerate(sizes) if number not in finished)
        self.result.stages.append(StageReport(name, len(sizes), len(finished), pairs, time.monotonic() - began))


# Runners of jobs: in this process, in several processes, or on a Ray cluster.

Shard = tuple[int, Inputs]  # its number, and the files that a job needs
Done = tuple[int, bytes]  # its number, and the file that the job returns

# read when libraries are imported: one thread per process, since there is a process per processor
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
RETRIES = {"processes": 2, "cluster": 5}  # how often a shard may be lost with its worker
ADVICE = "Finished shards are kept: run the command again"


class Runner(Protocol):
    """Runs a job on shards, in any order. Shards are taken from the iterable only as they are needed."""

    def run(self, job: StageJob, shards: Iterable[Shard]) -> Iterator[Done]: ...

    def close(self) -> None: ...


class InProcess:
    """One shard after the other, in this process."""

    def run(self, job: StageJob, shards: Iterable[Shard]) -> Iterator[Done]:
        for number, inputs in shards:
            yield number, job(inputs)

    def close(self) -> None:
        pass


class InWorkers:
    """Shards in parallel. What a worker has loaded stays loaded from stage to stage.

    remote: workers may be on other machines, so that a job is sent with the files that it needs
    """

    def __init__(self, pool: WorkerPool, *, remote: bool = False) -> None:
        self.pool, self.remote = pool, remote

    def run(self, job: StageJob, shards: Iterable[Shard]) -> Iterator[Done]:
        tasks = (ShardTask(*shard) for shard in shards)
        try:
            for task, data in self.pool.run(tasks, job.for_transport() if self.remote else job):
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
    """Runs the job of a stage, the shared object of its tasks, inside a worker."""

    def load(self) -> None:
        pass

    def handle(self, task: ShardTask, job: StageJob) -> Iterator[bytes]:
        yield job(task.inputs)

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
    """Return a runner. workers: None for one per processor; cluster: the address of a cluster, "" for the default."""
    if cluster is not None:
        return ray_cluster(cluster or None, workers)
    count = workers or processor_count()
    return processes(count) if count > 1 else InProcess()


def work_folder(output: Path, work: Path | None = None) -> Path:
    """Return the folder for the files of the stages: the one that was chosen, or one next to the output."""
    return work or beside(output, "{}.work")


def kept(output: Path, work: Path | None = None) -> str:
    """Describe what an interrupted mining run has kept in its work folder; empty where there is nothing."""
    work = work_folder(output, work)
    shards = sum(1 for _ in work.glob("*/*.jsonl.gz"))
    return f"{shards:,} finished shards are kept in {work}" if work.is_dir() else ""
