"""Scoring a suite with a system: in shards, written as they are scored, resumed after any interruption."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from anaphora.core.errors import AnaphoraError
from anaphora.core.lock import lock_output
from anaphora.core.parsing import shown
from anaphora.core.workers import ProcessPool, WorkerPool, processor_count
from anaphora.run_writer import RunWriter
from anaphora.runs import CandidateScores, Run, RunHeader, describe, run_file
from anaphora.suites.contexts import SEED, Selection, most_context, select
from anaphora.suites.example import ORIGINAL, Example
from anaphora.suites.suite import Suite
from anaphora.systems import (
    SuiteReader,
    SupportsClose,
    SupportsOptions,
    System,
    Traits,
    Translator,
    kind_traits,
    load_system,
    traits_of,
)
from anaphora.systems.context import Options, check_asked, split_spec, with_target_context, within
from anaphora.systems.encoding import check_scope

# Examples are scored in shards of this size, by one process or by many workers, so that batches, and with them the last
# digits of the scores, are the same on one machine, on many, and after an interruption.
SHARD = 1024

Progress = Callable[[int, int], None]


class Shard(NamedTuple):
    """Examples that follow each other in a suite: a task for a worker.

    start: number of the first one in the suite; done: numbers within the shard that need not be scored
    """

    start: int
    examples: Sequence[Example]
    done: frozenset[int] = frozenset()

    @property
    def key(self) -> int:
        return self.start

    def remaining(self, results: Sequence[tuple[int, CandidateScores]]) -> Shard:
        """Return the shard without examples that are scored. Even an empty one is a task: its end may be an error."""
        return self._replace(done=self.done | {number - self.start for number, _ in results})


Scorer = Callable[[Iterable[Shard]], Iterator[tuple[int, CandidateScores]]]
StartScorer = Callable[[str, Options], tuple[System, Scorer]]  # of a spec


def score_suite(
    suite: Suite,
    spec: str,
    output: Path,
    *,
    options: Options | None = None,
    limit: int | None = None,
    sample: int | None = None,
    seed: int = SEED,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
    scorer: StartScorer | None = None,
    selection: Selection | None = None,
) -> Run:
    """Score a suite and write a run. While it is written, no other process can write it.

    limit: score the first N examples only, which are then a suite of their own
    sample, seed: score a random sample of N examples
    selection: the examples, where they have been selected already, instead of limit, sample and seed
    resume: continue an unfinished run at the output; one that was created with different settings is refused
    scorer: computes the shards; by default this process
    """
    refuse_both(resume, overwrite)
    selection = selection or select(suite, limit=limit, sample=sample, seed=seed)
    examples = selection.examples
    if not examples:
        raise AnaphoraError(f"{suite.path or suite.header.name}: the suite has no examples")
    options = replace(options or Options(), languages=(suite.header.source_language, suite.header.target_language))
    check_scope(options.scope)
    _check_context(suite, options.context.sentences, selection)
    with lock_output(run_file(output)):  # before the system is loaded, which may take minutes
        system, compute = (scorer or in_this_process)(spec, options)
        if isinstance(system, SuiteReader):
            system.read_suite(suite)
        header = _header(suite, spec, system, options, selection)
        with RunWriter(output, header, examples, resume=resume, overwrite=overwrite) as unfinished:
            done = unfinished.done
            if progress is not None:
                progress(len(done), len(examples))
            for number, answer in compute(shards(examples, done)):
                if number not in done:
                    unfinished.add(number, answer)
                    if progress is not None:
                        progress(len(done), len(examples))
            return unfinished.finish()


def refuse_both(resume: bool, overwrite: bool) -> None:
    """Raise an error if an existing output should be both continued and replaced."""
    if resume and overwrite:
        raise AnaphoraError("--resume and --overwrite cannot be combined.")


def _header(suite: Suite, spec: str, system: System, options: Options, selection: Selection) -> RunHeader:
    if options.scope != "candidate" and not traits_of(system).scope:
        raise AnaphoraError(f"{spec} scores whole candidates only, not the {options.scope} part of them")
    settings: dict[str, Any] = dict(system.settings())
    settings |= {"separator": options.context.separator, "margins_only": options.margins_only}
    settings |= {"truncate": options.truncate, "plain": options.plain, "limit": selection.limit, "focus": options.scope}
    settings["sample"] = None if selection.whole else selection.sample
    label = settings.pop("context", options.context.label)
    if not is_attack(selection.examples):
        label = within(label, selection.context)
    number = len(selection.examples)
    header = describe(suite, sha256=selection.sha256, system=spec, context=label, examples=number, **settings)
    return replace(header, cut_blocks=selection.cut_blocks)


def is_attack(examples: Sequence[Example]) -> bool:
    """Return whether these are attacked examples, which are compared with their originals at the same context."""
    return ORIGINAL in examples[0].tags


def _check_context(suite: Suite, asked: int, selection: Selection) -> None:
    """Raise an error if no example of the suite has as much context as is asked for."""
    if asked > selection.context and not is_attack(selection.examples):
        most = selection.context if selection.whole else most_context(suite)
        check_asked(asked, most, f"{suite.header.name} has")


def shards(examples: Sequence[Example], done: Iterable[int]) -> Iterator[Shard]:
    """Yield the shards that are not completely scored."""
    known = frozenset(done)
    for start in range(0, len(examples), SHARD):
        part = examples[start : start + SHARD]
        finished = frozenset(n - start for n in known if start <= n < start + len(part))
        if len(finished) < len(part):
            yield Shard(start, part, finished)


def scorer_in_process(system: System, options: Options, *, close: bool = False) -> Scorer:
    """Return a scorer that computes shard after shard in this process. close: close the system afterwards"""

    def compute(work: Iterable[Shard]) -> Iterator[tuple[int, CandidateScores]]:
        for shard in work:
            yield from score_shard(system, options, shard)
        if close and isinstance(system, SupportsClose):
            system.close()

    return compute


def in_this_process(spec: str, options: Options) -> tuple[System, Scorer]:
    """Load a system that computes in this process."""
    system = load_system(spec, options)
    return system, scorer_in_process(system, options, close=True)


class SystemCache:
    """Keeps a system loaded and replaces its options, for several runs of one model.

    It is loaded again for other languages, which prompts and language codes are made of.
    """

    def __init__(self) -> None:
        self._loaded: tuple[tuple[str, tuple[str, str]], System] | None = None

    def __call__(self, spec: str, options: Options) -> tuple[System, Scorer]:
        key = spec, options.languages
        if self._loaded is None or self._loaded[0] != key or not isinstance(self._loaded[1], SupportsOptions):
            self.close()
            self._loaded = key, load_system(spec, options)
        system = self._loaded[1]
        if isinstance(system, SupportsOptions):
            system.options = options
        return system, scorer_in_process(system, options)

    def close(self) -> None:
        """Close the system."""
        if self._loaded is not None and isinstance(self._loaded[1], SupportsClose):
            self._loaded[1].close()
        self._loaded = None


def score_shard(system: System, options: Options, shard: Shard) -> Iterator[tuple[int, CandidateScores]]:
    """Yield the scores of one shard, with numbers as in the suite."""
    start, examples, done = shard
    own = traits_of(system).own_context  # such a system produces it as it reads it
    if options.context.target == "produced" and options.context.sentences and not own:
        examples = produced_context(system, options, examples)
    for number, answer in system.score(examples, done):
        yield start + number, answer


def produced_context(system: System, options: Options, examples: Sequence[Example]) -> list[Example]:
    """Return the examples with the system's own translation of the source context as target context."""
    if not isinstance(system, Translator):
        raise AnaphoraError("--target-context produced needs a system that translates; this one only scores")
    context = options.context
    cut = [example.with_context(context.sentences) for example in examples]
    sources = [context.join(example.source[:-1]) for example in cut]
    distinct = sorted({source for source in sources if source})
    translations = dict(zip(distinct, system.translate(distinct), strict=True)) | {"": ""}
    return [
        with_target_context(example, ("",) * (example.context_size - 1) + (translations[source],))
        if example.context_size
        else example
        for example, source in zip(cut, sources, strict=True)
    ]


