"""Mining from beginning to end: read → annotate → align → extract → balance, each stage with files of its own."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from anaphora import __version__
from anaphora.align import Aligner
from anaphora.annotate import Annotator
from anaphora.build.mine.annotating import annotate_in_order
from anaphora.build.mine.jobs import Align, Annotate, Clean, Extract, Sample, Work, annotator_of, phenomenon_of
from anaphora.build.mine.reading import INDEX, Index, read_stage
from anaphora.build.mine.result import Mined, StageReport, finish
from anaphora.build.mine.running import Runner, run_stage
from anaphora.build.mine.settings import Output, Settings
from anaphora.build.mine.stage import Count, Stage, digest, open_stage, remove_stages
from anaphora.build.mine.training import MODEL, limit, train
from anaphora.core.errors import AnaphoraError
from anaphora.core.files import remove_leftovers
from anaphora.core.lock import lock_folder, lock_output

SIDES = ("source", "target")
Watch = Callable[[str, str], AbstractContextManager[Count | None]]  # a stage, and the unit of what is counted in it


@contextlib.contextmanager
def unwatched(stage: str, unit: str) -> Iterator[None]:
    yield None


def mine(settings: Settings, output: Output, runner: Runner, watch: Watch = unwatched, *, resume: bool = True) -> Mined:
    """Mine a corpus; what a run before has finished with the same settings is not done again.

    resume: False removes what a run before has finished
    """
    specs = zip(settings.annotate, settings.languages, strict=True)
    annotators = [annotator_of(spec, code) for spec, code in specs]  # what is missing is said before the long work
    phenomenon = phenomenon_of(settings.phenomenon, settings.languages, settings.options)
    if settings.corpus.alignments is None:
        Aligner(settings.align)
    elif settings.clean != "none":
        raise AnaphoraError("--clean changes words, which --alignments counts: give alignments of clean lines")
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
        self.result = Mined(Index(), made={"by": f"anaphora {__version__}"})

    @property
    def sizes(self) -> list[int]:
        return self.result.index.shards

    def read(self) -> Stage:
        """The corpus in shards."""
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
        """The same shards, cleaned up."""
        stage = self._open("clean", {"clean": self.settings.clean, "version": __version__}, (text,))
        self._shards("clean", stage, Clean(self.settings.clean), (text,))
        for number in range(len(self.sizes)):
            for side, counts in stage.first_row(number)["cleaned"].items():
                self.result.cleaned.setdefault(side, Counter()).update(counts)
        return stage

    def annotate(self, text: Stage, k: int, annotator: Annotator) -> Stage:
        """One side, annotated. Ready annotation is one file for all, so its shards are made in their order, here."""
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
        """The links of all tokens, by an aligner that is trained on the corpus, or from those of its words."""
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
        """What the phenomenon finds."""
        settings = self.settings
        by = {"phenomenon": settings.phenomenon, "version": __version__}  # rules and weights change with versions
        stage = self._open("extract", by | dict(about), inputs)
        work = Extract(settings.phenomenon, settings.languages, settings.options)
        self._shards("extract", stage, work, inputs)
        return stage

    def _open(self, name: str, about: dict[str, Any], before: tuple[Stage, ...] = ()) -> Stage:
        self.result.made[name] = about
        return open_stage(self.work, name, about, before)

    def _shards(self, name: str, stage: Stage, work: Work, inputs: tuple[Stage, ...]) -> None:
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
