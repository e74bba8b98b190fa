"""Aligning two files by `anaphora.align`, against calling sil-thot directly: the same models, one thread for both.

The direct call is what the library offers: both models trained, symmetrized by the library, the points written.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

from timing import Row, side_by_side

DATA = Path(os.environ.get("ANAPHORA_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
TED = DATA / "han-apt" / "TED_es-en"
# model → lines, the ratio that is allowed. The training is the library's own and takes nearly all the time: 1.05 is
# "as fast" within what can be measured. eflomal's links come with its training, where the direct call samples anew.
MODELS = {"eflomal": (100, 1.0), "fast_align": (1_500, 1.05), "hmm": (150, 1.05)}


def run(rounds: int = 5) -> list[Row]:
    rows = []
    for model, (lines, at_most) in MODELS.items():
        with tempfile.TemporaryDirectory() as folder:
            source, target, kind = prepare(Path(folder), lines)
            calls: dict[str, Callable[[], object]] = {
                "ours": lambda: ours(model, source, target),  # noqa: B023  (called before the loop goes on)
                "direct": lambda: direct(model, source, target),  # noqa: B023
            }
            if model == "fast_align":
                calls["builtin"] = lambda: ours(model, source, target, "builtin")  # noqa: B023
            measured = side_by_side(calls, rounds)
        note = f"{lines:,} lines of {kind}, {measured.seconds('ours'):.2f} s, {measured.note}"
        name = f"align ({model}) / sil-thot called directly"
        rows.append(Row(name, measured.ratio("ours", "direct"), "×", at_most, note))
        if "builtin" in calls:
            rows.append(
                Row(f"align (builtin) / {model} of sil-thot", measured.ratio("builtin", "direct"), "×", 0.5, note)
            )
    return rows


def ours(model: str, source: Path, target: Path, backend: str = "thot") -> None:
    from anaphora.align import Aligner, Settings
    from anaphora.align.aligner import align_files

    aligner = Aligner(Settings(backend, model=model, threads=1))
    align_files(aligner, source, target, source.with_suffix(".ours"))


def direct(model: str, source: Path, target: Path) -> None:
    """What a program does that knows sil-thot, and does it well: whole lists in, no word looked at twice."""
    import numpy as np
    import thot
    from thot.alignment import SymmetrizationHeuristic, SymmetrizedAligner

    from anaphora.align.thot import openmp_threads

    sources, targets = ([line.split() for line in path.read_text("utf-8").splitlines()] for path in (source, target))
    with openmp_threads(thot, 1):
        aligner = SymmetrizedAligner(trained(model, sources, targets), trained(model, targets, sources))
        aligner.heuristic = SymmetrizationHeuristic.GROW_DIAG_FINAL
        matrices = [matrix.to_numpy() for _, matrix in aligner.get_best_alignments(sources, targets)]
    with source.with_suffix(".direct").open("w") as out:
        for matrix in matrices:
            rows, columns = (axis.tolist() for axis in np.nonzero(matrix))
            out.write(" ".join(f"{i}-{j}" for i, j in zip(rows, columns, strict=True)) + "\n")


def trained(model: str, sources: list[list[str]], targets: list[list[str]]) -> object:
    from thot.alignment import EflomalAlignmentModel, FastAlignModel, HmmAlignmentModel, Ibm1AlignmentModel

    kind = {"eflomal": EflomalAlignmentModel, "fast_align": FastAlignModel, "hmm": Ibm1AlignmentModel}[model]
    made = kind()
    for one, other in zip(sources, targets, strict=True):
        made.add_sentence_pair(one, other)
    for stage in range(2 if model == "hmm" else 1):
        if stage:
            made = HmmAlignmentModel(made)
        made.start_training()
        for _ in range(made.scheduled_iterations if model == "eflomal" else 5):
            made.train()
        made.end_training()
    return made


def prepare(folder: Path, lines: int) -> tuple[Path, Path, str]:
    """The first lines of TED ES-EN, or sentences of made-up words of their length; says which."""
    paths = folder / "text.es", folder / "text.en"
    if TED.is_dir():
        from anaphora.core.files import text_lines

        texts = [list(text_lines(TED / f"IWSLT14.TED.tst.tc.{path.suffix[1:]}.gz"))[:lines] for path in paths]
    else:
        rng = random.Random(1)
        numbers = [[min(int(rng.paretovariate(0.6)), 9_999) for _ in range(rng.randint(4, 32))] for _ in range(lines)]
        texts = [[" ".join(f"{side}{n}" for n in line) for line in numbers] for side in "st"]
    for path, text in zip(paths, texts, strict=True):
        path.write_text("".join(f"{line}\n" for line in text), encoding="utf-8")
    return *paths, "TED ES-EN" if TED.is_dir() else "made-up words, as TED ES-EN is not here"
