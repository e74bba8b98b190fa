"""The backend `thot`, the default: the models of sil-thot, trained in both directions.

IBM models 1 to 4 (Brown et al. 1993), HMM (Vogel et al. 1996), fast_align (Dyer et al. 2013) and eflomal (Östling and
Tiedemann 2016). Higher models start from lower ones, by the schedule of GIZA++ (Och and Ney 2003).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from anaphora.align.backend import Directions, Pair, Progress, Settings, Words, both_directions, choose_model
from anaphora.core.errors import AnaphoraError
from anaphora.core.openmp import openmp_threads, sleeping_threads

with sleeping_threads():
    import thot
    from thot.alignment import (
        AlignmentModel,
        EflomalAlignmentModel,
        FastAlignModel,
        HmmAlignmentModel,
        Ibm1AlignmentModel,
        Ibm2AlignmentModel,
        Ibm3AlignmentModel,
        Ibm4AlignmentModel,
    )

# model → the models it is trained through, with their iterations (eflomal schedules by the size of the corpus)
SCHEDULES: dict[str, tuple[tuple[type[AlignmentModel], int], ...]] = {
    "eflomal": ((EflomalAlignmentModel, 0),),
    "fast_align": ((FastAlignModel, 5),),
    "ibm1": ((Ibm1AlignmentModel, 5),),
    "ibm2": ((Ibm1AlignmentModel, 5), (Ibm2AlignmentModel, 5)),
    "hmm": ((Ibm1AlignmentModel, 5), (HmmAlignmentModel, 5)),
    "ibm3": ((Ibm1AlignmentModel, 5), (HmmAlignmentModel, 5), (Ibm3AlignmentModel, 3)),
    "ibm4": ((Ibm1AlignmentModel, 5), (HmmAlignmentModel, 5), (Ibm3AlignmentModel, 3), (Ibm4AlignmentModel, 3)),
}
RESERVED = {"NULL": "NULL_"}  # sil-thot's name of the empty word; in a text it is an ordinary word
FILES = ("forward", "backward")  # prefixes of the files of each direction
CORPUS = ("src", "trg", "srctrgc")  # suffixes of the files with the training sentences


class Thot:
    """Two models: the target given the source, and the source given the target."""

    reproducible = True
    learns = True

    def __init__(self, settings: Settings) -> None:
        self.model = choose_model(settings, SCHEDULES, "eflomal")
        self.seed = settings.seed
        # fast_align sums counts in the order of its threads; the other models give the same with any number of threads
        self.threads = settings.threads or (1 if self.model == "fast_align" else None)
        if self.model == "fast_align" and self.threads != 1:
            self.reproducible = False
        self._models: list[AlignmentModel] = []

    def version(self) -> str:
        return f"sil-thot {version('sil-thot')}"

    def train(
        self, corpus: Sequence[Pair], pairs: Sequence[Pair], progress: Progress | None = None
    ) -> list[Directions]:
        texts = [(_words(source), _words(target)) for part in (corpus, pairs) for source, target in part]
        swapped = [(target, source) for source, target in texts]
        with openmp_threads(thot, self.threads):
            self._models = [self._trained(text, k, progress) for k, text in enumerate((texts, swapped))]
            if self.model == "eflomal":  # the sample of the training corpus is better than a new one
                numbers = range(len(corpus), len(texts))
                one, other = ([m.get_training_alignment(n)[1].to_list() for n in numbers] for m in self._models)
                return both_directions(one, other, first=1)
            return self._aligned(texts[len(corpus) :])

    def align(self, pairs: Sequence[Pair]) -> list[Directions]:
        with openmp_threads(thot, self.threads):
            return self._aligned([(_words(source), _words(target)) for source, target in pairs])

    def save(self, folder: Path) -> None:
        for name, model in zip(FILES, self._models, strict=True):
            if not model.print(str(folder / name)):
                raise AnaphoraError(f"{folder}: the model could not be written")
            for kind in CORPUS:  # only training needs the sentences, and they may be confidential
                (folder / f"{name}.{kind}").write_bytes(b"")

    def load(self, folder: Path) -> None:
        self._models = [SCHEDULES[self.model][-1][0]() for _ in FILES]
        for name, model in zip(FILES, self._models, strict=True):
            if not model.load(str(folder / name)):
                raise AnaphoraError(f"{folder}: {self.version()} cannot read the model. Train it again")

    def _trained(self, texts: Sequence[Pair], direction: int, progress: Progress | None) -> AlignmentModel:
        """Train one direction through all models of its schedule; progress counts the steps of both directions."""
        model: AlignmentModel | None = None
        done = 0
        for kind, iterations in SCHEDULES[self.model]:
            model = kind() if model is None else kind(model)  # type: ignore[call-arg]
            if not done:
                for source, target in texts:
                    model.add_sentence_pair(source, target)
            if isinstance(model, EflomalAlignmentModel):
                model.seed = self.seed
                model.emit_training_alignments = True
            model.start_training()
            if isinstance(model, EflomalAlignmentModel):
                iterations = model.scheduled_iterations
            steps = sum(n for _, n in SCHEDULES[self.model]) or iterations
            for _ in range(iterations):
                model.train()
                done += 1
                if progress is not None:
                    progress(direction * steps + done, 2 * steps)
            model.end_training()
        assert model is not None
        return model

    def _aligned(self, pairs: Sequence[Pair]) -> list[Directions]:
        sources, targets = [list(source) for source, _ in pairs], [list(target) for _, target in pairs]
        forward, backward = self._models
        one = [matrix.to_list() for _, matrix in forward.get_best_alignments(sources, targets)]
        other = [matrix.to_list() for _, matrix in backward.get_best_alignments(targets, sources)]
        return both_directions(one, other, first=1)


def _words(sentence: Words) -> Words:
    return sentence if RESERVED.keys().isdisjoint(sentence) else [RESERVED.get(word, word) for word in sentence]
