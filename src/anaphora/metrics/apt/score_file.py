"""The score and detail files of the original APT program, whose layout others have taken over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from anaphora.metrics.apt.python2 import numpy_argsort
from anaphora.metrics.apt.task import Confusion, Side, Triple

DETAIL_COLUMNS = ("SENT.", "POS. SOURCE", "SOURCE", "POS. REF.", "REF.", "POS. TARGET", "TARGET", "CASE")


@dataclass(frozen=True, slots=True)
class ScoreFile:
    """What a score file says. cases, weights and counts are those of the cases in use, in the order of the config.

    longest: more rows and columns than this are summed up as `...`
    unaligned: the line `Not source`, which only the newer files of the reference-side variant have
    """

    score: float | None
    cases: Sequence[int]
    weights: Sequence[float]
    counts: Sequence[int]
    confusion: Confusion
    longest: int
    unaligned: int | None = None

    def __str__(self) -> str:
        lines = [
            f"Score: {float('nan') if self.score is None else self.score:.4f}",
            f"Cases: {','.join(map(str, self.cases))}",
            f"Weights: {','.join(map(_python2_float, self.weights))}",
            f"Findings per case: {','.join(map(str, self.counts))}",
        ]
        if self.unaligned is not None:
            lines.append(f"Not source: {self.unaligned}")
        lines.append(f"Total findings: {sum(self.counts)}")
        labels, rows = _laid_out(self.confusion, self.longest)
        lines.append("\t".join(["", *labels]))
        lines += ["\t".join([label, *map(str, row)]) for label, row in zip(labels, rows, strict=True)]
        return "".join(f"{line}\n" for line in lines)


def detail_file(triples: Iterable[Triple]) -> str:
    """One line per source pronoun."""
    lines = ["\t".join(DETAIL_COLUMNS)]
    for sentence, source, reference, candidate, case in triples:
        cells = [str(sentence), _joined(source.positions), " ".join(source.words)]
        for side in (reference, candidate):
            cells += _cells(side)
        lines.append("\t".join([*cells, str(case)]))
    return "".join(f"{line}\n" for line in lines)


def _cells(side: Side) -> list[str]:
    return [_joined(side.positions), " ".join(side.words)] if side.positions else ["-", "-"]


def _joined(positions: Sequence[int]) -> str:
    return " ".join(map(str, positions))


def _laid_out(confusion: Confusion, longest: int) -> tuple[list[str], list[list[int]]]:
    """The most often right label first, the rest as `...`, and sums."""
    counts = confusion.counts
    order = numpy_argsort([row[k] for k, row in enumerate(counts)])[::-1]
    labels = [confusion.labels[k] for k in order]
    rows = [[counts[i][j] for j in order] for i in order]
    if len(labels) > longest:
        rows = [[*row[:longest], sum(row[longest:])] for row in rows]
        rows = [*rows[:longest], [sum(column) for column in zip(*rows[longest:], strict=True)]]
        labels = [*labels[:longest], "..."]
    rows = [[*row, sum(row)] for row in rows]
    rows.append([sum(column) for column in zip(*rows, strict=True)])
    return [*labels, "-sum-"], rows


def _python2_float(value: float) -> str:
    """`str` of Python 2.7: twelve digits."""
    text = f"{value:.12g}"
    return text if not text.lstrip("-").isdigit() else f"{text}.0"
