"""`scores:FILE`: scores that any other toolkit wrote, one line per candidate, in the order of the suite.

Scores are sums of log-probabilities unless `scores:FILE?are=mean` says that they are means per token (fairseq).
Means are multiplied by the numbers of tokens in the second column, so that all that follows has sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import byte_lines, decode
from anaphora.core.parsing import whole_number
from anaphora.runs import ScoredExample
from anaphora.suites.example import Example
from anaphora.systems import KINDS
from anaphora.systems.context import Options, split_settings

SCORES_ARE = ("sum", "mean")


class ScoreFile:
    """A system whose scores are in a file: they are imported as they are, all at once."""

    traits = KINDS["scores"].traits

    def __init__(self, path: str | Path, options: Options | None = None, are: str = "") -> None:
        """FILE or FILE?are=mean; the options of other systems mean nothing here."""
        if isinstance(path, str) and not Path(path).exists():  # a name with a question mark in it is a name
            path, settings = split_settings(path, KINDS["scores"].settings)
            are = are or settings.get("are", "")
        self.path, self.are = Path(path), are or "sum"
        if self.are not in SCORES_ARE:
            raise AnaphoraError(f"scores are sums or means per token, not {self.are!r}. Write are=sum or are=mean")

    @property
    def spec(self) -> str:
        """How the file is named as a system."""
        return f"scores:{self.path}" + ("" if self.are == "sum" else f"?are={self.are}")

    def score(self, examples: Iterable[Example]) -> Iterator[ScoredExample]:
        """Yield each example with its scores from the file, as sums; too few or too many lines are an error."""
        first = 1
        for item in self.as_written(examples):
            if self.are == "mean":
                item = item._replace(scores=self._sums(item, first))
            first += len(item.scores)
            yield item

    def _sums(self, item: ScoredExample, first: int) -> list[float]:
        """Return sums from means per token and the numbers of tokens."""
        if item.tokens is None or min(item.tokens) < 1:
            bare = first if item.tokens is None else first + list(item.tokens).index(min(item.tokens))
            remedy = "Write score⇥tokens on each line, or compare the means themselves: --normalize mean"
            raise BadInput(self.path, "a mean per token without a number of tokens", line=bare, remedy=remedy)
        return [mean * count for mean, count in zip(item.scores, item.tokens, strict=True)]

    def as_written(self, examples: Iterable[Example]) -> Iterator[ScoredExample]:
        """Yield each example with the numbers that are in the file."""
        lines = byte_lines(self.path)
        used = candidates = 0
        examples = iter(examples)
        for example in examples:
            size = len(example.candidates)
            candidates += size
            block = list(islice(lines, size))
            scores, tokens = parse_scores(block, self.path, used + 1)
            used += len(block)
            if len(block) < size:
                self._wrong_number(used, candidates + sum(len(rest.candidates) for rest in examples))
            yield ScoredExample(example.id, example.gold, example.tags, scores, tokens)
        surplus = sum(1 for number, line in enumerate(lines, used + 1) if _parse(line, self.path, number))
        if surplus:
            self._wrong_number(used + surplus, candidates)

    def _wrong_number(self, count: int, expected: int) -> None:
        raise BadInput(
            self.path,
            f"{expected:,} scores expected (one per candidate of the suite), found {count:,}",
            line=min(count, expected + 1) or None,  # an empty file has no line
            remedy="Score the files written by: anaphora suites convert SUITE --to text -o DIR",
        )


def parse_scores(lines: Sequence[bytes], path: Path, first: int) -> tuple[Sequence[float], Sequence[int] | None]:
    """`score` or `score⇥tokens` on each line of one example. A score is a finite number, tokens a count.

    first: the number of the first line
    """
    try:
        scores, text = [*map(float, lines)], b"".join(lines)
        if math.isfinite(sum(scores)) and b"_" not in text and b"\t" not in text:  # nearly always: bare numbers
            return scores, None
    except ValueError:
        pass
    rows = [_parse(line, path, number) for number, line in enumerate(lines, first)]
    tokens = [count for _, count in rows if count is not None]
    if tokens and len(tokens) < len(rows):
        bare = first + [count for _, count in rows].index(None)
        problem = "no token count here, but another candidate of the example has one"
        raise BadInput(path, problem, line=bare, remedy="Give them on every line, or on none.")
    return [score for score, _ in rows], tokens or None


def _parse(line: bytes, path: Path, number: int) -> tuple[float, int | None]:
    """One line, with what is wrong with it."""
    whole = decode(line, path, number)
    text, tab, count = (whole.removeprefix("\ufeff") if number == 1 else whole).partition("\t")
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score) or "_" in text:  # float() takes 1_000, nobody else does
        what = "an empty line" if not whole.strip() else f"not a finite number: {text.strip()[:40]!r}"
        raise BadInput(path, what, line=number, remedy="One score per candidate and line is expected.")
    if not tab:
        return score, None
    if not count.strip().isdecimal():
        raise BadInput(path, f"not a number of tokens: {count.strip()[:40]!r}", line=number)
    return score, whole_number(count, path, number, "a number of tokens")


class ScoreArray:
    """Scores in memory: one number per candidate in the order of the suite, or a list of them per example."""

    spec = "scores:memory"

    def __init__(self, scores: Iterable[Any]) -> None:
        """scores: a list, a list of lists, or an array of NumPy."""
        rows = scores.tolist() if hasattr(scores, "tolist") else list(scores)
        self.scores = [number for row in rows for number in (row if isinstance(row, Sequence) else [row])]

    def score(self, examples: Iterable[Example]) -> Iterator[ScoredExample]:
        """Yield each example with its scores; too few or too many are an error."""
        start = 0
        for example in examples:
            values = [float(number) for number in self.scores[start : start + len(example.candidates)]]
            start += len(example.candidates)
            if len(values) < len(example.candidates) or not all(map(math.isfinite, values)):
                wrong = (
                    f"{len(self.scores):,} scores are too few" if start > len(self.scores) else "not a finite number"
                )
                raise AnaphoraError(f"scores of example {example.id!r}: {wrong}. Pass one finite number per candidate.")
            yield ScoredExample(example.id, example.gold, example.tags, values)
        if start != len(self.scores):
            raise AnaphoraError(f"{start:,} scores expected (one per candidate of the suite), got {len(self.scores):,}")

    as_written = score
