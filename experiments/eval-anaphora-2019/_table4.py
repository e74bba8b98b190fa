"""The eight experiments of Table 4 (Jwalapuram et al. 2019, §5.2), next to the paper's figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError
from anaphora.measure.config import Config, parse_config, read_config
from anaphora.measure.model import Measure
from anaphora.measure.texts import Progress, pairs_of
from anaphora.measure.training import evaluate_pairs, train_measure
from anaphora.stats.intervals import wilson
from anaphora.suites.example import Example
from anaphora.table import Row, Table

PRESETS = Path(__file__).resolve().parent / "presets"
# experiment → accuracy on WMT14 with GloVe and with ELMo
PAPER = {
    "table4-1": (69.12, 85.80),
    "table4-2": (68.97, 88.04),
    "table4-3": (79.67, 89.09),
    "table4-4": (69.07, 85.80),
    "table4-5": (67.88, 87.90),
    "table4-6": (69.16, 86.66),
    "table4-7": (68.93, 89.11),
    "table4-8": (77.87, 90.69),
}


@dataclass(frozen=True, slots=True)
class Experiment:
    """A row: its preset, how many pairs it was tested on, how many were ranked right."""

    name: str
    context: str
    test: str
    pairs: int
    correct: int

    @property
    def accuracy(self) -> float:
        return self.correct / self.pairs

    def to_dict(self) -> dict[str, Any]:
        glove, elmo = PAPER[self.name]
        return {
            "experiment": self.name,
            "context": self.context,
            "test": self.test,
            "total": self.pairs,
            "correct": self.correct,
            "accuracy": self.accuracy,
            "interval": list(wilson(self.correct, self.pairs)),
            "paper": {"glove": round(glove / 100, 4), "elmo": round(elmo / 100, 4)},
        }


def presets() -> dict[str, Config]:
    """The configs of the eight experiments by their names."""
    return {path.stem: read_config(path) for path in sorted(PRESETS.glob("*.toml"))}


def run_table(
    train: Sequence[Example],
    dev: Sequence[Example],
    overrides: Mapping[str, str] | None = None,
    *,
    cache: Path | None = None,
    progress: Progress | None = None,
    report: Callable[[str], None] | None = None,
) -> list[Experiment]:
    """Train and test all settings; those that differ in the test alone are trained once.

    As in the paper, a model is chosen and tested on the same development pairs (WMT14): of each setting on R vs. R′,
    where both tests use one model.
    """
    trained: dict[str, Measure] = {}
    rows = []
    for name, preset in presets().items():
        config = parse_config(asdict(preset), Path(name), overrides)
        chosen = replace(config, description="", data=replace(config.data, dev_kind="noisy"))
        key = repr(chosen)
        if key not in trained:
            found = train_measure(chosen, train, dev, cache=cache, progress=progress)
            trained[key] = found.measure
            if report is not None:
                report(f"{name}: {found.pairs:,} pairs, best epoch {found.best['epoch']} of {len(found.log)}")
        rows.append(_tested(name, trained[key], config, dev))
    return rows


def _tested(name: str, measure: Measure, config: Config, dev: Sequence[Example]) -> Experiment:
    pairs = pairs_of(dev, config.model, measure.readings, config.data.dev_kind)
    if not pairs:
        raise AnaphoraError(f"{name}: no development pairs of kind {config.data.dev_kind!r}")
    accuracy, _ = evaluate_pairs(measure, pairs, config)
    setting = config.model.context + ("-Baseline" if config.model.kind == "average" else "")
    test = "R vs. S" if config.data.dev_kind == "system" else "R vs. R′"
    return Experiment(name, setting, test, len(pairs), round(accuracy * len(pairs)))


def table4(rows: Sequence[Experiment]) -> Table:
    """Our figures next to the paper's."""
    cells = []
    for row in rows:
        low, high = wilson(row.correct, row.pairs)
        glove, elmo = PAPER[row.name]
        ours = f"{100 * row.accuracy:.2f}"
        interval = f"[{100 * low:.1f}, {100 * high:.1f}]"
        cells.append(
            Row((row.name, row.context, row.test, f"{row.pairs:,}", ours, interval, f"{glove:.2f}", f"{elmo:.2f}"))
        )
    columns = ("", "setting", "test", "n", "accuracy", "95 % interval", "paper (GloVe)", "paper (ELMo)")
    return Table("Table 4: accuracy on development pairs", columns, tuple(cells))