# Systems that are Python objects: an object with a method `score`, or a function of source and translation.

ScoreFunction = Callable[[str, str], float]


class FunctionSystem:
    """A function that takes a source and one candidate, both with their context joined, and returns a score."""

    def __init__(self, function: ScoreFunction, options: Options) -> None:
        self.function, self.options = function, options

    def settings(self) -> Mapping[str, Any]:
        return {}

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        for number, example in enumerate(examples):
            if number not in done:
                source, targets = self.options.context.scoring_input(example)
                scores: list[Any] = [self.function(source, target) for target in targets]
                for score in scores:
                    if not isinstance(score, Real) or not _is_finite(score):
                        finite = "finite " if isinstance(score, Real) else ""
                        raise AnaphoraError(f"the score of a candidate is a {finite}number, not {shown(score)}")
                yield number, CandidateScores([float(score) for score in scores])


def _is_finite(score: Any) -> bool:
    try:
        return math.isfinite(score)
    except OverflowError:  # a whole number of hundreds of digits
        return False


def name_of(system: object) -> str:
    """Return what the system is called in the header of its run."""
    return f"python:{getattr(system, '__name__', None) or type(system).__name__}"


def scorer_of(system: System | ScoreFunction) -> StartScorer:
    """Return a scorer that asks this object, in this process."""
    scores = callable(getattr(system, "score", None))
    if not scores and not callable(system):
        raise AnaphoraError(
            f"{shown(system)} is not a system. Name one (KIND:WHAT), or pass a function of source and translation, "
            "or an object with the methods settings and score (see docs/extending.md)"
        )

    def start(spec: str, options: Options) -> tuple[System, Scorer]:
        asked: Any = system if scores else FunctionSystem(system, options)  # type: ignore[arg-type]
        return asked, scorer_in_process(asked, options)

    return start


