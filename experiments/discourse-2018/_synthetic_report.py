"""SYNTHETIC.md of what synthetic.py found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from _markdown import paragraph

from anaphora.nmt.config import presets

UPDATES, EVERY, LEARNED = 600, 100, 0.95
SUITES = ("source", "target")


def report(results: Mapping[str, Any]) -> str:
    seeds = max(len(runs) for runs in results.values())
    lines = [
        "# Every model at laptop size on the synthetic corpus",
        "",
        *paragraph(
            "This is a check of the implementations: does a model learn what the sentences that it reads can tell, and",
            "nothing else? The task is saturated, every model is at the top or at chance, with",
            f"{'one seed' if seeds == 1 else f'{seeds} seeds'}. It does not rank models, and it is no",
            "evidence about real",
            "text.",
        ),
        "",
        *paragraph(
            "Written by `python experiments/run.py discourse-2018/synthetic` (with `--report-only` from",
            "synthetic.json).",
            f"Every model: {UPDATES} updates, the same text. Accuracies are means over seeds, then the",
            "lowest. There are",
            f"{len(presets()) // 2} presets; those without a row have not been trained yet. Seconds are of",
            "one processor,",
            "validation included, while the machine was doing other things. *learned*: the first validation (every",
            f"{EVERY} updates) from which accuracy stays at {LEARNED} or more, of the slowest seed.",
            "A model whose settings have not changed is not trained again: rows may come from different",
            "machines, on which",
            "perplexities differ in their last digits. 18 rows were trained by version 0.1.0, with settings that mean",
            "the same: they differ by keys at their defaults, and by a length limit that leaves nothing out here.",
        ),
        "",
        "| model | perplexity | source suite | learned | target suite | learned | parameters | seconds |",
        "| :-- | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for name in sorted(results):
        runs = list(results[name].values())
        cells = [f"{_mean([run['curve'][-1]['perplexity'] for run in runs]):.3f}"]
        for kind in SUITES:
            values = [run["curve"][-1]["accuracy"][kind] for run in runs]
            cells += [f"{_mean(values):.3f} ({min(values):.3f})", _learned(runs, kind)]
        cells += [f"{runs[0]['parameters']:,}", f"{_mean([run['seconds'] for run in runs]):.0f}"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", *PAPERS]) + "\n"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _learned(runs: Sequence[Mapping[str, Any]], kind: str) -> str:
    """The update from which on the slowest seed is right, or a dash."""
    found = []
    for run in runs:
        curve = [point for point in run["curve"] if point["update"] % EVERY == 0]
        wrong = [number for number, point in enumerate(curve, start=1) if point["accuracy"][kind] < LEARNED]
        after = curve[max(wrong, default=0) :]
        found.append(after[0]["update"] if after else UPDATES + 1)
    return f"{max(found):,}" if max(found) <= UPDATES else "–"


PAPERS = """\
## What the papers say of the order of models

- Bawden et al. 2018, Table 2 (coreference, chance 50 %; only the target context tells): S-HIER-TO-2 72.5, 2-TO-2 63.5,
  S-T-HIER-TO-2 56.5, 2-TO-1 52.0, S- models and BASELINE 50.0, S-T-HIER 49.5, T- models 47–49. The T- models fail there
  though they see the previous target sentence; on these short documents, always with the reference, that need not be.
- Müller et al. 2018, Table 6 (ContraPro, three candidates), recurrent: s-hier-to-2 0.55, concat22 0.53, s-t-hier 0.52,
  baseline 0.44, s-hier 0.43; with tied embeddings s-hier-to-2 0.60, s-t-hier 0.56, s-hier 0.47.
- There, Transformers: concat22 and Voita et al. 0.49, concat21 0.48, baseline 0.47.

A task that can be learned to the end tells who can answer it at all, and after how many updates; not who is better.
""".splitlines()
