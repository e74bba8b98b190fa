"""Write SYNTHETIC.md from the figures of synthetic.py."""

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
            "**Question.** Does each model learn what the sentences it reads can tell, and nothing else? This is a "
            "check of the implementations."
        ),
        "",
        "```sh",
        "python experiments/run.py discourse-2018/synthetic                # train, write this page",
        "python experiments/run.py discourse-2018/synthetic --report-only  # write this page from synthetic.json",
        "```",
        "",
        *paragraph(
            "In the *source suite*, the previous source sentence decides which translation is right (chance 0.333). In "
            "the *target suite*, only the previous target sentence does (chance 0.500). Accuracies are means over "
            "seeds, with the lowest seed in parentheses. *learned* is the first validation (every "
            f"{EVERY} updates) from which accuracy stays at {LEARNED} or more, for the slowest seed."
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
    return "\n".join([*lines, "", *PAPERS, *limits(len(results), seeds)]) + "\n"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _learned(runs: Sequence[Mapping[str, Any]], kind: str) -> str:
    """Return the update from which the slowest seed stays right, or a dash."""
    found = []
    for run in runs:
        curve = [point for point in run["curve"] if point["update"] % EVERY == 0]
        wrong = [number for number, point in enumerate(curve, start=1) if point["accuracy"][kind] < LEARNED]
        after = curve[max(wrong, default=0) :]
        found.append(after[0]["update"] if after else UPDATES + 1)
    return f"{max(found):,}" if max(found) <= UPDATES else "–"


def limits(rows: int, seeds: int) -> list[str]:
    trained = "one seed" if seeds == 1 else f"{seeds} seeds"
    untrained = len(presets()) // 2 - rows
    return [
        "",
        "## What it does not show",
        "",
        f"- It does not rank models: the task is saturated, and every model has {trained}.",
        "- It is no evidence about real text. For that, see [REAL.md](REAL.md).",
        "- Seconds are those of one processor that was also doing other work, validation included.",
        "- A model whose settings have not changed is not trained again, so rows may come from different machines, and",
        "  perplexities may differ in the last digits. 18 rows were trained by version 0.1.0 with equivalent settings.",
        *([f"- {untrained} presets have not been trained."] if untrained else []),
    ]


PAPERS = f"""\
## What it shows

Every model that reads the previous target sentence answers both suites. Those that read only the previous source
sentence answer the source suite and are at chance on the target suite. The baselines are at chance on both. Each model
was trained for {UPDATES} updates on the same text.

The papers report on real text:

- Bawden et al. 2018, Table 2, coreference (%, chance 50, only the target context decides): S-HIER-TO-2 72.5,
  2-TO-2 63.5, S-T-HIER-TO-2 56.5, 2-TO-1 52.0, S- models and BASELINE 50.0, S-T-HIER 49.5, T- models 47–49. The T-
  models are at chance there although they read the previous target sentence; on the short documents here, which always
  come with the reference, they are not.
- Müller et al. 2018, Table 6, ContraPro (three candidates), recurrent models: s-hier-to-2 0.55, concat22 0.53, s-t-hier
  0.52, baseline 0.44, s-hier 0.43; with tied embeddings s-hier-to-2 0.60, s-t-hier 0.56, s-hier 0.47.
- The same table, Transformers: concat22 and Voita et al. 0.49, concat21 0.48, baseline 0.47.
""".splitlines()