# Scoring in parallel: workers on this machine or on a Ray cluster that each hold the system.

ADVICE = "Scored examples are kept: continue with --resume"


@dataclass
class ScoringHandler:
    """Loads a system in a worker and scores shards with it."""

    spec: str
    options: Options
    system: System = field(init=False)

    def load(self) -> Mapping[str, Any]:
        self.system = load_system(self.spec, self.options)
        return {**self.system.settings(), TRAITS: traits_of(self.system)}

    def handle(self, task: Shard, shared: object) -> Iterator[tuple[int, CandidateScores]]:
        for number, answer in score_shard(self.system, self.options, task):
            yield number, answer._replace(extra=dict(answer.extra))  # a mapping proxy cannot be pickled

    def close(self) -> None:
        if isinstance(self.system, SupportsClose):
            self.system.close()


TRAITS = "system's traits"  # in a worker's description, besides the settings


class PooledSystem:
    """A system that scores in a pool of workers. Its `compute` is the Scorer for `score_suite`."""

    def __init__(self, pool: WorkerPool) -> None:
        self.pool = pool
        self._description = dict(pool.start())
        self.traits: Traits = self._description.pop(TRAITS)

    def settings(self) -> Mapping[str, Any]:
        """Return the system's settings, which are the same in every worker."""
        return self._description

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        """Score examples as one shard."""
        return self.compute([Shard(0, examples, frozenset(n for n in range(len(examples)) if n in done))])

    def compute(self, shards: Iterable[Shard]) -> Iterator[tuple[int, CandidateScores]]:
        """Yield the answers of all shards as they arrive. Afterwards the workers have ended."""
        try:
            for _, answer in self.pool.run(shards):
                yield answer
            self.pool.close()
        finally:
            self.pool.terminate()


def local_workers(workers: int, threads: int | None = None) -> StartScorer:
    """Processes on this machine for `score_suite`.

    threads: per process; by default an equal share of the processors
    """
    share = threads or max(1, processor_count() // workers)

    def start(spec: str, options: Options) -> tuple[System, Scorer]:
        system = PooledSystem(
            ProcessPool(ScoringHandler(spec, replace(options, threads=share)), workers, advice=ADVICE)
        )
        return system, system.compute

    return start


def ray_cluster(
    address: str | None = None,
    *,
    workers: int | None = None,
    cpus_per_worker: int = 1,
    gpus_per_worker: float = 0,
) -> StartScorer:
    """Actors of a Ray cluster for `score_suite`; each has its own processors, and as many threads.

    address: HOST:PORT of the head; without, RAY_ADDRESS, a cluster that runs here, or else a new one here
    workers: at most this many
    """

    def start(spec: str, options: Options) -> tuple[System, Scorer]:
        from anaphora.core.ray_workers import RayPool

        handler = ScoringHandler(spec, replace(options, threads=cpus_per_worker))
        pool = RayPool(
            handler, address or None, workers=workers, cpus=cpus_per_worker, gpus=gpus_per_worker, advice=ADVICE
        )
        system = PooledSystem(pool)
        return system, system.compute

    return start


# The default number of workers: two processes of one thread are faster than one of two (benchmarks/workers.py)

GPU_DEVICES = ("nvidia[0-9]*", "kfd", "dxg")
WEIGHTS = ("*.safetensors", "*.bin", "*.gguf")
OVERHEAD = 1 << 30  # bytes of a process besides its weights


def default_worker_count(spec: str, examples: int, devices: Path = Path("/dev")) -> int:
    """One worker per processor where a model computes on CPUs, with a shard and enough memory for each; else one."""
    _, what = split_spec(spec)
    shards = -(-examples // SHARD)
    has_gpu = any(any(devices.glob(pattern)) for pattern in GPU_DEVICES)
    if shards < 2 or has_gpu or not kind_traits(spec).default_workers:
        return 1
    name, _, query = what.partition("?")  # wrong settings are reported when the system is loaded
    size = _weights_size(name)
    if size is None or dict(parse_qsl(query)).get("device", "cpu") != "cpu":
        return 1
    return max(1, min(processor_count(), shards, _free_memory() // (2 * size + OVERHEAD)))


def _weights_size(name: str) -> int | None:
    """Return the size of a model's weights in bytes, if it is on this machine."""
    path = Path(name)
    if path.is_file():
        return path.stat().st_size
    if not path.is_dir():
        try:
            from huggingface_hub import snapshot_download

            path = Path(snapshot_download(name, local_files_only=True))
        except Exception:  # it has to be downloaded first, by one process
            return None
    sizes = [sum(file.stat().st_size for file in path.glob(pattern)) for pattern in WEIGHTS]
    return max(sizes) or None  # the same weights may be there in several formats


def _free_memory() -> int:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):  # not on this platform
        return 0
